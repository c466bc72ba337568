"""Every kind and modifier of the language, as a mission an operator might write."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.engine import NoAnswer, Question
from orchestrator.engine.events import Note
from tests.engine.missions import Mission

Fly = Callable[..., Mission]


def starts(run: Mission) -> list[str]:
    return [text.removeprefix("start ") for text in run.said if text.startswith("start")]


@pytest.mark.parametrize(
    ("nodes", "status", "started"),
    [
        ("- Act: {id: a}\n  when: pad.a\n- Act: {id: b}", "success", ["b"]),
        ("- selector:\n    - Act: {id: a}\n      when: pad.a\n    - Act: {id: b}", "success", ["b"]),
        ("- selector:\n    - Act: {id: a}\n      when: pad.a", "failure", []),
        ("- parallel:\n    - Act: {id: a, ok: false}\n      when: pad.a\n    - Act: {id: b}", "success", ["b"]),
        ("- parallel:\n    - Act: {id: a}\n      when: pad.a", "success", []),
        ("- Act: {id: a}\n  when: pad.a\n  finally: [Act: {id: f}]", "success", []),
        ("- Act: {id: a}\n  unless: pad.x", "failure", []),  # not known
    ],
)
def test_a_skipped_node_is_passed_over(fly: Fly, nodes: str, status: str, started: list[str]) -> None:
    run = fly(nodes, pad__a=False)
    assert run.run().status == status
    assert starts(run) == started


def test_what_is_not_known_fails_with_the_name_of_the_field(fly: Fly) -> None:
    run = fly("- check: battery.level > 20 %")
    expected = '"battery.level > 20 %" is not known: battery.level has not been reported yet'
    assert run.run().reason == expected


def test_values_flow_from_results_and_expressions_into_parameters_and_texts(fly: Fly) -> None:
    run = fly(
        """
        - Act: {id: a}
          save: how
        - Set: {level: battery.level, wait: 2 s}
        - Act: {id: b $how $level, time: $wait}
        - Act: {id: c $attempt, fails: 9}
          retry: 2
          result: success
        - Act: {id: d $item}
          for_each: {item: [x, y]}
        """,
        battery__level=50.0,
    )
    assert run.run().status == "success"
    assert starts(run) == ["a", "b fine 50 %", "c 1", "c 2", "c 3", "d x", "d y"]
    assert run.clock.now() == pytest.approx(2.0, abs=0.01)


def test_a_value_that_becomes_known_only_now_is_checked_against_the_range(fly: Fly) -> None:
    run = fly("- Set: {wait: 1 s - 2 s * base.tag}\n- Act: {id: a, time: $wait}", base__tag=3)
    assert "out of range" in run.run().reason
    assert run.said == []


def test_a_used_file_sees_what_it_is_passed_and_its_require_holds_while_it_runs(fly: Fly, tmp_path: object) -> None:
    part = "tree: part\nparams: {who: {type: text}}\nrequire: [pad.a]\nroot:\n  Act: {id: $who, time: 2 s}\n"
    (tmp_path / "part.yaml").write_text(part)  # type: ignore[operator]
    run = fly(
        "- Act: {id: a}\n  save: how\n- use: part.yaml\n  with: {who: it is $how}\n  finally: [Act: {id: f}]",
        pad__a=True,
    )
    run.at(1, lambda: run.set("pad.a", False))
    assert run.run()[:2] == ("failure", '"pad.a" does not hold')
    assert run.log[2:] == [(0, "start it is fine"), (1, "stop it is fine"), (1, "start f"), (1, "stop f")]


# Leaves that misbehave


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("start", "start of Odd raised RuntimeError: no start"),
        ("step", "step of Odd raised RuntimeError: no step"),
        ("stop", "stop of Odd raised RuntimeError: no stop"),
        ("none", "Odd.step returned None instead of a Status"),
        ("true", "Odd.step returned True instead of a Status"),
    ],
)
def test_a_leaf_that_misbehaves_fails_with_its_line_and_is_stopped_once(fly: Fly, how: str, reason: str) -> None:
    run = fly(f"- Odd: {{how: {how}}}")
    outcome = run.run()
    assert outcome.status == "failure"
    assert outcome.reason.startswith(reason)
    assert "main.yaml:3:5" in outcome.reason
    assert run.said == ["start odd", "stop odd"]


def test_a_leaf_that_blocks_is_named(fly: Fly) -> None:
    run = fly("- Act: {id: a}\n- Odd: {how: block}\n- Act: {id: b}")
    assert run.run().status == "success"
    notes = [event for event in run.events if isinstance(event, Note)]
    assert [(note.node, note.text) for note in notes] == [(2, "Odd blocked the run: a leaf must come back at once")]
    assert run.runner.overruns == 1


def test_a_stop_that_raises_does_not_keep_others_from_being_stopped(fly: Fly) -> None:
    run = fly("- parallel:\n    - Odd: {how: stop}\n    - Act: {id: a, time: 9 s}\n  timeout: 1 s\n  result: success")
    assert run.run().status == "success"
    assert run.said == ["start odd", "stop odd", "start a", "stop a"]


# Interruption


def test_a_reactive_selector_stops_the_one_before_it_starts_the_other(fly: Fly) -> None:
    run = fly(
        """
        - selector:
            - sequence:
                - check: pad.a
                - Act: {id: dodge, part: base}
            - Act: {id: drive, time: 9 s, part: base}
              finally:
                - Act: {id: brake, time: 1 s}
          memory: false
        """,
        pad__a=False,
    )
    run.at(2.02, lambda: run.set("pad.a", True))
    assert run.run().status == "success"
    assert run.said == ["start drive", "stop drive", "start brake", "stop brake", "start dodge", "stop dodge"]
    assert run.log[2][0] == 2.02
    assert run.log[4][0] == pytest.approx(3.02, abs=0.051)


def test_a_leaf_whose_part_of_the_robot_is_taken_is_stopped_first_and_fails(fly: Fly) -> None:
    run = fly(
        """
        - parallel:
            - Act: {id: a, time: 9 s, part: base}
            - sequence:
                - Wait: {time: 1 s}
                - Act: {id: b, time: 1 s, part: $part}
                  for_each: {part: [base]}
        """
    )
    assert run.run()[:2] == ("failure", "Act took its base")
    assert run.log[:3] == [(0, "start a"), (1, "stop a"), (1, "start b")]


def test_a_finally_that_takes_too_long_is_stopped_and_reported(fly: Fly) -> None:
    run = fly("- Act: {id: a, time: 1 s}\n  finally:\n    - Act: {id: slow, time: 99 s}\n    - Act: {id: never}")
    assert run.run().status == "success"
    assert run.log[2:] == [(1, "start slow"), (31, "stop slow")]
    assert b"was stopped after 30 s" in run.stream()


def test_a_finally_within_a_finally_that_takes_too_long_is_stopped_too(fly: Fly) -> None:
    run = fly(
        """
        - Act: {id: a}
          finally:
            - Act: {id: b}
              finally:
                - Act: {id: slow, time: 99 s}
        """
    )
    assert run.run().status == "success"
    assert run.said[-1] == "stop slow"
    assert b"finally of Act in it was left undone" in run.stream()


# Operators


def test_confirm_waits_for_an_operator(fly: Fly) -> None:
    run = fly("- Act: {id: a}\n  confirm: Nobody near?")
    run.at(3.02, lambda: run.prompts.answer(1, "yes"))
    assert run.run().status == "success"
    assert run.log[0] == (3.02, "start a")


def test_who_does_not_agree_fails_the_node(fly: Fly) -> None:
    run = fly("- Act: {id: a}\n  confirm: Nobody near?", answers=lambda question: "no")
    assert run.run()[:2] == ("failure", "the operator did not agree")


def test_a_question_that_nobody_can_answer_fails_at_once(fly: Fly) -> None:
    def nobody(question: Question) -> str:
        raise NoAnswer(f"nobody is there to answer {question.text!r}")

    run = fly("- Ask: {question: Well?, choices: [yes]}", answers=nobody)
    assert run.run().reason == "nobody is there to answer 'Well?'"


def test_a_question_is_withdrawn_when_its_node_is_interrupted(fly: Fly) -> None:
    run = fly("- Ask: {question: Well?, choices: [yes]}\n  timeout: 1 s")
    assert run.run().status == "failure"
    assert run.prompts.open == []
    with pytest.raises(ValueError, match="not open"):
        run.prompts.answer(1, "yes")


def test_an_answer_may_fail_the_node_and_is_its_result(fly: Fly) -> None:
    run = fly(
        """
        - selector:
            - Ask: {question: Well?, choices: [yes], fail_on: [no]}
              save: x
            - Log: {text: $x}
        """,
        answers=lambda question: "no",
    )
    assert run.run().status == "success"
    assert b'"text":"no"' in run.stream()
