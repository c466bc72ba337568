"""The local socket between a run and its guard: what travels, and both ends of it.

SEQPACKET keeps messages whole and in order, and tells at once when the other side dies. The socket belongs to its user
alone. One run at a time: a second one is told so and sent away.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
import socket
import struct
import sys
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from orchestrator.clock import Clock, RealClock
from orchestrator.guard import events
from orchestrator.guard.modes import Mode
from orchestrator.guard.outputs import Report
from orchestrator.guard.receipts import Receipts
from orchestrator.robots.commander import Receipt
from orchestrator.robots.intents import AnyIntent

MAX_MESSAGE = 128 * 1024
"""Bytes: a motion of some 1,800 keyframes of a seven-joint arm. Linux lets no more than 200 KB through at once."""
GREETING = 1.0
"""Seconds somebody who connects has to say who it is."""
LOOK = 0.04
"""Seconds between two looks of a run whether its guard reads what it is sent: every heartbeat has one."""
HUNG_AFTER = 20
"""Looks in a row that find more unread. They are counted: if the machine stood still that is nobody's fault."""
LONGEST_SEND = 1
"""Seconds a send may take, should the guard read nothing before anybody has looked."""
LONGEST_WELCOME = 10
"""Seconds a guard has to greet a run."""


class LinkError(Exception):
    """The guard cannot be reached, or has gone; one sentence."""


# From the run


class Hello(msgspec.Struct, frozen=True, tag=True):
    run: str


class Begin(msgspec.Struct, frozen=True, tag=True):
    pass


class Ask(msgspec.Struct, frozen=True, tag=True):
    id: int
    intent: AnyIntent


class EndStream(msgspec.Struct, frozen=True, tag=True):
    id: int


class Beat(msgspec.Struct, frozen=True, tag=True):
    """A finished tick, and the streams the tree still holds."""

    streams: tuple[int, ...]


class Finish(msgspec.Struct, frozen=True, tag=True):
    pass


class Person(msgspec.Struct, frozen=True, tag=True):
    """What a person did at the run's terminal."""

    act: Literal[
        "acknowledge", "clear_errors", "preflight", "arm", "restart", "abort", "disarm", "pause", "resume", "stop"
    ]
    who: str
    reason: str = ""


FromRun = Hello | Begin | Ask | EndStream | Beat | Finish | Person


# From the guard


class Welcome(msgspec.Struct, frozen=True, tag=True):
    mode: str
    priority: str
    """What scheduling the guard got, for people."""
    audit: str
    """The file in which it keeps its records."""


class Farewell(msgspec.Struct, frozen=True, tag=True):
    """Why the guard ends the connection; it lives on, and has stopped whatever moved."""

    text: str


class Reported(msgspec.Struct, frozen=True, tag=True):
    report: Report
    at: float
    """The guard's clock, which is the machine's: the same as the run's."""


FromGuard = Welcome | Farewell | Reported

_encode = msgspec.msgpack.Encoder().encode
_decode_from_run = msgspec.msgpack.Decoder(FromRun).decode
_decode_from_guard = msgspec.msgpack.Decoder(FromGuard).decode


def event_of(message: FromRun, epoch: int) -> events.Event:
    """What a message means to the guard's core."""
    match message:
        case Hello(run):
            return events.RunConnected(run)
        case Begin():
            return events.RunBegan(epoch)
        case Ask(number, intent):
            return events.IntentAsked(epoch, number, intent)
        case EndStream(number):
            return events.StreamEnded(epoch, number)
        case Beat(streams):
            return events.Heartbeat(epoch, streams)
        case Finish():
            return events.RunEnded(epoch)
        case Person():
            return _act(message)


def _act(person: Person) -> events.Event:
    match person.act:
        case "acknowledge":
            return events.Acknowledge(person.who, person.reason)
        case "clear_errors":
            return events.AskClearErrors(person.who)
        case "preflight":
            return events.AskPreflight(person.who)
        case "arm":
            return events.Arm(person.who)
        case "restart" | "abort":
            return events.Choose(person.who, person.act)
        case "disarm":
            return events.Disarm(person.who)
        case "pause":
            return events.Pause(person.who)
        case "resume":
            return events.Resume(person.who)
        case "stop":
            return events.Stop(person.who)


class Host(msgspec.Struct):
    """What the server needs of the guard: to be told, and to be asked for its epoch and mode."""

    handle: Callable[[events.Event], None]
    epoch: Callable[[], int]
    mode: Callable[[], str]
    priority: str = ""
    audit: str = ""


class _Misuse(Exception):
    """Something the socket brought that no run of ours sends; the text says what."""


class GuardServer:
    """The guard's end: one run at a time. Whoever sends anything but what a run sends is told so and sent away."""

    def __init__(self, path: Path, host: Host, clock: Clock) -> None:
        self._host = host
        self._clock = clock
        self._client: socket.socket | None = None
        self._holder = ""
        self._lock = threading.Lock()
        self._path = path
        path.unlink(missing_ok=True)  # a guard that was killed leaves its own behind
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        mask = os.umask(0o177)
        try:
            self._socket.bind(str(path))
        finally:
            os.umask(mask)
        self._socket.listen(4)
        threading.Thread(target=self._accept, name="guard link", daemon=True).start()

    def tell(self, report: Report) -> None:
        """Pass a report on to the run, if there is one; a run that does not read is not waited for."""
        client = self._client
        if client is not None:
            _send(client, Reported(report, self._clock.now()))

    @property
    def attends(self) -> bool:
        """Whether a run is connected."""
        return self._client is not None

    def close(self) -> None:
        """No more runs; the one that is there stays connected."""
        self._path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # closing alone does not end an accept
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return  # closed
            threading.Thread(target=self._serve, args=(client,), name="guard link run", daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        buffer = bytearray(MAX_MESSAGE + 1)
        with client:
            try:
                client.settimeout(GREETING)
                hello = _receive(client, buffer)
                client.settimeout(None)
                if not isinstance(hello, Hello):
                    raise _Misuse("the first message must be Hello")
                self._take_in(client, hello)
            except (_Misuse, OSError) as problem:
                _send(client, Farewell(str(problem)))
                return
            try:
                self._attend(client, hello, buffer)
            finally:
                with self._lock:
                    self._client = None

    def _take_in(self, client: socket.socket, hello: Hello) -> None:
        with self._lock:
            if self._client is not None:
                raise _Misuse(f"this robot already has a run: {self._holder}")
            self._client, self._holder = client, f"{hello.run}, {_peer(client)}"

    def _attend(self, client: socket.socket, hello: Hello, buffer: bytearray) -> None:
        """Until the run is gone; a run that cannot be understood is gone."""
        handle = self._host.handle
        handle(events.RunConnected(hello.run))
        epoch = self._host.epoch()
        _send(client, Welcome(self._host.mode(), self._host.priority, self._host.audit))
        try:
            while (message := _receive(client, buffer)) is not None:
                if isinstance(message, Hello):
                    raise _Misuse("a second Hello")
                handle(event_of(message, epoch))
        except OSError:
            pass  # as good as an end
        except _Misuse as problem:
            print(f"{self._holder}: {problem}", file=sys.stderr, flush=True)
            _send(client, Farewell(str(problem)))
        finally:
            handle(events.RunGone(epoch))


def _receive(client: socket.socket, buffer: bytearray) -> FromRun | None:
    """The next message; None when the run is gone."""
    size = client.recv_into(buffer)
    if size > MAX_MESSAGE:
        raise _Misuse(f"a message of more than {MAX_MESSAGE} bytes")
    if not size:
        return None
    try:
        message: FromRun = _decode_from_run(memoryview(buffer)[:size])
        return message
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise _Misuse(f"a message that is none: {error}") from None


def _send(client: socket.socket, message: FromGuard) -> None:
    with contextlib.suppress(OSError):
        client.send(_encode(message), socket.MSG_DONTWAIT)


def _peer(client: socket.socket) -> str:
    """Which process of which user is at the other end."""
    size = struct.calcsize("3i")
    process, user, _ = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    try:
        name = pwd.getpwuid(user).pw_name
    except KeyError:
        name = str(user)
    return f"process {process} of {name}"


class LinkCommander:
    """The run's end: sends intents, keeps their receipts up to date, and notices at once when the guard dies."""

    def __init__(self, path: Path, run: str, wake: Callable[[], None], patience: float = 0.0) -> None:
        """Connect as `run`; a guard that is just starting is waited for, `patience` seconds."""
        self._wake = wake
        self._early: list[Report] = []
        self._on_report: Callable[[Report], None] = self._early.append
        self._reporting = threading.Lock()
        self.on_lost: Callable[[], None] = lambda: None
        self._receipts = Receipts()
        self._finished = self._over = False
        self.lost = False
        """Whether the guard has died, or hangs."""
        self.hangs = False
        """Whether it has stopped reading what it is sent: it may come back, and does not know what happened since."""
        self.unread = 0
        """Bytes the guard had not read at the last look."""
        self._grown, self._look_due = 0, 0.0
        self.latched: frozenset[str] = frozenset()
        """E-stops since the robot was last armed, as far as this run knows."""
        self.farewell = ""
        """Why a living guard has ended the connection."""
        self._socket = _connected(path, patience)
        self._send(Hello(run))
        try:
            welcome = self._greeting()
        except LinkError:
            self.close()
            raise
        self.mode, self.priority, self.audit = welcome.mode, welcome.priority, Path(welcome.audit)
        if self.mode == Mode.ESTOPPED:
            self.latched |= {"before this run"}
        threading.Thread(target=self._listen, name="guard reports", daemon=True).start()

    def _greeting(self) -> Welcome:
        until = RealClock.now() + LONGEST_WELCOME
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _seconds(LONGEST_WELCOME))
        while True:
            match self._receive():
                case Welcome() as welcome:
                    self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _seconds(0))
                    return welcome
                case Farewell(text):
                    raise LinkError(text)
                case Reported(report, at):
                    self._take(report, at)
                case None if RealClock.now() >= until:
                    raise LinkError(f"the guard hangs ({_peer(self._socket)}): end that process")
                case None:
                    raise LinkError("the guard closed the connection")

    def send(self, intent: AnyIntent) -> Receipt:
        number, receipt = self._receipts.open(intent)
        if not self._send(Ask(number, intent)):
            self._receipts.take(Report("refused", "too long for one message to the guard", number), 0.0)
        return receipt

    def end(self, receipt: Receipt) -> None:
        number = self._receipts.release(receipt)
        if number is not None:
            self._send(EndStream(number))

    @property
    def on_report(self) -> Callable[[Report], None]:
        """Who is told what the guard says; what it said before somebody listened is told then."""
        return self._on_report

    @on_report.setter
    def on_report(self, tell: Callable[[Report], None]) -> None:
        with self._reporting:
            self._on_report = tell
            while self._early:
                tell(self._early.pop(0))

    @property
    def over(self) -> bool:
        """Whether the guard has gone or ended the connection, or hangs."""
        return self._over

    @property
    def let_through(self) -> tuple[AnyIntent, ...]:
        """What may have reached the robot."""
        return self._receipts.let_through

    def begin(self) -> None:
        self._send(Begin())

    def heartbeat(self) -> None:
        self._look_whether_it_reads()
        self._send(Beat(self._receipts.streams))

    def _look_whether_it_reads(self) -> None:
        """A guard that hangs protects nobody, and says so by nothing else: what it is sent stays in the socket."""
        now = RealClock.now()
        if now < self._look_due or self._over:
            return
        self._look_due = now + LOOK
        try:
            (waiting,) = struct.unpack("i", fcntl.ioctl(self._socket, termios.TIOCOUTQ, struct.pack("i", 0)))
        except OSError:
            waiting = 0  # it has gone: whoever listens hears of that
        self._grown = self._grown + 1 if waiting > self.unread else 0
        self.unread = waiting
        if self._grown >= HUNG_AFTER:
            self._hangs()

    def finish(self) -> None:
        if not self._finished:
            self._finished = True
            self._send(Finish())

    def act(self, act: str, who: str, reason: str = "") -> None:
        self._send(msgspec.convert({"type": "Person", "act": act, "who": who, "reason": reason}, Person))

    def close(self) -> None:
        self._finished = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _send(self, message: FromRun) -> bool:
        """False when it is too long to be sent."""
        data = _encode(message)
        if len(data) > MAX_MESSAGE:
            return False
        if self._over:
            return True
        try:
            self._socket.send(data)
        except BlockingIOError:
            self._hangs()
        except OSError:
            self._gone()
        return True

    def _hangs(self) -> None:
        self.hangs = True
        self._gone()

    def _gone(self) -> None:
        already, self._over = self._over, True
        if not self._finished and not already:
            self.lost = not self.farewell
            self.on_lost()
            self._wake()

    def _receive(self) -> FromGuard | None:
        try:
            data = self._socket.recv(MAX_MESSAGE)
            return _decode_from_guard(data) if data else None
        except (OSError, msgspec.DecodeError):
            return None

    def _listen(self) -> None:
        while isinstance(message := self._receive(), Reported):
            self._take(message.report, message.at)
            self._wake()
        if isinstance(message, Farewell):
            self.farewell = message.text
        self._gone()

    def _take(self, report: Report, at: float) -> None:
        self._receipts.take(report, at)
        if report.kind == "emergency":
            self.latched |= {*report.value.split(", ")}
        elif (report.kind, report.value) == ("rearm", "armed"):
            self.latched = frozenset()
        with self._reporting:
            self._on_report(report)


def _seconds(seconds: int) -> bytes:
    """As the kernel wants to have it for a socket."""
    return struct.pack("ll", seconds, 0)


def _connected(path: Path, patience: float) -> socket.socket:
    until = RealClock.now() + patience
    while True:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _seconds(LONGEST_SEND))
        try:
            connection.connect(str(path))
            return connection
        except OSError as error:
            connection.close()
            if RealClock.now() >= until:
                raise LinkError(f"the guard does not answer at {path}: {error.strerror}") from None
        time.sleep(0.02)
