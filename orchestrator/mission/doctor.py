"""Looks at a robot's network and says what fits and what does not. It only looks: it never writes a command topic."""

from __future__ import annotations

import fcntl
import socket
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from orchestrator.bus.contract import BusError, Endpoint, Program, Reader, Report
from orchestrator.bus.dds import DdsBus
from orchestrator.bus.network import load_network
from orchestrator.bus.settings import DdsSettings
from orchestrator.guard.process import NAME as GUARD
from orchestrator.mission.installed import Line
from orchestrator.mission.processes import lock_holder, state_folder
from orchestrator.robots.models import SHOWN_ON, Shown, fitting, misfit, shown_by
from orchestrator.robots.profile import Profile
from orchestrator.wire.announced import DEFAULT, variant_of
from orchestrator.wire.codec import codec
from orchestrator.wire.errors import WireError
from orchestrator.wire.topics import VARIANTS, Topic, topics

LISTENING = 2.0
"""Seconds over which samples are counted."""
QUIET = 1.0
"""Seconds without a new reader or writer after which everybody is taken to be known."""
PATIENCE = 5.0
"""Seconds to wait for somebody to appear."""
BASE = "rt/amr/state"
"""What only a robot on wheels writes."""
_GET_ADDRESS = 0x8915
"""SIOCGIFADDR of Linux."""


@dataclass(frozen=True)
class Seen:
    """What was seen of one topic."""

    name: str
    """Its plain name, without the robot's prefix."""
    topic: Topic
    writers: tuple[Endpoint, ...] = ()
    readers: tuple[Endpoint, ...] = ()
    rate: float = 0.0
    undecodable: str = ""
    """Why the newest sample is not what the type says."""
    mismatches: tuple[str, ...] = ()
    """What DDS says about writers that do not fit our reader."""
    shows: Shown | None = None
    """What the newest sample shows of the robot's model."""


@dataclass(frozen=True)
class Sight:
    """What was seen of a robot."""

    programs: tuple[Program, ...]
    state: tuple[Seen, ...]
    commands: tuple[Seen, ...]
    guard: int | None
    """Process number of the guard that runs for it on this machine."""


def interfaces_line() -> Line:
    """Which network interfaces there are."""
    names = [name for _, name in socket.if_nameindex()]
    return Line("ok", "network interfaces: " + ", ".join(f"{name} ({_address(name)})" for name in names))


def choice_line() -> Line:
    """Which of them the settings file chooses, for every robot whose profile names none."""
    try:
        return Line("ok", f"config/dds.yaml chooses {load_network().on_domain(0).interface}")
    except BusError as error:
        return Line("warning", f"{error}; simulation needs none")


def chosen(profile: Profile) -> DdsSettings:
    """The network on which this machine meets the robot; BusError says what is missing."""
    return load_network().on_domain(profile.domain, profile.interface)


def look(profile: Profile, settings: DdsSettings) -> Sight:
    """Join the robot's network for some seconds, as a reader of its state."""
    table = topics(profile.family, profile.variants, profile.prefix)
    with DdsBus(settings, name="orchestrator doctor") as bus:
        reports: list[Report] = []
        bus.on_report(reports.append)
        # Every sample is counted, also of topics of which a run needs only the newest.
        readers = {
            name: bus.reader(replace(topic, kind="event")) for name, topic in table.items() if topic.kind != "command"
        }
        _meet(bus, table)
        rates = _listen(bus, readers)
        seen = {name: _seen(bus, name, topic, reports) for name, topic in table.items()}
        state = tuple(
            _with_newest(profile, replace(seen[name], rate=rates[name]), reader) for name, reader in readers.items()
        )
        commands = tuple(each for name, each in seen.items() if name not in readers)
        return Sight(tuple(bus.programs()), state, commands, lock_holder(state_folder(profile.name, settings)))


def robot_lines(profile: Profile, settings: DdsSettings, sight: Sight) -> Iterator[Line]:
    """Everything there is to say about what was seen of a robot."""
    where = f"domain {settings.domain} on {settings.interface}"
    yield guard_line(profile.name, sight.guard)
    if not sight.programs:
        advice = (
            "is the robot on, and is this its network? Without multicast name its address in config/dds.yaml (peers)"
        )
        yield Line("problem", f"nobody else is on {where}: {advice}")
        return
    yield Line("ok", f"on {where}: {', '.join(map(_program, sight.programs))}")
    if not any(seen.writers for seen in sight.state):
        yield Line("problem", f"nobody writes any state topic of {profile.name}: another robot, domain or prefix?")
        return
    yield from model_lines(profile, {seen.name: seen for seen in sight.state})
    advice = fitting_variants(profile, sight)
    for seen in sight.state:
        yield state_line(profile, seen, advice)
    robot = {writer.participant for seen in sight.state for writer in seen.writers}
    for seen in sight.commands:
        yield from _command_lines(profile, seen, advice, sight.guard is not None, robot)


def model_lines(profile: Profile, state: Mapping[str, Seen]) -> Iterator[Line]:
    """Whether this is a robot of the profile's model, as far as the robot shows it."""
    topic = SHOWN_ON[profile.family]
    shows = state[topic].shows if topic in state else None
    if shows is None:
        yield Line("warning", f"model: nothing came on {topic}, which would show it")
    elif problem := misfit(profile, shows):
        yield Line("problem", f"model: {problem}; {fitting(profile.family, shows)}")
    elif not shows:
        yield Line("warning", f"model: the robot does not say what it is called: {profile.name} is not confirmed")
    elif isinstance(shows, str):
        yield Line("ok", f"model: the robot calls itself {shows}, as {profile.name} expects")
    else:
        yield Line("ok", f"model: as many joints as {profile.name} has; a model with as many would look alike")
    if profile.base is None and BASE in state and state[BASE].writers:
        text = f"{BASE}: reports a wheeled base, which {profile.name} does not have: use atom_w?"
        yield Line("warning" if shows else "problem", text)


def _command_lines(profile: Profile, seen: Seen, advice: str, guarded: bool, robot: set[str]) -> Iterator[Line]:
    if not profile.read_only:
        yield command_line(profile, seen, advice)
    for writer in seen.writers:
        if writer.participant not in robot:
            yield commander_line(profile, writer, guarded)


def state_line(profile: Profile, seen: Seen, advice: str) -> Line:
    """What there is to say about a topic the robot writes."""
    name = seen.topic.name
    if not seen.writers:
        return Line("warning", f"{name}: nobody writes it")
    if name_of_type := _other_name(seen, seen.writers):
        return Line("problem", f"{name}: written as {name_of_type}, which is not what a {profile.model} writes")
    if other := _other_type(profile, seen, seen.writers):
        return Line("problem", f"{name}: the robot announces {other}: {advice}")
    if seen.mismatches:
        unknown = _unknown_type(profile, seen, seen.writers)
        return Line("problem", "; ".join(seen.mismatches) + (f"; {unknown}" if unknown else ""))
    if seen.undecodable:
        return Line("problem", f"{seen.undecodable}; does the profile name this robot's firmware (variants)?")
    if not seen.rate:
        return Line("warning", f"{name}: written by {_names(seen.writers)}, but nothing came in {LISTENING:g} s")
    return Line("ok", f"{name}: {seen.rate:.3g} Hz from {_names(seen.writers)}")


def command_line(profile: Profile, seen: Seen, advice: str) -> Line:
    """Whether the robot would understand a command on this topic."""
    name = seen.topic.name
    if not seen.readers:
        return Line("warning", f"{name}: nobody reads this command topic")
    if name_of_type := _other_name(seen, seen.readers):
        return Line("problem", f"{name}: read as {name_of_type}, which is not what a {profile.model} reads")
    if other := _other_type(profile, seen, seen.readers):
        return Line("problem", f"{name}: the robot announces {other}: {advice}")
    if unknown := _unknown_type(profile, seen, seen.readers):
        return Line("warning", f"{name}: {unknown}")
    return Line("ok", f"{name}: read by {_names(seen.readers)}" + _cannot_tell(profile, seen))


def commander_line(profile: Profile, writer: Endpoint, guarded: bool) -> Line:
    """Somebody who is not the robot writes one of its command topics."""
    who = writer.name or f"participant {writer.participant}"
    if writer.name in profile.allowed_writers:
        return Line("ok", f"{writer.topic}: {who} writes this command topic, which the profile allows")
    if guarded and writer.name == GUARD:
        return Line("ok", f"{writer.topic}: written by the guard of this machine")
    return Line(
        "problem",
        f"{writer.topic}: {who} writes this command topic; end it, or name it in the profile's allowed_writers",
    )


def guard_line(robot: str, process: int | None) -> Line:
    runs = "no guard runs" if process is None else f"a guard runs (process {process})"
    return Line("ok", f"{runs} for {robot} on this machine")


def fitting_variants(profile: Profile, sight: Sight) -> str:
    """What to write into the profile so that it fits everything the robot announces."""
    changed: dict[str, str] = {}
    for seen, others in [*((s, s.writers) for s in sight.state), *((s, s.readers) for s in sight.commands)]:
        for other in others:
            variant = variant_of(profile.family, seen.name, other.type_number)
            if variant is not None:
                changed[seen.name] = variant
    known = VARIANTS[profile.family]
    kept = [variant for variant in profile.variants if not any(topic in changed for topic in known[variant])]
    fitting = [variant for variant in known if variant in {*kept, *changed.values()}]
    return f"write variants: [{', '.join(fitting)}] in the profile"


def _meet(bus: DdsBus, table: dict[str, Topic]) -> None:
    """Wait until nobody new appears."""
    start = changed = bus.clock.now()
    known = 0
    while True:
        bus.wait(0.1)
        count = sum(len(bus.writers(topic.name)) + len(bus.readers(topic.name)) for topic in table.values())
        now = bus.clock.now()
        if count != known:
            known, changed = count, now
        if now - changed >= (QUIET if known else PATIENCE) or now - start >= 2 * PATIENCE:
            return


def _listen(bus: DdsBus, readers: Mapping[str, Reader]) -> dict[str, float]:
    before = {name: reader.received for name, reader in readers.items()}
    start = bus.clock.now()
    while bus.clock.now() - start < LISTENING:
        bus.wait(LISTENING - (bus.clock.now() - start))
    took = bus.clock.now() - start
    return {name: (reader.received - before[name]) / took for name, reader in readers.items()}


def _seen(bus: DdsBus, name: str, topic: Topic, reports: list[Report]) -> Seen:
    mismatches = dict.fromkeys(report.text for report in reports if report.topic == topic.name)
    return Seen(name, topic, tuple(bus.writers(topic.name)), tuple(bus.readers(topic.name)), mismatches=(*mismatches,))


def _with_newest(profile: Profile, seen: Seen, reader: Reader) -> Seen:
    """With what its newest sample says, or why that cannot be read."""
    sample = reader.newest()
    if sample is None:
        return seen
    try:
        message = codec(reader.topic.type).decode(sample.data)
    except WireError as error:
        return replace(seen, undecodable=str(error.on(reader.topic.name)))
    return replace(seen, shows=shown_by(profile.family, message)) if seen.name == SHOWN_ON[profile.family] else seen


def _other_type(profile: Profile, seen: Seen, others: tuple[Endpoint, ...]) -> str:
    """Another firmware generation than the profile's that somebody announces on this topic."""
    ours = next((v for v in reversed(profile.variants) if seen.name in VARIANTS[profile.family][v]), DEFAULT)
    numbers = {other.type_number for other in others if other.type_number}
    found = {variant_of(profile.family, seen.name, number) for number in numbers} - {ours, None}
    return " and ".join(sorted(variant or "the default firmware" for variant in found if variant is not None))


def _other_name(seen: Seen, others: tuple[Endpoint, ...]) -> str:
    """Other types than ours; DDS does not connect them, and does not say so."""
    return " and ".join(sorted({other.type_name for other in others} - {codec(seen.topic.type).type_name}))


def _cannot_tell(profile: Profile, seen: Seen) -> str:
    """Peers that announce no types (Aurora) do not show which firmware reads a command."""
    variants = [name for name, changed in VARIANTS[profile.family].items() if seen.name in changed]
    if not variants or any(reader.type_number for reader in seen.readers):
        return ""
    return f"; it announces no type, so whether its firmware is {' or '.join(variants)} cannot be seen"


def _unknown_type(profile: Profile, seen: Seen, others: tuple[Endpoint, ...]) -> str:
    for other in others:
        if other.type_number and variant_of(profile.family, seen.name, other.type_number) is None:
            return f"{other.name or other.participant} announces a version of {other.type_name} that no variant has"
    return ""


def _names(endpoints: tuple[Endpoint, ...]) -> str:
    return ", ".join(sorted({endpoint.name or endpoint.participant for endpoint in endpoints}))


def _program(program: Program) -> str:
    process = f"process {program.process}" if program.process else ""
    details = " on ".join(part for part in (process, program.host) if part)
    return (program.name or "a program without a name") + (f" ({details})" if details else "")


def _address(interface: str) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            answer = fcntl.ioctl(probe.fileno(), _GET_ADDRESS, struct.pack("256s", interface.encode()[:15]))
        except OSError:
            return "no IPv4 address"
    return socket.inet_ntoa(answer[20:24])
