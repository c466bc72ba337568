# Generated from idl/ by `make types`; do not edit.

from dataclasses import dataclass
import cyclonedds.idl as idl
import cyclonedds.idl.annotations as annotate
import cyclonedds.idl.types as types

__all__ = [
    "BatteryData_",
    "HandCmd_",
    "HandState_",
    "IMUState_",
    "LowCmd_",
    "LowState_",
    "MotorCmd_",
    "MotorState_",
]


@dataclass
@annotate.final
@annotate.autoid('sequential')
class BatteryData_(idl.IdlStruct, typename='pnd_adam.msg.dds_.BatteryData_'):
    timestamp_ms: types.int64
    voltage: types.float32
    current: types.float32
    power: types.float32
    wh_accumulated: types.float32
    status: str


@dataclass
@annotate.final
@annotate.autoid('sequential')
class HandCmd_(idl.IdlStruct, typename='pnd_adam.msg.dds_.HandCmd_'):
    position: types.array[types.uint32, 12]
    reserve: types.uint32


@dataclass
@annotate.final
@annotate.autoid('sequential')
class HandState_(idl.IdlStruct, typename='pnd_adam.msg.dds_.HandState_'):
    position: types.array[types.uint32, 12]
    reserve: types.uint32


@dataclass
@annotate.final
@annotate.autoid('sequential')
class IMUState_(idl.IdlStruct, typename='pnd_adam.msg.dds_.IMUState_'):
    quaternion: types.array[types.float32, 4]
    gyroscope: types.array[types.float32, 3]
    accelerometer: types.array[types.float32, 3]
    ypr: types.array[types.float32, 3]
    temperature: types.int16


@dataclass
@annotate.final
@annotate.autoid('sequential')
class MotorCmd_(idl.IdlStruct, typename='pnd_adam.msg.dds_.MotorCmd_'):
    mode: types.byte
    q: types.float32
    dq: types.float32
    tau: types.float32
    kp: types.float32
    kd: types.float32
    ki: types.float32
    reserve: types.uint32


@dataclass
@annotate.final
@annotate.autoid('sequential')
class LowCmd_(idl.IdlStruct, typename='pnd_adam.msg.dds_.LowCmd_'):
    mode_pr: types.byte
    motor_cmd: types.sequence[MotorCmd_]
    reserve: types.uint32


@dataclass
@annotate.final
@annotate.autoid('sequential')
class MotorState_(idl.IdlStruct, typename='pnd_adam.msg.dds_.MotorState_'):
    mode: types.byte
    q: types.float32
    dq: types.float32
    ddq: types.float32
    tau_est: types.float32
    state: types.uint32
    reserve: types.uint32


@dataclass
@annotate.final
@annotate.autoid('sequential')
class LowState_(idl.IdlStruct, typename='pnd_adam.msg.dds_.LowState_'):
    mode_pr: types.byte
    tick: types.uint32
    imu_state: IMUState_
    motor_state: types.sequence[MotorState_]
    wireless_remote: types.array[types.float32, 19]
    battery_data: BatteryData_
    reserve: types.uint32
