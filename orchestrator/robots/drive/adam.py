"""Intents to messages of PND's Adam: every message names every joint, with its gains."""

from __future__ import annotations

from orchestrator.robots.drive.sending import (
    CannotSend,
    Makers,
    Message,
    Positions,
    Sending,
    both_hands,
    commanded_or_held,
    group_of,
    whole,
)
from orchestrator.robots.intents import EnableMotors, HandTarget
from orchestrator.robots.profile import Joint, Profile
from orchestrator.wire.pnd_adam import HandCmd_, LowCmd_, MotorCmd_

_SERIES = 0  # mode_pr: joints as pitch and roll, not as the parallel motors behind them


def _motor(joint: Joint, q: float, enabled: bool) -> MotorCmd_:
    """`q` is known to be finite: it comes from a list that was looked through."""
    if joint.kp is None or joint.kd is None:
        raise CannotSend(f"{joint.name} has no gains in the profile")
    return MotorCmd_(mode=int(enabled), q=q, dq=0.0, tau=0.0, kp=joint.kp, kd=joint.kd, ki=0.0, reserve=0)


def _all_joints(profile: Profile, q: list[float], enabled: tuple[bool, ...]) -> list[Message]:
    motors = [_motor(joint, value, on) for joint, value, on in zip(profile.joints, q, enabled, strict=True)]
    return [("rt/lowcmd", LowCmd_(mode_pr=_SERIES, motor_cmd=motors, reserve=0))]


def joint_messages(profile: Profile, positions: Positions, sending: Sending) -> list[Message]:
    """All joints; groups that are not commanded are held."""
    for name in positions:
        group_of(profile, name)
    q = commanded_or_held(profile, positions, sending, profile.groups)
    return _all_joints(profile, q, (True,) * len(q))


def _enable_motors(profile: Profile, intent: EnableMotors, sending: Sending) -> list[Message]:
    """A motor that is switched on holds its joint where it is."""
    if len(intent.enabled) != len(profile.joints):
        raise CannotSend(f"enabled has {len(intent.enabled)} values, not {len(profile.joints)}")
    return _all_joints(profile, commanded_or_held(profile, {}, sending, profile.groups), intent.enabled)


def _hand_target(profile: Profile, intent: HandTarget, sending: Sending) -> list[Message]:
    positions = both_hands(profile, intent.hand, intent.opening, sending)
    counts = [whole(round(position), 32, "finger position") for position in positions]
    return [("rt/handcmd", HandCmd_(position=counts, reserve=0))]


MESSAGES: Makers = {EnableMotors: _enable_motors, HandTarget: _hand_target}
