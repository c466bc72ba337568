"""A run that died goes on where it was, or says why it cannot; nothing is done twice without a person."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.engine.prompts import NoAnswer, Prompts, Question
from orchestrator.mission.loading import Loaded, load_mission
from orchestrator.mission.resuming import CannotResume, Unfinished, unfinished
from tests.support.crashes import Crashing, crashing

__all__ = ["crashing"]
Make = Callable[..., Crashing]
TREE = """\
tree: twice
robot: atom_w
params:
  first: {type: tag, default: 12}
root:
  - SetFsm: {state: ready}
  - MoveToTag: {tag: $first}
    name: drive there
  - SwitchUpperControl: {enabled: true}
  - parallel:
      - HandOpen: {hand: right}
      - MoveToTag: {tag: 15}
        name: drive back
"""
TOGETHER = [("MoveToTag", 12), ("MoveToTag", 15)]


@pytest.fixture
def loaded(tmp_path: Path) -> Loaded:
    (tmp_path / "twice.yaml").write_text(TREE)
    return load_mission(tmp_path / "twice.yaml")


def look(run: Crashing) -> Unfinished:
    stored = run.stored()
    with stored.history() as history:
        return unfinished(stored, history)


def done(question: Question) -> str:
    assert question.choices == ["start again", "treat as done", "fail"], question
    return "treat as done"


def nobody(question: Question) -> str:
    raise NoAnswer(f"nobody answers: {question.text}")


def test_killed_after_any_tick_it_goes_on_to_success_and_does_nothing_twice(loaded: Loaded, crashing: Make) -> None:
    whole = crashing(loaded)
    outcome = whole.fly()
    assert outcome is not None
    assert (outcome.status, whole.done_once) == ("success", TOGETHER)
    last = whole.world.mission.runner.ticks
    assert last > 100
    for ticks in (1, 2, *range(11, last, 17), last - 1):
        run = crashing(loaded)
        run.fly(ticks=ticks)
        outcome = run.go_on(look(run), Prompts(done))
        assert (outcome.status, run.done_once) == ("success", TOGETHER), f"tick {ticks}: {outcome.reason}"


@pytest.mark.parametrize("sent", [False, True])
@pytest.mark.parametrize("command", [1, 2, 3, 4, 5])
def test_killed_in_the_middle_of_a_tick_what_has_left_is_not_sent_again(
    loaded: Loaded, crashing: Make, command: int, sent: bool
) -> None:
    run = crashing(loaded)
    run.fly(command=command, sent=sent)
    before = run.done_once
    try:
        outcome = run.go_on(look(run), Prompts(done))
    except CannotResume as problem:
        assert sent or command in (1, 5)  # the hand and the base are told in one tick
        assert "would be sent again" in str(problem) or "had done nothing yet" in str(problem)
        assert run.done_once == before
    else:
        assert not sent
        assert (outcome.status, run.done_once) == ("success", TOGETHER)


def test_a_step_that_was_cut_off_is_not_started_again_when_nobody_answers(loaded: Loaded, crashing: Make) -> None:
    run = crashing(loaded)
    run.fly(ticks=80)
    resumable = look(run)
    assert [node.name for node in resumable.story.cut_off] == ["drive there"]
    assert [command.text for command in resumable.story.unknown] == ["MoveToTag tag 12, heading None"]
    outcome = run.go_on(resumable, Prompts(nobody))
    assert (outcome.status, outcome.reason) == ("failure", "nobody answers: drive there was cut off. Start it again?")
    assert run.done_once == [("MoveToTag", 12)]


def test_a_person_may_have_it_started_again(loaded: Loaded, crashing: Make) -> None:
    run = crashing(loaded)
    run.fly(ticks=80)
    assert run.go_on(look(run), Prompts(lambda question: "start again")).status == "success"
    assert run.done_once == [("MoveToTag", 12), *TOGETHER]


def test_a_run_that_went_on_and_died_again_goes_on_from_there(loaded: Loaded, crashing: Make) -> None:
    run = crashing(loaded)
    run.fly(ticks=80)
    first = look(run)
    died: list[Question] = []

    def die(question: Question) -> None:
        died.append(question)
        run.world.clock.after(1.0, lambda: run.world.mission.runner.stop("killed"))

    run.go_on(first, Prompts(die))
    run.recorder._run.close()
    outcome = run.go_on(look(run), Prompts(done))
    assert died
    assert (outcome.status, run.done_once) == ("success", TOGETHER)


def test_a_run_that_was_stopped_goes_on_too(loaded: Loaded, crashing: Make) -> None:
    run = crashing(loaded)
    run.world.clock.at(6.0, lambda: run.world.mission.stop("interrupted"))
    outcome = run.fly()
    assert outcome is not None
    assert outcome.status == "stopped"
    run.world.clock.advance(5.0)
    resumable = look(run)
    assert [command.text for command in resumable.story.unknown] == ["MoveToTag tag 12, heading None"]
    assert run.go_on(resumable, Prompts(done)).status == "success"
    assert run.done_once == TOGETHER


def test_what_ended_by_itself_does_not_go_on(loaded: Loaded, crashing: Make) -> None:
    run = crashing(loaded)
    run.fly()
    with pytest.raises(CannotResume, match="ended by itself: success"):
        look(run)


def test_what_still_runs_does_not_go_on(loaded: Loaded, crashing: Make) -> None:
    run = crashing(loaded)
    with pytest.raises(CannotResume, match="is still running"):
        look(run)


def test_only_one_goes_on(loaded: Loaded, crashing: Make) -> None:
    run = crashing(loaded)
    run.fly(ticks=80)
    with run.stored().history() as history:
        history.claim("continued", "261116-120000")
    with pytest.raises(CannotResume, match="was continued as 261116-120000: resume that"):
        look(run)


@pytest.mark.parametrize(("ticks", "what_then"), [(None, ", and that ended by itself: success"), (5, ": resume that")])
def test_of_a_run_that_was_continued_what_became_of_that_is_said(
    ticks: int | None, what_then: str, loaded: Loaded, crashing: Make
) -> None:
    first, second = crashing(loaded), crashing(loaded)
    first.fly(ticks=80)
    with first.stored().history() as history:
        history.claim("continued", second.recorder.id)
    with pytest.raises(CannotResume, match=f"was continued as {second.recorder.id}, and that is still running"):
        look(first)
    second.fly(ticks=ticks)
    with pytest.raises(CannotResume, match=f"was continued as {second.recorder.id}{what_then}"):
        look(first)


def test_a_run_that_was_being_aborted_does_not_go_on(tmp_path: Path, crashing: Make) -> None:
    rest = "  finally:\n    - Wait: {time: 9 s}\n"
    (tmp_path / "aborted.yaml").write_text(TREE.replace("root:\n", "root:\n  sequence:\n") + rest)
    run = crashing(load_mission(tmp_path / "aborted.yaml"))
    run.world.clock.at(6.0, run.world.mission.runner.abort)
    run.fly(ticks=95)
    with pytest.raises(CannotResume, match="was being aborted"):
        look(run)


@pytest.mark.parametrize(
    ("before", "after", "difference"),
    [
        ("tag: 15", "tag: 16", 'twice.yaml:12: "- MoveToTag: {tag: 15}" became "- MoveToTag: {tag: 16}"'),
        ("        name: drive back\n", "", "twice.yaml had 13 lines and has 12"),
    ],
)
def test_a_tree_that_was_edited_is_named_with_the_difference(
    loaded: Loaded, crashing: Make, before: str, after: str, difference: str
) -> None:
    run = crashing(loaded)
    run.fly(ticks=80)
    Path(loaded.tree.file).write_text(TREE.replace(before, after))
    with pytest.raises(CannotResume) as caught:
        look(run)
    assert str(caught.value).endswith(difference)


@pytest.mark.usefixtures("ascii_locale")
@pytest.mark.parametrize("name", ["größe.yaml", "gr\udcf6sse.yaml"])  # the second is no UTF-8
def test_a_tree_of_other_letters_goes_on(tmp_path: Path, crashing: Make, name: str) -> None:
    (tmp_path / name).write_text(TREE.replace("drive there", "fährt hin"), encoding="utf-8")
    run = crashing(load_mission(tmp_path / name))
    run.fly(ticks=80)
    look(run)


def test_a_subtree_that_was_edited_is_named(tmp_path: Path, crashing: Make) -> None:
    (tmp_path / "part.yaml").write_text("tree: part\nroot:\n  - Wait: {time: 5 s}\n")
    (tmp_path / "whole.yaml").write_text(
        "tree: whole\nrobot: atom_w\nroot:\n  - use: part.yaml\n  - Wait: {time: 1 s}\n"
    )
    run = crashing(load_mission(tmp_path / "whole.yaml"))
    run.world.mission.arm("me")
    turns = run.world.mission.turns()
    for _ in range(110):
        next(turns)
    run.recorder._run.close()
    (tmp_path / "part.yaml").write_text("tree: part\nroot:\n  - Wait: {time: 6 s}\n")
    with pytest.raises(CannotResume, match=r"part\.yaml:3: .* became"):
        look(run)


def test_another_profile_is_named_with_the_difference(
    loaded: Loaded, crashing: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = crashing(loaded)
    run.fly(ticks=80)
    with run.stored().history() as history:
        about = history.fact("about")
        about["profile"]["base"]["speed"] = 99.0
        history.write(facts={"about": about})
    with pytest.raises(CannotResume, match=r"profile\.base\.speed was 99\.0 and is"):
        look(run)


def test_without_the_guards_records_nobody_knows_what_was_sent_last(loaded: Loaded, crashing: Make) -> None:
    run = crashing(loaded)
    run.fly(ticks=80)
    (run.folder / "audit.log").unlink()
    with pytest.raises(CannotResume, match="cannot be known: the guard's records are gone"):
        look(run)


@pytest.mark.parametrize("kind", ["VIRTUAL", "DRY RUN"])
def test_what_never_happened_on_a_robot_is_run_again(kind: str, loaded: Loaded, crashing: Make) -> None:
    run = crashing(loaded, kind=kind)
    run.fly(ticks=80)
    with pytest.raises(CannotResume, match="in virtual time: run it again"):
        look(run)


CARRY = """\
tree: carry
robot: atom_w
root:
  - SetFsm: {state: ready}
  - HandGrasp: {hand: right}
  - Log: {text: carries}
  - SetFsm: {state: ready}
    name: carry
    while: hands.right.holding
"""


def test_what_a_hand_holds_since_the_run_before_is_not_known(tmp_path: Path, crashing: Make) -> None:
    (tmp_path / "carry.yaml").write_text(CARRY)
    loaded = load_mission(tmp_path / "carry.yaml")
    whole = crashing(loaded)
    outcome = whole.fly()
    assert outcome is not None
    assert outcome.status == "success"
    run = crashing(loaded)
    run.fly(ticks=whole.world.mission.runner.ticks - 3)
    resumable = look(run)
    assert [node.name for node in resumable.story.cut_off] == ["carry"]
    outcome = run.go_on(resumable, Prompts(lambda question: "start again"))
    assert outcome.status == "failure"
    assert "what the right hand holds since the run before is not known" in outcome.reason
