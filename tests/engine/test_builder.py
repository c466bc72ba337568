"""Every kind and modifier of the language, as a mission an operator might write."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.engine.missions import Mission

Fly = Callable[..., Mission]


def starts(run: Mission) -> list[str]:
    return [text.removeprefix("start ") for text in run.said if text.startswith("start")]


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


@pytest.mark.parametrize(
    ("node", "name"),
    [
        ("Wait: {time: $wait}", "time"),
        ("Act: {id: a}\n  timeout: $wait", "timeout"),
        ("sequence: [Act: {id: a}]\n  timeout: $wait", "timeout"),
        ("Act: {id: a}\n  delay: $wait", "delay"),
        ("Act: {id: a}\n  cooldown: $wait", "cooldown"),
    ],
)
def test_so_is_every_time_before_anything_starts(fly: Fly, node: str, name: str) -> None:
    run = fly(f"- Set: {{wait: 1 s - 2 s * base.tag}}\n- {node}", base__tag=2)
    assert run.run()[:2] == ("failure", f"{name} is -3 s, which is out of range: from 0 s to any")
    assert run.said == []


def test_a_further_attempt_does_not_start_after_a_time_that_cannot_be(fly: Fly) -> None:
    run = fly(
        "- Set: {wait: 1 s - 2 s * base.tag}\n- Act: {id: a, fails: 1}\n  retry: {times: 1, wait: $wait}", base__tag=2
    )
    assert run.run()[:2] == ("failure", "wait of retry is -3 s, which is out of range: from 0 s to any")
    assert run.said == ["start a", "stop a"]


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
