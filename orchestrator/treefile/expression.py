"""Expressions: parsed once, typed with units, folded where constant; nothing of Python is reachable from them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, Final, Protocol

from orchestrator.robots.facts import Field, FieldTable, RobotFacts
from orchestrator.yamlfile.findings import Near, Suggestion, listed
from orchestrator.yamlfile.units import DIMENSIONS, OTHER_SPELLINGS, UNITS, shown, units_of
from orchestrator.yamlfile.values import OTHER_BOOLEANS, Mistake, with_unit, wrong_unit

LONGEST = 1000
DEEPEST = 20

NUMBERS = frozenset(("int", "number", *DIMENSIONS))
_PLAIN = frozenset(("int", "number"))
_INF = math.inf

# What comes out of a product or quotient of unlike quantities.
_PRODUCTS = {
    ("speed", "duration"): "length",
    ("duration", "speed"): "length",
    ("angular speed", "duration"): "angle",
    ("duration", "angular speed"): "angle",
}
_QUOTIENTS = {
    ("length", "duration"): "speed",
    ("angle", "duration"): "angular speed",
    ("length", "speed"): "duration",
    ("angle", "angular speed"): "duration",
}


class _NotConstant:
    def __repr__(self) -> str:
        return "not constant"


NOT_CONSTANT: Final = _NotConstant()


class Expr:
    """A typed piece of an expression.

    `op` is const, field, name, word, tag (the number of a named one), and, or, not, compare, + - * / or neg. `fixed`
    marks a constant of this robot or run, about which "always true" is no mistake. Lower and upper bound what a number
    can be.
    """

    __slots__ = ("args", "choices", "const", "fixed", "kind", "lower", "offset", "op", "upper", "value")

    def __init__(self, op: str, kind: str, offset: int, value: Any = None, args: tuple[Expr, ...] = ()) -> None:
        self.op = op
        self.kind = kind
        self.offset = offset
        self.value = value
        self.args = args
        self.choices: tuple[str, ...] = ()
        self.const: Any = NOT_CONSTANT
        self.fixed = False
        self.lower = -_INF
        self.upper = _INF


def constant(value: Any, kind: str, offset: int) -> Expr:
    made = Expr("const", kind, offset, value)
    made.const = value
    if kind in NUMBERS:
        made.lower = made.upper = value
    return made


@dataclass(frozen=True, slots=True)
class Name:
    """What `$name` stands for. `const` is its value if it is known before the run; `key` is where the run keeps it."""

    key: str
    kind: str
    choices: tuple[str, ...] = ()
    of: str | None = None
    const: Any = NOT_CONSTANT
    possible: tuple[Any, ...] = ()


class Names(Protocol):
    """The names that may be read where an expression stands."""

    def look_up(self, name: str) -> Name | None: ...

    def report_unknown(self, name: str, offset: int) -> None: ...


@dataclass(frozen=True)
class World:
    """What expressions may read, apart from names."""

    fields: FieldTable
    robot: RobotFacts | None
    capabilities: frozenset[str]

    @cached_property
    def field_names(self) -> tuple[str, ...]:
        return tuple(self.fields)

    @cached_property
    def by_part(self) -> Mapping[str, list[Field]]:
        """What the robot reports, by each word of its name: `battery`, `level`."""
        found: dict[str, list[Field]] = {}
        for field in ((self.robot and self.robot.fields) or self.fields).values():
            for part in field.name.split("."):
                found.setdefault(part, []).append(field)
        return found

    @cached_property
    def by_letter(self) -> Mapping[str, tuple[str, ...]]:
        """The same by the first letter of its name."""
        names = sorted({field.name for fields in self.by_part.values() for field in fields})
        return {letter: tuple(group) for letter, group in groupby(names, lambda name: name[0])}


Report = Callable[[int, str, str, Suggestion], None]

_UNITS = "|".join(sorted((re.escape(unit) for unit in UNITS), key=len, reverse=True))
_TOKEN = re.compile(
    rf"""[ \n]*(?:
      (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)(?:[ ]*(?P<unit>{_UNITS})(?!\w))?
    | \$(?P<name>[A-Za-z_]\w*)
    | (?P<word>[A-Za-z_]\w*(?:\.\w+)*)
    | (?P<op><=|>=|==|!=|<(?!>)|>|[()+*/-])
    | (?P<wrong>&&|\|\||<>|!|=<|=>|=|&|\|)
    | (?P<end>$)
    )""",
    re.VERBOSE,
)
_WRONG = {"&&": "and", "||": "or", "&": "and", "|": "or", "<>": "!=", "!": "not", "=<": "<=", "=>": ">=", "=": "=="}
# Fields whose words differ from robot to robot.
_WORDS_OF_ROBOT: dict[str, Callable[[RobotFacts], tuple[str, ...]]] = {
    "fsm.state": lambda robot: robot.fsm_states,
    "upper.state": lambda robot: robot.upper_states,
    "velocity.source": lambda robot: robot.velocity_sources,
}
_DONE = {"+": "added", "-": "subtracted", "*": "multiplied", "/": "divided"}
_COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))
_TURNED = {"AND": "and", "OR": "or", "NOT": "not", "True": "true", "False": "false", "is": "=="}


class _Parsing:
    """One text on its way to a typed expression."""

    __slots__ = ("_active", "_depth", "_names", "_report", "_text", "_world", "at", "number_end", "token", "value")

    def __init__(self, text: str, world: World, names: Names, report: Report, active: bool) -> None:
        self._text = text
        self._world = world
        self._names = names
        self._report = report
        self._active = active
        self._depth = 0
        self.at = 0
        self.number_end = 0
        self.token = ""
        self.value: Any = None
        self._next(0)

    def _next(self, start: int) -> None:
        match = _TOKEN.match(self._text, start)
        if match is None:
            raise self._odd_character(start)
        kind = match.lastgroup
        self.number_end = match.end()
        if kind == "word" or kind == "op":
            self.token = match[kind]
            self.at = match.start(kind)
            self.value = None
            return
        if kind == "number" or kind == "unit":
            self.at = match.start("number")
            self.token = "number"
            self.value = (match["number"], match["unit"])
            return
        assert kind is not None
        self.at = match.start(kind) - (kind == "name")  # a name begins with its dollar
        if kind == "wrong":
            right = _WRONG[match[kind]]
            raise Mistake("wrong-operator", f'"{match[kind]}" is written {right}', right, self.at)
        self.token = kind
        self.value = match[kind]

    def _odd_character(self, start: int) -> Mistake:
        while self._text[start] in " \n":
            start += 1
        character = self._text[start]
        if character == "," and self._text[start - 1 : start].isdigit():
            return Mistake("decimal-comma", "the decimal sign is a point", None, start)
        if character == "°":
            return Mistake("wrong-unit", "the unit is written deg", "deg", start)
        if character in "\"'":
            return Mistake("expression", "words are written without quotes here", None, start)
        return Mistake("expression", f'"{character}" has no meaning in an expression', None, start)

    def advance(self) -> None:
        self._next(self.number_end)

    # From the weakest binding to the strongest.

    def either(self) -> Expr:
        left = self.both()
        while self.token == "or":
            left = self._logical("or", left, self.both, True)
        return left

    def both(self) -> Expr:
        left = self.negated()
        while self.token == "and":
            left = self._logical("and", left, self.negated, False)
        return left

    def _logical(self, op: str, left: Expr, parse_right: Callable[[], Expr], decisive: bool) -> Expr:
        offset = self.at
        self.advance()
        before = self._active
        if left.const is decisive:  # the right side never matters here, so what the robot lacks in it is no mistake
            self._active = False
        right = parse_right()
        self._active = before
        self.need_condition(left)
        self.need_condition(right, left)
        made = Expr(op, "bool", offset, None, (left, right))
        made.fixed = left.fixed or right.fixed
        if left.const is decisive or right.const is decisive:
            made.const = decisive
        elif left.const is not NOT_CONSTANT and right.const is not NOT_CONSTANT:
            made.const = not decisive
        return made

    def negated(self) -> Expr:
        if self.token != "not":
            return self.comparison()
        offset = self.at
        self._deeper()
        self.advance()
        inner = self.negated()
        self._depth -= 1
        self.need_condition(inner)
        made = Expr("not", "bool", offset, None, (inner,))
        made.fixed = inner.fixed
        if inner.const is not NOT_CONSTANT:
            made.const = not inner.const
        return made

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise Mistake("expression", "this expression is nested too deeply", None, self.at)

    def comparison(self) -> Expr:
        first = self.sum()
        if self.token not in _COMPARISONS:
            return first
        offset = first.offset
        parts = [first]
        signs: list[str] = []
        while self.token in _COMPARISONS:
            signs.append(self.token)
            sign_at = self.at
            self.advance()
            parts.append(self.sum())
            self._check_pair(parts, signs[-1], sign_at)
        made = Expr("compare", "bool", offset, tuple(signs), tuple(parts))
        made.fixed = any(part.fixed for part in parts)
        self._fold_comparison(made)
        return made

    def _check_pair(self, parts: list[Expr], sign: str, sign_at: int) -> None:
        left, right = parts[-2:]
        if left.kind == "word" or right.kind == "word":
            parts[-2:] = self._with_words(left, right)
            left, right = parts[-2:]
        if left.kind == "any" or right.kind == "any":
            return
        if left.kind in NUMBERS and right.kind in NUMBERS:
            if not _same_measure(left.kind, right.kind):
                self._report_unlike(left, right)
            elif sign in ("==", "!=") and not (left.kind == right.kind == "int"):
                message = "a measured quantity is never exactly equal: compare with <, <=, > or >="
                self._report(sign_at, "equal-quantity", message, None)
            return
        if left.kind != right.kind:
            self._report_unlike(left, right)
        elif sign not in ("==", "!="):
            self._report(sign_at, "not-ordered", f"{_named(left)} has no order: compare with == or !=", None)

    def _with_words(self, left: Expr, right: Expr) -> tuple[Expr, Expr]:
        if left.kind == right.kind == "word":
            self._report_word(left)
            return left, right
        word, other = (left, right) if left.kind == "word" else (right, left)
        if other.kind == "any":
            return left, right
        if other.kind == "bool" and word.value.lower() in OTHER_BOOLEANS:
            meant = OTHER_BOOLEANS[word.value.lower()]
            message = f"{word.value} is only a word here: write {meant}"
            self._report(word.offset, "not-a-boolean", message, meant)
            word.kind = "any"
            return left, right
        if other.kind != "choice":
            self._report_word(word, other.kind)
            return left, right
        if other.choices and word.value not in other.choices:
            message = f'"{word.value}" is not one of {listed(other.choices)}'
            self._report(word.offset, "not-a-choice", message, Near(word.value, other.choices))
        resolved = constant(word.value, "choice", word.offset)
        return (resolved, right) if word is left else (left, resolved)

    def _report_word(self, word: Expr, kind: str = "", again: str | None = None) -> None:
        """A word that means nothing. `kind`: what a field would have to be here; `again`: a comparison meant again."""
        near: Suggestion = _TURNED.get(word.value) or again
        if near is None and self._names.look_up(word.value) is not None:
            near = f"${word.value}"
        message = f'"{word.value}" is a word that means nothing here: a field contains a dot, a name begins with $'
        self._report(word.offset, "unknown-word", message, near or self._field_meant(word.value, kind))
        word.kind = "any"

    def _field_meant(self, word: str, kind: str) -> Suggestion:
        fields = self._world.by_part.get(word)
        if fields:
            return next((field.name for field in fields if field.type == kind), fields[0].name)
        return Near(word, self._world.by_letter.get(word[0], ()))

    def _report_unlike(self, left: Expr, right: Expr) -> None:
        for bare, other in ((left, right), (right, left)):
            if bare.kind in ("int", "number") and bare.op in ("const", "neg") and other.kind in DIMENSIONS:
                units = units_of(other.kind)
                suggestion = with_unit(f"{bare.const:g}", other.kind) if bare.const is not NOT_CONSTANT else None
                self._report(bare.offset, "unit-missing", f"a unit is missing: {' or '.join(units)}", suggestion)
                return
        message = f"{_named(left)} and {_named(right)} are unlike things and cannot be compared"
        self._report(right.offset, "unlike", message, None)

    def _fold_comparison(self, made: Expr) -> None:
        results = [_always(sign, *pair) for sign, pair in zip(made.value, zip(made.args, made.args[1:]))]
        if all(result is True for result in results):
            made.const = True
        elif any(result is False for result in results) or _leaves_no_room(made.value, made.args):
            made.const = False
        else:
            return
        if not made.fixed and not any(part.kind == "any" for part in made.args):
            always = "true" if made.const else "false"
            ranges = [part for part in made.args if part.op == "field" and part.lower > -_INF]
            why = f": {ranges[0].value} {_range(ranges[0])}" if ranges else ""
            if False not in results and not made.const:
                why = ": nothing lies between these two"
            self._report(made.offset, "always", f"this is always {always}{why}", None)
            made.const = NOT_CONSTANT

    def sum(self) -> Expr:
        left = self.product()
        while self.token in ("+", "-"):
            op, offset = self.token, self.at
            self.advance()
            right = self.product()
            left = self._arithmetic(op, left, right, offset)
        return left

    def product(self) -> Expr:
        left = self.signed()
        while self.token in ("*", "/"):
            op, offset = self.token, self.at
            self.advance()
            right = self.signed()
            left = self._arithmetic(op, left, right, offset)
        return left

    def _arithmetic(self, op: str, left: Expr, right: Expr, offset: int) -> Expr:
        kind = self._result_kind(op, left, right, offset)
        if kind != "any" and left.const is not NOT_CONSTANT and right.const is not NOT_CONSTANT:
            value = calculate(op, left.const, right.const)
            if value is None:
                raise Mistake("not-finite", "this is a division by zero or too big for a number", None, offset)
            folded = constant(value, kind, left.offset)
            folded.fixed = left.fixed or right.fixed
            return folded
        made = Expr(op, kind, left.offset, None, (left, right))
        made.fixed = left.fixed or right.fixed
        if kind == "any":
            return made
        if op == "/" and right.const == 0:
            raise Mistake("not-finite", "this is a division by zero", None, offset)
        if op == "+":
            made.lower, made.upper = left.lower + right.lower, left.upper + right.upper
        elif op == "-":
            made.lower, made.upper = left.lower - right.upper, left.upper - right.lower
        return made

    def _result_kind(self, op: str, left: Expr, right: Expr, offset: int) -> str:
        for side in (left, right):
            if side.kind not in NUMBERS:
                self._need_number(side)
        pair = (left.kind, right.kind)
        if "any" in pair:
            return "any"
        found = _measure(op, *pair)
        if found is None:
            message = f"{_named(left)} and {_named(right)} cannot be {_DONE[op]}: their units do not fit"
            self._report(offset, "unlike", message, None)
            return "any"
        return found

    def _need_number(self, side: Expr) -> None:
        if side.kind == "word":
            self._report_word(side)
        elif side.kind != "any":
            self._report(side.offset, "not-a-number", f"{_named(side)} is not a number", None)
            side.kind = "any"

    def signed(self) -> Expr:
        if self.token not in ("-", "+"):
            return self.primary()
        sign, offset = self.token, self.at
        self._deeper()
        self.advance()
        inner = self.signed()
        self._depth -= 1
        if sign == "+":
            return inner
        if inner.kind not in NUMBERS:
            self._need_number(inner)
            return inner
        if inner.const is not NOT_CONSTANT:
            folded = constant(-inner.const, inner.kind, offset)
            folded.fixed = inner.fixed
            return folded
        made = Expr("neg", inner.kind, offset, None, (inner,))
        made.fixed, made.lower, made.upper = inner.fixed, -inner.upper, -inner.lower
        return made

    def primary(self) -> Expr:
        token, offset = self.token, self.at
        if token == "number":
            return self._number(offset)
        if token == "name":
            name = self.value
            self.advance()
            return self._name(name, offset)
        if token == "(":
            self._deeper()
            self.advance()
            inner = self.either()
            if self.token == "for":
                message = '"for" stands at the end and counts for the whole condition: it may not stand in parentheses'
                raise Mistake("for-not-here", message, None, self.at)
            if self.token != ")":
                raise Mistake("expression", "the parenthesis that opens here is not closed", None, offset)
            self._depth -= 1
            self.advance()
            return inner
        if token == "end":
            raise Mistake("expression", "the expression ends too early: something is missing here", None, offset)
        if not token[0].isalpha() and token[0] != "_":
            raise Mistake("expression", f'"{token}" cannot stand here', None, offset)
        if token in ("and", "or", "not", "for"):
            raise Mistake("expression", f'something is missing before "{token}"', None, offset)
        self.advance()
        if self.token == "(":
            raise Mistake("expression", f"{token}(...) is a call: expressions have none", None, offset)
        return self._word(token, offset)

    def _number(self, offset: int) -> Expr:
        digits, unit = self.value
        self.advance()
        if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
            raise Mistake("leading-zero", "a number must not begin with 0", digits.lstrip("0") or "0", offset)
        if unit is None and self.token[0].isalpha() and self.token not in ("and", "or", "for", "name", "number", "end"):
            raise _odd_unit(digits, self.token, offset)
        if unit is None:
            is_int = digits.isdigit() and len(digits) < 19
            return constant(int(digits) if is_int else _finite(digits, offset), "int" if is_int else "number", offset)
        dimension, convert = UNITS[unit]
        return constant(_finite(digits, offset, convert), dimension, offset)

    def _name(self, name: str, offset: int) -> Expr:
        found = self._names.look_up(name)
        if found is None:
            self._names.report_unknown(name, offset)
            return Expr("name", "any", offset, name)
        made = Expr("name", found.kind, offset, found.key)
        made.choices = found.choices
        made.fixed = True
        if found.kind == "tag":
            made.kind = "int"
        elif found.kind not in NUMBERS and found.kind not in ("bool", "text", "list", "any"):
            made.kind = "choice"
        # The name of a tag is no number before a robot says which: without a robot it is not known yet.
        if found.const is not NOT_CONSTANT and not (found.kind == "tag" and isinstance(found.const, str)):
            made.const = found.const
            if made.kind in NUMBERS:
                made.lower = made.upper = found.const
        return made

    def _word(self, word: str, offset: int) -> Expr:
        if word in ("true", "false"):
            return constant(word == "true", "bool", offset)
        if "." not in word:
            return Expr("word", "word", offset, word)
        if word.startswith("robot."):
            return self._robot_constant(word, offset)
        robot = self._world.robot
        own = robot.fields.get(word) if robot is not None else None
        field = own or self._world.fields.get(word)
        if field is None:
            valid = (*self._world.field_names, "robot.family", "robot.model")
            self._report(offset, "unknown-field", f'there is no field "{word}"', Near(word, valid))
            return Expr("field", "any", offset, word)
        if robot is not None and self._active:
            if field.capability not in robot.capabilities:
                message = f"{robot.name} has no {field.capability}, so {word} cannot be read"
                self._report(offset, "lacks-capability", message, None)
            elif own is None and robot.fields:
                near = Near(word, tuple(robot.fields))
                self._report(offset, "lacks-field", f"{robot.name} does not report {word}", near)
        made = Expr("field", field.type, offset, word)
        made.choices = field.choices
        if robot is not None and word in _WORDS_OF_ROBOT:
            made.choices = _WORDS_OF_ROBOT[word](robot)
        if field.lower is not None:
            made.lower = field.lower
        if field.upper is not None:
            made.upper = field.upper
        return made

    def _robot_constant(self, word: str, offset: int) -> Expr:
        robot = self._world.robot
        made = Expr("const", "choice", offset, None)
        made.fixed = True
        if word == "robot.family":
            made.choices = ("aurora", "atom", "adam")
            made.value = robot.family if robot else None
        elif word == "robot.model":
            made.value = robot.model if robot else None
        elif word.startswith("robot.has."):
            capability = word.removeprefix("robot.has.")
            made.kind = "bool"
            made.value = capability in robot.capabilities if robot else None
            if capability not in self._world.capabilities:
                valid = tuple(f"robot.has.{known}" for known in sorted(self._world.capabilities))
                message = f'there is no capability "{capability}"'
                self._report(offset, "unknown-field", message, Near(word, valid))
        else:
            message = f'there is no "{word}": write robot.family, robot.model or robot.has.CAPABILITY'
            self._report(offset, "unknown-field", message, None)
            made.kind = "any"
        if made.value is not None:
            made.const = made.value
        return made

    def need_condition(self, made: Expr, after: Expr | None = None) -> None:
        """Report what is not true or false. `after`: what stands before it, and may be meant again."""
        if made.kind == "word":
            self._report_word(made, again=_compared_again(made.value, after))
        elif made.kind not in ("bool", "any"):
            message = f"{_named(made)} is neither true nor false: compare it with something"
            self._report(made.offset, "not-a-condition", message, None)
            made.kind = "any"

    def end(self) -> None:
        if self.token == "end":
            return
        at = self.at
        if self.token == ")":
            raise Mistake("expression", "this parenthesis was never opened", None, at)
        shown_token = f"${self.value}" if self.token == "name" else self.token
        if self.token == "number":
            shown_token = self.value[0]
        if shown_token in _TURNED:
            raise Mistake(
                "wrong-operator", f'"{shown_token}" is written {_TURNED[shown_token]}', _TURNED[shown_token], at
            )
        raise Mistake(
            "expression", f'"{shown_token}" does not fit here: "and", "or" or a comparison is missing', None, at
        )


def _finite(digits: str, offset: int, convert: Callable[[float], float] = float) -> float:
    value = convert(float(digits))
    if not math.isfinite(value):
        raise Mistake("not-finite", f"{digits[:40]} is too big for a number", None, offset)
    return value


def _odd_unit(digits: str, unit: str, offset: int) -> Mistake:
    meant = OTHER_SPELLINGS.get(unit)
    if meant is None:
        return Mistake("wrong-unit", f'"{unit}" is not a unit', None, offset)
    mistake = wrong_unit(digits, unit, UNITS[meant][0])
    mistake.offset = offset
    return mistake


def _same_measure(left: str, right: str) -> bool:
    return left == right or (left in _PLAIN and right in _PLAIN)


def _measure(op: str, left: str, right: str) -> str | None:
    """What comes out of a calculation with two kinds of numbers; None when their units do not fit."""
    if op in "+-":
        return left if left == right else "number" if left in _PLAIN and right in _PLAIN else None
    if left in _PLAIN and right in _PLAIN:
        return "int" if op == "*" and left == right == "int" else "number"
    if right in _PLAIN:
        return left
    if op == "*":
        return right if left in _PLAIN else _PRODUCTS.get((left, right))
    return "number" if left == right else _QUOTIENTS.get((left, right))


def _named(made: Expr) -> str:
    if made.op == "field":
        return f"{made.value} ({made.kind})"
    if made.op == "const" and made.kind in DIMENSIONS:
        return shown(made.value, made.kind)
    if made.op == "const" and made.value is not None:
        return str(made.value).lower() if made.kind == "bool" else str(made.value)
    return {"int": "a number", "number": "a number", "bool": "a condition", "choice": "a word"}.get(
        made.kind, made.kind
    )


def _range(made: Expr) -> str:
    if made.kind in DIMENSIONS:
        return f"lies between {shown(made.lower, made.kind)} and {shown(made.upper, made.kind)}"
    return f"lies between {made.lower:g} and {made.upper:g}"


def _always(sign: str, left: Expr, right: Expr) -> bool | None:
    """Whether a comparison holds whatever the values, or never does; None when it depends."""
    if left.kind in NUMBERS and right.kind in NUMBERS:
        if sign in (">", ">="):
            left, right, sign = right, left, {">": "<", ">=": "<="}[sign]
        if sign == "<":
            return True if left.upper < right.lower else False if left.lower >= right.upper else None
        if sign == "<=":
            return True if left.upper <= right.lower else False if left.lower > right.upper else None
    if left.const is NOT_CONSTANT or right.const is NOT_CONSTANT:
        return None
    return bool((left.const == right.const) is (sign == "=="))


def _leaves_no_room(signs: tuple[str, ...], parts: tuple[Expr, ...]) -> bool:
    """Whether a chain such as `10 % < x < 5 %` can never hold, though each of its pairs could."""
    if {">", ">="}.issuperset(signs):
        signs, parts = signs[::-1], parts[::-1]
    elif not {"<", "<="}.issuperset(signs):
        return False
    lowest, beyond = -_INF, False
    for part, sign in zip(parts, ("<=", *signs)):
        if part.kind not in NUMBERS:
            return False
        beyond = beyond or sign in "<>"
        if part.upper < lowest or (part.upper == lowest and beyond):
            return True
        if part.lower > lowest:
            lowest, beyond = part.lower, False
    return False


def _compared_again(word: str, after: Expr | None) -> str | None:
    """`fsm.state == walk or ready`: the comparison that was meant again."""
    while after is not None and after.op in ("and", "or"):
        after = after.args[1]
    if after is None or after.op != "compare" or len(after.args) != 2:
        return None
    sides = [side for side in after.args if side.op in ("field", "name") and word in side.choices]
    if not sides:
        return None
    name = sides[0].value if sides[0].op == "field" else f"${sides[0].value.rpartition('/')[2]}"
    return f"{name} {after.value[0]} {word}"


def calculate(op: str, left: float, right: float) -> float | None:
    """One arithmetic step; None where the result is not a finite number."""
    try:
        if op == "+":
            value = left + right
        elif op == "-":
            value = left - right
        elif op == "*":
            value = left * right
        else:
            value = left / right
    except (ZeroDivisionError, OverflowError):
        return None
    return value if -_INF < value < _INF else None


HOLD_NOT_HERE = '"for" may stand only at the end of until, wait_for and pause'


def parse_expression(
    text: str,
    world: World,
    names: Names,
    report: Report,
    *,
    active: bool = True,
    no_hold: str | None = HOLD_NOT_HERE,
) -> tuple[Expr, float | None] | None:
    """The typed expression and how long it must have held (`EXPR for T`); None when it cannot be read.

    `no_hold` says why `for` may not stand here; None where it may.
    """
    try:
        if len(text) > LONGEST:
            raise Mistake("too-long", f"an expression may have at most {LONGEST} characters", None, 0)
        parsing = _Parsing(text, world, names, report, active)
        made = parsing.either()
        hold = None
        if parsing.token == "for":
            hold = _hold(parsing, no_hold)
        parsing.end()
        if made.kind == "word" and made.value in _TURNED:
            parsing.need_condition(made)
        return made, hold
    except Mistake as mistake:
        report(mistake.offset, mistake.code, mistake.message, mistake.suggestion)
        return None


def _hold(parsing: _Parsing, no_hold: str | None) -> float:
    if no_hold is not None:
        raise Mistake("for-not-here", no_hold, None, parsing.at)
    parsing.advance()
    held = parsing.signed()
    if held.const is NOT_CONSTANT or held.kind != "duration":
        raise Mistake("for-not-here", 'after "for" a duration must follow, such as 2 s', None, held.offset)
    if held.const <= 0:
        raise Mistake("out-of-range", "the duration must be greater than 0 s", None, held.offset)
    return float(held.const)


def condition(parsed: Expr, report: Report) -> bool:
    """Report an expression that is no condition, though one is wanted; says whether it is one."""
    if parsed.kind in ("bool", "any"):
        return True
    if parsed.kind == "word":
        message = f'"{parsed.value}" is a word that means nothing here: a field contains a dot, a name begins with $'
        report(parsed.offset, "unknown-word", message, None)
    else:
        message = f"{_named(parsed)} is neither true nor false: compare it with something"
        report(parsed.offset, "not-a-condition", message, None)
    return False


def read_by(made: Expr) -> Iterator[Expr]:
    """The fields and names an expression reads, in the order in which they are written."""
    waiting = [made]
    while waiting:
        part = waiting.pop()
        if part.op in ("field", "name"):
            yield part
        waiting.extend(reversed(part.args))
