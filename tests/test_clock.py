import ast
from pathlib import Path

import pytest

import orchestrator
from orchestrator.clock import RealClock, VirtualClock


def test_real_time_only_goes_forward() -> None:
    clock = RealClock()
    first = clock.now()
    assert clock.now() >= first


def test_virtual_time_stands_still_until_advanced() -> None:
    clock = VirtualClock(start=5.0)
    assert clock.now() == 5.0
    clock.advance(2.5)
    assert clock.now() == 7.5


def test_calls_run_in_order_of_time_then_of_planning() -> None:
    clock = VirtualClock()
    ran: list[tuple[str, float]] = []
    for name, due in (("late", 2.0), ("first", 1.0), ("second", 1.0)):
        clock.at(due, lambda name=name: ran.append((name, clock.now())))  # type: ignore[misc]
    clock.advance(3.0)
    assert ran == [("first", 1.0), ("second", 1.0), ("late", 2.0)]
    assert clock.now() == 3.0


def test_a_call_may_plan_the_next_one_within_the_same_advance() -> None:
    clock = VirtualClock()
    ticks: list[float] = []

    def tick() -> None:
        ticks.append(clock.now())
        clock.after(0.5, tick)

    clock.after(0.5, tick)
    clock.advance(2.0)
    assert ticks == [0.5, 1.0, 1.5, 2.0]


def test_a_cancelled_call_never_happens_and_is_no_longer_due() -> None:
    clock = VirtualClock()
    ran: list[int] = []
    timer = clock.after(1.0, lambda: ran.append(1))
    timer.cancel()
    assert clock.next_due() is None
    clock.advance(2.0)
    assert ran == []


def test_a_call_planned_for_the_past_runs_now_and_time_does_not_go_back() -> None:
    clock = VirtualClock(start=10.0)
    seen: list[float] = []
    clock.at(3.0, lambda: seen.append(clock.now()))
    clock.advance(0.0)
    assert seen == [10.0]


def test_step_says_whether_a_call_ran() -> None:
    clock = VirtualClock()
    clock.after(1.0, lambda: None)
    assert clock.step(until=5.0) is True
    assert clock.now() == 1.0
    assert clock.step(until=5.0) is False
    assert clock.now() == 5.0


DECIDING = ("bus", "engine", "guard", "leaf", "robots", "sim", "treefile", "yamlfile")
WALL_CLOCKS = {("time", "time"), ("time", "time_ns"), ("datetime", "now"), ("datetime", "utcnow"), ("date", "today")}


@pytest.mark.parametrize("room", [*DECIDING, "behaviours"])
def test_nothing_that_decides_asks_a_clock_that_can_jump(room: str) -> None:
    package = Path(orchestrator.__file__).parent
    folder = package.parent / room if room == "behaviours" else package / room
    files = list(folder.rglob("*.py"))
    assert files
    asked = [
        f"{file.relative_to(package.parent)}:{node.lineno}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) in WALL_CLOCKS
    ]
    assert asked == []
