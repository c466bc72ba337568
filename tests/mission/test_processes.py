"""Where guards keep what is theirs, and how they are found."""

from __future__ import annotations

import getpass
import os
from pathlib import Path

import msgspec
import pytest

from orchestrator.bus.settings import loopback
from orchestrator.guard import process as guard_process
from orchestrator.mission import twin
from orchestrator.mission.processes import (
    GuardProcess,
    ProcessError,
    TwinProcess,
    guards,
    lock_holder,
    make_own,
    user_of,
)


def proc(folder: Path, **commands: list[str]) -> Path:
    """A list of processes like the kernel's."""
    for number, arguments in commands.items():
        (folder / number[1:]).mkdir(parents=True)
        text = "".join(f"{argument}\0" for argument in arguments)
        (folder / number[1:] / "cmdline").write_text(text)
    (folder / "self").mkdir()
    return folder


def settings(folder: str) -> guard_process.Settings:
    return guard_process.Settings("gr2", loopback(1, "test"), folder, f"{folder}/audit.log")


def guard(folder: str) -> list[str]:
    return ["/usr/bin/python", "-m", "orchestrator.guard.process", msgspec.json.encode(settings(folder)).decode()]


def test_guards_are_found_wherever_their_folders_are(tmp_path: Path) -> None:
    found = proc(
        tmp_path / "proc",
        p12=guard("/run/user/7/orchestrator/gr2-1"),
        p13=["/usr/bin/python", "-X", "dev", *guard("/tmp/other/orchestrator/atom_w-2")[1:]],
        p14=["/usr/bin/python", "-m", "orchestrator.guard.process"],
        p15=["/usr/bin/python", "-m", "orchestrator.guard.process", "{}"],
        p16=["grep", *guard("/run/user/8/orchestrator/gr2-1")[2:]],
        p17=[],
        p19=["/usr/bin/python", "-P", *guard("/run/user/9/orchestrator/gr2-1")[1:]],
    )
    (found / "18").mkdir()  # ended while we looked
    assert guards(found) == {
        Path("/run/user/7/orchestrator/gr2-1"): 12,
        Path("/tmp/other/orchestrator/atom_w-2"): 13,
        Path("/run/user/9/orchestrator/gr2-1"): 19,
    }


def test_of_two_for_one_robot_the_one_counts_that_holds_the_lock(tmp_path: Path) -> None:
    with guard_process.lock(tmp_path):
        own = {f"p{os.getpid()}": guard(str(tmp_path)), "p9999999": guard(str(tmp_path))}
        assert guards(proc(tmp_path / "proc", **own)) == {tmp_path: os.getpid()}


def test_a_lock_of_somebody_else_with_the_same_number_on_another_file_system_is_not_taken_for_it(
    tmp_path: Path,
) -> None:
    with guard_process.lock(tmp_path):
        number = (tmp_path / "lock").stat().st_ino
        lines = [f"{at}: FLOCK  ADVISORY  WRITE {who} 00:1c:{number} 0 EOF" for at, who in ((1, 777), (2, os.getpid()))]
        locks = tmp_path / "locks"
        locks.write_text("\n".join(lines))
        assert lock_holder(tmp_path, locks) == os.getpid()
        locks.write_text(lines[0])
        assert lock_holder(tmp_path, locks) is None


def test_whose_process_it_is() -> None:
    assert user_of(os.getpid()) == getpass.getuser()


@pytest.mark.parametrize("wrong", ["open", "link", "file"])
def test_a_folder_that_somebody_else_may_have_made_is_refused(tmp_path: Path, wrong: str) -> None:
    folder = tmp_path / "orchestrator-0"
    if wrong == "open":
        folder.mkdir()
        folder.chmod(0o775)
    elif wrong == "link":
        (tmp_path / "real").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "real")
    else:
        folder.write_text("")
    with pytest.raises(ProcessError, match="must be a folder of yours"):
        make_own(folder)


def test_a_folder_of_ours_that_others_can_read_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "orchestrator-0"
    folder.mkdir()
    folder.chmod(0o755)
    make_own(folder)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_own(tmp_path / "own")
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    with pytest.raises(ProcessError, match=r"must be a folder of yours .* but it is drwx------ of user"):
        make_own(tmp_path / "own")


def test_a_guard_does_not_start_in_such_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "orchestrator-0"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setattr("orchestrator.mission.processes._fallback", lambda: folder)
    with pytest.raises(ProcessError, match="remove it, or set XDG_RUNTIME_DIR"):
        GuardProcess(settings(str(folder / "orchestrator" / "gr2-1")))


def test_modules_in_the_folder_where_the_user_stands_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "msgspec.py").write_text("print('up', flush=True)\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProcessError, match="no_robot"):
        GuardProcess(msgspec.structs.replace(settings(str(tmp_path / "guard")), robot="no_robot"))
    with pytest.raises(ProcessError, match="the simulated robot did not start: it said nothing"):
        TwinProcess(twin.Settings("no_robot", loopback(1, "test")))
