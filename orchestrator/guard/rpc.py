"""Dobot's JSON-RPC, called from threads of its own so that a slow robot never delays a stop.

Each method has two lines, one for commands and one for stops. A line makes one call at a time, and of what waits for it
only the newest counts. A stop empties what waits in the lines of commands, and is never behind one of them.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from orchestrator.clock import RealClock
from orchestrator.robots.drive import RpcCall

TIMEOUT = 1.0
"""Seconds within which the robot must have answered."""
STALE = 0.3
"""Seconds after which a command that waits is dropped: whoever still wants it has said so again before that."""
STOP_TRIES = 5
"""Times a stop is called for want of an answer; the guard repeats it besides, until it sees the robot stand."""
STOP_AGAIN = 0.1
"""Seconds between two of them."""
PROBE = RpcCall("GetFsmId", {})
"""Asks for nothing but an answer."""

Answered = Callable[[str | None], None]
"""Is told what was wrong with a call that was made; None: the robot took it."""


class Rpc(Protocol):
    """Calls that are made beside the guard's steps, never within them."""

    def call(self, call: RpcCall, stop: bool, answered: Answered) -> None:
        """Make a call, unless a later one makes it needless, and tell what came of it."""

    def watch(self, tell: Callable[[bool], None]) -> None:
        """Find out whether the robot answers at all, and tell that and every change of it."""


class NoAnswer(Exception):
    """Whether the robot has done it is not known."""


class _Job:
    """One call that is to be made."""

    def __init__(self, call: RpcCall, answered: Answered, rival: _Job | None = None) -> None:
        self.call = call
        self.answered = answered
        self.rival = rival
        """The command that was under way when this stop came: the robot may get round to it later than to the stop."""
        self.at = RealClock.now()
        self.over = threading.Event()


class _Line:
    """One call at a time, in a thread of its own; what waits is replaced by what comes later."""

    def __init__(self, name: str, make: Callable[[_Job], None]) -> None:
        self._make = make
        self._changed = threading.Condition()
        self.waiting: _Job | None = None
        self.current: _Job | None = None
        self.newest = 0.0
        """When it was last given something."""
        threading.Thread(target=self._work, name=f"json-rpc {name}", daemon=True).start()

    def put(self, job: _Job) -> None:
        with self._changed:
            self.waiting, self.newest = job, job.at
            self._changed.notify()

    def empty(self) -> None:
        with self._changed:
            self.waiting = None

    def _work(self) -> None:
        while True:
            with self._changed:
                self.current = None
                while self.waiting is None:
                    self._changed.wait()
                job = self.current = self.waiting
                self.waiting = None
            try:
                self._make(job)
            finally:
                job.over.set()


class RpcCaller:
    """The robot's JSON-RPC at an address, one request a connection. The guard calls from one step at a time."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._address = (host, int(port))
        self._commands: dict[str, _Line] = {}
        self._stops: dict[str, _Line] = {}
        self._doubt = threading.Event()

    def call(self, call: RpcCall, stop: bool, answered: Answered) -> None:
        if not stop:
            self._line(self._commands, call.method, self._command).put(_Job(call, answered))
            return
        for line in self._commands.values():
            line.empty()
        command = self._commands.get(call.method)
        rival = command.current if command is not None else None
        self._line(self._stops, call.method, self._stop).put(_Job(call, answered, rival))

    def _line(self, lines: dict[str, _Line], method: str, make: Callable[[_Job], None]) -> _Line:
        if method not in lines:
            lines[method] = _Line(method, make)
        return lines[method]

    def _command(self, job: _Job) -> None:
        if RealClock.now() - job.at > STALE:
            return
        try:
            job.answered(self._ask(job.call))
        except NoAnswer as silence:
            job.answered(str(silence))

    def _stop(self, job: _Job) -> None:
        """Call it until it is answered, and again when what was under way is over; a newer call ends that."""
        for attempt in range(STOP_TRIES):
            rival = job.rival if job.rival is not None and not job.rival.over.is_set() else None
            try:
                problem, silent = self._ask(job.call), False
            except NoAnswer as silence:
                problem, silent = str(silence), True
                time.sleep(STOP_AGAIN)
            if attempt == 0:
                job.answered(problem)
            if rival is not None:
                rival.over.wait(TIMEOUT)
            if (rival is None and not silent) or self._outdated(job):
                return

    def _outdated(self, job: _Job) -> bool:
        command = self._commands.get(job.call.method)
        newer = command is not None and command.newest > job.at
        return newer or self._stops[job.call.method].waiting is not None

    def watch(self, tell: Callable[[bool], None]) -> None:
        threading.Thread(target=self._watch, args=(tell,), name="json-rpc watch", daemon=True).start()

    def _watch(self, tell: Callable[[bool], None]) -> None:
        """Asks until there is an answer, and again when a call has had none."""
        while True:
            self._doubt.clear()
            try:
                self._ask(PROBE)
            except NoAnswer:
                tell(False)
                time.sleep(TIMEOUT)
            else:
                tell(True)
                self._doubt.wait()

    def _ask(self, call: RpcCall) -> str | None:
        """Why the robot refused a call; None: it took it."""
        request = {"jsonrpc": "2.0", "id": 1, "method": call.method, "params": call.params}
        until = RealClock.now() + TIMEOUT
        try:
            with socket.create_connection(self._address, timeout=TIMEOUT) as connection:
                connection.sendall(json.dumps(request).encode())
                answer = _answer(connection, until)
        except (OSError, ValueError) as error:
            self._doubt.set()
            raise NoAnswer(no_answer(call, "" if isinstance(error, TimeoutError) else str(error))) from None
        return refusal_in(call, answer)


def _answer(connection: socket.socket, until: float) -> dict[str, Any]:
    """An answer has no frame: it is complete when it can be read, or when the robot says no more."""
    data = b""
    while True:
        connection.settimeout(max(0.001, until - RealClock.now()))
        chunk = connection.recv(65536)
        data += chunk
        try:
            answer = json.loads(data)
        except ValueError:
            if not chunk:
                raise ValueError(f"the robot answered {data[:60].decode(errors='replace')!r}") from None
            continue
        if not isinstance(answer, dict):
            raise ValueError(f"the robot answered {answer!r}")
        return answer


def no_answer(call: RpcCall, why: str = "") -> str:
    return f"{call.method}: {why or f'no answer within {TIMEOUT:g} s'}"


def refusal_in(call: RpcCall, answer: dict[str, Any]) -> str | None:
    """Why the robot refused a call; None: it took it."""
    refusal = answer.get("error")
    if not refusal:
        return None
    says = f"{refusal.get('message')} ({refusal.get('code')})" if isinstance(refusal, dict) else str(refusal)
    return f"{call.method} was refused: {says}"
