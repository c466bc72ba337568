# Generated from idl/ by `make types`; do not edit.

from dataclasses import dataclass
import cyclonedds.idl as idl
import cyclonedds.idl.annotations as annotate
import cyclonedds.idl.types as types
from orchestrator.wire.builtin_interfaces import Time

__all__ = [
    "BaseDataType",
    "Header",
]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class BaseDataType(idl.IdlStruct, typename='std_msgs.msg.BaseDataType'):
    arg_int: types.sequence[types.int32]
    arg_double: types.sequence[types.float64]
    arg_string: types.sequence[str]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class Header(idl.IdlStruct, typename='std_msgs.msg.Header'):
    stamp: Time
    frame_id: str
