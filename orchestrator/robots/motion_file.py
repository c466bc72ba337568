"""Motions from files: angles of some joints at increasing times, as YAML or as arrays (npz)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from orchestrator.robots import motion
from orchestrator.robots.facts import RobotFacts
from orchestrator.robots.intents import Keyframe
from orchestrator.robots.profile import Joint, Profile
from orchestrator.yamlfile import ANGLE, DURATION, TEXT, Findings, list_of, load, nearest, optional, record, required

Shape = tuple[int, ...]
LARGEST_ARRAYS = 2_000_000  # bytes: 80 s of 30 joints at 100 Hz


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
    if len({*file.joints}) != len(file.joints):
        yield "a joint is named twice"
    for number, row in enumerate(file.keyframes, 1):
        if len(row.angles) != len(file.joints):
            yield f"keyframe {number} has {len(row.angles)} angles for {len(file.joints)} joints"


_KEYFRAME = record(_Row, {"at": required(DURATION), "angles": required(list_of(ANGLE))}, name="keyframe")
_FILE = record(
    _File,
    {
        "description": optional(TEXT),
        "joints": required(list_of(TEXT, at_least=1)),
        "keyframes": required(list_of(_KEYFRAME, at_least=1)),
    },
    check=_check_shape,
    name="motion",
)


def read_motion(path: Path, profile: Profile) -> list[Frame]:
    """The keyframes of a file, checked against the robot; raises BadMotion."""
    findings = Findings()
    try:
        frames = _frames(path, findings)
    except BadMotion as problem:
        raise BadMotion(f"{path}: {problem}") from None
    if frames is None:
        raise BadMotion(findings.render())
    limits = {
        joint.name: (joint.position.low, joint.position.high)
        for joint in profile.joints
        if joint.group not in profile.read_only_groups
    }
    problems = [*_wrong_times(frames), *_wrong_joints(frames, profile.name, limits)]
    if problems:
        raise BadMotion(f"{path}: {'; '.join(problems)}")
    return frames


def motion_time(path: Path, speed: float = 1.0, joints: tuple[Joint, ...] = ()) -> float:
    """Seconds a motion takes at a fraction of its speed, longer than it is meant to if it is too fast for these joints.

    0 when its file cannot be read, which others say.
    """
    try:
        return _time_since(path, path.stat().st_mtime_ns, speed, joints)
    except (OSError, ValueError, BadMotion):
        return 0.0


def motion_joints(path: Path) -> tuple[str, ...]:
    """The joints that a motion moves; none when its file cannot be read, which others say."""
    try:
        return _joints_since(path, path.stat().st_mtime_ns)
    except (OSError, ValueError, BadMotion):
        return ()


@lru_cache(maxsize=1000)
def _time_since(path: Path, changed: int, speed: float, joints: tuple[Joint, ...]) -> float:
    frames = _frames(path, Findings())
    if not frames:
        return 0.0
    moved = [joint for joint in joints if joint.name in frames[0].angles]  # those of all groups keep in step
    if not moved:
        return frames[-1].time / speed
    keyframes = [Keyframe(frame.time / speed, tuple(frame.angles[joint.name] for joint in moved)) for frame in frames]
    return motion.path(moved, keyframes[0].q, keyframes).duration  # where they are before that is not known


@lru_cache(maxsize=1000)  # a mission may name the same file in every node
def _joints_since(path: Path, changed: int) -> tuple[str, ...]:
    frames = _frames(path, Findings())
    return tuple(frames[-1].angles) if frames else ()


def motion_mistakes(path: Path, robot: RobotFacts | None, findings: Findings) -> list[str]:
    """What is wrong with a motion before it is played: mistakes with a line become findings, others are returned."""
    try:
        frames = _frames(path, findings)
    except BadMotion as problem:
        return [str(problem)]
    if frames is None:
        return []
    return [*_wrong_times(frames), *(_wrong_joints(frames, robot.name, robot.joints) if robot else ())]


def _frames(path: Path, findings: Findings) -> list[Frame] | None:
    """Reads a file; None when it has mistakes with a line of their own, BadMotion for others."""
    return _from_npz(path) if path.suffix == ".npz" else _from_yaml(path, findings)


def _from_yaml(path: Path, findings: Findings) -> list[Frame] | None:
    file = load(path, _FILE, findings)
    if file is None:
        return None
    return [Frame(row.at, dict(zip(file.joints, row.angles))) for row in file.keyframes]


def _from_npz(path: Path) -> list[Frame]:
    """Arrays `joints` (names), `time` (s) and `q` (rad, one row per time)."""
    import zipfile  # only for those who have such a file
    import zlib

    import numpy as np

    try:
        with zipfile.ZipFile(path) as archive:
            _check_size(sum(part.file_size for part in archive.infolist()))
        with np.load(path, allow_pickle=False) as arrays:
            _check_shapes(*(arrays[name].shape for name in ("joints", "time", "q")))
            joints, times, rows = (arrays[name].tolist() for name in ("joints", "time", "q"))
        return [Frame(float(time), _by_name(joints, row)) for time, row in zip(times, rows, strict=True)]
    except BadMotion:
        raise
    except (OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError, MemoryError) as problem:
        raise BadMotion(f"the arrays joints, time and q are needed: {problem}") from None
    except (zipfile.BadZipFile, zlib.error) as problem:
        raise BadMotion(f"this is not a file of arrays: {problem}") from None


def _check_size(size: int) -> None:
    """A small archive may hold more than any memory."""
    if size > LARGEST_ARRAYS:
        raise ValueError(f"{size / 1e6:.1f} MB are more than {LARGEST_ARRAYS / 1e6:g} MB")


def _check_shapes(joints: Shape, times: Shape, rows: Shape) -> None:
    """A name for each joint, and for each time a row with an angle for each joint."""
    for name, shape in (("joints", joints), ("time", times)):
        if len(shape) != 1:
            raise BadMotion(f"{name} must be a plain list, it has the shape {shape}")
        if shape == (0,):
            raise BadMotion(f"{name} is empty: a motion needs at least one joint and one time")
    wanted = (*times, *joints)
    if rows != wanted:
        raise BadMotion(f"q must have the shape {wanted}, {times[0]} times by {joints[0]} joints; it has {rows}")


def _by_name(joints: list[Any], row: list[Any]) -> dict[str, float]:
    if len({*joints}) != len(joints):
        raise ValueError("a joint is named twice")
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


def _wrong_joints(frames: list[Frame], robot: str, limits: Mapping[str, tuple[float, float]]) -> Iterator[str]:
    for name in frames[0].angles if frames else ():
        if name not in limits:
            meant = nearest(name, tuple(limits))
            yield f"{robot} has no joint {name} to move" + (f"; did you mean {meant}?" if meant else "")
            continue
        low, high = limits[name]
        if outside := [frame for frame in frames if not low <= frame.angles[name] <= high]:
            reach = f"{low:.2f} to {high:.2f} rad"
            yield f"{name} would be at {outside[0].angles[name]:.2f} rad at {outside[0].time:g} s; it reaches {reach}"
