"""Calls of JSON-RPC to a server like the robot's: TCP, one request a connection, sometimes slow."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from orchestrator.clock import RealClock
from orchestrator.guard.rpc import RpcCaller
from orchestrator.robots.drive import RpcCall

RENEWED = 0.2
"""Seconds between two velocities, as the guard sends them."""


class Server:
    """Takes its time for each request, does it and then answers; several at once, as they come."""

    def __init__(self) -> None:
        self.takes: Callable[[RpcCall], float] = lambda call: 0.0
        self.answer = '{"jsonrpc": "2.0", "id": 1, "result": {}}'
        self.came: list[tuple[float, RpcCall]] = []
        self.done: list[tuple[float, RpcCall]] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            request = json.loads(connection.recv(65536))
            call = RpcCall(request["method"], request["params"])
            self.came.append((RealClock.now(), call))
            time.sleep(self.takes(call))
            self.done.append((RealClock.now(), call))
            with contextlib.suppress(OSError):  # it may not be waited for any more
                for part in (self.answer[:9], self.answer[9:]):  # it has no frame
                    connection.sendall(part.encode())

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def velocities(self) -> list[float]:
        return [float(call.params["vx"]) for _, call in self.done if call.method == "SetVel"]


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


def velocity(vx: float) -> RpcCall:
    return RpcCall("SetVel", {"vx": vx, "vy": 0.0, "vyaw": 0.0, "duration": 0.5})


def until(happened: Callable[[], object], seconds: float = 10.0) -> None:
    end = RealClock.now() + seconds
    while not happened():
        assert RealClock.now() < end
        time.sleep(0.005)


def nobody(problem: str | None) -> None:
    pass


@pytest.mark.parametrize("slow", [0.6, 0.8])
def test_a_stop_is_not_behind_the_velocities_of_a_slow_robot(server: Server, slow: float) -> None:
    server.takes = lambda call: slow
    caller = RpcCaller(server.address)
    for number in range(10):
        caller.call(velocity(0.1 + number / 100), stop=False, answered=nobody)
        time.sleep(RENEWED)
    stopped = RealClock.now()
    caller.call(velocity(0.0), stop=True, answered=nobody)
    until(lambda: len(server.done) == len(server.came) and server.velocities()[-1:] == [0.0])
    zeros = [at for at, call in server.came if call.params["vx"] == 0.0]
    assert zeros[0] - stopped < 0.2, "it has a connection of its own"
    assert [call for at, call in server.came if at > stopped + 0.05 and call.params["vx"] != 0.0] == []
    moved = [call.params["vx"] for _, call in server.came if call.params["vx"] != 0.0]
    assert len(moved) <= 2.0 / slow + 2, "only the newest of those that waited was sent"


def test_a_velocity_that_was_under_way_is_followed_by_another_zero(server: Server) -> None:
    server.takes = lambda call: 0.6 if call.params["vx"] else 0.0
    caller = RpcCaller(server.address)
    caller.call(velocity(0.3), stop=False, answered=nobody)
    until(lambda: server.came)
    caller.call(velocity(0.0), stop=True, answered=nobody)
    until(lambda: len(server.done) == 3)
    assert server.velocities() == [0.0, 0.3, 0.0]


def test_a_stop_that_was_answered_is_not_repeated_and_one_that_was_not_is(server: Server) -> None:
    caller = RpcCaller(server.address)
    caller.call(velocity(0.0), stop=True, answered=nobody)
    time.sleep(0.4)
    assert server.velocities() == [0.0]
    server.answer = "no JSON, or cut off in the mid"
    caller.call(velocity(0.0), stop=True, answered=nobody)
    until(lambda: len(server.velocities()) == 3)
    server.answer = "{}  "
    time.sleep(0.4)
    assert len(server.velocities()) <= 4


def test_a_stop_empties_what_waits_for_every_method(server: Server) -> None:
    server.takes = lambda call: 0.3
    caller = RpcCaller(server.address)
    for state in (1, 2):
        caller.call(RpcCall("SetFsmId", {"fsm_id": state}), stop=False, answered=nobody)
        until(lambda: server.came)
    caller.call(velocity(0.0), stop=True, answered=nobody)
    time.sleep(0.8)
    assert [call.params.get("fsm_id") for _, call in server.came if call.method == "SetFsmId"] == [1]


def test_a_command_that_has_waited_too_long_is_not_sent(server: Server) -> None:
    server.takes = lambda call: 0.5
    caller = RpcCaller(server.address)
    caller.call(velocity(0.1), stop=False, answered=nobody)
    until(lambda: server.came)
    caller.call(velocity(0.2), stop=False, answered=nobody)
    time.sleep(0.8)
    assert server.velocities() == [0.1]


def test_what_the_robot_answers_is_told(server: Server) -> None:
    told: list[str | None] = []
    caller = RpcCaller(server.address)

    def ask() -> str | None:
        told.clear()
        caller.call(velocity(0.1), stop=False, answered=told.append)
        until(lambda: told)
        return told[0]

    assert ask() is None
    server.answer = '{"id": 1, "error": {"code": 102, "message": "no walking in state 1"}}'
    assert ask() == "SetVel was refused: no walking in state 1 (102)"
    server.answer = "Hello     "
    assert ask() == "SetVel: the robot answered 'Hello     '"
    server.answer = '["a list"]  '
    assert ask() == "SetVel: the robot answered ['a list']"
    server.takes = lambda call: 1.2
    assert ask() == "SetVel: no answer within 1 s"


def test_nobody_there_is_told() -> None:
    told: list[str | None] = []
    gone = socket.create_server(("127.0.0.1", 0))
    address = f"127.0.0.1:{gone.getsockname()[1]}"
    gone.close()
    RpcCaller(address).call(velocity(0.1), stop=False, answered=told.append)
    until(lambda: told)
    assert told[0] is not None and "refused" in told[0]


def test_it_is_ready_when_it_has_answered_and_not_when_it_is_gone(server: Server) -> None:
    told: list[bool] = []
    caller = RpcCaller(server.address)
    caller.watch(told.append)
    until(lambda: told)
    assert told == [True]
    assert [call.method for _, call in server.came] == ["GetFsmId"]
    server.close()
    caller.call(velocity(0.1), stop=False, answered=nobody)
    until(lambda: told[-1] is False)
