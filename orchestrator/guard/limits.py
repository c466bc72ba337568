"""Whether numbers in an intent are finite, within the robot's limits, and begin where the robot is."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import msgspec

from orchestrator.guard.config import GuardConfig, RobotRules
from orchestrator.guard.state import Angles
from orchestrator.robots import intents as i
from orchestrator.robots.intents import AnyIntent
from orchestrator.robots.profile import Joint, Profile, Range

SWAY = 0.02
"""Metres by which two reports of where a hand is may differ."""


def all_finite(intent: AnyIntent) -> bool:
    """Whether every number in an intent is finite, however deep."""
    return _finite(msgspec.structs.astuple(intent))


def _finite(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, (tuple, list)):  # a union of types takes three times as long
        return all(map(_finite, value))
    if isinstance(value, i.Keyframe):
        return math.isfinite(value.time) and _finite(value.q)
    return True


def beyond_limits(intent: AnyIntent, profile: Profile, config: GuardConfig, rules: RobotRules) -> str | None:
    """What in the intent this robot must not be asked for."""
    check = _CHECKS.get(type(intent))
    return check(intent, profile, config, rules) if check else None


def _outside(name: str, value: float, allowed: Range) -> str | None:
    if allowed.holds(value):
        return None
    return f"{name} {value:g} is outside {allowed.low:g} to {allowed.high:g}"


def _first(*problems: str | None) -> str | None:
    return next((problem for problem in problems if problem), None)


def _velocity(intent: i.Velocity, profile: Profile, config: GuardConfig, rules: RobotRules) -> str | None:
    limits = profile.velocity
    if limits is None:
        return f"{profile.name} takes no velocities"
    return _first(
        _outside("vx", intent.vx, limits.vx),
        _outside("vy", intent.vy, limits.vy),
        _outside("yaw", intent.yaw, limits.yaw),
    )


def _known(what: str, name: str, names: dict[str, int], profile: Profile) -> str | None:
    return None if name in names else f"{profile.name} has no {what} {name}"


def _fsm(intent: i.SetFsm, profile: Profile, config: GuardConfig, rules: RobotRules) -> str | None:
    return _known("state", intent.state, profile.fsm, profile)


def _upper_fsm(intent: i.SetUpperFsm, profile: Profile, config: GuardConfig, rules: RobotRules) -> str | None:
    return _known("upper-body state", intent.state, profile.upper_fsm, profile)


def _source(intent: i.SetVelocitySource, profile: Profile, config: GuardConfig, rules: RobotRules) -> str | None:
    return _known("velocity source", intent.source, profile.velocity_sources, profile)


def _stand_pose(intent: i.StandPose, profile: Profile, config: GuardConfig, rules: RobotRules) -> str | None:
    limits = profile.stand_pose
    if limits is None:
        return f"{profile.name} has no stand pose"
    return _first(
        _outside("dz", intent.dz, limits.dz),
        _outside("pitch", intent.pitch, limits.pitch),
        _outside("yaw", intent.yaw, limits.yaw),
    )


def _group(name: str, count: int, profile: Profile, config: GuardConfig, rules: RobotRules) -> str | None:
    joints = profile.group(name)
    if not joints:
        return f"{profile.name} has no joint group {name}"
    if name in profile.read_only_groups:
        return f"{name} of {profile.name} is never commanded"
    if name in rules.legs and not config.allow.low_level:
        return f"{name} is not commanded unless allow.low_level is set"
    if count != len(joints):
        return f"{name} has {len(joints)} joints, not {count}"
    return None


def _angles(joints: tuple[Joint, ...], q: Angles) -> str | None:
    for joint, value in zip(joints, q):
        if problem := _outside(joint.name, value, joint.position):
            return problem
    return None


def _target(intent: i.JointTarget, profile: Profile, config: GuardConfig, rules: RobotRules) -> str | None:
    if problem := _group(intent.group, len(intent.q), profile, config, rules):
        return problem
    if intent.duration <= 0:
        return f"a duration of {intent.duration:g} s is not possible"
    return _angles(profile.group(intent.group), intent.q)


def _path(intent: i.JointPath, profile: Profile, config: GuardConfig, rules: RobotRules) -> str | None:
    if not intent.keyframes:
        return "a path needs at least one keyframe"
    times = [frame.time for frame in intent.keyframes]
    if times[0] <= 0 or any(later <= earlier for earlier, later in pairwise(times)):
        return "the times of keyframes must be above 0 and rise"
    joints = profile.group(intent.group)
    for frame in intent.keyframes:
        if problem := _group(intent.group, len(frame.q), profile, config, rules) or _angles(joints, frame.q):
            return f"{problem} (at {frame.time:g} s)"
    return None


def _hand(intent: i.HandTarget, profile: Profile, config: GuardConfig, rules: RobotRules) -> str | None:
    if profile.hands is None or intent.hand not in profile.hands.order:
        return f"{profile.name} has no {intent.hand} hand"
    if len(intent.opening) != len(profile.hands.fingers):
        return f"a hand has {len(profile.hands.fingers)} fingers, not {len(intent.opening)}"
    return _first(*(_outside("opening", value, Range(0, 1)) for value in intent.opening))


def _move_hand(intent: i.MoveHand, profile: Profile, config: GuardConfig, rules: RobotRules) -> str | None:
    if not profile.move_command or intent.arm not in ("left_arm", "right_arm"):
        return f"{profile.name} does not move {intent.arm} to poses by itself"
    norm = math.sqrt(sum(part * part for part in intent.pose[3:]))
    return _first(_outside("speed", intent.speed, Range(0, 1)), _outside("quaternion norm", norm, Range(0.95, 1.05)))


def out_of_reach(intent: AnyIntent, profile: Profile, shown: dict[str, Angles]) -> str | None:
    """Which way a hand would go too far. One that is too far already may stay there, or come nearer."""
    if not isinstance(intent, i.MoveHand):
        return None
    reach, here = profile.reach, shown.get(intent.arm)
    ranges = {"forward": reach.forward, "left": reach.left, "up": reach.up}
    for axis, (name, allowed) in enumerate(ranges.items()):
        if here is not None:
            allowed = Range(min(allowed.low, here[axis] - SWAY), max(allowed.high, here[axis] + SWAY))
        if problem := _outside(name, intent.pose[axis], allowed):
            return problem
    return None


def _gains(intent: i.SetGains, profile: Profile, config: GuardConfig, rules: RobotRules) -> str | None:
    joints = profile.group(intent.group)
    if not joints or not len(intent.kp) == len(intent.kd) == len(joints):
        return f"gains of {intent.group} must be one kp and one kd for each of its {len(joints)} joints"
    if problem := _group(intent.group, len(joints), profile, config, rules):
        return problem
    for joint, kp, kd in zip(joints, intent.kp, intent.kd):
        if joint.kp is None or joint.kd is None:
            return f"the nominal gains of {joint.name} are not known"
        highest = config.limits.gain
        problem = _outside(f"kp of {joint.name}", kp, Range(0, joint.kp * highest))
        if problem := problem or _outside(f"kd of {joint.name}", kd, Range(0, joint.kd * highest)):
            return problem
    return None


def _motors(intent: i.EnableMotors, profile: Profile, config: GuardConfig, rules: RobotRules) -> str | None:
    wanted = len(profile.joints)
    return None if len(intent.enabled) == wanted else f"{profile.name} has {wanted} motors, not {len(intent.enabled)}"


def _tag(intent: i.MoveToTag, profile: Profile, config: GuardConfig, rules: RobotRules) -> str | None:
    if profile.base is None:
        return f"{profile.name} has no base"
    if intent.tag not in profile.base.tags.values():
        return f"there is no tag {intent.tag} in the profile of {profile.name}"
    return None


def _rotate(intent: i.RotateBase, profile: Profile, config: GuardConfig, rules: RobotRules) -> str | None:
    if profile.base is None or not profile.base.rotate:
        return f"the base of {profile.name} cannot turn on the spot"
    return _outside("angle", intent.angle, Range(-2 * math.pi, 2 * math.pi))


def _drive(intent: i.DriveBase, profile: Profile, config: GuardConfig, rules: RobotRules) -> str | None:
    return _base_speeds(intent.linear, intent.angular, profile, lowest=-1)


def _base_speed(intent: i.SetBaseSpeed, profile: Profile, config: GuardConfig, rules: RobotRules) -> str | None:
    if problem := _base_speeds(intent.linear, intent.angular, profile, lowest=0):
        return problem
    assert profile.base is not None
    return _outside("linear", intent.linear, profile.base.task_speed)


def _base_acceleration(
    intent: i.SetBaseAcceleration | i.SetBaseDeceleration, profile: Profile, config: GuardConfig, rules: RobotRules
) -> str | None:
    base = profile.base
    if base is None:
        return f"{profile.name} has no base"
    allowed = base.task_acceleration
    turning = Range(base.turning_like(allowed.low), base.turning_like(allowed.high))
    return _first(_outside("linear", intent.linear, allowed), _outside("angular", intent.angular, turning))


def _base_speeds(linear: float, angular: float, profile: Profile, lowest: int) -> str | None:
    base = profile.base
    if base is None:
        return f"{profile.name} has no base"
    return _first(
        _outside("linear", linear, Range(lowest * base.linear, base.linear)),
        _outside("angular", angular, Range(lowest * base.angular, base.angular)),
    )


_CHECKS: dict[type[AnyIntent], Any] = {
    i.SetFsm: _fsm,
    i.SetUpperFsm: _upper_fsm,
    i.SetVelocitySource: _source,
    i.Velocity: _velocity,
    i.StandPose: _stand_pose,
    i.JointTarget: _target,
    i.JointPath: _path,
    i.HandTarget: _hand,
    i.MoveHand: _move_hand,
    i.SetGains: _gains,
    i.EnableMotors: _motors,
    i.MoveToTag: _tag,
    i.RotateBase: _rotate,
    i.DriveBase: _drive,
    i.SetBaseSpeed: _base_speed,
    i.SetBaseAcceleration: _base_acceleration,
    i.SetBaseDeceleration: _base_acceleration,
}


def too_sudden(group: str, start: Angles, measured: Angles, profile: Profile, step: float) -> str | None:
    """Which joint would jump at the beginning of a motion."""
    joints = profile.group(group)
    if not len(joints) == len(start) == len(measured):
        return f"where {group} is now is not known"
    for joint, value, here in zip(joints, start, measured):
        if not abs(value - here) <= step:
            return f"{joint.name} would begin at {value:.3f}, but is at {here:.3f} rad"
    return None
