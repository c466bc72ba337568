"""A simulated robot in real time on DDS: the same twin, its clock driven by the machine's."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Callable
from pathlib import Path

from orchestrator.bus.contract import Bus
from orchestrator.bus.dds import DdsBus
from orchestrator.bus.settings import DdsSettings, loopback
from orchestrator.clock import RealClock, VirtualClock
from orchestrator.robots.profile import Profile
from orchestrator.sim import make_twin
from orchestrator.sim.fault_file import inject_file
from orchestrator.sim.faults import inject
from orchestrator.sim.twin import Twin

LONGEST_WAIT = 0.05
"""s after which it looks for requests and the end even if nothing else is to do."""
_REQUEST_TIME = 2.0
"""s a client has for sending its request, and the robot for answering it."""
_MULTICAST = 0x1000
"""IFF_MULTICAST of an interface."""


class LiveClock(VirtualClock):
    """A plan of calls like the virtual clock's, carried out by real time: late calls see how late it is."""

    def __init__(self) -> None:
        self._live = RealClock.now()
        super().__init__(self._live)

    def now(self) -> float:
        return self._live

    def catch_up(self) -> None:
        """Run everything that is due by now."""
        self._live = RealClock.now()
        while self.step(self._live):
            pass

    def pause(self) -> float:
        """Seconds until the next call is due."""
        due = self.next_due()
        return LONGEST_WAIT if due is None else min(max(due - RealClock.now(), 0.0), LONGEST_WAIT)


class LiveTwin:
    """A simulated robot on a DDS network. `run` lets it live until `stop` is called, from any thread."""

    def __init__(
        self,
        profile: Profile,
        settings: DdsSettings,
        seed: int = 0,
        faults: tuple[str | Path, ...] = (),
    ) -> None:
        self._clock = LiveClock()
        self._settings = settings
        self._ended = threading.Event()
        self._buses: list[Bus] = []
        bus = self._connect(profile.name)
        self.twin: Twin = make_twin(profile, bus, self._clock, seed, full_rate=True, connect=self._connect)
        self._rpc: RpcServer | None = None
        try:
            for fault in faults:
                if isinstance(fault, Path):
                    inject_file(self.twin, fault)
                else:
                    inject(self.twin, fault)
            if profile.rpc is not None:
                self._rpc = RpcServer(int(profile.rpc.rpartition(":")[2]))
        except BaseException:
            self._close()
            raise

    @property
    def rpc_port(self) -> int | None:
        """Where its JSON-RPC listens, on loopback: the robot's port if it is free, else another."""
        return None if self._rpc is None else self._rpc.port

    def _connect(self, name: str) -> Bus:
        bus = DdsBus(self._settings, name)
        self._buses.append(bus)
        return bus

    def _close(self) -> None:
        if self._rpc is not None:
            self._rpc.close()
        for bus in self._buses:
            bus.close()

    def run(self, each_second: Callable[[str], None] = lambda status: None) -> None:
        """Live; `each_second` is told how the robot is."""
        self.twin.start()
        told = RealClock.now()
        try:
            while not self._ended.is_set():
                self.turn()
                if self._clock.now() - told >= 1.0:
                    told = self._clock.now()
                    each_second(self.twin.status())
        finally:
            self.close()

    def turn(self) -> None:
        """Wait for what comes next, and do it."""
        if self.twin.running:
            self.twin.bus.wait(self._clock.pause())
        else:
            self._ended.wait(self._clock.pause())  # it reboots, and has no bus
        self._clock.catch_up()
        if self._rpc is not None and self.twin.running:
            self._rpc.answer_all(self.twin.rpc.take)  # type: ignore[attr-defined]

    def stop(self) -> None:
        self._ended.set()

    def close(self) -> None:
        """For whoever takes its turns instead of calling `run`."""
        self.twin.stop()
        self._close()


def private_network(profile: Profile, tag: str) -> DdsSettings:
    """The robot's domain on loopback, behind a tag: no real robot can be there."""
    return loopback(profile.domain, tag)


def open_network(profile: Profile) -> DdsSettings:
    """The robot's domain on loopback without a tag, for a vendor's own client on this machine."""
    flags = int(Path("/sys/class/net/lo/flags").read_text(), 16)
    return DdsSettings(profile.domain, interface="lo", multicast=bool(flags & _MULTICAST))


class RpcServer:
    """Takes JSON-RPC requests on loopback, one a connection; the robot's own thread answers them."""

    def __init__(self, port: int) -> None:
        self._requests: queue.SimpleQueue[tuple[str, queue.SimpleQueue[str]]] = queue.SimpleQueue()
        self._socket = _listen(port)
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, name="json-rpc", daemon=True).start()

    def answer_all(self, take: Callable[[str, Callable[[str], None]], None]) -> None:
        while True:
            try:
                text, reply = self._requests.get_nowait()
            except queue.Empty:
                return
            take(text, reply.put)

    def close(self) -> None:
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # closed
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(_REQUEST_TIME)
            reply: queue.SimpleQueue[str] = queue.SimpleQueue()
            try:
                text = _receive(connection)
                self._requests.put((text, reply))
                connection.sendall(reply.get(timeout=_REQUEST_TIME).encode())
            except (OSError, queue.Empty, UnicodeDecodeError):
                pass  # the client has gone, or the robot does not answer


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError:
        return socket.create_server(("127.0.0.1", 0))


def _receive(connection: socket.socket) -> str:
    """A request has no frame: it is complete when its braces are, or when the client says no more."""
    data = b""
    while chunk := connection.recv(65536):
        data += chunk
        if data.count(b"{") and data.count(b"{") == data.count(b"}"):
            break
    return data.decode()
