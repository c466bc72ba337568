"""Files that a tree names beside itself: found by the path as a person reads it, looked at before anything moves."""

import os
from pathlib import Path

import pytest

from tests.treefile.beside import MOTION, MOTIONS
from tests.treefile.conftest import CheckText

PLAY = "tree: t\nroot:\n  - PlayMotion: {{file: {}}}\n"


def said(check: CheckText, text: str, **files: str) -> list[str]:
    found = check(text, "adam_u", **files).findings.sorted()
    return [f"{Path(f.place.file).name}:{f.place.line}:{f.place.column}: {f.message}" for f in found]


def test_mistakes_in_a_motion_are_shown_where_they_stand_in_it(check: CheckText) -> None:
    wrong = MOTION.format(joint="left_elbow_pitch", angle="40")
    assert said(check, PLAY.format("wave.yaml"), wave=wrong) == ["wave.yaml:3:24: 40 needs a unit: deg or rad"]


def test_what_the_robot_cannot_do_is_said_where_the_motion_is_played(check: CheckText) -> None:
    text = PLAY.format("too_far.yaml") + "  - PlayMotion: {file: too_far.yaml}\n"
    message = "too_far.yaml: left_elbow_pitch would be at 2.44 rad at 1 s; it reaches -1.50 to 1.50 rad"
    assert said(check, text, **MOTIONS) == [f"main.yaml:3:24: {message}", f"main.yaml:4:24: {message}"]


def test_without_a_robot_only_the_motion_itself_is_looked_at(check: CheckText) -> None:
    assert check(PLAY.format("too_far.yaml"), None, **MOTIONS).ok
    assert not check(PLAY.format("wave.yaml"), None, wave="joints: []\n").ok


def test_the_same_path_in_two_folders_is_two_files(check: CheckText) -> None:
    text = "tree: t\nroot:\n  - PlayMotion: {file: wave.yaml}\n  - use: part/go.yaml\n"
    part = "tree: p\nroot:\n  - PlayMotion: {file: wave.yaml}\n"
    files = {"wave": MOTIONS["wave"], "part__go": part}
    assert said(check, text, **files, part__wave=MOTIONS["wave"]) == []
    [wrong] = said(check, text, **files, part__wave=MOTIONS["too_far"])
    assert wrong.startswith("go.yaml:3:24: wave.yaml: left_elbow_pitch would be at")


def test_every_file_that_a_name_may_stand_for_is_looked_at(check: CheckText) -> None:
    text = "tree: t\nroot:\n  - PlayMotion: {file: $which.yaml}\n    for_each: {which: [wave, too_far, wafe]}\n"
    [wrong] = said(check, text, **MOTIONS)
    assert wrong.startswith("main.yaml:3:24: too_far.yaml")


def test_a_parameter_may_name_the_file(check: CheckText) -> None:
    text = "tree: t\nparams: {motion: {type: text, default: wave.yaml}}\nroot:\n  - PlayMotion: {file: $motion}\n"
    assert said(check, text, **MOTIONS) == []
    found = check(text, "adam_u", settings={"motion": "wafe.yaml"}, **MOTIONS).findings.sorted()
    assert [(f.code, f.suggestion) for f in found] == [("no-file", "wave.yaml")]


@pytest.mark.parametrize("kind", ["pipe", "loop", "secret"])
def test_what_cannot_be_read_is_said_and_not_waited_for(check: CheckText, tmp_path: Path, kind: str) -> None:
    (tmp_path / "trees").mkdir()
    path = tmp_path / "trees" / "wave.yaml"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "loop":
        path.symlink_to(path)
    else:
        path.symlink_to("/etc/hostname")
    wanted = {"pipe": "not-a-file", "loop": "link-loop", "secret": "outside"}
    [finding] = check(PLAY.format("wave.yaml"), "adam_u").findings.sorted()
    assert (finding.code, finding.place.line, finding.place.column) == (wanted[kind], 3, 24)


@pytest.mark.parametrize(("node", "column"), [("use: {}", 10), ("PlayMotion: {{file: {}}}", 24)])
def test_a_link_and_two_dots_lead_to_the_file_that_was_judged(
    check: CheckText, tmp_path: Path, node: str, column: int
) -> None:
    """`link/..` is the folder above where the link leads, not the one it stands in."""
    trees = tmp_path / "trees"
    (trees / "deep" / "er").mkdir(parents=True)
    (trees / "link").symlink_to(trees / "deep" / "er")
    (tmp_path / "wave.yaml").write_text(MOTIONS["wave"])
    text = f"tree: t\nroot:\n  - {node.format('link/../../../wave.yaml')}\n"
    [outside] = check(text, "adam_u").findings.sorted()
    assert (outside.code, outside.place.column) == ("outside", column)
    [missing] = check(text.replace("../../../", "../../"), "adam_u").findings.sorted()
    assert (missing.code, missing.place.column) == ("no-file", column)


def test_behind_a_link_paths_lead_where_the_system_goes(check: CheckText, tmp_path: Path) -> None:
    trees = tmp_path / "trees"
    (trees / "deep" / "er").mkdir(parents=True)
    (trees / "link").symlink_to(trees / "deep" / "er")
    (trees / "deep" / "part.yaml").write_text("tree: p\nroot:\n  - PlayMotion: {file: wave.yaml}\n  - Nonsense\n")
    (trees / "deep" / "wave.yaml").write_text(MOTIONS["wave"])
    [finding] = check("tree: t\nroot:\n  - use: link/../part.yaml\n", "adam_u").findings.sorted()
    assert Path(finding.place.file) == trees / "link" / ".." / "part.yaml"
    assert finding.place.line == 4


def test_arrays_that_are_none_are_said_where_the_motion_is_played(check: CheckText, tmp_path: Path) -> None:
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "wave.npz").write_bytes(b"nothing")
    [finding] = check(PLAY.format("wave.npz"), "adam_u").findings.sorted()
    assert (finding.code, finding.place.column) == ("bad-file", 24)
    assert finding.message.startswith("wave.npz: this is not a file of arrays")
