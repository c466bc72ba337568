"""Arming by hand and re-arming after a latch, in virtual time, with scripted acts of a person."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.data import data_path
from orchestrator.engine.checkpoint import Checkpoint
from orchestrator.engine.events import (
    Answer,
    Command,
    Control,
    End,
    Event,
    GuardReport,
    Prompt,
    RobotShown,
    Structure,
    Withdrawn,
    to_json,
)
from orchestrator.engine.prompts import NoAnswer, Prompts, Question
from orchestrator.mission.arming import ABORT, ACKNOWLEDGE, AGAIN, ARM, CLEAR, Declined, NotArmed
from orchestrator.mission.coverage import Coverage
from orchestrator.mission.loading import load_mission
from orchestrator.mission.mission import RESTART, Left
from orchestrator.mission.story import tell
from orchestrator.mission.virtual import VirtualMission
from orchestrator.sim.faults import inject

DELIVERY = data_path("trees/04_deliver_atom_w.yaml")


class Person:
    """Does what the script says, after looking at the question for a second."""

    def __init__(self, *script: str) -> None:
        self.script = list(script)
        self.asked: list[str] = []
        self.mission: VirtualMission | None = None
        self.on_question: Callable[[Question], None] = lambda question: None
        self.prompts = Prompts(self._asked)

    def _asked(self, question: Question) -> str | None:
        self.asked.append(question.text)
        self.on_question(question)
        assert self.mission is not None
        answer = self.script.pop(0)
        self.mission.clock.after(1.0, lambda: self.prompts.answer(question.number, answer))
        return None


def delivery(person: Person, prepare: Callable[[Any], None] = lambda twin: None) -> tuple[VirtualMission, list[Event]]:
    events: list[Event] = []
    mission = VirtualMission(
        load_mission(DELIVERY), events.append, person.prompts, prepare=prepare, person="tester", watched=True
    )
    person.mission = mission
    return mission, events


def commands(events: list[Event]) -> list[str]:
    return [event.intent for event in events if isinstance(event, Command)]


def pressed(mission: VirtualMission, kind: str, at: float, until: float) -> None:
    twin: Any = mission.twin
    mission.clock.at(at, lambda: twin.press_emergency(kind))
    mission.clock.at(until, lambda: twin.release_emergency(kind))


def test_after_an_emergency_stop_a_person_arms_again_and_the_step_starts_anew() -> None:
    person = Person(ACKNOWLEDGE, ARM, RESTART)
    mission, events = delivery(person)
    pressed(mission, "amr", 6.0, 6.2)
    outcome = mission.run()
    assert outcome.status == "success"
    assert person.script == []
    assert [event.status for event in events if isinstance(event, End)] == ["stopped", "success"]
    assert commands(events).count("MoveToTag") == 3  # once more than without the stop
    assert commands(events).count("SetFsm") == 1  # what was done before is not done again


def still_open(events: list[Event]) -> set[int]:
    asked = {event.number for event in events if isinstance(event, Prompt)}
    return asked - {event.number for event in events if isinstance(event, (Answer, Withdrawn))}


def leaves(person: Person, mission: VirtualMission) -> None:
    def asked(question: Question) -> None:
        mission.clock.after(0.5, lambda: mission.mission.stop("stopped at the terminal"))

    person.on_question = asked


def test_a_question_that_somebody_leaves_at_while_it_is_armed_is_withdrawn() -> None:
    person = Person(ARM)
    mission, events = delivery(person)
    leaves(person, mission)
    with pytest.raises(Left):
        mission.mission.arm("tester", by_hand=True)
    assert [event.question for event in events if isinstance(event, Prompt)] == person.asked
    assert not still_open(events)


def test_a_question_that_somebody_leaves_at_after_a_stop_is_withdrawn() -> None:
    person = Person(ACKNOWLEDGE)
    mission, events = delivery(person)
    leaves(person, mission)
    pressed(mission, "amr", 6.0, 6.2)
    assert mission.run().status == "stopped"
    assert [event.question for event in events if isinstance(event, Prompt)] == person.asked != []
    assert not still_open(events)


def test_what_was_done_before_a_step_starts_anew_is_told_and_counted_once() -> None:
    person = Person(ACKNOWLEDGE, ARM, RESTART)
    mission, events = delivery(person)
    pressed(mission, "amr", 6.0, 6.2)
    mission.run()
    story = tell([json.loads(to_json(event)) for event in events], mission.audit)
    spells = {node.name: [spell.status for spell in node.spells] for node in reversed(story.nodes)}
    assert spells["SetFsm"] == ["success"]
    assert spells["sequence"] == ["interrupted", "success"]
    coverage = Coverage()
    record = coverage.recorder()
    for event in events:
        record(event)
    counted = {node.name: (node.started, node.success, node.interrupted) for node in coverage.nodes.values()}
    assert counted["SetFsm"] == (1, 1, 0)
    moves = [node for node in coverage.nodes.values() if node.name == "MoveToTag" and node.started]
    assert [(node.started, node.success, node.interrupted) for node in moves] == [(2, 1, 1), (1, 1, 0)]


def test_an_emergency_stop_while_a_fault_is_acknowledged_ends_in_the_same_choice() -> None:
    person = Person(ACKNOWLEDGE, ACKNOWLEDGE, ARM, RESTART)
    lost_slave = "wrong:rt/main/nodes/state.ecat2can[0].slave_state,value=4@6s+0.5s"
    mission, events = delivery(person, lambda twin: inject(twin, lost_slave))
    pressed(mission, "amr", 7.5, 7.7)
    outcome = mission.run()
    assert outcome.status == "success", outcome
    assert person.script == []
    modes = [event.details["value"] for event in events if isinstance(event, GuardReport) and event.report == "mode"]
    assert {"fault", "estopped"} <= set(modes)


def test_a_fault_while_a_person_chooses_takes_the_choice_away() -> None:
    """The robot is armed once more, and nobody is asked by the guard what becomes of the mission."""
    person = Person(ACKNOWLEDGE, ARM, RESTART, ACKNOWLEDGE, ARM, RESTART)
    mission, _ = delivery(person)

    def in_trouble(question: Question) -> None:
        if question.text.startswith("Armed.") and len(person.script) == 4:  # the first time
            at = mission.clock.now() + 0.2
            inject(mission.twin, f"wrong:rt/main/nodes/state.ecat2can[0].slave_state,value=4@{at:.2f}s+0.5s")

    person.on_question = in_trouble
    pressed(mission, "amr", 6.0, 6.2)
    outcome = mission.run()
    assert outcome.status == "success", outcome
    assert person.script == []


def test_a_restarted_run_tells_where_it_begins() -> None:
    person = Person(ACKNOWLEDGE, ARM, RESTART)
    mission, events = delivery(person)
    pressed(mission, "amr", 6.0, 6.2)
    mission.run()
    again = max(place for place, event in enumerate(events) if isinstance(event, Structure))
    first: Any = next(event for event in events[again + 1 :] if event.__class__.__name__ == "Tick")
    assert {change.status for change in first.changes.values()} == {"success", "running"}


def test_a_stop_that_is_still_pressed_cannot_be_acknowledged_and_the_person_learns_why() -> None:
    person = Person(*[ACKNOWLEDGE] * 3, ARM, RESTART)
    mission, _ = delivery(person)
    pressed(mission, "amr", 6.0, 8.5)
    assert mission.run().status == "success"
    assert "an e-stop is still triggered" in person.asked[1]


def test_whoever_stops_while_the_step_is_made_ready_again_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    person = Person(ACKNOWLEDGE, ARM, RESTART)
    mission, events = delivery(person)
    pressed(mission, "amr", 6.0, 6.2)
    start_from = mission.mission.start_from

    def stopped_meanwhile(checkpoint: Checkpoint, agreed: bool = False) -> None:
        mission.mission.stop("stopped at the terminal")
        start_from(checkpoint, agreed)

    monkeypatch.setattr(mission.mission, "start_from", stopped_meanwhile)
    outcome = mission.run()
    assert (outcome.status, outcome.reason) == ("stopped", "stopped at the terminal")
    assert commands(events).count("MoveToTag") == 1


def test_breakpoints_outlive_the_restart_of_a_step() -> None:
    person = Person(ACKNOWLEDGE, ARM, RESTART)
    mission, events = delivery(person)
    assert mission.mission.break_at("close the hand on the box")
    pressed(mission, "amr", 6.0, 6.2)
    twin: Any = mission.twin
    reached: list[bool] = []

    def go_on(event: Event) -> None:
        events.append(event)
        if isinstance(event, Control) and event.action == "paused":
            reached.append(twin.hand("right").holding)
            mission.clock.after(1.0, mission.mission.runner.resume)

    mission.mission._on_event = go_on
    assert mission.run().status == "success"
    assert reached == [False]


@pytest.mark.parametrize("script", [(ABORT,), (ACKNOWLEDGE, ABORT), (ACKNOWLEDGE, ARM, ABORT)])
def test_a_person_may_abort_at_every_step(script: tuple[str, ...]) -> None:
    person = Person(*script)
    mission, events = delivery(person)
    pressed(mission, "amr", 6.0, 6.2)
    outcome = mission.run()
    assert outcome.status == "stopped"
    assert "e-stop" in outcome.reason
    assert commands(events).count("MoveToTag") == 1


def test_a_mission_that_was_being_aborted_does_not_go_on_after_an_emergency_stop() -> None:
    person = Person()
    mission, events = delivery(person)
    mission.clock.at(6.0, mission.mission.abort)
    pressed(mission, "amr", 6.1, 6.3)
    assert mission.run().status == "stopped"
    assert person.asked == []
    assert commands(events).count("SetFsm") == 1


def test_errors_are_cleared_when_a_person_asks_for_it() -> None:
    person = Person(ACKNOWLEDGE, CLEAR, ARM, RESTART)
    mission, _ = delivery(person)
    twin: Any = mission.twin
    mission.clock.at(6.0, lambda: twin.fail_motor("lift_1"))
    outcome = mission.run()
    assert person.asked[1].startswith("motors: lift_1: error 0x7310; nothing moves until this is cleared.")
    assert outcome.status == "success", (outcome, person.asked)


def test_motors_that_are_off_are_not_cleared_and_the_person_learns_what_they_need() -> None:
    person = Person(ACKNOWLEDGE, ARM, RESTART)
    mission, events = delivery(person)
    pressed(mission, "hard", 6.0, 6.2)
    mission.run()
    assert person.asked[1].startswith(
        "motors: they are off, and nothing moves until they are enabled: "
        "EnableMotors needs allow.motors in the guard file (lift_1: servo state 0; "
    )
    offered = [event.choices for event in events if isinstance(event, Prompt)]
    assert offered == [[ACKNOWLEDGE, ABORT], [ARM, ABORT], [RESTART, ABORT]]


def test_without_a_person_a_latch_ends_the_run() -> None:
    events: list[Event] = []
    mission = VirtualMission(load_mission(DELIVERY), events.append)
    pressed(mission, "amr", 6.0, 6.2)
    assert mission.run().status == "stopped"
    assert not [event for event in events if isinstance(event, Prompt)]


def test_armed_by_hand_a_person_sees_every_line_before_agreeing() -> None:
    person = Person(ARM)
    mission, events = delivery(person)
    mission.mission.arm("tester", by_hand=True)
    (report,) = [event for event in events if isinstance(event, GuardReport) and event.report == "preflight"]
    lines = report.details["lines"]
    assert all(line["ok"] for line in lines)
    assert any(line["text"].startswith("e-stop: soft clear, hard clear") for line in lines)
    kinds = [type(event) for event in events if isinstance(event, Prompt | Answer) or event is report]
    assert kinds == [GuardReport, Prompt, Answer]
    assert mission.guard.state.mode.value == "armed"


def test_a_person_may_decline_to_arm() -> None:
    person = Person(ABORT)
    mission, _ = delivery(person)
    with pytest.raises(Declined):
        mission.mission.arm("tester", by_hand=True)
    assert mission.guard.state.mode.value == "disarmed"


def test_what_keeps_a_robot_from_being_armed_is_said_with_what_to_do() -> None:
    def low(twin: Any) -> None:
        twin.battery.level = twin.base.battery.level = 5.0

    person = Person(AGAIN, ABORT)
    mission, _ = delivery(person, low)
    with pytest.raises(Declined, match="charge it"):
        mission.mission.arm("tester", by_hand=True)
    mission, _ = delivery(Person(), low)
    with pytest.raises(NotArmed, match=r"battery: critical: body 5 %, base 5 % \(charge it\)"):
        mission.mission.arm("simulation")


def test_nobody_there_to_arm_by_hand() -> None:
    def nobody(question: Question) -> str | None:
        raise NoAnswer("nobody is there")

    mission = VirtualMission(load_mission(DELIVERY), prompts=Prompts(nobody))
    with pytest.raises(NotArmed, match="nobody is there"):
        mission.mission.arm("tester", by_hand=True)


def test_a_failed_run_says_what_the_robot_showed_at_that_moment() -> None:
    events: list[Event] = []
    mission = VirtualMission(load_mission(DELIVERY), events.append)
    twin: Any = mission.twin
    twin.hand("right").object = False
    assert mission.run().status == "failure"
    end = next(place for place, event in enumerate(events) if isinstance(event, End))
    shown = events[end - 1]
    assert isinstance(shown, RobotShown)
    assert shown.fields["fsm.state"] == "ready"
    assert shown.fields["emergency.any"] is False
    assert shown.fields["upper.state"] == "on"  # before `finally` switched it off
