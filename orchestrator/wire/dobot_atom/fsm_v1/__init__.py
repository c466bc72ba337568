# Generated from idl/ by `make types`; do not edit.

from dataclasses import dataclass
import cyclonedds.idl as idl
import cyclonedds.idl.annotations as annotate
import cyclonedds.idl.types as types

__all__ = [
    "SetFsmId_",
]


@dataclass
@annotate.final
@annotate.autoid('sequential')
class SetFsmId_(idl.IdlStruct, typename='dobot_atom.msg.dds_.SetFsmId_'):
    id: types.uint16
