# Generated from idl/ by `make types`; do not edit.

from dataclasses import dataclass
from enum import auto
import cyclonedds.idl as idl
import cyclonedds.idl.annotations as annotate
import cyclonedds.idl.types as types
from orchestrator.wire.std_msgs import BaseDataType, Header

__all__ = [
    "AuroraState",
    "BaseData",
    "CartesianCmd",
    "CartesianState",
    "ContactData",
    "ControlGroupCmd",
    "ControlGroupState",
    "MotorCfgGroupCmd",
    "MotorCfgGroupState",
    "MotorMode",
    "MoveCommand",
    "RobotCartesianCmd",
    "RobotCartesianState",
    "RobotControlGroupCmd",
    "RobotControlGroupState",
    "RobotMotorCfgGroupCmd",
    "RobotMotorCfgGroupState",
    "RobotStandPoseCmd",
    "RobotStandPoseState",
    "TrueData",
    "UpperBodyFsmStateChangeCmd",
    "VelocityCmd",
    "VelocitySourceCmd",
    "WholeBodyFsmStateChangeCmd",
]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class AuroraState(idl.IdlStruct, typename='fourier_msgs.msg.AuroraState'):
    header: Header
    velocity_command_source: types.byte
    whole_body_fsm_state: types.byte
    upper_body_fsm_state: types.byte
    allow_upper_body_override: bool


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class BaseData(idl.IdlStruct, typename='fourier_msgs.msg.BaseData'):
    header: Header
    quat_xyzw: types.sequence[types.float64]
    quat_wxyz: types.sequence[types.float64]
    rpy: types.sequence[types.float64]
    omega_W: types.sequence[types.float64]
    acc_W: types.sequence[types.float64]
    omega_B: types.sequence[types.float64]
    acc_B: types.sequence[types.float64]
    vel_W: types.sequence[types.float64]
    pos_W: types.sequence[types.float64]
    vel_B: types.sequence[types.float64]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class ContactData(idl.IdlStruct, typename='fourier_msgs.msg.ContactData'):
    header: Header
    contact_force: types.sequence[types.float64]
    contact_prob: types.sequence[types.float64]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class WholeBodyFsmStateChangeCmd(idl.IdlStruct, typename='fourier_msgs.msg.WholeBodyFsmStateChangeCmd'):
    header: Header
    desired_state: types.byte


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class UpperBodyFsmStateChangeCmd(idl.IdlStruct, typename='fourier_msgs.msg.UpperBodyFsmStateChangeCmd'):
    header: Header
    desired_state: types.byte


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class VelocitySourceCmd(idl.IdlStruct, typename='fourier_msgs.msg.VelocitySourceCmd'):
    header: Header
    desired_source: types.byte


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class ControlGroupCmd(idl.IdlStruct, typename='fourier_msgs.msg.ControlGroupCmd'):
    group_name: str
    group_motion_state: types.byte
    control_type: types.byte
    motor_mode: types.byte
    position: types.sequence[types.float64]
    velocity: types.sequence[types.float64]
    effort: types.sequence[types.float64]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class RobotControlGroupCmd(idl.IdlStruct, typename='fourier_msgs.msg.RobotControlGroupCmd'):
    header: Header
    group_cmd: types.sequence[ControlGroupCmd]
    ex_data: types.sequence[BaseDataType]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class ControlGroupState(idl.IdlStruct, typename='fourier_msgs.msg.ControlGroupState'):
    group_name: str
    joint_position: types.sequence[types.float64]
    joint_velocity: types.sequence[types.float64]
    joint_effort: types.sequence[types.float64]
    motor_position: types.sequence[types.float64]
    motor_velocity: types.sequence[types.float64]
    motor_effort: types.sequence[types.float64]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class RobotControlGroupState(idl.IdlStruct, typename='fourier_msgs.msg.RobotControlGroupState'):
    header: Header
    group_motion_state: types.sequence[types.byte]
    group_state: types.sequence[ControlGroupState]
    stable_level: types.byte
    ex_data: types.sequence[BaseDataType]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class CartesianState(idl.IdlStruct, typename='fourier_msgs.msg.CartesianState'):
    group_name: str
    pose: types.sequence[types.float64]
    twist: types.sequence[types.float64]
    wrench: types.sequence[types.float64]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class RobotCartesianState(idl.IdlStruct, typename='fourier_msgs.msg.RobotCartesianState'):
    header: Header
    coordinate_system: types.byte
    group_motion_state: types.sequence[types.byte]
    cartesian_state: types.sequence[CartesianState]
    stable_level: types.byte
    ex_data: types.sequence[BaseDataType]


@annotate.final
class MotorMode(idl.IdlEnum, typename='fourier_msgs.msg.MotorMode'):
    DISABLE = auto()
    POSITION = auto()
    VELOCITY = auto()
    TORQUE = auto()
    PD = auto()


MotorMode.__idl_enum_default_value__ = None


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class MotorCfgGroupCmd(idl.IdlStruct, typename='fourier_msgs.msg.MotorCfgGroupCmd'):
    group_name: str
    mode: MotorMode
    pos_kp: types.sequence[types.float64]
    pos_ki: types.sequence[types.float64]
    pos_kd: types.sequence[types.float64]
    pd_kp: types.sequence[types.float64]
    pd_kd: types.sequence[types.float64]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class RobotMotorCfgGroupCmd(idl.IdlStruct, typename='fourier_msgs.msg.RobotMotorCfgGroupCmd'):
    header: Header
    group_cmd: types.sequence[MotorCfgGroupCmd]
    ex_data: types.sequence[BaseDataType]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class MotorCfgGroupState(idl.IdlStruct, typename='fourier_msgs.msg.MotorCfgGroupState'):
    group_name: str
    mode: MotorMode
    motor_error: types.sequence[types.uint32]
    pos_kp: types.sequence[types.float64]
    pos_ki: types.sequence[types.float64]
    pos_kd: types.sequence[types.float64]
    pd_kp: types.sequence[types.float64]
    pd_kd: types.sequence[types.float64]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class RobotMotorCfgGroupState(idl.IdlStruct, typename='fourier_msgs.msg.RobotMotorCfgGroupState'):
    header: Header
    group_state: types.sequence[MotorCfgGroupState]
    ex_data: types.sequence[BaseDataType]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class CartesianCmd(idl.IdlStruct, typename='fourier_msgs.msg.CartesianCmd'):
    group_name: str
    group_motion_state: types.byte
    pose: types.sequence[types.float64]
    twist: types.sequence[types.float64]
    wrench: types.sequence[types.float64]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class RobotCartesianCmd(idl.IdlStruct, typename='fourier_msgs.msg.RobotCartesianCmd'):
    header: Header
    coordinate_system: types.byte
    cartesian_cmd: types.sequence[CartesianCmd]
    ex_data: types.sequence[BaseDataType]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class MoveCommand(idl.IdlStruct, typename='fourier_msgs.msg.MoveCommand'):
    header: Header
    move_type: types.byte
    joint_commands: RobotControlGroupCmd
    cartesian_commands: RobotCartesianCmd
    ex_data: types.sequence[BaseDataType]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class RobotStandPoseState(idl.IdlStruct, typename='fourier_msgs.msg.RobotStandPoseState'):
    header: Header
    delta_z: types.float64
    delta_pitch: types.float64
    delta_yaw: types.float64
    stable_level: types.byte


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class RobotStandPoseCmd(idl.IdlStruct, typename='fourier_msgs.msg.RobotStandPoseCmd'):
    header: Header
    delta_z: types.float64
    delta_pitch: types.float64
    delta_yaw: types.float64


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class TrueData(idl.IdlStruct, typename='fourier_msgs.msg.TrueData'):
    header: Header
    vel_B: types.sequence[types.float64]
    vel_W: types.sequence[types.float64]
    pos_W: types.sequence[types.float64]
    contact_fz: types.sequence[types.float64]
    contact_prob: types.sequence[types.float64]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class VelocityCmd(idl.IdlStruct, typename='fourier_msgs.msg.VelocityCmd'):
    header: Header
    vx: types.float64
    vy: types.float64
    yaw: types.float64
    duration: types.float64
