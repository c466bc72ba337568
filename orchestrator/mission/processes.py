"""The processes a run starts: its guard, and with simulation its robot."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pwd
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from orchestrator.bus.settings import DdsSettings
from orchestrator.clock import RealClock
from orchestrator.guard import process as guard_process
from orchestrator.mission import twin

_MODULE = (sys.executable, "-P", "-m")
"""Without the folder where the user stands, whose files may be called like the modules that are needed."""


class ProcessError(Exception):
    """A process did not start; one sentence."""


class TwinProcess:
    """The simulated robot; it ends when it is closed or its run dies."""

    def __init__(self, settings: twin.Settings) -> None:
        command = [*_MODULE, "orchestrator.mission.twin", _json(settings)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, start_new_session=True)
        said = _first_line(self._process)
        if not said.startswith("up"):
            self.close()
            raise ProcessError(f"the simulated robot did not start: {said or 'it said nothing'}")
        port = said.removeprefix("up").strip()
        self.rpc = f"127.0.0.1:{port}" if port else None

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()


class GuardProcess:
    """The robot's guard: the one that is already there, or a new one.

    It lives in a session of its own and is deaf to the terminal's signals: it outlives a run that crashes.
    """

    def __init__(self, settings: guard_process.Settings) -> None:
        self._folder = Path(settings.folder)
        if _fallback() in self._folder.parents:
            make_own(_fallback())
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._process: subprocess.Popen[str] | None = None
        self.joined = lock_holder(self._folder) is not None or not self._start(settings)
        self.socket = self._folder / "guard.sock"

    def _start(self, settings: guard_process.Settings) -> bool:
        """False when another one was faster."""
        command = [*_MODULE, "orchestrator.guard.process", _json(settings)]
        with (self._folder / "guard.log").open("a") as log:  # it may outlive our terminal
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, stdout=pipe, stderr=log, text=True, start_new_session=True)
        assert self._process.stdout is not None
        with self._process.stdout as output:  # after "up" it has nothing more to say there
            said = output.readline().strip()
            rest = "" if said == "up" else output.read()
        if said == "up":
            return True
        self._process.wait()
        if said == guard_process.ALREADY_GUARDED:
            return False
        raise ProcessError(f"{said}\n{rest}".removeprefix("error: ").strip() or "the guard did not start")

    @property
    def pid(self) -> int | None:
        """The guard's process, while there is one."""
        return lock_holder(self._folder)

    def kill(self) -> None:
        """One that hangs must not come back beside whoever stops the robot in its place."""
        if (process := self.pid) is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)

    def wait(self, seconds: float) -> bool:
        """Whether it ended by itself within this time, as it does after an orderly end."""
        until = RealClock.now() + seconds
        while self.pid is not None:
            if RealClock.now() >= until:
                return False
            time.sleep(0.01)
        if self._process is not None:
            self._process.wait()
        return True


def state_folder(robot: str, network: DdsSettings) -> Path:
    """Where the guard of this robot on this network keeps its socket and lock."""
    mark = hashlib.blake2b(msgspec.json.encode(network), digest_size=4).hexdigest()  # sockets have short names
    return _state_root() / f"{robot}-{mark}"


def _state_root() -> Path:
    return Path(os.environ.get("XDG_RUNTIME_DIR") or _fallback()) / "orchestrator"


def _fallback() -> Path:
    return Path(f"/tmp/orchestrator-{os.getuid()}")


def make_own(folder: Path) -> None:
    """A folder in /tmp, where anybody may have made it before us: it must be ours, and closed to others."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise ProcessError(
            f"{folder} must be a folder of yours that nobody else can write to, but it is "
            f"{stat.filemode(found.st_mode)} of user {found.st_uid}: remove it, or set XDG_RUNTIME_DIR"
        )
    folder.chmod(0o700)


def guards(processes: Path = Path("/proc")) -> dict[Path, int]:
    """The guards that watch robots on this machine: their folders and their processes.

    Found among the processes: where a run keeps its folder depends on its environment, which need not be ours.
    """
    found = {}
    for entry in processes.glob("[0-9]*"):
        folder = _guarded_by(entry)
        if folder is not None and lock_holder(folder) in (None, int(entry.name)):  # another one may just be sent away
            found[folder] = int(entry.name)
    return dict(sorted(found.items()))


def _guarded_by(process: Path) -> Path | None:
    """The folder of a guard; None for any other process."""
    try:
        _, *arguments, settings, _ = (process / "cmdline").read_bytes().split(b"\0")
        if arguments[-2:] == [b"-m", guard_process.__name__.encode()]:
            return Path(msgspec.json.decode(settings, type=guard_process.Settings).folder)
    except (OSError, ValueError, msgspec.DecodeError):
        pass
    return None


def user_of(process: int) -> str:
    """Whose process it is."""
    user = Path(f"/proc/{process}").stat().st_uid
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def robot_of(folder: Path) -> str:
    """Which robot a guard's folder is for."""
    return folder.name.rpartition("-")[0] or folder.name


def last_words(folder: Path) -> str:
    """What a guard that has left said about the robot; nothing if it had no time to, or its folder has gone too."""
    try:
        return (folder / "lock").read_text().partition("\n")[2].strip()
    except OSError:
        return ""


def lock_holder(folder: Path, locks: Path = Path("/proc/locks")) -> int | None:
    """Which process holds the guard's lock. Read from the kernel's list: trying the lock could keep a guard out.

    The list names files by numbers that are unique only within a file system: it must be who says so in the file.
    """
    try:
        inode = (folder / "lock").stat().st_ino
        said = (folder / "lock").read_text().partition("\n")[0]
        held = locks.read_text()
    except OSError:
        return None
    for line in held.splitlines():
        _, kind, *_, process, file, _start, _end = line.split()
        if kind == "FLOCK" and file.endswith(f":{inode}") and process == said:
            return int(process)
    return None


def _json(settings: msgspec.Struct) -> str:
    return msgspec.json.encode(settings).decode()


def _first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()
