"""Values of parameters: the wanted type decides how each is read, and the robot what it may be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

from orchestrator.leaf import FileLook, ParamType
from orchestrator.robots.facts import RobotFacts
from orchestrator.treefile.expression import (
    HOLD_NOT_HERE,
    NOT_CONSTANT,
    NUMBERS,
    Expr,
    Name,
    World,
    condition,
    parse_expression,
)
from orchestrator.treefile.limits import SHORTEST, Effort
from orchestrator.treefile.model import Expression, Template, Value, text_of
from orchestrator.treefile.paths import Paths
from orchestrator.treefile.scope import Scope, exact_place
from orchestrator.yamlfile import (
    BOOL,
    INT,
    NUMBER,
    TEXT,
    UNREAD,
    Findings,
    Mapping,
    Mistake,
    Node,
    Quantity,
    Scalar,
    Sequence,
    Unread,
)
from orchestrator.yamlfile.findings import Near, Suggestion, listed
from orchestrator.yamlfile.units import DIMENSIONS, UNITS

_LITERAL = re.compile(r"([-+]?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?) *([A-Za-z%/]*)")
_NAMED = re.compile(r"\$([A-Za-z_]\w*)")
_ATTEMPT = re.compile(r"[-+]?\.?\d[\d.,_xob]* *[^-+*/()$<>=\s\d]*(?:/s)?")
_NAME_IN_BRACES = re.compile(r"\$\{([A-Za-z_]\w{0,60})\}")
_IN_TEXT = re.compile(r"\$(?:\$|([A-Za-z_]\w*))?")
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_TIME = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) *(ms|min|m|s|h)")
_TWO_TIMES = re.compile(rf"{_TIME.pattern}(?: *{_TIME.pattern})+")
_MINUTES = {"m": "min"}

MOST_VALUES = 1000

WORDS = frozenset(("choice", "hand", "fsm_state", "upper_state", "velocity_source", "pose", "group"))

_LITERALS: dict[str, Any] = {"int": INT, "number": NUMBER, **{name: Quantity(name) for name in DIMENSIONS}}


def words_of(wanted: ParamType, robot: RobotFacts | None) -> tuple[str, ...] | None:
    """The words a parameter may be, or None when only a robot could say and none is given."""
    if wanted.kind == "choice":
        return wanted.choices
    if robot is None:
        return ("left", "right") if wanted.kind == "hand" else None
    found: tuple[str, ...] = _WORD_TABLES[wanted.kind](robot)
    return found


_WORD_TABLES: dict[str, Callable[[RobotFacts], tuple[str, ...]]] = {
    "hand": lambda robot: robot.hands,
    "fsm_state": lambda robot: robot.fsm_states,
    "upper_state": lambda robot: robot.upper_states,
    "velocity_source": lambda robot: robot.velocity_sources,
    "pose": lambda robot: tuple(robot.poses),
    "group": lambda robot: tuple(robot.groups),
}


class Known:
    """Constants that were read before, shared by all files of a check."""

    def __init__(self) -> None:
        self.texts: dict[tuple[int, str], Any] = {}
        # By identity, which is why what it is the identity of is kept, too.
        self.lists: dict[tuple[int, int, bool], tuple[ParamType, Iterable[Any], list[Any] | Mistake]] = {}
        # Whether it could be read without a mistake, and what else is wrong with it.
        self.files: dict[tuple[FileLook, Path, bool], tuple[bool, list[str]]] = {}


class Reader:
    """Reads values and conditions of one file; every mistake becomes a finding."""

    def __init__(
        self, world: World, scope: Scope, findings: Findings, paths: Paths, known: Known, effort: Effort
    ) -> None:
        self._world = world
        self._robot = world.robot
        self._scope = scope
        self._findings = findings
        self._paths = paths
        self._known = known
        self._memo = known.texts
        self._effort = effort
        self.active = True  # False in what cannot run on this robot anyway

    def report(self, scalar: Scalar) -> Callable[[int, str, str, Suggestion], None]:
        def said(offset: int, code: str, message: str, suggestion: Suggestion) -> None:
            if self._findings.full:
                self._findings.count(1)
            else:
                self._findings.error(exact_place(scalar, offset, self._findings), code, message, suggestion)

        return said

    def condition(self, node: Node, *, no_hold: str | None = HOLD_NOT_HERE) -> Expression | None:
        """An expression that is true or false."""
        if type(node) is not Scalar:
            self._findings.error(node, "wrong-kind", f"a condition is wanted here, not a {node.kind}")
            return None
        made = self.expression(node, no_hold)
        if made is None or not condition(made.made, self.report(node)):
            return None
        return made

    def expression(self, node: Scalar, no_hold: str | None = HOLD_NOT_HERE) -> Expression | None:
        text = node.text
        if not text:
            self._findings.missing(node, "missing-value", "an expression is missing here")
            return None
        self._effort.expressions(node, len(text))
        self._scope.reading = node
        report = self.report(node)
        parsed = parse_expression(text, self._world, self._scope, report, active=self.active, no_hold=no_hold)
        if parsed is None:
            return None
        return Expression(text, parsed[0], parsed[1], node.place)

    def value(self, node: Node, wanted: ParamType) -> Value | Unread:
        """A parameter's value of the wanted type."""
        if type(node) is Scalar:
            key = (id(wanted), node.text)
            found = self._memo.get(key, UNREAD)
            if found is not UNREAD:
                return found
            if not node.text:
                self._findings.missing(node, "missing-value", f"{_a(wanted.name)} is missing here")
                return UNREAD
            if node.text[0] == "$" and wanted.kind not in ("text", "file"):
                match = _NAMED.fullmatch(node.text)
                if match:
                    return self._named(node, match[1], wanted)
            found = self._scalar(node, wanted)
            if (
                self.active
                and wanted.kind != "file"
                and found is not UNREAD
                and type(found) is not Expression
                and "$" not in node.text
            ):
                self._memo[key] = found
            return found
        if wanted.kind == "list" and type(node) is Sequence:
            return self._list(node, wanted)
        if wanted.kind == "joint_angles" and type(node) is Mapping:
            return self._joint_angles(node)
        self._findings.error(node, "wrong-kind", f"{_a(wanted.name)} is wanted here, not a {node.kind}")
        return UNREAD

    def _scalar(self, node: Scalar, wanted: ParamType) -> Value | Unread:
        kind = wanted.kind
        try:
            if kind in NUMBERS:
                return self._number(node, wanted)
            if kind == "text":
                return self._text(node)
            if kind in WORDS:
                return self.word(node.text, wanted)
            if kind == "file":
                return self._file(node, wanted)
            if kind == "bool":
                return self._bool(node)
            if kind == "tag":
                return self._tag(node.text)
        except Mistake as mistake:
            place = exact_place(node, mistake.offset, self._findings)
            named = f"${node.text}" if self._scope.look_up(node.text) is not None else None
            self._findings.error(place, mistake.code, mistake.message, named or mistake.suggestion)
            return UNREAD
        as_list = f"[{node.text[:60]}]" if kind == "list" else None
        self._findings.error(node, "wrong-kind", f"{_a(wanted.name)} is wanted here, not a {node.kind}", as_list)
        return UNREAD

    def _number(self, node: Scalar, wanted: ParamType) -> Value | Unread:
        text, kind = node.text, wanted.kind
        match = _LITERAL.fullmatch(text)
        if match:
            unit = UNITS.get(match[2])
            if unit is not None and unit[0] == kind:
                value = unit[1](float(match[1]))
            else:
                value = _LITERALS[kind].parse(text)
            return self.check_number(value, wanted)
        if _ATTEMPT.fullmatch(text) or _WORD.fullmatch(text):
            return self.check_number(_LITERALS[kind].parse(text), wanted)
        if kind == "duration" and _TWO_TIMES.fullmatch(text):
            parts = " + ".join(f"{digits} {_MINUTES.get(unit, unit)}" for digits, unit in _TIME.findall(text))
            raise Mistake("wrong-unit", "a duration has one number and one unit, or is a sum", parts)
        return self._calculated(node, wanted)

    def _calculated(self, node: Scalar, wanted: ParamType) -> Value | Unread:
        made = self.expression(node)
        if made is None or made.kind == "any":
            return UNREAD
        fits = made.kind == wanted.kind or (made.kind == "int" and wanted.kind in ("number", "tag"))
        if not fits:
            raise Mistake("wrong-type", f"{_a(wanted.name)} is wanted here; this is {_a(made.kind)}")
        if made.const is NOT_CONSTANT:
            return made
        return self.check_constant(made.const, wanted)

    def check_number(self, value: float, wanted: ParamType) -> float:
        """The number; at the end of its range, or of the robot's, if only rounding carries it beyond.

        Raises a Mistake when it is further out.
        """
        value = _in_range(value, wanted.lower, wanted.upper, wanted.kind, "")
        if wanted.limit is not None and self._robot is not None and self.active:
            limits = self._robot.ranges.get(wanted.limit)
            if limits is not None:
                value = _in_range(value, *limits, wanted.kind, f" on {self._robot.name}")
        return value

    def _bool(self, node: Scalar) -> Value | Unread:
        if node.text in ("true", "false") or _WORD.fullmatch(node.text):
            return BOOL.parse(node.text)
        made = self.condition(node)
        if made is None or made.kind == "any":
            return UNREAD
        return made if made.const is NOT_CONSTANT else made.const

    def _tag(self, text: str) -> int | str:
        robot = self._robot
        if text[0].isdigit():
            tag = INT.parse(text)
            self._check_tag(tag)
            return tag
        if not _WORD.fullmatch(text):
            raise Mistake("not-a-tag", f'"{text[:60]}" is not a tag: write its number or its name')
        if robot is None or not self.active:
            return text
        if text not in robot.tags:
            message = f'{robot.name} knows no tag "{text}"{_known_tags(robot)}'
            raise Mistake("unknown-tag", message, Near(text, tuple(robot.tags)))
        return robot.tags[text]

    def _check_tag(self, tag: int) -> None:
        robot = self._robot
        if robot is not None and robot.tags and tag not in robot.tags.values() and self.active:
            raise Mistake("unknown-tag", f"{robot.name} knows no tag {tag}{_known_tags(robot)}")

    def word(self, text: str, wanted: ParamType) -> str:
        """A word of the wanted kind; raises a Mistake when the robot has none such."""
        valid = words_of(wanted, self._robot)
        if valid is None or text in valid or (not self.active and wanted.kind != "choice"):
            if not _WORD.fullmatch(text) and wanted.kind != "choice":
                raise Mistake("not-a-word", f'"{text[:60]}" is not {_a(wanted.name)}')
            return text
        if wanted.kind == "choice":
            raise Mistake("not-a-choice", f'"{text[:60]}" is not one of {listed(valid)}', Near(text, valid))
        assert self._robot is not None or wanted.kind == "hand"
        who = self._robot.name if self._robot else "a robot"
        has = f"; it has {listed(valid)}" if valid else ""
        raise Mistake(f"unknown-{wanted.kind}", f'{who} has no {wanted.name} "{text[:60]}"{has}', Near(text, valid))

    def _text(self, node: Scalar) -> Value | Unread:
        text = TEXT.parse(node.text)
        names = text.count("$")
        if not names:
            return text
        self._effort.expressions(node, names * SHORTEST)
        self._scope.reading = node
        parts: list[str | tuple[str, str]] = []
        last = 0
        good = True
        for match in _IN_TEXT.finditer(text):
            parts.append(text[last : match.start()])
            last = match.end()
            if match[1] is None:
                parts.append("$")
                if match[0] == "$":
                    raise _lone_dollar(text, match.start())
                continue
            name = self._scope.look_up(match[1])
            if name is None:
                self._scope.report_unknown(match[1], match.start())
                good = False
            elif name.const is not NOT_CONSTANT:
                parts.append(text_of(name.const, name.kind))
            else:
                parts.append((name.key, name.kind))
        parts.append(text[last:])
        if not good:
            return UNREAD
        if all(isinstance(part, str) for part in parts):
            return "".join(part for part in parts if isinstance(part, str))
        return Template(tuple(part for part in parts if part))

    def _file(self, node: Scalar, wanted: ParamType) -> Value | Unread:
        """The path of a file. It may depend on a name whose values are all known: then each file is looked at."""
        made = self._text(node)
        if made is UNREAD:
            return UNREAD
        texts = self._every_text(node, made) if isinstance(made, Template) else [str(made)]
        if isinstance(made, Template):
            made = replace(made, possible=tuple(texts))
        good = [self._good_file(node, text, wanted) for text in texts]
        return made if all(good) else UNREAD

    def _every_text(self, node: Scalar, made: Template) -> list[str]:
        names = [self._scope.look_up(name) for name in {*_IN_TEXT.findall(node.text)} if name]
        unknown = [name for name in names if name is not None and name.const is NOT_CONSTANT]
        values = unknown[0].possible or unknown[0].choices
        if len(unknown) > 1 or not values:
            raise Mistake("not-constant", "which file this is must be known before the run")
        return ["".join(part if isinstance(part, str) else str(value) for part in made.parts) for value in values]

    def _good_file(self, node: Scalar, text: str, wanted: ParamType) -> bool:
        self._effort.expressions(node, SHORTEST)
        path = self._paths.resolved(node, text)
        if path is None or not self._paths.readable(node, text, path):
            return False
        if wanted.look is None:
            return True
        robot = self._robot if self.active else None
        key = (wanted.look, path, robot is None)
        if key not in self._known.files:
            before = self._findings.errors
            problems = wanted.look(self._paths.shown(text, path), robot, self._findings)
            self._known.files[key] = (self._findings.errors == before, problems)
        readable, problems = self._known.files[key]
        if problems:
            self._findings.error(node, "bad-file", f"{text[:100]}: {'; '.join(problems)}")
        return readable and not problems

    def _named(self, node: Scalar, name: str, wanted: ParamType) -> Value | Unread:
        """`$name` alone: its value if that is known, else something to look up during the run."""
        found = self._scope.look_up(name)
        if found is None:
            self._scope.reading = node
            self._scope.report_unknown(name, 0)
            return UNREAD
        if found.kind == "any":
            return UNREAD
        try:
            self._check_fits(found, name, wanted)
            if found.const is not NOT_CONSTANT:
                return self.check_constant(found.const, wanted)
            self._check_all(found.possible or found.choices, wanted)
        except Mistake as mistake:
            message = f"${name}: {mistake.message}"
            self._findings.error(node, mistake.code, message, mistake.suggestion)
            return UNREAD
        looked_up = Expr("name", found.kind, 0, found.key)
        if _words_for_tags(found, wanted) and self._robot is not None:
            looked_up = Expr("tag", "tag", 0, self._robot.tags, (looked_up,))
        return Expression(node.text, looked_up, None, node.place, found.possible or found.choices)

    def _check_fits(self, found: Name, name: str, wanted: ParamType) -> None:
        kind = found.kind
        fits = (
            kind == wanted.kind
            or (kind == "int" and wanted.kind in ("number", "tag"))
            or (kind == "tag" and wanted.kind == "int")
            or (kind in WORDS and wanted.kind in WORDS and (found.possible or found.choices or kind == wanted.kind))
            or (kind in WORDS and wanted.kind in WORDS and found.const is not NOT_CONSTANT)
            or _words_for_tags(found, wanted)
        )
        if fits and kind == "list":
            of = wanted.of.kind if wanted.of else None
            fits = (
                found.of == of or (found.of in WORDS and of in WORDS) or (found.of == "int" and of in ("number", "tag"))
            )
        if not fits:
            is_a = f"list of {found.of}" if kind == "list" else kind.replace("_", " ")
            remedy = "; write its values without quotes" if kind == "text" and found.possible else ""
            raise Mistake("wrong-type", f"{_a(wanted.name)} is wanted here; it is {_a(is_a)}{remedy}")

    def check_constant(self, value: Any, wanted: ParamType) -> Any:
        """A value that is already known, checked against another type's ranges; raises a Mistake."""
        kind = wanted.kind
        if kind in NUMBERS:
            if not isinstance(value, str):  # the name of a tag, and no robot to say its number
                return self.check_number(value, wanted)
        elif kind == "tag" and isinstance(value, int):
            self._check_tag(value)
        elif kind == "tag":
            return self._tag(value)
        elif kind in WORDS:
            return self.word(str(value), wanted)
        elif kind == "list" and wanted.of is not None:
            self._check_length(value, wanted)
            return self._check_all(value, wanted.of)
        return value

    def _check_all(self, values: Iterable[Any], wanted: ParamType) -> list[Any]:
        """Every value checked; once, though a name for all of them may stand in thousands of nodes."""
        key = (id(wanted), id(values), self.active)
        if key not in self._known.lists:
            found: list[Any] | Mistake
            try:
                found = [self.check_constant(value, wanted) for value in values]
            except Mistake as mistake:
                found = mistake
            self._known.lists[key] = (wanted, values, found)
        found = self._known.lists[key][2]
        if isinstance(found, Mistake):
            raise found.with_traceback(None)
        return found

    def _list(self, node: Sequence, wanted: ParamType) -> Value | Unread:
        assert wanted.of is not None
        if self.too_many(node):
            return UNREAD
        values = [self.value(item, wanted.of) for item in node.items]
        try:
            self._check_length(values, wanted)
        except Mistake as mistake:
            self._findings.error(node, mistake.code, mistake.message)
            return UNREAD
        return UNREAD if any(value is UNREAD for value in values) else values

    def _check_length(self, values: list[Any], wanted: ParamType) -> None:
        robot = self._robot if self.active else None
        own = robot.ranges.get(wanted.limit) if robot is not None and wanted.limit is not None else None
        lower, upper = own or (wanted.lower, wanted.upper)
        if lower is not None and len(values) < lower:
            wanted_count = lower
        elif upper is not None and len(values) > upper:
            wanted_count = upper
        else:
            return
        bound = "" if lower == upper else "at least " if wanted_count == lower else "at most "
        where = f" on {robot.name}" if own and robot is not None else ""
        message = f"{bound}{wanted_count:g} value{'s' * (wanted_count != 1)} must stand here{where}, not {len(values)}"
        raise Mistake("wrong-length", message)

    def too_many(self, node: Sequence) -> bool:
        """Whether a list is longer than anybody would write; then that is said."""
        if len(node.items) <= MOST_VALUES:
            return False
        message = f"a list may have at most {MOST_VALUES} values; this has {len(node.items)}"
        self._findings.error(node, "too-many-values", message)
        return True

    def _joint_angles(self, node: Mapping) -> Value | Unread:
        values: dict[str, Value] = {}
        good = bool(node.entries)
        if not good:
            self._findings.missing(node, "missing-value", "name at least one joint with its angle")
        for joint, (key, angle) in node.entries.items():
            limits = self._limits(joint, key)
            wanted = ParamType("angle", lower=limits[0], upper=limits[1]) if isinstance(limits, tuple) else _ANGLE
            values[joint] = self._joint_angle(angle, wanted)
            good = good and limits is not False and values[joint] is not UNREAD
        return values if good else UNREAD

    def _joint_angle(self, node: Node, wanted: ParamType) -> Value | Unread:
        if type(node) is not Scalar or not node.text or node.text[0] == "$":
            return self.value(node, wanted)
        return self._scalar(node, wanted)

    def _limits(self, joint: str, key: Scalar) -> tuple[float, float] | bool:
        """Limits of a joint; True when nothing is known about it, False when it does not exist."""
        robot = self._robot
        if robot is None or not self.active:
            return True
        limits = robot.joints.get(joint)
        if limits is None:
            if joint in robot.read_only_joints:
                self._findings.error(key, "unknown-joint", f'joint "{joint}" of {robot.name} is never commanded')
                return False
            message = f'{robot.name} has no joint "{joint}" (`orchestrator robots {robot.name}` lists them)'
            self._findings.unknown(key, "unknown-joint", message, joint, robot.joints)
            return False
        return limits


def _words_for_tags(found: Name, wanted: ParamType) -> bool:
    """Whether a tag is wanted and only words are possible, as in `for_each: {stop: [shelf, table]}`."""
    known = found.possible or found.choices or found.const is not NOT_CONSTANT
    return wanted.kind == "tag" and found.kind == "choice" and bool(known)


def _lone_dollar(text: str, at: int) -> Mistake:
    written = 'a dollar sign is written "$$"'
    named = _NAME_IN_BRACES.match(text, at)
    if named:
        message = f"a name has no braces: write ${named[1]}; {written}"
        return Mistake("lone-dollar", message, f"${named[1]}", at)
    return Mistake("lone-dollar", written, "$$", at)


def _known_tags(robot: RobotFacts) -> str:
    known = ", ".join(f"{number} ({name})" for name, number in list(robot.tags.items())[:10])
    return f"; it knows {known}" if known else ""


_ANGLE = ParamType("angle")


ROUNDING = 1e-9


def nearest_in(value: float, lower: float | None, upper: float | None) -> float | None:
    """The value; the end of the range if only rounding carries it beyond; None if it is further out."""
    low, high = -inf if lower is None else lower, inf if upper is None else upper
    if low <= value <= high:
        return value
    return min(max(value, low), high) if low - ROUNDING <= value <= high + ROUNDING else None


def _in_range(value: float, lower: float | None, upper: float | None, kind: str, where: str) -> float:
    found = nearest_in(value, lower, upper)
    if found is not None:
        return found
    said = [text_of(bound, kind) if bound is not None else "" for bound in (value, lower, upper)]
    if lower is not None and upper is not None:
        allowed = f"between {said[1]} and {said[2]}"
    else:
        allowed = f"at least {said[1]}" if upper is None else f"at most {said[2]}"
    raise Mistake("out-of-range", f"{said[0]} is out of range{where}: it must be {allowed}")


def _a(noun: str) -> str:
    return noun if noun.startswith("one of") else f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
