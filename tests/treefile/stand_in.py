"""Robots and fields that stand in for the real profiles: realistic enough for every rule of the language."""

from math import pi

from orchestrator.robots.facts import Field, Group, Pose, RobotFacts

FIELDS = {
    field.name: field
    for field in (
        Field("battery.level", "percent", "battery", lower=0, upper=100),
        Field("battery.voltage", "voltage", "battery", lower=0),
        Field("fsm.state", "choice", "fsm", event=True),
        Field("upper.state", "choice", "upper_body", event=True),
        Field("velocity.source", "choice", "velocity", event=True, choices=("joystick", "handheld", "navigation")),
        Field("upper.control", "bool", "upper_body", event=True),
        Field("base.remote", "bool", "mobile_base", event=True),
        Field("emergency.any", "bool", "emergency", event=True),
        Field("errors.any", "bool", "errors", event=True),
        Field("errors.count", "int", "errors", event=True, lower=0),
        Field("base.x", "length", "mobile_base"),
        Field("base.speed", "speed", "mobile_base"),
        Field("base.heading", "angle", "mobile_base", lower=-pi, upper=pi),
        Field("base.tag", "int", "mobile_base", event=True, lower=0),
        Field("hands.right.holding", "bool", "hands", event=True),
        Field("hands.left.holding", "bool", "hands", event=True),
        Field("body.stable", "bool", "stand_pose", event=True),
        Field("pad.a", "bool", "pad", event=True),
        Field("pad.b", "bool", "pad", event=True),
    )
}

_EVERYWHERE = frozenset(("joints", "hands", "errors", "battery", "pad"))
_ARM = ("shoulder_pitch", "shoulder_roll", "elbow_pitch", "wrist_roll")
_ARMS = {f"{side}_{joint}": (-1.5, 1.5) for side in ("left", "right") for joint in _ARM}

ATOM_W = RobotFacts(
    name="atom_w",
    family="atom",
    model="atom_w",
    capabilities=_EVERYWHERE | {"fsm", "upper_body", "mobile_base", "rotate_base", "emergency", "body"},
    fsm_states=("zero_torque", "damping", "ready", "walk", "balance"),
    upper_states=("off", "on"),
    tags={"shelf": 12, "table": 15, "dock": 1, "door": 3},
    poses={"home": Pose({"left_elbow_pitch": 0.0}), "nod": Pose({"head_pitch": 0.2})},
    groups={
        "left_arm": Group(tuple(j for j in _ARMS if j.startswith("left")), "upper"),
        "right_arm": Group(tuple(j for j in _ARMS if j.startswith("right")), "upper"),
        "head": Group(("head_yaw", "head_pitch"), "head"),
    },
    joints={**_ARMS, "head_yaw": (-1.57, 1.57), "head_pitch": (-1.57, 0.7)},
    read_only_joints=frozenset({"lift_1"}),
    hands=("left", "right"),
    ranges={
        "base.speed": (-0.6, 0.6),
        "base.turn": (-1.0, 1.0),
        "base.task_speed": (0.05, 0.6),
        "base.task_acceleration": (0.05, 2.0),
        "hand.fingers": (6, 6),
    },
)

GR2 = RobotFacts(
    name="gr2",
    family="aurora",
    model="gr2",
    capabilities=frozenset(
        ["fsm", "upper_body", "stand_pose", "velocity", "joints", "hands", "move_hand", "gains", "emergency", "body"]
    ),
    fsm_states=("default", "joint_stand", "pd_stand", "walk", "security", "user_cmd", "upper_user_cmd"),
    upper_states=("default", "act", "remote", "move_cmd"),
    velocity_sources=("joystick", "handheld", "navigation"),
    poses={"home": Pose({"left_elbow_pitch": 0.0})},
    groups={
        "left_arm": Group(tuple(j for j in _ARMS if j.startswith("left")), "upper"),
        "head": Group(("head_yaw", "head_pitch"), "head"),
        "left_leg": Group(("left_hip_pitch",), "legs"),
    },
    joints={**_ARMS, "head_yaw": (-1.4, 1.4), "head_pitch": (-0.5, 0.5), "left_hip_pitch": (-2.6, 2.6)},
    hands=("left", "right"),
    ranges={
        "stand.height": (-0.2, 0.025),
        "stand.pitch": (-0.3, 0.45),
        "stand.yaw": (-0.3, 0.3),
        "walk.forward": (-0.5, 0.75),
        "walk.left": (-0.5, 0.5),
        "walk.turn": (-1.0, 1.0),
        "reach.forward": (-0.2, 0.6),
        "reach.left": (-0.6, 0.6),
        "reach.up": (-0.4, 0.6),
    },
)

ADAM_U = RobotFacts(
    name="adam_u",
    family="adam",
    model="adam_u",
    capabilities=_EVERYWHERE | {"gains"},
    groups={"left_arm": Group(tuple(j for j in _ARMS if j.startswith("left")), "upper")},
    joints=dict(_ARMS),
    hands=("left", "right"),
)

ROBOTS = {robot.name: robot for robot in (ATOM_W, GR2, ADAM_U)}
