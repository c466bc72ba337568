"""The processes a run starts: its guard, and with simulation its robot."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import msgspec

from orchestrator.bus.settings import DdsSettings
from orchestrator.guard import process as guard_process
from orchestrator.mission import twin


class ProcessError(Exception):
    """A process did not start; one sentence."""


class TwinProcess:
    """The simulated robot; it ends when it is closed or its run dies."""

    def __init__(self, settings: twin.Settings) -> None:
        command = [sys.executable, "-m", "orchestrator.mission.twin", _json(settings)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, start_new_session=True)
        said = _first_line(self._process)
        if not said.startswith("up"):
            raise ProcessError(f"the simulated robot did not start: {said or 'it said nothing'}")
        port = said.removeprefix("up").strip()
        self.rpc = f"127.0.0.1:{port}" if port else None

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)


class GuardProcess:
    """The guard, in a session of its own and deaf to the terminal's signals: it outlives a run that crashes."""

    def __init__(self, settings: guard_process.Settings) -> None:
        command = [sys.executable, "-m", "orchestrator.guard.process", _json(settings)]
        Path(settings.folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        with (Path(settings.folder) / "guard.log").open("a") as log:  # it may outlive our terminal
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, stdout=pipe, stderr=log, text=True, start_new_session=True)
        said = _first_line(self._process)
        if said != "up":
            raise ProcessError(said.removeprefix("error: ") or "the guard did not start")
        self.socket = Path(settings.folder) / "guard.sock"
        self.pid = self._process.pid

    def wait(self, seconds: float) -> bool:
        """Whether it ended by itself within this time, as it does after an orderly end."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True


def state_folder(robot: str, network: DdsSettings) -> Path:
    """Where the guard of this robot on this network keeps its socket, lock and audit file."""
    mark = hashlib.blake2b(msgspec.json.encode(network), digest_size=4).hexdigest()  # sockets have short names
    return _state_root() / f"{robot}-{mark}"


def _state_root() -> Path:
    return Path(os.environ.get("XDG_RUNTIME_DIR") or f"/tmp/orchestrator-{os.getuid()}") / "orchestrator"


def guards() -> dict[str, int]:
    """The guards that watch robots on this machine: the robot's name and mark, and the guard's process."""
    folders = [file.parent for file in sorted(_state_root().glob("*/lock"))]
    processes = {folder.name: lock_holder(folder) for folder in folders}
    return {name: process for name, process in processes.items() if process is not None}


def lock_holder(folder: Path, locks: Path = Path("/proc/locks")) -> int | None:
    """Which process holds the guard's lock. Read from the kernel's list: trying the lock could keep a guard out."""
    try:
        inode = (folder / "lock").stat().st_ino
        held = locks.read_text()
    except OSError:
        return None
    for line in held.splitlines():
        _, kind, *_, process, file, _start, _end = line.split()
        if kind == "FLOCK" and file.endswith(f":{inode}"):
            return int(process)
    return None


def _json(settings: msgspec.Struct) -> str:
    return msgspec.json.encode(settings).decode()


def _first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()
