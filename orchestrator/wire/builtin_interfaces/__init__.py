# Generated from idl/ by `make types`; do not edit.

from dataclasses import dataclass
import cyclonedds.idl as idl
import cyclonedds.idl.annotations as annotate
import cyclonedds.idl.types as types

__all__ = [
    "Time",
]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class Time(idl.IdlStruct, typename='builtin_interfaces.msg.Time'):
    sec: types.int32
    nanosec: types.uint32
