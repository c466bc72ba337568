"""Motions from files: angles of some joints at increasing times, as YAML or as arrays (npz)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from orchestrator.robots.profile import Profile
from orchestrator.yamlfile import ANGLE, DURATION, TEXT, Findings, list_of, load, nearest, optional, record, required


class BadMotion(Exception):
    """A file that holds no motion for this robot; says everything that is wrong with it."""


@dataclass(frozen=True)
class Frame:
    """Where the joints are to be at a time after the start (s): angles in rad by name."""

    time: float
    angles: Mapping[str, float]


@dataclass(frozen=True)
class _Row:
    at: float
    angles: list[float]


@dataclass(frozen=True)
class _File:
    joints: list[str]
    keyframes: list[_Row]
    description: str | None


def _check_shape(file: _File) -> Iterator[str]:
    for number, row in enumerate(file.keyframes, 1):
        if len(row.angles) != len(file.joints):
            yield f"keyframe {number} has {len(row.angles)} angles for {len(file.joints)} joints"


_FILE = record(
    _File,
    {
        "description": optional(TEXT),
        "joints": required(list_of(TEXT, at_least=1)),
        "keyframes": required(
            list_of(record(_Row, {"at": required(DURATION), "angles": required(list_of(ANGLE))}), at_least=1)
        ),
    },
    check=_check_shape,
    name="motion",
)


def read_motion(path: Path, profile: Profile) -> list[Frame]:
    """The keyframes of a file, checked against the robot; raises BadMotion."""
    frames = _from_npz(path) if path.suffix == ".npz" else _from_yaml(path)
    problems = [*_wrong_times(frames), *_wrong_joints(frames, profile)]
    if problems:
        raise BadMotion(f"{path}: {'; '.join(problems)}")
    return frames


def _from_yaml(path: Path) -> list[Frame]:
    findings = Findings()
    file = load(path, _FILE, findings)
    if file is None:
        raise BadMotion(findings.render())
    return [Frame(row.at, dict(zip(file.joints, row.angles))) for row in file.keyframes]


def _from_npz(path: Path) -> list[Frame]:
    """Arrays `joints` (names), `time` (s) and `q` (rad, one row per time)."""
    import numpy as np  # only for those who have such a file

    try:
        with np.load(path, allow_pickle=False) as arrays:
            joints, times, rows = (arrays[name].tolist() for name in ("joints", "time", "q"))
        return [Frame(float(time), _by_name(joints, row)) for time, row in zip(times, rows, strict=True)]
    except (OSError, EOFError, BadZipFile, ValueError, KeyError, TypeError) as problem:
        raise BadMotion(f"{path}: needs the arrays joints, time and q: {problem}") from None


def _by_name(joints: list[Any], row: list[Any]) -> dict[str, float]:
    return {str(joint): float(q) for joint, q in zip(joints, row, strict=True)}


def _wrong_times(frames: list[Frame]) -> Iterator[str]:
    if not frames:
        yield "there are no keyframes"
    before = 0.0
    for frame in frames:
        if not before < frame.time < float("inf"):
            yield f"times must be above 0 and rise: {frame.time:g} s comes after {before:g} s"
            return
        before = frame.time


def _wrong_joints(frames: list[Frame], profile: Profile) -> Iterator[str]:
    known = {joint.name: joint for joint in profile.joints if joint.group not in profile.read_only_groups}
    for name in frames[0].angles if frames else ():
        joint = known.get(name)
        if joint is None:
            meant = nearest(name, tuple(known))
            yield f"{profile.name} has no joint {name} to move" + (f"; did you mean {meant}?" if meant else "")
        elif outside := [frame for frame in frames if not joint.position.holds(frame.angles[name])]:
            limits = f"{joint.position.low:.2f} to {joint.position.high:.2f} rad"
            yield f"{name} would be at {outside[0].angles[name]:.2f} rad at {outside[0].time:g} s; it reaches {limits}"
