"""Motions from files, good and bad."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orchestrator.robots.motion_file import BadMotion, Frame, read_motion
from orchestrator.robots.profiles import load_profile

ROBOT = load_profile("atom")
GOOD = """\
joints: [left_elbow_pitch, head_yaw]
keyframes:
  - {at: 500 ms, angles: [0.5 rad, 0 deg]}
  - {at: 2 s, angles: [0 rad, 0 deg]}
"""


def read(tmp_path: Path, text: str) -> list[Frame]:
    path = tmp_path / "motion.yaml"
    path.write_text(text)
    return read_motion(path, ROBOT)


def test_angles_by_joint_at_times(tmp_path: Path) -> None:
    assert read(tmp_path, GOOD) == [
        Frame(0.5, {"left_elbow_pitch": 0.5, "head_yaw": 0.0}),
        Frame(2.0, {"left_elbow_pitch": 0.0, "head_yaw": 0.0}),
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("head_yaw", "head_jaw", "did you mean head_yaw"),
        ("0.5 rad", "0.5", "unit"),
        ("0.5 rad", "5 rad", "reaches"),
        ("0.5 rad, 0 deg", "0.5 rad", "1 angles for 2 joints"),
        ("at: 2 s", "at: 500 ms", "rise"),
        ("at: 500 ms", "at: 0 s", "above 0"),
        ("keyframes", "keyframe", "keyframes"),
        ("at: 2 s", "time: 2 s", 'error: keyframe needs "at"'),
        ("head_yaw", "left_hip_pitch", "no joint left_hip_pitch to move"),
        (GOOD[GOOD.index("keyframes") :], "keyframes: []", "at least"),
        ("head_yaw", "left_elbow_pitch", "named twice"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(BadMotion, match=said):
        read(tmp_path, GOOD.replace(old, new, 1))


def arrays(**changes: Any) -> dict[str, Any]:
    good: dict[str, Any] = {"joints": np.array(["head_yaw"]), "time": np.array([1.0, 2.0]), "q": np.zeros((2, 1))}
    return {name: value for name, value in (good | changes).items() if value is not None}


def test_arrays(tmp_path: Path) -> None:
    np.savez(tmp_path / "m.npz", **arrays())
    assert read_motion(tmp_path / "m.npz", ROBOT) == [Frame(1.0, {"head_yaw": 0.0}), Frame(2.0, {"head_yaw": 0.0})]


@pytest.mark.parametrize(
    "changes",
    [
        {"q": None},
        {"q": np.zeros((3, 1))},
        {"q": np.zeros((2, 2))},
        {"q": np.full((2, 1), np.nan)},
        {"q": np.zeros(2)},
        {"time": np.array([2.0, 1.0])},
        {"time": np.array([np.nan, 1.0])},
        {"time": np.array([]), "q": np.zeros((0, 1))},
        {"joints": np.array(["nose"])},
        {"joints": np.array(["head_yaw", "head_yaw"]), "q": np.zeros((2, 2))},
    ],
)
def test_bad_arrays_are_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    np.savez(tmp_path / "m.npz", **arrays(**changes))
    with pytest.raises(BadMotion):
        read_motion(tmp_path / "m.npz", ROBOT)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"joints": np.array(["head_yaw", "head_pitch"])},
            "m.npz: q must have the shape (2, 2), 2 times by 2 joints; it has (2, 1)",
        ),
        ({"q": np.zeros(2)}, "q must have the shape (2, 1), 2 times by 1 joints; it has (2,)"),
        ({"time": np.zeros((2, 1))}, "time must be a plain list, it has the shape (2, 1)"),
    ],
)
def test_arrays_that_do_not_fit_each_other_are_named_with_their_shapes(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    np.savez(tmp_path / "m.npz", **arrays(**changes))
    with pytest.raises(BadMotion, match=re.escape(said) + "$"):
        read_motion(tmp_path / "m.npz", ROBOT)


def test_the_example_of_the_language_page_is_a_motion(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "language.md").read_text()
    _, example, _ = page.partition("## Motion files")[2].split("```", 2)
    assert [frame.time for frame in read(tmp_path, example)] == [1.5, 3.0]


def test_an_archive_that_unpacks_to_more_than_anybody_plays(tmp_path: Path) -> None:
    many = arrays(time=np.arange(1.0, 200_001.0), q=np.zeros((200_000, 1)))
    np.savez_compressed(tmp_path / "m.npz", **many)
    with pytest.raises(BadMotion, match=r"3.2 MB are more than 2 MB"):
        read_motion(tmp_path / "m.npz", ROBOT)


@pytest.mark.parametrize("content", [b"", b"no archive", None])
def test_a_file_that_holds_no_arrays(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "m.npz").write_bytes(content)
    with pytest.raises(BadMotion):
        read_motion(tmp_path / "m.npz", ROBOT)
