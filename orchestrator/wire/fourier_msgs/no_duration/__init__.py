# Generated from idl/ by `make types`; do not edit.

from dataclasses import dataclass
import cyclonedds.idl as idl
import cyclonedds.idl.annotations as annotate
import cyclonedds.idl.types as types
from orchestrator.wire.std_msgs import Header

__all__ = [
    "VelocityCmd",
]


@dataclass
@annotate.appendable
@annotate.autoid('sequential')
class VelocityCmd(idl.IdlStruct, typename='fourier_msgs.msg.VelocityCmd'):
    header: Header
    vx: types.float64
    vy: types.float64
    yaw: types.float64
