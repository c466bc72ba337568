# Generated from idl/ by `make types`; do not edit.

from dataclasses import dataclass
from enum import auto
import cyclonedds.idl as idl
import cyclonedds.idl.annotations as annotate
import cyclonedds.idl.types as types

__all__ = [
    "AMRBasicStatus_",
    "AMRCommandType",
    "AMRCommand_",
    "AMREventStatus_",
    "AMRState_",
    "AxisStateInfo_",
    "BmsCmd_",
    "BmsState_",
    "ClearErrors_",
    "DeviceStatus_",
    "EcatSlaveInfo_",
    "EmergencyState_",
    "EnableMotors_",
    "HandsCmd_",
    "HandsState_",
    "IMUState_",
    "JoystickValue_",
    "LowerCmd_",
    "LowerState_",
    "MainNodesState_",
    "MotorCmd_",
    "MotorState_",
    "NavigationStatus_",
    "PowerState_",
    "RemoteControl_",
    "SetFsmId_",
    "SwitchUpperControl_",
    "UpperCmd_",
    "UpperState_",
]


@annotate.final
class AMRCommandType(idl.IdlEnum, typename='dobot_atom.msg.dds_.AMRCommandType'):
    CANCEL_TASK = auto()
    PAUSE_TASK = auto()
    RESUME_TASK = auto()
    MOVE_TO_TAG = auto()
    REMOTE_CONTROL = auto()
    ROTATE = auto()
    START_REMOTE = auto()
    STOP_REMOTE = auto()
    SUBSCRIBE_LASER = auto()
    UNSUBSCRIBE_LASER = auto()
    START_MAPPING = auto()
    SAVE_MAP = auto()
    STOP_MAPPING = auto()
    SET_VEL = auto()
    SET_ACCEL = auto()
    SET_DECEL = auto()


AMRCommandType.__idl_enum_default_value__ = None


@dataclass
@annotate.final
@annotate.autoid('sequential')
class AMRCommand_(idl.IdlStruct, typename='dobot_atom.msg.dds_.AMRCommand_'):
    command_type: AMRCommandType
    target_id: types.uint32
    linear_vel: types.float32
    angular_vel: types.float32
    command_id: types.uint32
    timestamp: types.uint64
    theta: types.float32


@annotate.final
class DeviceStatus_(idl.IdlEnum, typename='dobot_atom.msg.dds_.DeviceStatus_'):
    DEVUNKNOWN = auto()
    DEVIDLE = auto()
    TASKING = auto()
    ERROR = auto()
    OFFLINE = auto()
    INIT = auto()
    CHARGING = auto()
    UPGRADE = auto()


DeviceStatus_.__idl_enum_default_value__ = None


@annotate.final
class NavigationStatus_(idl.IdlEnum, typename='dobot_atom.msg.dds_.NavigationStatus_'):
    UNKNOWN = auto()
    QUEUING = auto()
    RUNNING = auto()
    COMPLETED = auto()
    FAILED = auto()
    PAUSED = auto()
    CANCELED = auto()
    WAITING_CONFIRM = auto()
    IDLE = auto()
    STOPPED = auto()


NavigationStatus_.__idl_enum_default_value__ = None


@dataclass
@annotate.final
@annotate.autoid('sequential')
class AMRBasicStatus_(idl.IdlStruct, typename='dobot_atom.msg.dds_.AMRBasicStatus_'):
    battery_level: types.float32
    battery_voltage: types.float32
    battery_current: types.float32
    heartbeat: types.uint16


@dataclass
@annotate.final
@annotate.autoid('sequential')
class AMREventStatus_(idl.IdlStruct, typename='dobot_atom.msg.dds_.AMREventStatus_'):
    emergency_stop_pressed: bool
    enable_pressed: bool
    path_blocked: bool
    low_battery: bool
    obstacle_detected: bool


@dataclass
@annotate.final
@annotate.autoid('sequential')
class AMRState_(idl.IdlStruct, typename='dobot_atom.msg.dds_.AMRState_'):
    device_status: DeviceStatus_
    navigation_status: NavigationStatus_
    basic_status: AMRBasicStatus_
    position: types.array[types.float32, 3]
    amr_event: AMREventStatus_
    error_code: types.array[types.uint32, 32]
    task_id: types.uint32
    work_mode: types.uint32


@dataclass
@annotate.final
@annotate.autoid('sequential')
class BmsCmd_(idl.IdlStruct, typename='dobot_atom.msg.dds_.BmsCmd_'):
    clear_errors: types.uint16


@dataclass
@annotate.final
@annotate.autoid('sequential')
class BmsState_(idl.IdlStruct, typename='dobot_atom.msg.dds_.BmsState_'):
    bms_state: types.uint16
    afe_state: types.uint16
    bms_alarms: types.uint32
    battery_level: types.uint16
    battery_health: types.uint16
    pcb_board_temp: types.uint16
    afe_chip_temp: types.uint16
    battery_now_current: types.uint16
    cells_voltage: types.array[types.uint16, 16]
    battery_pack_current_voltage: types.uint16
    battery_pack_io_voltage: types.uint16
    bms_work_time: types.uint32
    bms_hardware_version: types.uint16
    bms_software_version: types.uint16
    heartbeat: types.uint16


@dataclass
@annotate.final
@annotate.autoid('sequential')
class ClearErrors_(idl.IdlStruct, typename='dobot_atom.msg.dds_.ClearErrors_'):
    msg_id: types.int32


@dataclass
@annotate.final
@annotate.autoid('sequential')
class EmergencyState_(idl.IdlStruct, typename='dobot_atom.msg.dds_.EmergencyState_'):
    soft_emergency_triggered: bool
    hard_emergency_triggered: bool
    amr_emergency_triggered: bool
    di_emergency_triggered: bool


@dataclass
@annotate.final
@annotate.autoid('sequential')
class EnableMotors_(idl.IdlStruct, typename='dobot_atom.msg.dds_.EnableMotors_'):
    flag: types.array[bool, 29]


@dataclass
@annotate.final
@annotate.autoid('sequential')
class MotorState_(idl.IdlStruct, typename='dobot_atom.msg.dds_.MotorState_'):
    mode: types.byte
    q: types.float32
    dq: types.float32
    ddq: types.float32
    tau_est: types.float32
    q_raw: types.float32
    dq_raw: types.float32
    ddq_raw: types.float32
    mcu_temp: types.byte
    mos_temp: types.byte
    motor_temp: types.byte
    bus_voltage: types.byte


@dataclass
@annotate.final
@annotate.autoid('sequential')
class HandsState_(idl.IdlStruct, typename='dobot_atom.msg.dds_.HandsState_'):
    hands: types.array[MotorState_, 12]


@dataclass
@annotate.final
@annotate.autoid('sequential')
class MotorCmd_(idl.IdlStruct, typename='dobot_atom.msg.dds_.MotorCmd_'):
    mode: types.byte
    q: types.float32
    dq: types.float32
    tau: types.float32
    kp: types.float32
    kd: types.float32


@dataclass
@annotate.final
@annotate.autoid('sequential')
class HandsCmd_(idl.IdlStruct, typename='dobot_atom.msg.dds_.HandsCmd_'):
    hands: types.array[MotorCmd_, 12]


@dataclass
@annotate.final
@annotate.autoid('sequential')
class IMUState_(idl.IdlStruct, typename='dobot_atom.msg.dds_.IMUState_'):
    quaternion: types.array[types.float32, 4]
    gyroscope: types.array[types.float32, 3]
    accelerometer: types.array[types.float32, 3]
    rpy: types.array[types.float32, 3]
    temperature: types.byte


@dataclass
@annotate.final
@annotate.autoid('sequential')
class LowerState_(idl.IdlStruct, typename='dobot_atom.msg.dds_.LowerState_'):
    fsm_id: types.uint16
    imu_state: IMUState_
    motor_state: types.array[MotorState_, 12]
    bms_state: BmsState_
    wireless_remote: types.array[types.byte, 40]
    reserve: types.uint32


@dataclass
@annotate.final
@annotate.autoid('sequential')
class LowerCmd_(idl.IdlStruct, typename='dobot_atom.msg.dds_.LowerCmd_'):
    motor_cmd: types.array[MotorCmd_, 12]


@dataclass
@annotate.final
@annotate.autoid('sequential')
class AxisStateInfo_(idl.IdlStruct, typename='dobot_atom.msg.dds_.AxisStateInfo_'):
    servo_state: types.byte
    error_code: types.uint16
    warn_code: types.uint16
    pos_err_code: types.int32
    vel_err_code: types.int32
    torque_err_code: types.int32
    node_state: types.byte
    display_op_mode: types.byte
    is_virtual: bool
    mcu_temp: types.byte
    mos_temp: types.byte
    motor_temp: types.byte
    bus_voltage: types.byte
    software_version: types.uint16


@dataclass
@annotate.final
@annotate.autoid('sequential')
class EcatSlaveInfo_(idl.IdlStruct, typename='dobot_atom.msg.dds_.EcatSlaveInfo_'):
    is_virtual: bool
    slave_state: types.byte
    error_code: types.uint16
    software_version: types.uint16


@dataclass
@annotate.final
@annotate.autoid('sequential')
class MainNodesState_(idl.IdlStruct, typename='dobot_atom.msg.dds_.MainNodesState_'):
    left_leg: types.array[AxisStateInfo_, 6]
    right_leg: types.array[AxisStateInfo_, 6]
    waist: AxisStateInfo_
    left_arm: types.array[AxisStateInfo_, 7]
    right_arm: types.array[AxisStateInfo_, 7]
    head: types.array[AxisStateInfo_, 2]
    ecat2can: types.array[EcatSlaveInfo_, 2]


@dataclass
@annotate.final
@annotate.autoid('sequential')
class PowerState_(idl.IdlStruct, typename='dobot_atom.msg.dds_.PowerState_'):
    power_supply_state: types.uint16
    strong_power_current: types.uint16
    weak_power_current: types.uint16
    weak_power_voltage: types.uint16
    replenishment_port_voltage: types.uint16
    hardware_version: types.uint16
    software_version: types.uint16
    error_codes: types.uint16
    heartbeat: types.uint16
    strong_power_voltage: types.uint16
    brk_2v5_voltage: types.uint16
    brk_state: types.uint16


@dataclass
@annotate.final
@annotate.autoid('sequential')
class JoystickValue_(idl.IdlStruct, typename='dobot_atom.msg.dds_.JoystickValue_'):
    x: types.float32
    y: types.float32


@dataclass
@annotate.final
@annotate.autoid('sequential')
class RemoteControl_(idl.IdlStruct, typename='dobot_atom.msg.dds_.RemoteControl_'):
    btn_move: JoystickValue_
    btn_turn: JoystickValue_


@dataclass
@annotate.final
@annotate.autoid('sequential')
class SetFsmId_(idl.IdlStruct, typename='dobot_atom.msg.dds_.SetFsmId_'):
    id: types.uint16
    current_action: str


@dataclass
@annotate.final
@annotate.autoid('sequential')
class SwitchUpperControl_(idl.IdlStruct, typename='dobot_atom.msg.dds_.SwitchUpperControl_'):
    flag: bool


@dataclass
@annotate.final
@annotate.autoid('sequential')
class UpperState_(idl.IdlStruct, typename='dobot_atom.msg.dds_.UpperState_'):
    robot_type: types.array[types.char, 16]
    is_upper_control: bool
    fsm_id: types.uint16
    motor_state: types.array[MotorState_, 17]
    bms_state: BmsState_
    wireless_remote: types.array[types.byte, 40]
    reserve: types.uint32


@dataclass
@annotate.final
@annotate.autoid('sequential')
class UpperCmd_(idl.IdlStruct, typename='dobot_atom.msg.dds_.UpperCmd_'):
    motor_cmd: types.array[MotorCmd_, 17]
