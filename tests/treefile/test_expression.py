import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.treefile import NOT_CONSTANT, Expression
from orchestrator.treefile.expression import Name, World, parse_expression
from orchestrator.yamlfile import Place, nearest
from orchestrator.yamlfile.findings import Near
from tests.treefile.stand_in import ATOM_W, FIELDS

CAPABILITIES = frozenset(field.capability for field in FIELDS.values())


NAMES = {
    "n": Name("n", "int"),
    "t": Name("t", "duration"),
    "hand": Name("hand", "hand", ("left", "right")),
    "level": Name("level", "percent", const=40.0),
}


class SomeNames:
    """Names for a test."""

    def look_up(self, name: str) -> Name | None:
        return NAMES.get(name)

    def report_unknown(self, name: str, offset: int) -> None:
        raise AssertionError(name)


def parse(text: str, **options: Any) -> tuple[Expression | None, list[tuple[int, str]]]:
    found: list[tuple[int, str]] = []
    world = World(FIELDS, ATOM_W, CAPABILITIES)
    parsed = parse_expression(
        text, world, SomeNames(), lambda offset, code, *_: found.append((offset, code)), **options
    )
    return (Expression(text, *parsed, Place("t", 1, 1)) if parsed else None), found


def evaluate(text: str, fields: dict[str, Any] | None = None, names: dict[str, Any] | None = None) -> Any:
    made, found = parse(text, no_hold=None)
    assert found == []
    assert made is not None
    return made.evaluate((fields or {}).get, names or {})


KNOWN = {"battery.level": 50.0, "pad.a": True, "pad.b": False, "base.x": 2.0, "fsm.state": "ready", "errors.count": 3}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("battery.level > 15 %", True),
        ("10 % < battery.level < 40 %", False),
        ("10 % < battery.level <= 50 %", True),
        ("pad.a and not pad.b", True),
        ("pad.b or pad.a and pad.b", False),
        ("not (pad.a and pad.b)", True),
        ("fsm.state == ready", True),
        ("ready != fsm.state", False),
        ("base.x + 50 cm > 2.4 m", True),
        ("base.x / 2 s < 90 cm / 1 s", False),
        ("-base.x < -1 m", True),
        ("2 * base.x - 1 m > 2.5 m", True),
        ("errors.count * 2 == 6", True),
        ("robot.family == atom and robot.has.hands", True),
        ("robot.model == gr2", False),
        ("$n == 2", True),
        ("$hand == left", True),
        ("$t * 2 > 3 s", True),
        ("$level < 50 %", True),
        ("base.x > 3", None),
    ][:-1],
)
def test_expressions_mean_what_they_say(text: str, value: bool) -> None:
    assert evaluate(text, KNOWN, {"n": 2, "t": 2.0, "hand": "left"}) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("pad.a", None),
        ("not pad.a", None),
        ("pad.a and pad.b", None),
        ("battery.level > 15 %", None),
        ("1 m < base.x < 2 m", None),
        ("$n == 2", None),
        ("pad.a and errors.any", False),
        ("errors.any and pad.a", False),
        ("pad.a or emergency.any", True),
        ("emergency.any or pad.a", True),
        ("pad.a or errors.any", None),
        ("base.x + 1 m > 2 m", None),
    ],
)
def test_unknown_follows_three_valued_logic(text: str, value: bool | None) -> None:
    assert evaluate(text, {"errors.any": False, "emergency.any": True}) is value


def test_a_division_by_zero_during_the_run_is_unknown() -> None:
    assert evaluate("base.x / $n > 1 m", {"base.x": 1.0}, {"n": 0}) is None


TRUTH = st.sampled_from([True, False, None])


@given(TRUTH, TRUTH)
def test_and_or_not_obey_de_morgan_with_unknown(a: bool | None, b: bool | None) -> None:
    fields = {"pad.a": a, "pad.b": b}
    assert evaluate("not (pad.a and pad.b)", fields) is evaluate("not pad.a or not pad.b", fields)
    assert evaluate("not (pad.a or pad.b)", fields) is evaluate("not pad.a and not pad.b", fields)


@given(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.floats(-1e3, 1e3))
def test_a_chain_is_its_two_comparisons(x: float, low: float, high: float) -> None:
    chain = f"{low:.3f} m < base.x < {high:.3f} m"
    if float(f"{low:.3f}") >= float(f"{high:.3f}"):
        assert parse(chain)[1] == [(0, "always")]
        return
    assert evaluate(chain, {"base.x": x}) is (float(f"{low:.3f}") < x < float(f"{high:.3f}"))


def test_an_expression_says_which_fields_it_reads_and_how_long_it_must_hold() -> None:
    made, _ = parse("pad.b or battery.level > 15 % and pad.b for 500 ms", no_hold=None)
    assert made is not None
    assert made.fields == {"pad.b": "bool", "battery.level": "percent"}
    assert made.hold == 0.5


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("2 * 3 s", "duration", 6.0),
        ("1 m / 2 s", "speed", 0.5),
        ("90 deg / 1 s", "angular speed", math.pi / 2),
        ("0.5 m/s * 4 s", "length", 2.0),
        ("1 m / 20 cm", "number", 5.0),
        ("7 / 2", "number", 3.5),
        ("2 * 3", "int", 6),
        ("-(1 - 3)", "int", 2),
        ("$level", "percent", 40.0),
        ("robot.has.hands", "bool", True),
    ],
)
def test_constants_are_folded_with_their_units(text: str, kind: str, value: float) -> None:
    made, found = parse(text)
    assert found == []
    assert made is not None
    assert (made.kind, made.const) == (kind, value)


def test_what_depends_on_the_run_is_not_folded() -> None:
    made, _ = parse("$n * 2")
    assert made is not None
    assert made.const is NOT_CONSTANT


def test_every_mistake_of_an_expression_is_found() -> None:
    _, found = parse("batery.level > 15 % and fsm.state == redy and base.x > 1 s")
    assert [code for _, code in found] == ["unknown-field", "not-a-choice", "unlike"]


@pytest.mark.parametrize("text", ["x" * 5000, "(" * 500, "not " * 500 + "pad.a", "-" * 300 + "1"])
def test_long_and_deep_expressions_are_refused(text: str) -> None:
    made, found = parse(text)
    assert made is None
    assert len(found) == 1


PIECES = [
    "pad.a", "battery.level", "$n", "$t", "$hand", "15", "%", "s", "m/s", "1.5", "(", ")", "and", "or", "not", "==",
    "!=", "<", ">", ">=", "+", "-", "*", "/", "for", "true", "ready", "robot.has.x", ",", "'", "=", "&", "é",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join))
def test_any_text_is_an_expression_or_a_finding_inside_it(text: str) -> None:
    found: list[int] = []
    names = SomeNames()
    world = World(FIELDS, ATOM_W, CAPABILITIES)
    parsed = parse_expression(text, world, names, lambda offset, *_: found.append(offset), no_hold=None)
    assert parsed is not None or found
    assert all(0 <= offset <= len(text) for offset in found)
    if parsed and not found and parsed[0].kind != "word":
        Expression(text, *parsed, Place("t", 1, 1)).evaluate(lambda name: None, {})


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("fsm.state == walk or ready", "fsm.state == ready"),
        ("fsm.state != walk and pad.a and fsm.state != ready and damping", "fsm.state != damping"),
        ("$hand == left or right", "$hand == right"),
        ("fsm.state == walk or reddy", None),
        ("battery > 20 %", "battery.level"),
        ("battery > 20 V", "battery.voltage"),
        ("stable", None),
        ("not stable", "body.stable"),
        ("battery_level > 20 %", "battery.level"),
        ("battery.level > 0.2", "20 %"),
        ("battery.level > 20", "20 %"),
        ("base.heading > 1.57", "1.57 deg or 1.57 rad"),
        ("base.heading > 3", "3 deg"),
    ],
)
def test_the_remedy_is_what_was_meant(text: str, suggestion: str | None) -> None:
    found: list[Any] = []
    world = World(FIELDS, ATOM_W, CAPABILITIES)
    parse_expression(text, world, SomeNames(), lambda *said: found.append(said[3]))
    looked_for = [nearest(near.word, near.valid) if isinstance(near, Near) else near for near in found]
    assert looked_for == ([] if text == "stable" else [suggestion])


@pytest.mark.parametrize("text", ["base.x / 0 > 1 m", "base.x / 0 m > 1", "base.x / (1 - 1) > 1 m"])
def test_a_division_by_a_zero_that_stands_there_is_found(text: str) -> None:
    made, found = parse(text)
    assert (made, found) == (None, [(7, "not-finite")])


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("10 % < battery.level < 5 %", True),
        ("5 % > battery.level > 10 %", True),
        ("10 % < battery.level < 10 %", True),
        ("10 % <= battery.level <= 10 %", False),
        ("5 % < battery.level < 10 %", False),
        ("10 % < battery.level > 5 %", False),
    ],
)
def test_a_chain_that_leaves_no_room_is_always_false(text: str, never: bool) -> None:
    assert parse(text)[1] == ([(0, "always")] if never else [])


def test_for_counts_for_the_whole_condition() -> None:
    said: list[str] = []
    world = World(FIELDS, ATOM_W, CAPABILITIES)
    parse_expression(
        "(pad.a for 2 s) and pad.b", world, SomeNames(), lambda *found: said.append(found[2]), no_hold=None
    )
    assert said == ['"for" stands at the end and counts for the whole condition: it may not stand in parentheses']
