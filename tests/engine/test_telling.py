"""What nodes say while they run is told beside their status, and not too often."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.engine.events import Change, Note, Saved, Tick, from_json, to_json
from tests.engine.missions import Mission

Fly = Callable[..., Mission]


def told(run: Mission, name: str) -> list[tuple[float, Change]]:
    """What was told of a node, and when."""
    number = next(info.number for info in run.built.structure if info.name == name)
    ticks = [event for event in run.events if isinstance(event, Tick)]
    return [(round(tick.at, 6), tick.changes[number]) for tick in ticks if number in tick.changes]


def test_a_running_leaf_says_how_far_it_is_at_most_five_times_a_second(fly: Fly) -> None:
    run = fly("- Talk: {lines: [], time: 1 s}")
    run.run()
    assert told(run, "Talk") == [
        (0, Change("running", progress=0.0)),
        *((at, Change("running", progress=at)) for at in (0.2, 0.4, 0.6, 0.8)),
        (1, Change("success")),
    ]


def test_a_long_leaf_tells_every_hundredth_and_no_more(fly: Fly) -> None:
    run = fly("- Talk: {lines: [], time: 1000 s}")
    run.run()
    assert [change.progress for _, change in told(run, "Talk")[:-1]] == [step / 100 for step in range(101)]


def test_what_was_said_too_shortly_for_anybody_to_see_is_not_told(fly: Fly) -> None:
    run = fly("- Talk: {lines: [drives, blocked, drives, blocked, drives]}")
    run.run()
    assert told(run, "Talk") == [(0, Change("running", "drives")), (0.25, Change("success"))]


def test_a_remark_made_too_soon_is_told_later(fly: Fly) -> None:
    run = fly("- Talk: {lines: [drives, the way is blocked], time: 1 s}")
    run.run()
    assert [(at, change.message) for at, change in told(run, "Talk")][:2] == [
        (0, "drives"),
        (0.2, "the way is blocked"),
    ]


def test_a_leaf_that_says_nothing_new_costs_no_event(fly: Fly) -> None:
    run = fly("- Act: {id: a, time: 60 s}")
    run.run()
    assert len(told(run, "Act")) == 2
    assert sum(isinstance(event, Tick) for event in run.events) == 2


def test_modifiers_hide_neither_remarks_nor_reasons(fly: Fly) -> None:
    run = fly(
        """
        - Act: {id: a, ok: false}
          retry: {times: 1, wait: 1 s}
          delay: 1 s
        """
    )
    run.run()
    assert told(run, "Act") == [
        (0, Change("running")),
        (1, Change("running", "attempt 2 of 2")),
        (2, Change("failure", "a failed")),
    ]


def test_an_attempt_that_failed_is_told_with_its_reason_although_the_node_goes_on(fly: Fly) -> None:
    run = fly("- Act: {id: a, fails: 2}\n  retry: {times: 3, wait: 1 s}")
    assert run.run().status == "success"
    notes = [(event.at, event.node, event.text) for event in run.events if isinstance(event, Note)]
    act = next(info.number for info in run.built.structure if info.name == "Act")
    assert notes == [(0, act, "attempt 1 of 4 failed: a failed"), (1, act, "attempt 2 of 4 failed: a failed")]


def test_what_fails_at_once_again_and_again_is_told_now_and_then(fly: Fly) -> None:
    run = fly("- Act: {id: a, ok: false}\n  retry: 500")
    run.run()
    assert 1 <= sum(isinstance(event, Note) for event in run.events) <= 1 + run.clock.now() / 0.2


def test_a_wait_shows_how_far_it_is(fly: Fly) -> None:
    run = fly("- Wait: {time: 1 s}")
    run.run()
    assert [change.progress for _, change in told(run, "Wait")] == [None, 0.2, 0.4, 0.6, 0.8, None]


def test_what_was_said_last_is_not_told_after_the_end(fly: Fly) -> None:
    run = fly("- Talk: {lines: [drives, stops], time: 100 ms}\n- Act: {id: a, time: 1 s}")
    run.run()
    assert [change.message for _, change in told(run, "Talk")] == ["drives", ""]


def test_a_leaf_that_says_nonsense_fails(fly: Fly) -> None:
    run = fly("- Odd: {how: progress}")
    outcome = run.run()
    assert outcome.status == "failure"
    assert "progress of Odd is nan" in outcome.reason
    assert run.said == ["start odd", "stop odd"]


def test_half_a_character_in_an_event_is_written_out() -> None:
    """A file whose name is no text can be run, and what is said of it read."""
    noted = to_json(Note(at=0.0, node=1, text="half \udcff ü"))
    assert from_json(noted) == Note(at=0.0, node=1, text="half \\udcff ü")
    saved = from_json(to_json(Saved(at=0.0, values={"x": ["\udcff", 5, True, None]})))
    assert saved == Saved(at=0.0, values={"x": ["\\udcff", 5, True, None]})
    told = Tick(at=0.0, tick=1, changes={3: Change("running", "\udcff")})
    assert from_json(to_json(told)) == Tick(at=0.0, tick=1, changes={3: Change("running", "\\udcff")})


def test_progress_is_part_of_the_stream(fly: Fly) -> None:
    run = fly("- Talk: {lines: [], time: 1 s}")
    run.run()
    assert [from_json(to_json(event)) for event in run.events] == run.events
    assert b'{"status":"running","progress":0.2}' in run.stream()
