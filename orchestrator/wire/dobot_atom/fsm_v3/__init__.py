# Generated from idl/ by `make types`; do not edit.

from dataclasses import dataclass
from enum import auto
import cyclonedds.idl as idl
import cyclonedds.idl.annotations as annotate
import cyclonedds.idl.types as types

__all__ = [
    "SetFsmId_",
    "WorkingState",
]


@annotate.final
class WorkingState(idl.IdlEnum, typename='dobot_atom.msg.dds_.WorkingState'):
    HIDLE = auto()
    HTASKING = auto()


WorkingState.__idl_enum_default_value__ = None


@dataclass
@annotate.final
@annotate.autoid('sequential')
class SetFsmId_(idl.IdlStruct, typename='dobot_atom.msg.dds_.SetFsmId_'):
    id: types.uint16
    current_action: str
    state: WorkingState
