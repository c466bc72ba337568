"""What kind of command each intent is: what it needs to know, what it may move, whether it may be repeated."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.robots import intents as i
from orchestrator.robots.intents import AnyIntent


@dataclass(frozen=True)
class Policy:
    needs: tuple[str, ...] = ()
    """Roles that must be fresh, besides emergency and fsm, which every command needs."""
    calms: bool = False
    """It only ends something of ours: no rule but lease and mode may hold it up."""
    idempotent: bool = True
    """Sent twice it does what it does once."""
    task: bool = False
    """It makes the base busy until it reports an end."""
    permission: str | None = None


_MAPS = Policy(needs=("base",), permission="maps")
_SETTINGS = Policy(needs=("base",), permission="base_settings")

POLICIES: dict[type[AnyIntent], Policy] = {
    i.SetFsm: Policy(),
    i.SetUpperFsm: Policy(),
    i.SwitchUpperControl: Policy(needs=("joints",)),
    i.SetVelocitySource: Policy(),
    i.Velocity: Policy(needs=("motion",)),
    i.StandPose: Policy(),
    i.JointTarget: Policy(needs=("joints",)),
    i.JointPath: Policy(needs=("joints",)),
    i.MoveHand: Policy(needs=("joints",), idempotent=False),
    i.HandTarget: Policy(needs=("hands",)),
    i.SetGains: Policy(needs=("joints",), permission="gains"),
    i.EnableMotors: Policy(needs=("nodes",), permission="motors"),
    i.ClearErrors: Policy(),
    i.MoveToTag: Policy(needs=("base",), idempotent=False, task=True),
    i.RotateBase: Policy(needs=("base",), idempotent=False, task=True),
    i.CancelTask: Policy(calms=True),
    i.PauseTask: Policy(calms=True),
    i.ResumeTask: Policy(needs=("base",)),
    i.StartRemote: Policy(needs=("base",), permission="remote_drive"),
    i.DriveBase: Policy(needs=("base",), permission="remote_drive"),
    i.StopRemote: Policy(calms=True),
    i.SubscribeLaser: Policy(needs=("base",)),
    i.SetBaseSpeed: _SETTINGS,
    i.SetBaseAcceleration: _SETTINGS,
    i.SetBaseDeceleration: _SETTINGS,
    i.StartMapping: Policy(needs=("base",), idempotent=False, permission="maps"),
    i.SaveMap: Policy(needs=("base",), idempotent=False, permission="maps"),
    i.StopMapping: _MAPS,
}

POSES: dict[type[AnyIntent], str] = {
    i.StandPose: "robot_stand_pose_state",
    i.MoveHand: "robot_cartesian_state",
}
"""Poses the robot drives to by itself once it has been told, and the topic that shows how far it has come."""

RPC = "rpc"
"""Stands for Dobot's JSON-RPC where a topic's name would stand."""

Routes = tuple[str, ...]

_AMR: dict[type[AnyIntent], Routes] = dict.fromkeys(
    (
        i.MoveToTag, i.RotateBase, i.CancelTask, i.PauseTask, i.ResumeTask, i.StartRemote, i.DriveBase, i.StopRemote,
        i.SubscribeLaser, i.SetBaseSpeed, i.SetBaseAcceleration, i.SetBaseDeceleration, i.StartMapping, i.SaveMap,
        i.StopMapping,
    ),
    ("rt/amr/cmd",),
)  # fmt: skip

WRITES: dict[str, dict[type[AnyIntent], Routes]] = {
    "aurora": {
        i.SetFsm: ("whole_body_fsm_state_change_cmd",),
        i.SetUpperFsm: ("upper_body_fsm_state_change_cmd",),
        i.SetVelocitySource: ("velocity_source_cmd",),
        i.Velocity: ("velocity_cmd",),
        i.StandPose: ("robot_stand_pose_cmd",),
        i.JointTarget: ("robot_control_group_cmd",),
        i.JointPath: ("robot_control_group_cmd",),
        i.HandTarget: ("robot_control_group_cmd",),
        i.MoveHand: ("move_command_data",),
        i.SetGains: ("robot_motor_cfg_group_cmd",),
    },
    "atom": {
        i.SetFsm: (RPC, "rt/set/fsm/id"),
        i.SwitchUpperControl: (RPC, "rt/switch/upper/control"),
        i.Velocity: (RPC,),
        i.JointTarget: ("rt/upper/cmd",),
        i.JointPath: ("rt/upper/cmd",),
        i.HandTarget: ("rt/hands/cmd",),
        i.EnableMotors: ("rt/enable/motors",),
        i.ClearErrors: ("rt/clear/errors",),
        **_AMR,
    },
    "adam": {
        i.JointTarget: ("rt/lowcmd",),
        i.JointPath: ("rt/lowcmd",),
        i.HandTarget: ("rt/handcmd",),
    },
}
"""The ways each intent can take to the robot, by family: one of them must be ready."""
