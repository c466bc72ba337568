# Generated from idl/ by `make types`; do not edit.

from dataclasses import dataclass
import cyclonedds.idl as idl
import cyclonedds.idl.annotations as annotate

__all__ = [
    "EmergencyState_",
]


@dataclass
@annotate.final
@annotate.autoid('sequential')
class EmergencyState_(idl.IdlStruct, typename='dobot_atom.msg.dds_.EmergencyState_'):
    soft_emergency_triggered: bool
    hard_emergency_triggered: bool
    amr_emergency_triggered: bool
