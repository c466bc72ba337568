"""`orchestrator robots`: the profiles there are, or everything known about one robot, open questions included."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from orchestrator.robots.profile import Base, Hands, Profile, Range

_LABEL = 18


def robots(
    name: Annotated[str | None, typer.Argument(help="A robot's name, or a profile file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the robots, or show everything about one."""
    from orchestrator.robots.profiles import ProfileError, load_profile

    if name is None:
        _list(as_json)
        return
    try:
        profile = load_profile(name)
    except ProfileError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    typer.echo(json.dumps(_plain(profile), indent=2) if as_json else "\n".join(_lines(profile)))


def _list(as_json: bool) -> None:
    from orchestrator.robots.profiles import ProfileError, load_profile, profile_names

    profiles, broken = [], {}
    for name in profile_names():
        try:
            profiles.append(load_profile(name))
        except ProfileError as error:
            broken[name] = len(error.findings)
    if as_json:
        typer.echo(json.dumps([_plain(profile) for profile in profiles], indent=2))
    else:
        rows = [("NAME", "VENDOR", "MODEL", "JOINTS", "CAN"), *(_row(profile) for profile in profiles)]
        typer.echo("\n".join(_table(rows)))
    for name, count in broken.items():
        typer.echo(f"{name} has {count} mistakes: `orchestrator robots {name}` shows them", err=True)
    if broken:
        raise typer.Exit(2)


def _row(profile: Profile) -> tuple[str, ...]:
    can = ", ".join(sorted(profile.capabilities)) + ("  (read only)" if profile.read_only else "")
    return profile.name, profile.vendor, profile.model, str(len(profile.joints)), can


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    """Columns as wide as their widest cell."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _plain(profile: Profile) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(profile) | {"capabilities": sorted(profile.capabilities)}


def _lines(profile: Profile) -> Iterator[str]:
    yield f"{profile.name}: {profile.vendor} {profile.model}" + (", READ ONLY" if profile.read_only else "")
    for label, text in _facts(profile):
        yield f"  {label:<{_LABEL}}{text}"
    yield ""
    commanded = "never commanded" if profile.read_only else f"commanded at {profile.command_rate:g} Hz"
    yield f"  {len(profile.joints)} joints in the order of the wire, {commanded}"
    yield from (f"    {line}" for line in _joints(profile))
    yield ""
    yield "  Not confirmed by the vendor, or sources differ:" if profile.unconfirmed else "  No open questions."
    for question in profile.unconfirmed:
        yield f"    {question.what}"
        yield from _wrapped(question.note, indent=8)


def _facts(profile: Profile) -> Iterator[tuple[str, str]]:
    """What there is to say in one line each; what the robot does not have is left out."""
    yield "can", ", ".join(sorted(profile.capabilities))
    yield "family", profile.family
    yield "DDS", f"domain {profile.domain}, interface {profile.interface or 'as configured for DDS'}"
    yield "topic prefix", profile.prefix or "none"
    yield "firmware", ", ".join(profile.variants) or "default (no variant)"
    optional = {
        "JSON-RPC": profile.rpc,
        "allowed writers": ", ".join(profile.allowed_writers),
        "states": _names(profile.fsm),
        "upper-body states": _names(profile.upper_fsm),
        "velocity sources": _names(profile.velocity_sources),
        "velocity": profile.velocity
        and f"vx {_range(profile.velocity.vx)} m/s, vy {_range(profile.velocity.vy)} m/s, "
        f"yaw {_range(profile.velocity.yaw)} rad/s",
        "stand pose": profile.stand_pose
        and f"dz {_range(profile.stand_pose.dz)} m, pitch {_range(profile.stand_pose.pitch)} rad, "
        f"yaw {_range(profile.stand_pose.yaw)} rad, from stable level {profile.stand_pose.stable_level}",
        "plans arm moves": profile.move_command
        and f"forward {_range(profile.reach.forward)} m, left {_range(profile.reach.left)} m, "
        f"up {_range(profile.reach.up)} m",
        "hands": profile.hands and _hands(profile.hands),
        "base": profile.base and _base(profile.base),
        "tags": profile.base and _names(profile.base.tags),
        "poses": ", ".join(f"{pose} ({', '.join(groups)})" for pose, groups in profile.poses.items()),
        "ranges": _ranges(profile),
        "never commanded": ", ".join(profile.read_only_groups),
        "URDF": profile.urdf,
    }
    yield from ((label, text) for label, text in optional.items() if text)


def _names(numbers: dict[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in numbers.items())


def _ranges(profile: Profile) -> str:
    """Those that docs/leaves.md speaks of by their names."""
    from orchestrator.robots.facts_of import facts_of

    ranges = facts_of(profile).ranges.items()
    listed = ", ".join(f"{name} {low:g}" + (f" to {high:g}" if high > low else "") for name, (low, high) in ranges)
    return listed and f"in m, rad and s: {listed}"


def _range(limits: Range) -> str:
    return f"{limits.low:g} to {limits.high:g}"


def _hands(hands: Hands) -> str:
    fingers = ", ".join(
        f"{finger} {opened:g}/{closed:g}"
        for finger, opened, closed in zip(hands.fingers, hands.open, hands.closed, strict=True)
    )
    return f"open/closed in {hands.unit}: {fingers}; {hands.order[0]} hand first"


def _base(base: Base) -> str:
    turns = "turns on the spot" if base.rotate else "does not turn on the spot"
    key = ", needs its confirm key for remote drive" if base.confirm_key else ""
    return f"up to {base.linear:g} m/s and {base.angular:g} rad/s, {turns}{key}"


def _joints(profile: Profile) -> list[str]:
    rows: list[tuple[str, ...]] = [("GROUP", "JOINT", "LIMITS rad", "rad/s", "KP/KD")]
    for joint in profile.joints:
        speed = "" if joint.velocity is None else f"{joint.velocity:g}"
        gains = "" if joint.kp is None or joint.kd is None else f"{joint.kp:g}/{joint.kd:g}"
        rows.append((joint.group, joint.name, _range(joint.position), speed, gains))
    return _table(rows)


def _wrapped(text: str, indent: int) -> list[str]:
    from textwrap import wrap

    return wrap(text, width=110, initial_indent=" " * indent, subsequent_indent=" " * indent)
