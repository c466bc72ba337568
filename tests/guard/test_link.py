"""The socket between run and guard: what it lets through, whom it sends away, and what that does to the robot."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import SimpleQueue

import msgspec
import pytest

from orchestrator.clock import RealClock
from orchestrator.guard import events, link
from orchestrator.guard.events import Event
from orchestrator.guard.link import GuardServer, Host, LinkCommander, LinkError
from orchestrator.guard.outputs import Report
from orchestrator.robots import intents as i

PATIENCE = 20.0


class Guard:
    """Keeps what the server tells it; its epoch grows with every run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.epoch = 0
        self.handled: SimpleQueue[Event] = SimpleQueue()
        host = Host(self._handle, lambda: self.epoch, lambda: "disarmed", "normal priority")
        self.server = GuardServer(path, host, RealClock())
        self.visitors = ExitStack()

    def _handle(self, event: Event) -> None:
        if isinstance(event, events.RunConnected):
            self.epoch += 1
        self.handled.put(event)

    def next(self) -> Event:
        return self.handled.get(timeout=PATIENCE)


@pytest.fixture
def guard() -> Iterator[Guard]:
    with tempfile.TemporaryDirectory(prefix="o") as folder:
        guard = Guard(Path(folder) / "guard.sock")
        with guard.visitors:
            yield guard
        guard.server.close()


def connect(guard: Guard) -> LinkCommander:
    run = LinkCommander(guard.path, "mission", wake=lambda: None)
    guard.visitors.callback(run.close)
    return run


class Stranger:
    """Somebody on the socket who is no run of ours."""

    def __init__(self, guard: Guard) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(str(guard.path))
        guard.visitors.callback(self.socket.close)

    def say(self, *messages: object) -> None:
        for message in messages:
            self.socket.send(message if isinstance(message, bytes) else msgspec.msgpack.encode(message))

    def hears(self) -> list[object]:
        """Everything until the guard hangs up."""
        heard = []
        while data := self.socket.recv(link.MAX_MESSAGE):
            heard.append(link._decode_from_guard(data))
        return heard


HELLO = link.Hello("stranger")

MISUSES: dict[str, tuple[list[object], str]] = {
    "rubbish": ([HELLO, b"\xff\xff\xff"], "a message that is none"),
    "nothing we know": ([HELLO, {"type": "Dance"}], "a message that is none"),
    "a wrong type": ([HELLO, {"type": "Beat", "streams": "all"}], "a message that is none"),
    "an intent nobody knows": (
        [HELLO, {"type": "Ask", "id": 1, "intent": {"intent": "Fly"}}],
        "a message that is none",
    ),
    "an act nobody knows": ([HELLO, {"type": "Person", "act": "override", "who": "me"}], "a message that is none"),
    "too long": ([HELLO, b"\x00" * (link.MAX_MESSAGE + 1)], "more than 131072 bytes"),
    "two greetings": ([HELLO, HELLO], "a second Hello"),
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_whoever_cannot_be_understood_is_told_so_and_is_gone(guard: Guard, misuse: str) -> None:
    messages, why = MISUSES[misuse]
    stranger = Stranger(guard)
    stranger.say(*messages)
    *_, farewell = stranger.hears()
    assert isinstance(farewell, link.Farewell)
    assert why in farewell.text
    assert guard.next() == events.RunConnected("stranger")
    assert guard.next() == events.RunGone(1), "to the robot it is the same as a run that died"


OUT_OF_ORDER = {
    "begin": link.Begin(),
    "command": link.Ask(1, i.SetFsm("walk")),
    "arm": link.Person("arm", "nobody"),
    "heartbeat": link.Beat(()),
    "end": link.Finish(),
}


@pytest.mark.parametrize("message", OUT_OF_ORDER)
def test_nothing_is_heard_from_somebody_who_has_not_said_who_it_is(guard: Guard, message: str) -> None:
    stranger = Stranger(guard)
    stranger.say(OUT_OF_ORDER[message])
    assert stranger.hears() == [link.Farewell("the first message must be Hello")]
    connect(guard)
    assert guard.next() == events.RunConnected("mission"), "nothing came before it"


def test_silence_is_no_greeting_and_keeps_nobody_out(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "GREETING", 0.05)
    silent = Stranger(guard)
    assert connect(guard).mode == "disarmed"
    assert silent.hears() == [link.Farewell("timed out")]


def test_a_second_run_is_refused_and_told_who_is_there(guard: Guard) -> None:
    first = connect(guard)
    with pytest.raises(LinkError, match=f"already has a run: mission, process {os.getpid()} of "):
        connect(guard)
    assert isinstance(guard.next(), events.RunConnected)
    first.begin()
    assert guard.next() == events.RunBegan(1), "the first one is not disturbed"


def test_when_a_run_is_gone_the_next_one_may_come(guard: Guard) -> None:
    connect(guard).close()
    assert [guard.next(), guard.next()] == [events.RunConnected("mission"), events.RunGone(1)]
    second = None
    end = RealClock.now() + PATIENCE
    while second is None and RealClock.now() < end:
        try:
            second = connect(guard)
        except LinkError as busy:
            assert "already has a run" in str(busy)
    assert second is not None


def test_messages_arrive_in_order(guard: Guard) -> None:
    run = connect(guard)
    run.begin()
    run.send(i.SetFsm("walk"))
    receipt = run.send(i.Velocity(0.1, 0.0, 0.0))
    run.heartbeat()
    run.end(receipt)
    run.act("pause", "anna")
    run.finish()
    assert [guard.next() for _ in range(8)] == [
        events.RunConnected("mission"),
        events.RunBegan(1),
        events.IntentAsked(1, 1, i.SetFsm("walk")),
        events.IntentAsked(1, 2, i.Velocity(0.1, 0.0, 0.0)),
        events.Heartbeat(1, (2,)),
        events.StreamEnded(1, 2),
        events.Pause("anna"),
        events.RunEnded(1),
    ]


def test_a_command_that_is_too_long_is_refused_at_the_run_and_harms_nothing(guard: Guard) -> None:
    run = connect(guard)
    path = i.JointPath("left_arm", tuple(i.Keyframe(0.01 * n, (0.1,) * 7) for n in range(3000)))
    receipt = run.send(path)
    assert (receipt.state, receipt.reason) == ("refused", "too long for one message to the guard")
    run.begin()
    assert [guard.next(), guard.next()] == [events.RunConnected("mission"), events.RunBegan(1)]


def test_reports_reach_the_run_and_its_receipts(guard: Guard) -> None:
    heard: SimpleQueue[Report] = SimpleQueue()
    run = connect(guard)
    run.on_report = heard.put
    receipt = run.send(i.SetFsm("walk"))
    guard.server.tell(Report("refused", "mode: the robot is disarmed", 1, "mode"))
    assert heard.get(timeout=PATIENCE).value == "mode"
    assert (receipt.state, receipt.reason) == ("refused", "mode: the robot is disarmed")


def test_what_the_guard_said_before_anybody_listened_is_told_then(guard: Guard) -> None:
    run = connect(guard)
    receipt = run.send(i.SetFsm("walk"))
    guard.server.tell(Report("mode", "disarmed: robot found", value="disarmed"))
    guard.server.tell(Report("sent", "SetFsm", 1, "sent"))
    end = RealClock.now() + PATIENCE
    while receipt.state != "sent":
        assert RealClock.now() < end
    heard: list[Report] = []
    run.on_report = heard.append
    assert [report.kind for report in heard] == ["mode", "sent"]


def test_a_run_that_does_not_read_is_not_waited_for(guard: Guard) -> None:
    stranger = Stranger(guard)
    stranger.say(HELLO)
    assert isinstance(guard.next(), events.RunConnected)
    for number in range(20_000):
        guard.server.tell(Report("warning", "x" * 100, number))


def test_a_dead_guard_is_noticed_and_told_from_one_that_sends_us_away(guard: Guard) -> None:
    lost: SimpleQueue[bool] = SimpleQueue()
    run = connect(guard)
    run.on_lost = lambda: lost.put(run.lost)
    assert guard.server._client is not None
    guard.server._client.shutdown(socket.SHUT_RDWR)
    assert lost.get(timeout=PATIENCE) is True
    assert run.farewell == ""


def test_being_sent_away_is_not_a_dead_guard(guard: Guard) -> None:
    lost: SimpleQueue[bool] = SimpleQueue()
    run = connect(guard)
    run.on_lost = lambda: lost.put(run.lost)
    run._socket.send(b"\xff")
    assert lost.get(timeout=PATIENCE) is False
    assert "a message that is none" in run.farewell


def test_the_socket_belongs_to_its_user_alone(guard: Guard) -> None:
    assert guard.path.stat().st_mode & 0o077 == 0


def test_the_socket_a_killed_guard_left_behind_is_replaced(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="o") as folder:
        path = Path(folder) / "guard.sock"
        dead = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        dead.bind(str(path))
        dead.close()
        with pytest.raises(LinkError, match="the guard does not answer"):
            LinkCommander(path, "mission", wake=lambda: None)
        guard = Guard(path)
        with guard.visitors:
            assert connect(guard).mode == "disarmed"
        guard.server.close()
        assert not path.exists()


def test_a_guard_that_reads_no_more_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it is stopped or swapped out: nothing else tells of it, and a run must not hang with it."""
    monkeypatch.setattr(link, "LOOK", 0.0)
    with hanging(tmp_path / "s") as (run, _):
        for _ in range(link.HUNG_AFTER):
            assert not run.lost
            run.heartbeat()
        run.heartbeat()
        assert run.lost
        assert run.hangs
        run.heartbeat()  # and does not wait for it


def test_it_is_noticed_also_after_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it has left the guard holds the robot: whoever waits for that must see that it hangs."""
    monkeypatch.setattr(link, "LOOK", 0.0)
    with hanging(tmp_path / "s") as (run, _):
        run.finish()
        for _ in range(link.HUNG_AFTER):
            assert not run.hangs
            run.heartbeat()
        assert run.hangs
        assert not run.lost


def test_a_guard_that_hangs_greets_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "LONGEST_WELCOME", 1)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.bind(str(tmp_path / "s"))
        server.listen(1)
        with pytest.raises(LinkError, match=rf"the guard hangs \(process {os.getpid()} of .*end that process"):
            LinkCommander(tmp_path / "s", "mission", wake=lambda: None)


def test_a_guard_that_is_behind_but_reads_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "LOOK", 0.0)
    with hanging(tmp_path / "s") as (run, guard):
        run.heartbeat()
        for _ in range(3 * link.HUNG_AFTER):
            run.heartbeat()
            guard.recv(link.MAX_MESSAGE)
        assert not run.lost


def test_a_guard_that_reads_is_not_lost(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "LOOK", 0.0)
    run = connect(guard)
    for _ in range(3 * link.HUNG_AFTER):
        run.heartbeat()
        while not isinstance(guard.next(), events.Heartbeat):
            pass
    assert not run.lost


def test_time_in_which_the_machine_stands_still_is_not_the_guards(tmp_path: Path) -> None:
    with hanging(tmp_path / "s") as (run, _):
        for _ in range(2 * link.HUNG_AFTER):  # at once: one look
            run.heartbeat()
        assert not run.lost


def test_a_send_to_a_guard_that_reads_no_more_does_not_last(tmp_path: Path) -> None:
    with hanging(tmp_path / "s") as (run, _):
        path = i.JointPath("left_arm", tuple(i.Keyframe(float(at), (0.0,) * 7) for at in range(1000)))
        while not run.lost:
            run.send(path)
        assert run.hangs


@contextmanager
def hanging(path: Path) -> Iterator[tuple[LinkCommander, socket.socket]]:
    """A run whose guard has greeted it and does nothing any more, and the guard's end."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.bind(str(path))
        server.listen(1)
        with ThreadPoolExecutor(1) as pool:
            greeted = pool.submit(_greet, server)
            run = LinkCommander(path, "mission", wake=lambda: None)
            with greeted.result() as client:
                yield run, client
                run.close()


def _greet(server: socket.socket) -> socket.socket:
    client, _ = server.accept()
    client.recv(link.MAX_MESSAGE)
    client.send(msgspec.msgpack.encode(link.Welcome("running", "", "audit")))
    return client
