# Generated from idl/ by `make types`; do not edit.

from dataclasses import dataclass
from enum import auto
import cyclonedds.idl as idl
import cyclonedds.idl.annotations as annotate
import cyclonedds.idl.types as types
from orchestrator.wire.dobot_atom import AMRBasicStatus_, AMREventStatus_, DeviceStatus_, NavigationStatus_

__all__ = [
    "AMRCommandType",
    "AMRCommand_",
    "AMRState_",
    "Velocity_",
]


@annotate.final
class AMRCommandType(idl.IdlEnum, typename='dobot_atom.msg.dds_.AMRCommandType'):
    CANCEL_TASK = auto()
    PAUSE_TASK = auto()
    RESUME_TASK = auto()
    MOVE_TO_TAG = auto()
    MOVE_TO_CHARGE = auto()
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
    CANCEL_CHARGE = auto()
    SWITCH_MAP = auto()
    RELOCATE = auto()


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


@dataclass
@annotate.final
@annotate.autoid('sequential')
class Velocity_(idl.IdlStruct, typename='dobot_atom.msg.dds_.Velocity_'):
    linear_vel: types.float32
    angular_vel: types.float32


@dataclass
@annotate.final
@annotate.autoid('sequential')
class AMRState_(idl.IdlStruct, typename='dobot_atom.msg.dds_.AMRState_'):
    device_status: DeviceStatus_
    navigation_status: NavigationStatus_
    basic_status: AMRBasicStatus_
    position: types.array[types.float32, 3]
    velocity: Velocity_
    amr_event: AMREventStatus_
    error_code: types.array[types.uint32, 32]
    task_id: types.uint32
    work_mode: types.uint32
    relocate_state: types.uint32
    map_switch_state: types.uint32
