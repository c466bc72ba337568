"""Finds robot profiles by name or path and reads them; every mistake is reported at once, with its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from orchestrator.data import data_path
from orchestrator.robots.families import CAPABILITY_OF_SECTION, COMMANDING, FAMILIES
from orchestrator.robots.profile import CAUTIOUS_REACH, Base, Family, Hands, Joint, Profile
from orchestrator.robots.profile_checks import RULES, Parts, beside
from orchestrator.robots.profile_schema import keys
from orchestrator.yamlfile import Findings, Mapping, Node, Place, Type, Unread, nearest, read_file, record

FOLDER = "config/robots"


class ProfileError(Exception):
    """A profile that does not exist or has mistakes; `findings` holds all of them."""

    def __init__(self, findings: Findings) -> None:
        super().__init__(findings.render())
        self.findings = findings


def load_profile(name_or_path: str | Path) -> Profile:
    """The robot of this name, or of this file; names are looked up in ./config/robots/, then in the package."""
    findings = Findings()
    path = _path(str(name_or_path), findings)
    profile = _read(path, findings) if path else None
    if profile is None:
        raise ProfileError(findings)
    return profile


def profile_names() -> tuple[str, ...]:
    """Every robot that can be named, one's own and those that come with the program."""
    return tuple(sorted({path.stem for folder in _folders() for path in folder.glob("*.yaml")}))


def _folders() -> tuple[Path, Path]:
    return Path(FOLDER), data_path(FOLDER)


def _path(wanted: str, findings: Findings) -> Path | None:
    if wanted.endswith((".yaml", ".yml")) or "/" in wanted:
        return Path(wanted)
    for folder in _folders():
        if (path := folder / f"{wanted}.yaml").is_file():
            return path
    known = profile_names()
    findings.error(
        Place(wanted, 1, 1),
        "unknown-robot",
        f'there is no robot "{wanted}": `orchestrator robots` lists them; a file ends with .yaml',
        nearest(wanted, known),
    )
    return None


def _read(path: Path, findings: Findings) -> Profile | None:
    root = read_file(path, findings).root
    family = _family(root, findings) if root else None
    if root is None or family is None:
        return None
    table = keys(family)
    profile: Type[dict[str, Any]] = record(dict, table, name=f"profile of {family}")
    values = profile.read(root, findings)
    if isinstance(root, Mapping):
        parts = Parts(family, root, table, findings)
        for rule in RULES:
            rule(parts)
    if isinstance(values, Unread) or findings.errors:
        return None
    return _profile(path, values)


def _family(root: Node, findings: Findings) -> Family | None:
    """Which family's fields the file has; a file that does not say so cannot be checked any further."""
    written = root.get("family") if isinstance(root, Mapping) else None
    if written is None:
        findings.missing(root, "missing-key", f'a profile needs "family": {", ".join(FAMILIES)}')
        return None
    family = keys("aurora")["family"].of.read(written, findings)
    return None if isinstance(family, Unread) else cast(Family, family)


def _profile(path: Path, values: dict[str, Any]) -> Profile:
    dds, motion, urdf = values["dds"], values["motion"], values["urdf"]
    return Profile(
        name=path.stem,
        family=values["family"],
        vendor=values["vendor"],
        model=values["model"],
        read_only=values["read_only"],
        domain=dds["domain"],
        prefix=dds["prefix"],
        interface=dds["interface"],
        variants=tuple(dds["variants"]),
        allowed_writers=tuple(dds["allowed_writers"]),
        rpc=values.get("rpc"),
        joints=tuple(_joints(values["joints"], motion["joint_speed"])),
        command_rate=motion["rate"],
        fsm=values.get("fsm", {}),
        upper_fsm=values.get("upper_fsm", {}),
        velocity_sources=values.get("velocity_sources", {}),
        velocity=values.get("velocity"),
        stand_pose=values.get("stand_pose"),
        hands=_hands(values),
        base=values.get("base"),
        poses={pose: {group: tuple(q) for group, q in groups.items()} for pose, groups in values["poses"].items()},
        urdf=str(beside(path, urdf)) if urdf else None,
        capabilities=_capabilities(values),
        unconfirmed=tuple(values["unconfirmed"]),
        read_only_groups=tuple(values["read_only_groups"]),
        move_command=values.get("move_command", False),
        reach=values.get("reach", CAUTIOUS_REACH),
    )


def _joints(groups: dict[str, list[dict[str, Any]]], joint_speed: float) -> list[Joint]:
    return [
        Joint(
            name=row["name"],
            group=group,
            position=row["limits"],
            velocity=row["velocity"] or joint_speed,
            torque=row["torque"],
            kp=row.get("kp"),
            kd=row.get("kd"),
        )
        for group, rows in groups.items()
        for row in rows
    ]


def _hands(values: dict[str, Any]) -> Hands | None:
    hands = values.get("hands")
    if hands is None:
        return None
    return Hands(
        fingers=tuple(hands["fingers"]),
        unit=FAMILIES[values["family"]].hand_unit,
        open=tuple(float(value) for value in hands["open"]),
        closed=tuple(float(value) for value in hands["closed"]),
        order=tuple(hands["order"]),
        kp=hands.get("kp"),
        kd=hands.get("kd"),
        tau=hands.get("tau"),
    )


def _capabilities(values: dict[str, Any]) -> frozenset[str]:
    """What the robot can do: what its family always offers, and what its profile's sections add."""
    sections = {CAPABILITY_OF_SECTION[name] for name in CAPABILITY_OF_SECTION if values.get(name)}
    base: Base | None = values.get("base")
    of_base = {"mapping", *(("rotate_base",) if base.rotate else ())} if base else set()
    facts = FAMILIES[values["family"]]
    rows = [row for group in values["joints"].values() for row in group]
    gains = {"gains"} if not facts.sends_gains and any(row["kp"] is not None for row in rows) else set()
    offered = facts.always | sections | of_base | gains
    return offered - COMMANDING if values["read_only"] else offered
