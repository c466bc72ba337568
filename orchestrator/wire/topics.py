"""Every topic the robots speak: its DDS name, its type, and how it is read or written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from cyclonedds.idl import IdlStruct

from orchestrator.wire import dobot_atom, fourier_msgs, pnd_adam
from orchestrator.wire.dobot_atom import amr_v2, emergency_3, fsm_v1, fsm_v3
from orchestrator.wire.fourier_msgs import no_duration
from orchestrator.wire.pnd_adam import remote_int16

Kind = Literal["event", "stream", "command"]
"""event: every sample counts; stream: only the newest does; command: written by us, never read as state."""


@dataclass(frozen=True)
class Topic:
    """A topic as it is on the wire."""

    name: str
    type: type[IdlStruct]
    kind: Kind
    announce_type: bool = True
    """False for Fast DDS peers, which cannot digest CycloneDDS' type information, nor it theirs (docs/wire.md)."""

    def under(self, prefix: str) -> Topic:
        """The same topic of a robot whose topics carry a prefix."""
        return replace(self, name=prefix + self.name)


def _table(types: object, announce_type: bool, rows: dict[Kind, dict[str, str]]) -> dict[str, Topic]:
    return {
        name: Topic(name, getattr(types, type_name), kind, announce_type)
        for kind, topics in rows.items()
        for name, type_name in topics.items()
    }


def _variants(types: object, topics: dict[str, Topic]) -> dict[str, Topic]:
    """The topics whose type is another one in this firmware generation."""
    return {
        name: replace(topic, type=getattr(types, topic.type.__name__))
        for name, topic in topics.items()
        if hasattr(types, topic.type.__name__) and getattr(types, topic.type.__name__) is not topic.type
    }


AURORA = _table(
    fourier_msgs,
    announce_type=False,
    rows={
        "event": {
            "aurora_state": "AuroraState",
            "robot_stand_pose_state": "RobotStandPoseState",
        },
        "stream": {
            "base_data_pub": "BaseData",
            "contact_data_pub": "ContactData",
            "robot_control_group_state": "RobotControlGroupState",
            "robot_cartesian_state": "RobotCartesianState",
            "robot_motor_cfg_group_state": "RobotMotorCfgGroupState",
            "true_data_pub": "TrueData",
        },
        "command": {
            "whole_body_fsm_state_change_cmd": "WholeBodyFsmStateChangeCmd",
            "upper_body_fsm_state_change_cmd": "UpperBodyFsmStateChangeCmd",
            "velocity_source_cmd": "VelocitySourceCmd",
            "velocity_cmd": "VelocityCmd",
            "robot_stand_pose_cmd": "RobotStandPoseCmd",
            "robot_control_group_cmd": "RobotControlGroupCmd",
            "robot_motor_cfg_group_cmd": "RobotMotorCfgGroupCmd",
            "move_command_data": "MoveCommand",
        },
    },
)

ATOM = _table(
    dobot_atom,
    announce_type=True,
    rows={
        "event": {
            "rt/emergency/state": "EmergencyState_",
            "rt/lower/state": "LowerState_",
            "rt/upper/state": "UpperState_",
            "rt/hands/state": "HandsState_",
            "rt/main/nodes/state": "MainNodesState_",
            "rt/amr/state": "AMRState_",
        },
        "stream": {
            "rt/remote/control": "RemoteControl_",
            "rt/power/state": "PowerState_",
        },
        "command": {
            "rt/set/fsm/id": "SetFsmId_",
            "rt/switch/upper/control": "SwitchUpperControl_",
            "rt/upper/cmd": "UpperCmd_",
            "rt/lower/cmd": "LowerCmd_",
            "rt/hands/cmd": "HandsCmd_",
            "rt/clear/errors": "ClearErrors_",
            "rt/enable/motors": "EnableMotors_",
            "rt/amr/cmd": "AMRCommand_",
            "rt/bms/cmd": "BmsCmd_",
        },
    },
)

ADAM = _table(
    pnd_adam,
    announce_type=True,
    rows={
        "event": {"rt/lowstate": "LowState_", "rt/handstate": "HandState_"},
        "stream": {},
        "command": {"rt/lowcmd": "LowCmd_", "rt/handcmd": "HandCmd_"},
    },
)

FAMILIES: dict[str, dict[str, Topic]] = {"aurora": AURORA, "atom": ATOM, "adam": ADAM}
"""The topics of each robot family, in its default firmware generation."""

VARIANTS: dict[str, dict[str, dict[str, Topic]]] = {
    "aurora": {"no_duration": _variants(no_duration, AURORA)},
    "atom": {
        "fsm_v1": _variants(fsm_v1, ATOM),
        "fsm_v3": _variants(fsm_v3, ATOM),
        "emergency_3": _variants(emergency_3, ATOM),
        "amr_v2": _variants(amr_v2, ATOM),
    },
    "adam": {"remote_int16": _variants(remote_int16, ADAM)},
}
"""What other firmware generations change, by family and variant."""


def topics(family: str, variants: tuple[str, ...] = (), prefix: str = "") -> dict[str, Topic]:
    """A robot's topics by their plain name, with its firmware's types and its prefix."""
    table = dict(FAMILIES[family])
    for variant in variants:
        table |= VARIANTS[family][variant]
    return {name: topic.under(prefix) for name, topic in table.items()}
