"""Faults on a simulated robot, by name: at a time, on a condition, for a while.

As text: `NAME[:TARGET][,KEY=VALUE…][@WHEN][+DURATION]`, such as `off:rt/amr/state@3s+2s`,
`wrong:rt/amr/state.position,value=99`, `lost:rt/amr/cmd,nth=1` or `hard@rt/amr/state.navigation_status=RUNNING`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from orchestrator.bus.contract import Bus
from orchestrator.bus.memory import MemoryBus
from orchestrator.sim import sample_faults as samples
from orchestrator.sim.fault import Beginning, Fault, FaultError, Kind, Parameter, known
from orchestrator.sim.fault_text import parse_fault
from orchestrator.sim.lines import Action, Command, CommandFault, SampleFault
from orchestrator.sim.twin import Twin
from orchestrator.wire.errors import WireError

_LOOPBACK = ("lo", "127.0.0.1")
_SHORTEST = 0.001
"""s: turns that are shorter than a robot's samples apart mean nothing."""

Spoiling = Callable[[Twin, "Fault"], SampleFault]
Disturbance = Callable[[Twin, "Fault", Command, Any, Action], object]


def inject(twin: Twin, fault: Fault | str) -> None:
    """Put a fault into a simulated robot. On a network that a real robot could be on, this is refused."""
    if isinstance(fault, str):
        fault = parse_fault(fault, twin)
    if not is_private(twin.bus):
        raise FaultError("faults need a network of their own: in memory, or DDS on loopback with a private tag")
    fault = checked(fault, twin)
    twin.faults.append(fault)
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
    assert changed is not None  # as _check_value has seen to
    return samples.wrong(changed, fault.parameters["value"])


# Faults of commands


def _of_commands(act: Disturbance) -> Beginning:
    def begin(twin: Twin, fault: Fault) -> Callable[[], None]:
        count, nth = 0, fault.parameters["nth"]

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
    assert command.partly is not None  # as _check_part has seen to
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


def _base(method: str, text: str, undo: str | None = None, **parameters: Parameter) -> Kind:
    """Something a person or the world does to the base."""

    def start(twin: Any, fault: Fault) -> None:
        getattr(twin.base, method)(**fault.parameters)

    def stop(twin: Any, fault: Fault) -> None:
        if undo is not None:
            getattr(twin.base, undo)()

    return Kind("", text, parameters, _while(start, stop), "base")


def _state_fault(text: str, make: Spoiling, **parameters: Parameter) -> Kind:
    return Kind("state topic", text, parameters, _of_samples(make))


def _command_fault(text: str, act: Disturbance, **parameters: Parameter) -> Kind:
    return Kind("command", text, {"nth": Parameter(0)} | parameters, _of_commands(act))


# What must be right about single faults


def _check_field(twin: Twin, fault: Fault) -> None:
    """A field is there, and can be changed, in the messages that this robot sends."""
    name = fault.target.partition(".")[0]
    try:
        changed = _field(twin, fault)
        found = None if changed is None else changed.find(twin.publications[name].make())
    except WireError as error:
        raise FaultError(f"{fault.name}: {error}", "target") from None
    if found is not None and not any(count for _, count in found):
        raise FaultError(f"{fault.name}: there is nothing in {fault.target}", "target")


def _check_value(twin: Twin, fault: Fault) -> None:
    _check_field(twin, fault)
    changed, value = _field(twin, fault), fault.parameters["value"]
    if changed is None or value is None:
        raise FaultError("wrong: needs a field and its value, such as wrong:rt/amr/state.task_id,value=7")
    try:
        changed.held(value)
    except ValueError as error:
        raise FaultError(f"wrong: {fault.target} {error}", "value") from None


def _check_part(twin: Twin, fault: Fault) -> None:
    if twin.commands[fault.target].partly is None:
        able = [command.name for command in twin.commands.values() if command.partly]
        raise FaultError(f"partial: {fault.target} cannot be done in part; {', '.join(able)} can", "target")


def _check_battery(twin: Twin, fault: Fault) -> None:
    if fault.parameters["base"] and "base" not in twin.offers:
        raise FaultError(f"battery: {twin.profile.name} has no base", "base")


_E_STOPS = {
    "soft": "soft",
    "hard": "hard",
    "di": "di",
    "amr_stop": "amr",
    "amr_stop_topic": "amr_topic",
    "amr_stop_event": "amr_event",
    "security": "security",
    "damping": "damping",
}
"""Faults that press an emergency stop, and what the twin calls that."""

FAULTS: dict[str, Kind] = {
    "off": _state_fault("the topic falls silent", lambda t, f: samples.off()),
    "stuck": Kind(
        "state topic", "the same sample (or field) again and again", {},
        _of_samples(lambda t, f: samples.Stuck(_field(t, f))), fields=True, check=_check_field,
    ),
    "garbage": Kind(
        "state topic", "random bytes, or nonsense such as NaN in one field", {},
        _of_samples(lambda t, f: samples.Garbage(_field(t, f), t.seed)), fields=True, check=_check_field,
    ),
    "wrong": Kind(
        "state topic", "a field has this value, whatever is true", {"value": Parameter(None)},
        _of_samples(_wrong), fields=True, check=_check_value,
    ),
    "slow": _state_fault(
        "only one sample of so many", lambda t, f: samples.Slow(f.parameters["factor"]), factor=Parameter(10, least=1)
    ),
    "delayed": _state_fault(
        "every sample comes late",
        lambda t, f: samples.delayed(t.clock, f.parameters["seconds"]),
        seconds=Parameter(0.5),
    ),
    "intermittent": _state_fault(
        "silent and there again in turns",
        lambda t, f: samples.intermittent(t.clock, f.parameters["on"], f.parameters["off"]),
        on=Parameter(1.0, least=_SHORTEST),
        off=Parameter(1.0, least=_SHORTEST),
    ),
    "duplicate": _state_fault("every sample twice", lambda t, f: samples.duplicate()),
    "reorder": _state_fault("neighbours change places", lambda t, f: samples.Reorder(t.clock)),
    "burst": _state_fault(
        "held back, then so many at once",
        lambda t, f: samples.Burst(t.clock, f.parameters["count"]),
        count=Parameter(10, least=1),
    ),
    "truncate_type": _state_fault(
        "the last bytes are missing, as from another firmware",
        lambda t, f: samples.truncated(f.parameters["bytes"]),
        bytes=Parameter(4, least=1),
    ),
    "lost": _command_fault("the command never arrives", lambda t, f, c, m, e: None),
    "ack_only": _command_fault("taken and reported, not done", lambda t, f, c, m, e: c.acknowledge(m)),
    "late_exec": _command_fault("done late", _late, seconds=Parameter(1.0)),
    "double_exec": _command_fault("done twice", _twice),
    "refused": _command_fault("not done; JSON-RPC says so", lambda t, f, c, m, e: c.refuse(m)),
    "partial": replace(_command_fault("done in part only, as far as that means something", _partly), check=_check_part),
    "reboot": Kind(
        "", "silent for so long, then as after power-up", {"seconds": Parameter(3.0)},
        _once(lambda twin, fault: twin.reboot(fault.parameters["seconds"])),
    ),
    "foreign_writer": Kind("command topic", "another program gets ready to send this command", {}, _foreign),
    "foreign_fsm": Kind(
        "state", "somebody else changes the state", {},
        _once(lambda twin, fault: twin.change_fsm(twin.profile.fsm[fault.target])),
    ),
    **{name: _stop(kind) for name, kind in _E_STOPS.items()},
    "motor_error": Kind(
        "joint", "a drive reports an error", {"code": Parameter(1, least=1, most=0xFFFF)},
        _once(lambda twin, fault: twin.fail_motor(fault.target, fault.parameters["code"])),
    ),
    "fall": Kind("", "the robot falls over", {}, _once(lambda twin, fault: twin.fall()), "fall"),
    "battery": Kind(
        "", "the battery is at this level", {"level": Parameter(5.0, most=100.0), "base": Parameter(False)},
        _once(_battery), "battery", check=_check_battery,
    ),
    "hand_jam": Kind(
        "hand", "fingers do not move any more", {},
        _while(lambda twin, fault: twin.hand(fault.target).jam(),
               lambda twin, fault: twin.hand(fault.target).jam(False)),
    ),
    "object_lost": Kind(
        "hand", "what the hand holds slips out", {},
        _once(lambda twin, fault: setattr(twin.hand(fault.target), "object", False)),
    ),
    "press": Kind(
        "button", "somebody presses a button of the pad, and lets it go at the end", {},
        _while(lambda twin, fault: twin.press(fault.target), lambda twin, fault: twin.release(fault.target)),
    ),
    "press_key": _base("press_confirm_key", "somebody presses the key on the base that allows a remote drive"),
    "amr_failed": _base("fail", "the base's task fails"),
    "amr_error": _base(
        "break_down", "the base reports an error and stops", "repair", code=Parameter(1, least=1, most=0xFFFFFFFF)
    ),
    "amr_offline": _base("go_offline", "the base is offline", "repair"),
    "amr_blocked": _base("block", "something stands in the way", "unblock"),
    "amr_pause": _base("pause_by_hand", "somebody else pauses the task", "resume_by_hand"),
    "amr_cancel": _base("cancel_by_hand", "somebody else cancels the task"),
    "amr_stopped": _base("stop_by_hand", "somebody ends the task at the base"),
    "amr_maintenance": _base("take_over", "the base goes into maintenance mode", "give_back"),
}  # fmt: skip
"""Every fault there is."""


def checked(fault: Fault, twin: Any) -> Fault:
    """The fault with all its parameters, checked against the robot it is meant for."""
    known(fault.name, FAULTS, "fault", fault.name, "fault")
    kind = FAULTS[fault.name]
    if kind.needs and kind.needs not in twin.offers:
        raise FaultError(f"{fault.name}: {_lacking(fault.name, kind.needs, twin)}")
    if not all(0.0 <= time < math.inf for time in (fault.at, fault.until or 0.0)):
        raise FaultError(f"{fault.name}: it begins and lasts for a number of seconds from 0 up")
    if fault.until == 0.0:
        raise FaultError(f"{fault.name}: it must last longer than 0 s; without a duration it lasts for good", "for")
    complete = replace(fault, parameters=_parameters(fault, kind))
    _check_target(complete, kind, twin)
    kind.check(twin, complete)
    return complete


def _lacking(fault: str, needs: str, twin: Any) -> str:
    """A fall is nothing that a robot has: some are only not simulated to that point."""
    robot = twin.profile.name
    if fault in _E_STOPS:
        there = ", ".join(name for name, kind in _E_STOPS.items() if kind in twin.offers)
        return f"{robot} has no e-stop called {fault}; it has {there}"
    return f"a simulated {robot} cannot fall over" if needs == "fall" else f"{robot} has no {needs}"


def _parameters(fault: Fault, kind: Kind) -> dict[str, Any]:
    values = {key: parameter.default for key, parameter in kind.parameters.items()}
    for key, value in fault.parameters.items():
        known(key, kind.parameters, "parameter", fault.name, key)
        try:
            values[key] = kind.parameters[key].read(value)
        except ValueError as wanted:
            raise FaultError(f"{fault.name}: {key} is {wanted}, not {value!r}", key) from None
    return values


def _check_target(fault: Fault, kind: Kind, twin: Any) -> None:
    name, _, path = fault.target.partition(".")
    if not kind.target:
        if fault.target:
            raise FaultError(f"{fault.name}: takes no target, but {fault.target!r} was given", "target")
        return
    names = _targets(twin)[kind.target]
    if not names:
        raise FaultError(f"{fault.name}: {twin.profile.name} has no {kind.target}")
    if not name:
        raise FaultError(f"{fault.name} needs its {kind.target}, as in {fault.name}:{names[0]}", "fault")
    known(name, names, kind.target, fault.name, "target")
    if path and not kind.fields:
        raise FaultError(f"{fault.name}: takes a whole {kind.target}, not its field {path!r}", "target")


def _targets(twin: Any) -> dict[str, tuple[str, ...]]:
    """What this robot has of everything that faults can be about."""
    return {
        "state topic": tuple(twin.publications),
        "command": tuple(twin.commands),
        "command topic": tuple(twin.inlets),
        "hand": tuple(twin.hands),
        "joint": tuple(joint.name for joint in twin.profile.joints),
        "state": tuple(twin.profile.fsm),
        "button": twin.buttons,
    }


__all__ = ["FAULTS", "Fault", "FaultError", "checked", "inject", "parse_fault"]
