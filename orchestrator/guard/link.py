"""The local socket between a run and its guard: what travels, and both ends of it.

SEQPACKET keeps messages whole and in order, and tells at once when the other side dies. The socket belongs to its user
alone. One run at a time: a second one is told so and sent away.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from orchestrator.clock import Clock
from orchestrator.guard import events
from orchestrator.guard.outputs import Report
from orchestrator.guard.receipts import Receipts
from orchestrator.robots.commander import Receipt
from orchestrator.robots.intents import AnyIntent

MAX_MESSAGE = 64 * 1024


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


class Busy(msgspec.Struct, frozen=True, tag=True):
    text: str


class Reported(msgspec.Struct, frozen=True, tag=True):
    report: Report
    at: float
    """The guard's clock, which is the machine's: the same as the run's."""


FromGuard = Welcome | Busy | Reported

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


class GuardServer:
    """The guard's end: one run at a time, in a thread of its own."""

    def __init__(self, path: Path, host: Host, clock: Clock) -> None:
        self._host = host
        self._clock = clock
        self._client: socket.socket | None = None
        self._lock = threading.Lock()
        path.unlink(missing_ok=True)
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
            with contextlib.suppress(OSError):
                client.send(_encode(Reported(report, self._clock.now())), socket.MSG_DONTWAIT)

    def close(self) -> None:
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return  # closed
            with self._lock:
                free = self._client is None
                if free:
                    self._client = client
            if free:
                threading.Thread(target=self._serve, args=(client,), name="guard link run", daemon=True).start()
            else:
                with contextlib.suppress(OSError), client:
                    client.send(_encode(Busy("this robot already has a run")))

    def _serve(self, client: socket.socket) -> None:
        epoch = -1
        with client:
            while (message := self._receive(client)) is not None:
                self._host.handle(event_of(message, epoch))
                if isinstance(message, Hello):
                    epoch = self._host.epoch()
                    with contextlib.suppress(OSError):
                        client.send(_encode(Welcome(self._host.mode(), self._host.priority)))
            with self._lock:
                self._client = None
        if epoch >= 0:
            self._host.handle(events.RunGone(epoch))

    def _receive(self, client: socket.socket) -> FromRun | None:
        """The next good message; None when the run is gone or sends rubbish, which is the same to us."""
        try:
            data = client.recv(MAX_MESSAGE + 1)
        except OSError:
            return None
        if not data or len(data) > MAX_MESSAGE:
            return None
        try:
            message: FromRun = _decode_from_run(data)
            return message
        except (msgspec.DecodeError, msgspec.ValidationError):
            return None


class LinkCommander:
    """The run's end: sends intents, keeps their receipts up to date, and notices at once when the guard dies."""

    def __init__(self, path: Path, run: str, wake: Callable[[], None]) -> None:
        self._wake = wake
        self.on_report: Callable[[Report], None] = lambda report: None
        self.on_lost: Callable[[], None] = lambda: None
        self._receipts = Receipts()
        self._finished = False
        self.lost = False
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            raise LinkError(f"the guard does not answer at {path}: {error.strerror}") from None
        self._send(Hello(run))
        welcome = self._greeting()
        self.mode, self.priority = welcome.mode, welcome.priority
        threading.Thread(target=self._listen, name="guard reports", daemon=True).start()

    def _greeting(self) -> Welcome:
        while True:
            match self._receive():
                case Welcome() as welcome:
                    return welcome
                case Busy(text):
                    raise LinkError(text)
                case Reported(report, at):
                    self._take(report, at)
                case None:
                    raise LinkError("the guard closed the connection")

    def send(self, intent: AnyIntent) -> Receipt:
        number, receipt = self._receipts.open(intent)
        self._send(Ask(number, intent))
        return receipt

    def end(self, receipt: Receipt) -> None:
        number = self._receipts.release(receipt)
        if number is not None:
            self._send(EndStream(number))

    def begin(self) -> None:
        self._send(Begin())

    def heartbeat(self) -> None:
        self._send(Beat(self._receipts.streams))

    def finish(self) -> None:
        self._finished = True
        self._send(Finish())

    def act(self, act: str, who: str, reason: str = "") -> None:
        self._send(msgspec.convert({"type": "Person", "act": act, "who": who, "reason": reason}, Person))

    def close(self) -> None:
        self._finished = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _send(self, message: FromRun) -> None:
        try:
            self._socket.send(_encode(message))
        except OSError:
            self._gone()

    def _gone(self) -> None:
        if not self._finished and not self.lost:
            self.lost = True
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
        self._gone()

    def _take(self, report: Report, at: float) -> None:
        self._receipts.take(report, at)
        self.on_report(report)
