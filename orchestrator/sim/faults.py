"""Faults on a simulated robot, by name: at a time, on a condition, for a while.

As text: `NAME[:TARGET][,KEY=VALUE…][@WHEN][+DURATION]`, such as `off:rt/amr/state@3s+2s`,
`wrong:rt/amr/state.position,value=99`, `lost:rt/amr/cmd,nth=1` or `hard@rt/amr/state.navigation_status=RUNNING`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from orchestrator.bus.contract import Bus
from orchestrator.bus.memory import MemoryBus
from orchestrator.sim import sample_faults as samples
from orchestrator.sim.lines import Action, Command, CommandFault, SampleFault
from orchestrator.sim.twin import Twin
from orchestrator.wire.codec import codec
from orchestrator.wire.errors import WireError
from orchestrator.yamlfile.findings import nearest
from orchestrator.yamlfile.units import UNITS

_LOOPBACK = ("lo", "127.0.0.1")
_LASTING = re.compile(r"\+([^+,=@]*)$")
_TIME = re.compile(r"([0-9.]+)\s*([a-z]+)")


Beginning = Callable[[Twin, "Fault"], Callable[[], None]]
"""Puts a fault in, and gives what takes it out again."""
Spoiling = Callable[[Twin, "Fault"], SampleFault]
Disturbance = Callable[[Twin, "Fault", Command, Any, Action], object]


class FaultError(ValueError):
    """A fault that cannot be put in; one sentence that a person can act on."""

    def __init__(self, sentence: str, about: str = "fault") -> None:
        super().__init__(sentence)
        self.about = about
        """What is wrong: the fault, its target, when, or one of its parameters."""


@dataclass(frozen=True)
class Fault:
    """What is to go wrong, with what, when and for how long."""

    name: str
    target: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    at: float = 0.0
    """Seconds after the robot's start."""
    when: Callable[[], bool] | None = None
    """Instead of a time: as soon as this holds."""
    until: float | None = None
    """How many seconds it lasts; None: for good."""


@dataclass(frozen=True)
class Kind:
    """One row of the table of faults."""

    target: Literal["state topic", "command", "hand", "joint", "state", ""]
    """What it needs a name of."""
    text: str
    parameters: dict[str, Any]
    """Their names and what they are if nobody says."""
    begin: Beginning
    needs: str = ""
    """What the robot must have for it (`Twin.offers`)."""


def inject(twin: Twin, fault: Fault | str) -> None:
    """Put a fault into a simulated robot. On a network that a real robot could be on, this is refused."""
    if isinstance(fault, str):
        fault = parse_fault(fault, twin)
    if not is_private(twin.bus):
        raise FaultError("faults need a network of their own: in memory, or DDS on loopback with a private tag")
    fault = checked(fault, twin)
    kind = FAULTS[fault.name]
    if fault.when is not None:
        _on_condition(twin, fault, kind)
    else:
        twin.clock.at(twin.started_at + fault.at, lambda: _begin(twin, fault, kind))


def is_private(bus: Bus) -> bool:
    """Whether only programs of this test or simulation can be on the bus' network."""
    settings: Any = getattr(bus, "settings", None)
    return isinstance(bus, MemoryBus) or bool(settings and settings.tag and settings.interface in _LOOPBACK)


def _begin(twin: Twin, fault: Fault, kind: Kind) -> None:
    end = kind.begin(twin, fault)
    if fault.until is not None:
        twin.clock.after(fault.until, end)


def _on_condition(twin: Twin, fault: Fault, kind: Kind) -> None:
    def look() -> None:
        assert fault.when is not None
        if fault.when():
            twin.watchers.remove(look)
            # Not in the middle of what the robot is doing, but as the next thing that happens.
            twin.clock.after(0.0, lambda: _begin(twin, fault, kind))

    twin.watchers.append(look)
    twin.update()


# Faults of state topics


def _of_samples(make: Spoiling) -> Beginning:
    def begin(twin: Twin, fault: Fault) -> Callable[[], None]:
        name = fault.target.partition(".")[0]
        spoil = make(twin, fault)
        twin.publications[name].outlet.faults += (spoil,)
        twin.show_every_sample(name)  # a fault of single samples needs every one of them

        def end() -> None:
            outlet = twin.publications[name].outlet
            outlet.faults = tuple(other for other in outlet.faults if other is not spoil)

        return end

    return begin


def _field(twin: Twin, fault: Fault) -> samples.Field | None:
    name, _, path = fault.target.partition(".")
    return samples.Field(twin.topics[name].type, path) if path else None


def _wrong(twin: Twin, fault: Fault) -> SampleFault:
    changed = _field(twin, fault)
    assert changed is not None  # as _complete has checked
    return samples.wrong(changed, fault.parameters["value"])


# Faults of commands


def _of_commands(
    act: Disturbance,
) -> Beginning:
    def begin(twin: Twin, fault: Fault) -> Callable[[], None]:
        count, nth = 0, int(fault.parameters["nth"])

        def disturb(command: Command, message: Any, execute: Action) -> None:
            nonlocal count
            count += 1
            if nth in (0, count):
                act(twin, fault, command, message, execute)
            else:
                execute(message)

        disturbance: CommandFault = disturb
        twin.commands[fault.target].faults += (disturbance,)

        def end() -> None:
            command = twin.commands[fault.target]
            command.faults = tuple(other for other in command.faults if other is not disturbance)

        return end

    return begin


def _twice(twin: Twin, fault: Fault, command: Command, message: Any, execute: Action) -> None:
    execute(message)
    execute(message)


def _late(twin: Twin, fault: Fault, command: Command, message: Any, execute: Action) -> None:
    def then() -> None:
        execute(message)

    twin.clock.after(fault.parameters["seconds"], then)


def _partly(twin: Twin, fault: Fault, command: Command, message: Any, execute: Action) -> None:
    assert command.partly is not None  # as _complete has checked
    command.partly(message)


# Faults of the robot


def _once(act: Callable[[Any, Fault], object]) -> Beginning:
    """Something that happens and cannot be taken back."""
    return _while(act, lambda twin, fault: None)


def _while(start: Callable[[Any, Fault], object], stop: Callable[[Any, Fault], object]) -> Beginning:
    def begin(twin: Twin, fault: Fault) -> Callable[[], None]:
        start(twin, fault)

        def end() -> None:
            stop(twin, fault)

        return end

    return begin


def _stop(kind: str) -> Kind:
    press = _while(lambda twin, fault: twin.press_emergency(kind), lambda twin, fault: twin.release_emergency(kind))
    return Kind("", f"the {kind} emergency stop is pressed, and released at the end", {}, press, kind)


def _foreign(twin: Twin, fault: Fault) -> Callable[[], None]:
    bus = twin.foreign_bus("stranger")
    bus.writer(twin.topics[fault.target])
    return bus.close


def _battery(twin: Any, fault: Fault) -> None:
    twin.advance()
    battery = twin.base.battery if fault.parameters["base"] else twin.battery
    battery.level = fault.parameters["level"]
    twin.update()


def _base(method: str, text: str, undo: str | None = None, **parameters: Any) -> Kind:
    """Something a person or the world does to the base."""

    def start(twin: Any, fault: Fault) -> None:
        getattr(twin.base, method)(**fault.parameters)

    def stop(twin: Any, fault: Fault) -> None:
        if undo is not None:
            getattr(twin.base, undo)()

    return Kind("", text, parameters, _while(start, stop), "base")


def _state_fault(text: str, make: Spoiling, **parameters: Any) -> Kind:
    return Kind("state topic", text, parameters, _of_samples(make))


def _command_fault(text: str, act: Disturbance, **parameters: Any) -> Kind:
    return Kind("command", text, {"nth": 0} | parameters, _of_commands(act))


FAULTS: dict[str, Kind] = {
    "off": _state_fault("the topic falls silent", lambda t, f: samples.off()),
    "stuck": _state_fault("the same sample (or field) again and again", lambda t, f: samples.Stuck(_field(t, f))),
    "garbage": _state_fault(
        "random bytes, or nonsense such as NaN in one field", lambda t, f: samples.Garbage(_field(t, f), t.seed)
    ),
    "wrong": _state_fault("a field has this value, whatever is true", _wrong, value=None),
    "slow": _state_fault(
        "only one sample of so many", lambda t, f: samples.Slow(int(f.parameters["factor"])), factor=10
    ),
    "delayed": _state_fault(
        "every sample comes late", lambda t, f: samples.delayed(t.clock, f.parameters["seconds"]), seconds=0.5
    ),
    "intermittent": _state_fault(
        "silent and there again in turns",
        lambda t, f: samples.intermittent(t.clock, f.parameters["on"], f.parameters["off"]),
        on=1.0,
        off=1.0,
    ),
    "duplicate": _state_fault("every sample twice", lambda t, f: samples.duplicate()),
    "reorder": _state_fault("neighbours change places", lambda t, f: samples.Reorder(t.clock)),
    "burst": _state_fault(
        "held back, then so many at once", lambda t, f: samples.Burst(t.clock, int(f.parameters["count"])), count=10
    ),
    "truncate_type": _state_fault(
        "the last bytes are missing, as from another firmware",
        lambda t, f: samples.truncated(int(f.parameters["bytes"])),
        bytes=4,
    ),
    "lost": _command_fault("the command never arrives", lambda t, f, c, m, e: None),
    "ack_only": _command_fault("taken and reported, not done", lambda t, f, c, m, e: c.acknowledge(m)),
    "late_exec": _command_fault("done late", _late, seconds=1.0),
    "double_exec": _command_fault("done twice", _twice),
    "refused": _command_fault("not done; JSON-RPC says so", lambda t, f, c, m, e: c.refuse(m)),
    "partial": _command_fault("done in part only, as far as that means something", _partly),
    "reboot": Kind(
        "", "silent for so long, then as after power-up", {"seconds": 3.0},
        _once(lambda twin, fault: twin.reboot(fault.parameters["seconds"])),
    ),
    "foreign_writer": Kind("command", "another program gets ready to send this command", {}, _foreign),
    "foreign_fsm": Kind(
        "state", "somebody else changes the state", {},
        _once(lambda twin, fault: twin.change_fsm(twin.profile.fsm[fault.target])),
    ),
    "soft": _stop("soft"),
    "hard": _stop("hard"),
    "di": _stop("di"),
    "amr_stop": _stop("amr"),
    "amr_stop_topic": _stop("amr_topic"),
    "amr_stop_event": _stop("amr_event"),
    "security": _stop("security"),
    "damping": _stop("damping"),
    "motor_error": Kind(
        "joint", "a drive reports an error", {"code": 1},
        _once(lambda twin, fault: twin.fail_motor(fault.target, int(fault.parameters["code"]))),
    ),
    "fall": Kind("", "the robot falls over", {}, _once(lambda twin, fault: twin.fall()), "fall"),
    "battery": Kind("", "the battery is at this level", {"level": 5.0, "base": False}, _once(_battery), "battery"),
    "hand_jam": Kind(
        "hand", "fingers do not move any more", {},
        _while(lambda twin, fault: twin.hand(fault.target).jam(),
               lambda twin, fault: twin.hand(fault.target).jam(False)),
    ),
    "object_lost": Kind(
        "hand", "what the hand holds slips out", {},
        _once(lambda twin, fault: setattr(twin.hand(fault.target), "object", False)),
    ),
    "amr_failed": _base("fail", "the base's task fails"),
    "amr_error": _base("break_down", "the base reports an error and stops", "repair", code=1),
    "amr_offline": _base("go_offline", "the base is offline", "repair"),
    "amr_blocked": _base("block", "something stands in the way", "unblock"),
    "amr_pause": _base("pause_by_hand", "somebody else pauses the task", "resume_by_hand"),
    "amr_cancel": _base("cancel_by_hand", "somebody else cancels the task"),
    "amr_stopped": _base("stop_by_hand", "somebody ends the task at the base"),
    "amr_maintenance": _base("take_over", "the base goes into maintenance mode", "give_back"),
}  # fmt: skip
"""Every fault there is."""


# Reading and checking


def parse_fault(text: str, twin: Twin) -> Fault:
    """A fault from its text; mistakes are FaultErrors that say what would be right."""
    lasting = _LASTING.search(text)
    duration = lasting[1] if lasting else ""
    head, _, moment = text[: lasting.start() if lasting else None].partition("@")
    name_and_target, *pairs = head.split(",")
    name, _, target = name_and_target.partition(":")
    parameters = dict(_pair(pair, text) for pair in pairs)
    until = _seconds(duration, text) if duration else None
    if "=" in moment:
        return Fault(name.strip(), target.strip(), parameters, when=condition(moment, twin), until=until)
    return Fault(name.strip(), target.strip(), parameters, _seconds(moment, text) if moment else 0.0, until=until)


def _pair(text: str, whole: str) -> tuple[str, Any]:
    key, separator, value = text.partition("=")
    if not separator:
        raise FaultError(f"{whole}: {text!r} is not KEY=VALUE")
    return key.strip(), value_of(value.strip())


def value_of(text: str) -> Any:
    """A parameter as it is written: yes or no, a time, a number, or a word."""
    if text in ("true", "false"):
        return text == "true"
    if _TIME.fullmatch(text) and text[-1] == "s":
        return _seconds(text, text)
    try:
        return float(text)
    except ValueError:
        return text


def _seconds(text: str, whole: str) -> float:
    match = _TIME.fullmatch(text.strip())
    if match is None or UNITS.get(match[2], ("", float))[0] != "duration":
        raise FaultError(f"{whole}: {text!r} is not a time such as 3s or 200ms")
    return UNITS[match[2]][1](float(match[1]))


def condition(text: str, twin: Twin) -> Callable[[], bool]:
    """`TOPIC.FIELD=VALUE`, of the samples as the robot means them."""
    place, equals, wanted = text.partition("=")
    name, dot, path = place.strip().partition(".")
    _known(name, twin.publications, "state topic", text, "when")
    if not (equals and dot):
        raise FaultError(f"{text}: is not a condition such as rt/amr/state.navigation_status=RUNNING", "when")
    try:
        read = codec(twin.topics[name].type).field(path, plain=True)
    except WireError as error:
        raise FaultError(f"{text}: {error}", "when") from None
    value = value_of(wanted.strip())

    def holds() -> bool:
        seen = read(twin.publications[name].make())
        return bool(getattr(seen, "name", seen) == value or getattr(seen, "value", seen) == value)

    return holds


def _known(name: str, valid: Any, what: str, whole: str, about: str) -> None:
    if name in valid:
        return
    meant = nearest(name, tuple(valid))
    hint = f"did you mean {meant}?" if meant else f"there are {', '.join(valid)}"
    raise FaultError(f"{whole}: no {what} {name!r}; {hint}" if whole != name else f"no {what} {name!r}; {hint}", about)


def checked(fault: Fault, twin: Any) -> Fault:
    """The fault with all its parameters, checked against the robot it is meant for."""
    _known(fault.name, FAULTS, "fault", fault.name, "fault")
    kind = FAULTS[fault.name]
    if kind.needs and kind.needs not in twin.offers:
        raise FaultError(f"{fault.name}: {twin.profile.name} has no {kind.needs}")
    for key, value in fault.parameters.items():
        _known(key, kind.parameters, "parameter", fault.name, key)
        _check_parameter(fault.name, key, value, kind.parameters[key])
    names: dict[str, Any] = {
        "state topic": twin.publications,
        "command": twin.commands,
        "hand": getattr(twin, "hands", {}),
        "joint": [joint.name for joint in twin.profile.joints],
        "state": twin.profile.fsm,
    }
    name, _, path = fault.target.partition(".")
    if kind.target and not name:
        example = next(iter(names[kind.target]), kind.target)
        raise FaultError(f"{fault.name} needs its {kind.target}, as in {fault.name}:{example}", "fault")
    if kind.target:
        _known(name, names[kind.target], kind.target, fault.name, "target")
    elif fault.target:
        raise FaultError(f"{fault.name}: takes no target, but {fault.target!r} was given", "target")
    if path:
        _check_field(twin, name, path, fault)
    if fault.name == "wrong" and not (path and "value" in fault.parameters):
        raise FaultError("wrong: needs a field and its value, such as wrong:rt/amr/state.task_id,value=7")
    if fault.name == "partial" and twin.commands[name].partly is None:
        able = [command.name for command in twin.commands.values() if command.partly]
        raise FaultError(f"partial: {name} cannot be done in part; {', '.join(able)} can", "target")
    parameters = kind.parameters | fault.parameters
    return Fault(fault.name, fault.target, parameters, fault.at, fault.when, fault.until)


def _check_field(twin: Twin, name: str, path: str, fault: Fault) -> None:
    if FAULTS[fault.name].target != "state topic":
        raise FaultError(f"{fault.name}: takes a whole {FAULTS[fault.name].target}, not its field {path!r}", "target")
    try:
        samples.Field(twin.topics[name].type, path)
    except WireError as error:
        raise FaultError(f"{fault.name}: {error}", "target") from None


def _check_parameter(fault: str, key: str, value: Any, default: Any) -> None:
    """Parameters are of the kind of their defaults; those without one may be anything."""
    if default is None:
        return
    if isinstance(default, bool):
        fits, wanted = isinstance(value, bool), "true or false"
    else:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        fits, wanted = number and 0 <= value < math.inf, "a number from 0 up"
    if not fits:
        raise FaultError(f"{fault}: {key} is {wanted}, not {value!r}", key)
