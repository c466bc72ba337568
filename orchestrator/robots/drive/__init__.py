"""Intents to messages: pure functions of the profile, the intent and what the sender knows.

They never look at a clock and never fill in a value that nobody chose. Whether a value is allowed is the guard's
business; that it is finite and fits into its message is theirs: what does not raises `CannotSend`.

* `calls` gives the vendor's JSON-RPC calls for an intent; where there are any, they are the better way.
* `messages` gives the DDS messages of everything but joint motion.
* `joint_messages` gives one step of joint motion: the positions for this instant (see `robots.motion`). There is no
  message for a whole `JointTarget`: a robot that gets it at once jumps.
"""

from __future__ import annotations

from types import ModuleType

from orchestrator.robots.drive import adam, atom, aurora
from orchestrator.robots.drive.sending import CannotSend, Makers, Message, ParamsOf, Positions, RpcCall, Sending
from orchestrator.robots.intents import AnyIntent, Intent, JointPath, JointTarget
from orchestrator.robots.profile import Profile

_FAMILIES: dict[str, ModuleType] = {"aurora": aurora, "atom": atom, "adam": adam}


def messages(profile: Profile, intent: AnyIntent, sending: Sending) -> list[Message]:
    """What to write, and to which topics, for this intent."""
    if isinstance(intent, JointTarget | JointPath):
        raise CannotSend("joint motion is sent step by step: see joint_messages")
    _refuse_read_only(profile)
    makers: Makers = _FAMILIES[profile.family].MESSAGES
    maker = makers.get(type(intent))
    if maker is None:
        raise CannotSend(f"{profile.model} has no message for {type(intent).__name__}")
    return maker(profile, intent, sending)


def calls(profile: Profile, intent: AnyIntent, sending: Sending) -> list[RpcCall]:
    """The JSON-RPC calls for this intent; none where the robot has no RPC or no call for it."""
    _refuse_read_only(profile)
    method, params_of = _calls_of(profile).get(type(intent), ("", None))
    return [RpcCall(method, params_of(profile, intent, sending))] if params_of else []


def methods(profile: Profile) -> dict[type[Intent], str]:
    """The JSON-RPC method for every intent that has one; none where the robot has no RPC."""
    return {intent: method for intent, (method, _) in _calls_of(profile).items()}


def _calls_of(profile: Profile) -> dict[type[Intent], tuple[str, ParamsOf]]:
    return atom.CALLS if profile.family == "atom" and profile.rpc else {}


def joint_messages(profile: Profile, positions: Positions, sending: Sending) -> list[Message]:
    """One step: these groups at these positions now. What the message holds beside them stays where it is held."""
    _refuse_read_only(profile)
    made: list[Message] = _FAMILIES[profile.family].joint_messages(profile, positions, sending)
    return made


def _refuse_read_only(profile: Profile) -> None:
    if profile.read_only:
        raise CannotSend(f"{profile.model} is read only")


__all__ = ["CannotSend", "Message", "Positions", "RpcCall", "Sending", "calls", "joint_messages", "messages", "methods"]
