"""Scalars by the type that is wanted: integers, numbers, booleans, text, words, quantities with units."""

from __future__ import annotations

import math
import re
from typing import Generic, TypeVar

from orchestrator.yamlfile.findings import Near, Suggestion, listed
from orchestrator.yamlfile.units import DIMENSIONS, NAMES, OTHER_SPELLINGS, UNITS, shown, units_of

T = TypeVar("T", covariant=True)

LONGEST_TEXT = 4096

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_QUANTITY = re.compile(rf"({_NUMBER.pattern}) *(\S.*)?")
_LEADING_ZERO = re.compile(r"([-+]?)0+([1-9]\d*(?:\.\d*)?|0)(.*)", re.DOTALL)
_DECIMAL_COMMA = re.compile(r"([-+]?\d+),(\d+)(.*)", re.DOTALL)
_NOT_FINITE = re.compile(r"[-+]?\.?(?:nan|inf|infinity)", re.IGNORECASE)


class Mistake(Exception):
    """Why a text is not a value of the wanted type, and what to write instead."""

    def __init__(self, code: str, message: str, suggestion: Suggestion = None, offset: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.suggestion = suggestion
        self.offset = offset


class ScalarType(Generic[T]):
    """How one kind of scalar is read; `name` is what messages and the catalogue call it."""

    name: str

    def parse(self, text: str) -> T:
        raise NotImplementedError


def number(text: str) -> float:
    """A finite decimal number without unit."""
    if _NUMBER.fullmatch(text):
        value = float(text)
        if math.isfinite(value):
            return value
        raise Mistake("not-finite", f"{text} is too big for a number")
    raise _not_a_number(text)


def _not_a_number(text: str) -> Mistake:
    if _NOT_FINITE.fullmatch(text):
        return Mistake("not-finite", f"{text} is not allowed: a number must be finite")
    if match := _LEADING_ZERO.fullmatch(text):
        return Mistake("leading-zero", "a number must not begin with 0", "".join(match.groups()))
    if match := _DECIMAL_COMMA.fullmatch(text):
        return Mistake("decimal-comma", "the decimal sign is a point", f"{match[1]}.{match[2]}{match[3]}")
    if re.match(r"[-+]?0[xob]|[-+]?\d[\d.]*_", text):
        return Mistake("not-decimal", f"{text} must be written as a plain decimal number")
    return Mistake("not-a-number", f"{_quoted(text)} is not a number")


def _quoted(text: str) -> str:
    return f'"{text[:60]}"' if text else "nothing"


class Number(ScalarType[float]):
    """A number without unit."""

    def __init__(self, lower: float | None = None, upper: float | None = None) -> None:
        self.name = "number"
        self.lower = lower
        self.upper = upper

    def parse(self, text: str) -> float:
        value = number(text)
        self.check(value)
        return value

    def check(self, value: float) -> None:
        _check_range(value, self.lower, self.upper, _plain)


class Integer(ScalarType[int]):
    """A whole number."""

    def __init__(self, lower: int | None = None, upper: int | None = None) -> None:
        self.name = "int"
        self.lower = lower
        self.upper = upper

    def parse(self, text: str) -> int:
        if not _INTEGER.fullmatch(text):
            if _NUMBER.fullmatch(text):
                raise Mistake("not-an-integer", f"{text[:60]} is not a whole number")
            raise _not_a_number(text)
        value = int(text)
        self.check(value)
        return value

    def check(self, value: float) -> None:
        _check_range(value, self.lower, self.upper, _plain)


def _plain(value: float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _check_range(value: float, lower: float | None, upper: float | None, show: object) -> None:
    assert callable(show)
    if (lower is None or value >= lower) and (upper is None or value <= upper):
        return
    if lower is not None and upper is not None:
        allowed = f"between {show(lower)} and {show(upper)}"
    elif lower is not None:
        allowed = f"at least {show(lower)}"
    else:
        allowed = f"at most {show(upper)}"
    raise Mistake("out-of-range", f"{show(value)} is out of range: it must be {allowed}")


OTHER_BOOLEANS = {"yes": "true", "no": "false", "on": "true", "off": "false", "y": "true", "n": "false"}


class Boolean(ScalarType[bool]):
    """true or false, nothing else."""

    name = "bool"

    def parse(self, text: str) -> bool:
        if text == "true":
            return True
        if text == "false":
            return False
        meant = OTHER_BOOLEANS.get(text.lower(), text.lower())
        if meant in ("true", "false"):
            raise Mistake("not-a-boolean", f"{text} is only a word here: write {meant}", meant)
        raise Mistake("not-a-boolean", f"{_quoted(text)} is neither true nor false")


class Text(ScalarType[str]):
    """Exactly what is written."""

    name = "text"

    def parse(self, text: str) -> str:
        if len(text) > LONGEST_TEXT:
            raise Mistake("too-long", f"a text may have at most {LONGEST_TEXT} characters; this has {len(text)}")
        if not text.strip():
            raise Mistake("empty-text", "a text is missing here")
        return text


class OneOf(ScalarType[str]):
    """One word of a fixed choice."""

    def __init__(self, *choices: str, name: str | None = None) -> None:
        self.name = name or f"one of [{', '.join(choices)}]"
        self.choices = choices

    def parse(self, text: str) -> str:
        if text in self.choices:
            return text
        raise Mistake(
            "not-a-choice",
            f"{_quoted(text)} is not one of {listed(self.choices)}",
            Near(text, self.choices),
        )


class Quantity(ScalarType[float]):
    """A number with a unit, read into the unit we calculate in; the range is given in that unit, too."""

    def __init__(self, dimension: str, lower: float | None = None, upper: float | None = None) -> None:
        assert dimension in DIMENSIONS
        self.name = dimension
        self.dimension = dimension
        self.lower = lower
        self.upper = upper

    def parse(self, text: str) -> float:
        value, dimension = quantity(text, self.dimension)
        if dimension != self.dimension:
            raise Mistake("wrong-unit", f"{text} is not {_a(self.dimension)}")
        self.check(value)
        return value

    def check(self, value: float) -> None:
        _check_range(value, self.lower, self.upper, lambda v: shown(v, self.dimension))


def quantity(text: str, wanted: str) -> tuple[float, str]:
    """A number with a unit of the wanted dimension: its value and dimension."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise _not_a_number(text)
    digits, unit = match.groups()
    value = number(digits)
    if unit is None:
        raise _unit_missing(digits, wanted)
    known = UNITS.get(unit)
    if known is None or known[0] != wanted:
        raise wrong_unit(digits, unit, wanted)
    value = known[1](value)
    if not math.isfinite(value):
        raise Mistake("not-finite", f"{text} is too big for a number")
    return value, wanted


def _unit_missing(digits: str, wanted: str) -> Mistake:
    return Mistake("unit-missing", f"{digits} needs a unit: {_listed(units_of(wanted))}", with_unit(digits, wanted))


def with_unit(digits: str, wanted: str) -> str:
    """What was most likely meant by a number without its unit."""
    value, units = float(digits), units_of(wanted)
    if wanted == "percent" and 0 < abs(value) < 1:
        return f"{value * 100:g} %"
    if wanted in ("angle", "angular speed") and 0 < abs(value) <= 2 * math.pi and not value.is_integer():
        return f"{digits} {units[0]} or {digits} {units[1]}"
    return f"{digits} {units[0]}"


def wrong_unit(digits: str, unit: str, wanted: str) -> Mistake:
    """The right message for a unit that does not exist or measures something else."""
    units = units_of(wanted)
    meant = OTHER_SPELLINGS.get(unit, unit)
    if unit == "m" and wanted == "duration":
        return Mistake("wrong-unit", f"m is metres: write {digits} min", f"{digits} min")
    if meant in units:
        return Mistake("wrong-unit", f"the unit is written {meant}: write {digits} {meant}", f"{digits} {meant}")
    if meant in UNITS:
        named = f"{meant} is {NAMES[meant]}" if meant in NAMES else f"{meant} is a unit of {UNITS[meant][0]}"
        return Mistake("wrong-unit", f"{named}; {_a(wanted)} has the unit {_listed(units)}")
    if re.match(r"[\d.,_]", unit):
        return _not_a_number(digits + unit)
    return Mistake("wrong-unit", f"{_quoted(unit)} is not a unit of {wanted}: write {_listed(units)}")


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


INT = Integer()
NUMBER = Number()
BOOL = Boolean()
TEXT = Text()
DURATION = Quantity("duration", lower=0)
LENGTH = Quantity("length")
ANGLE = Quantity("angle")
SPEED = Quantity("speed")
ANGULAR_SPEED = Quantity("angular speed")
PERCENT = Quantity("percent", 0, 100)
