# Generated from idl/ by `make types`; do not edit.

from dataclasses import dataclass
import cyclonedds.idl as idl
import cyclonedds.idl.annotations as annotate
import cyclonedds.idl.types as types
from orchestrator.wire.pnd_adam import BatteryData_, IMUState_, MotorState_

__all__ = [
    "LowState_",
]


@dataclass
@annotate.final
@annotate.autoid('sequential')
class LowState_(idl.IdlStruct, typename='pnd_adam.msg.dds_.LowState_'):
    mode_pr: types.byte
    tick: types.uint32
    imu_state: IMUState_
    motor_state: types.sequence[MotorState_]
    wireless_remote: types.array[types.int16, 40]
    battery_data: BatteryData_
    reserve: types.uint32
