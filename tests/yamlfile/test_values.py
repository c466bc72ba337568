import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.yamlfile import (
    ANGLE,
    ANGULAR_SPEED,
    BOOL,
    DURATION,
    INT,
    LENGTH,
    NUMBER,
    PERCENT,
    SPEED,
    TEXT,
    Integer,
    Mistake,
    OneOf,
    Quantity,
    ScalarType,
)
from orchestrator.yamlfile.findings import Near, nearest

GOOD: list[tuple[ScalarType[object], str, object]] = [
    (INT, "12", 12),
    (INT, "-3", -3),
    (NUMBER, "1e3", 1000.0),
    (NUMBER, ".5", 0.5),
    (NUMBER, "-2.", -2.0),
    (BOOL, "true", True),
    (BOOL, "false", False),
    (TEXT, "no", "no"),
    (TEXT, "12:30", "12:30"),
    (OneOf("left", "right"), "left", "left"),
    (DURATION, "2 s", 2.0),
    (DURATION, "300ms", 0.3),
    (DURATION, "2 min", 120.0),
    (DURATION, "1.5h", 5400.0),
    (LENGTH, "30 cm", 0.3),
    (LENGTH, "-5 mm", -0.005),
    (ANGLE, "90 deg", math.pi / 2),
    (ANGLE, "1 rad", 1.0),
    (SPEED, "0.5 m/s", 0.5),
    (ANGULAR_SPEED, "180 deg/s", math.pi),
    (ANGULAR_SPEED, "2rad/s", 2.0),
    (PERCENT, "80 %", 80.0),
    (PERCENT, "80%", 80.0),
    (Quantity("temperature"), "40 degC", 40.0),
    (Quantity("torque"), "3 Nm", 3.0),
    (Quantity("frequency"), "50Hz", 50.0),
]


@pytest.mark.parametrize(("of", "text", "value"), GOOD)
def test_the_wanted_type_decides_how_text_is_read(of: ScalarType[object], text: str, value: object) -> None:
    assert of.parse(text) == value


BAD: list[tuple[ScalarType[object], str, str, str | None]] = [
    (INT, "1.5", "not-an-integer", None),
    (INT, "", "not-a-number", None),
    (INT, "twelve", "not-a-number", None),
    (INT, "007", "leading-zero", "7"),
    (INT, "9" * 5000, "not-an-integer", None),
    (Integer(0, 9), "10", "out-of-range", None),
    (NUMBER, "nan", "not-finite", None),
    (NUMBER, "1e999", "not-finite", None),
    (NUMBER, "1,5", "decimal-comma", "1.5"),
    (NUMBER, "0x1f", "not-decimal", None),
    (NUMBER, "1_000", "not-decimal", None),
    (BOOL, "yes", "not-a-boolean", "true"),
    (BOOL, "Off", "not-a-boolean", "false"),
    (BOOL, "True", "not-a-boolean", "true"),
    (BOOL, "maybe", "not-a-boolean", None),
    (TEXT, "", "empty-text", None),
    (TEXT, "x" * 5000, "too-long", None),
    (OneOf("left", "right"), "rigth", "not-a-choice", "right"),
    (DURATION, "5", "unit-missing", "5 s"),
    (DURATION, "2 m", "wrong-unit", "2 min"),
    (DURATION, "2 minutes", "wrong-unit", "2 min"),
    (DURATION, "2 parsec", "wrong-unit", None),
    (DURATION, "90 deg", "wrong-unit", None),
    (DURATION, "-1 s", "out-of-range", None),
    (DURATION, "soon", "not-a-number", None),
    (DURATION, "1e308 h", "not-finite", None),
    (DURATION, "05 s", "leading-zero", "5 s"),
    (DURATION, "1,5 s", "decimal-comma", "1.5 s"),
    (ANGLE, "90°", "wrong-unit", "90 deg"),
    (ANGLE, "90", "unit-missing", "90 deg"),
    (ANGLE, "1.57", "unit-missing", "1.57 deg or 1.57 rad"),
    (PERCENT, "0.8", "unit-missing", "80 %"),
    (PERCENT, "80", "unit-missing", "80 %"),
    (PERCENT, "101 %", "out-of-range", None),
    (SPEED, "1 mps", "wrong-unit", "1 m/s"),
]


@pytest.mark.parametrize(("of", "text", "code", "suggestion"), BAD)
def test_what_does_not_fit_says_what_to_write(
    of: ScalarType[object], text: str, code: str, suggestion: str | None
) -> None:
    with pytest.raises(Mistake) as caught:
        of.parse(text)
    found = caught.value.suggestion
    assert (caught.value.code, nearest(found.word, found.valid) if isinstance(found, Near) else found) == (
        code,
        suggestion,
    )


def test_metres_for_a_duration_get_the_well_known_remedy() -> None:
    with pytest.raises(Mistake, match="m is metres: write 2 min"):
        DURATION.parse("2 m")


def test_ranges_of_angles_are_shown_in_degrees() -> None:
    with pytest.raises(Mistake, match="100 deg is out of range: it must be between -90 deg and 90 deg"):
        Quantity("angle", -math.pi / 2, math.pi / 2).parse("100 deg")


@pytest.mark.parametrize("of", [INT, NUMBER, BOOL, TEXT, DURATION, ANGLE, PERCENT, OneOf("a", "b")])
@given(text=st.text(max_size=30))
def test_any_text_is_a_value_or_a_mistake(of: ScalarType[object], text: str) -> None:
    try:
        value = of.parse(text)
    except Mistake as mistake:
        assert mistake.message
    else:
        assert not isinstance(value, float) or math.isfinite(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_read_exactly(value: float) -> None:
    assert NUMBER.parse(repr(value)) == value
