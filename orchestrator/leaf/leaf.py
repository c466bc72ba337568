"""What a leaf is: one class with one declaration, from which checks, schema, catalogue and docs follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from inspect import get_annotations
from math import inf
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, ClassVar

from orchestrator.leaf.types import ParamType, param_type
from orchestrator.leaf.words import RESERVED
from orchestrator.robots.families import CAPABILITIES

if TYPE_CHECKING:
    from orchestrator.robots.robot import Robot  # imports the middleware: only those who run a leaf need that

RESOURCES = ("base", "legs", "upper", "left_hand", "right_hand", "head")
EVERYTHING = " ".join(RESOURCES)
FAMILIES = ("aurora", "atom", "adam")
MODES = ("fsm", "upper", "velocity_source", "remote")  # what leaves require and change; followed along the tree


class Status(Enum):
    """What a step of a leaf reports."""

    RUNNING = "running"
    SUCCESS = "success"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class By:
    """A mode or resource that depends on a parameter: its value itself, or what `table` says for it."""

    param: str
    table: Mapping[Any, str] | None = None


# Alternatives, each a table of modes (or parameters) to the values that are allowed: one must hold completely.
Alternative = Mapping[str, tuple[Any, ...]]
Requirement = tuple[Alternative, ...]
Requirements = Mapping[str, "Alternative | Requirement"]  # by robot family
Change = Mapping[str, "str | By"]


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter of a leaf."""

    name: str
    type: ParamType
    required: bool
    default: Any


@dataclass(frozen=True, slots=True)
class Declaration:
    """Everything that is known about a leaf before it runs."""

    name: str
    summary: str
    example: str
    remark: str
    params: Mapping[str, Param]
    needs: tuple[str, ...]
    uses: tuple[str | By, ...]
    families: tuple[str, ...]
    requires: Mapping[str, Requirement]
    changes: Mapping[str, Change]
    through: Mapping[str, Change]
    reads: Mapping[str, str]
    result: tuple[str, ...]
    result_params: tuple[str, ...]
    one_of: tuple[str, ...]
    resumable: bool
    looks: bool
    instant: bool
    fails: bool
    asks: bool
    permission: str
    timeout: float | None
    implemented: bool
    leaf: type[Leaf]


class Leaf:
    """Base of every leaf. A subclass declares its parameters as annotations and the rest as class keywords:

    needs       capabilities it speaks, separated by spaces
    uses        resources it moves or puts at risk, separated by spaces; `By("hand", {...})` where a parameter decides,
                which may name joints, a group, a pose or the file of a motion
    families    robot families it exists on; all by default
    requires    per family, the modes in which it is allowed: one mapping or several alternatives
    changes     per family, the modes that hold after its success
    through     per family, the modes that hold while it runs, and perhaps after a failure or interruption
    reads       per parameter, the field that the robot must report for it; `{}` stands for the parameter's value
    result      the words it may leave as its result; `result_params` names parameters that list them
    one_of      parameters of which exactly one must be given
    resumable   it can go on after a pause
    looks       it only looks and sends nothing
    instant     it ends in the tick in which it starts
    fails       whether it can fail at all
    asks        it waits for a person
    permission  what the guard file must allow for it: a key of its section `allow`
    timeout     seconds after which it fails unless the tree says otherwise, not counting what it takes by itself
                (`takes`); None: it may take for ever

    declared    False for a base class of leaves, which is no leaf itself

    The first line of the docstring says what it does, the lines with a dash are its example in YAML, and what follows
    them are remarks.
    The engine makes an instance per node, sets `robot` and the parameters as attributes, and calls `start` once, then
    `step` until it is over, and `stop` once at the end, for whatever reason; `pause` and `resume` in between. After
    `stop` the same instance may be started again. After each step the engine shows `message` and `progress`.
    """

    declaration: ClassVar[Declaration]
    robot: Robot
    folder: Path
    """Where the tree's file is: paths in parameters are relative to it."""
    confirmed: bool = False
    """A person has agreed to this start (modifier `confirm`), not only to one before it in the same `repeat`,
    `for_each` or `retry`."""
    reason: str = ""
    """A short stable code: why it failed, or what it waits for."""
    message: str = ""
    """A sentence for the operator: what it is doing, or why it failed."""
    progress: float | None = None
    """From 0 to 1, where it can be told."""
    result: str | None = None
    same_until: float = -inf
    """Until when `step` would say the same again unless the robot reports something new: it need not be asked before
    then. By the clock of the robot."""

    def __init__(self, robot: Any, values: Mapping[str, Any], folder: Path | None = None) -> None:
        self.robot = robot
        self.folder = folder or Path()
        for name, value in values.items():
            setattr(self, name, value)

    @property
    def why(self) -> str:
        """The reason and what it means, for people."""
        return ": ".join(dict.fromkeys(str(part) for part in (self.reason, self.message) if part))

    def mistake(self) -> tuple[str, str] | None:
        """A parameter that does not go with the others, and why: `check` says so, and the leaf fails at its start."""
        return None

    def takes(self) -> float:
        """Seconds it takes by itself when all goes well, as far as its parameters say so."""
        return 0.0

    @property
    def time_limit(self) -> float | None:
        """Seconds after which it fails, unless the tree says otherwise."""
        beyond = self.declaration.timeout
        return None if beyond is None else self.takes() + beyond

    def start(self) -> None:
        """Send the command. Not called again before `stop`."""

    def step(self) -> Status:
        """Look at the robot and say how far it is."""
        raise NotImplementedError

    def stop(self) -> None:
        """Leave the robot in a defined state; called after success and failure, too."""

    def pause(self) -> None:
        """Hold the motion."""

    def resume(self) -> None:
        """Go on after `pause`."""

    def fail(self, reason: str, message: str = "") -> Status:
        """Fail with a short stable code, and a sentence an operator can act on."""
        self.reason = reason
        self.message = message or reason
        return Status.FAILURE

    def __init_subclass__(
        cls,
        *,
        needs: str = "",
        uses: str | By | tuple[str | By, ...] = "",
        families: tuple[str, ...] = FAMILIES,
        requires: Requirements | None = None,
        changes: Mapping[str, Change] | None = None,
        through: Mapping[str, Change] | None = None,
        reads: Mapping[str, str] | None = None,
        result: tuple[str, ...] = (),
        result_params: tuple[str, ...] = (),
        one_of: tuple[str, ...] = (),
        resumable: bool = True,
        looks: bool = False,
        instant: bool = False,
        fails: bool = True,
        asks: bool = False,
        permission: str = "",
        timeout: float | None = 30.0,
        declared: bool = True,
        **others: Any,
    ) -> None:
        super().__init_subclass__()
        if others:
            raise TypeError(f"{cls.__name__}: {', '.join(others)}: there is no such class keyword")
        if not declared:
            return
        params = _params(cls)
        summary, example, remark = _described(cls)
        cls.declaration = Declaration(
            name=cls.__name__,
            summary=summary,
            example=example,
            remark=remark,
            params=params,
            needs=tuple(needs.split()),
            uses=_uses(uses),
            families=families,
            requires={family: _alternatives(wanted) for family, wanted in (requires or {}).items()},
            changes=changes or {},
            through=through or {},
            reads=reads or {},
            result=result,
            result_params=result_params,
            one_of=one_of,
            resumable=resumable,
            looks=looks,
            instant=instant,
            fails=fails,
            asks=asks,
            permission=permission,
            timeout=timeout,
            implemented=cls.step is not Leaf.step,
            leaf=cls,
        )
        _check(cls.declaration)


def own_line(error: BaseException) -> str:
    """Where in a leaf's own code it went wrong, for whoever wrote it; empty when that is not known."""
    walk = walk_tb(error.__traceback__)
    lines = [(frame.f_code.co_filename, line) for frame, line in walk if isinstance(frame.f_locals.get("self"), Leaf)]
    return f"{Path(lines[-1][0]).name}:{lines[-1][1]}" if lines else ""


def _params(cls: type[Leaf]) -> dict[str, Param]:
    found = {}
    for name, annotation in get_annotations(cls, eval_str=True).items():
        if name.startswith("_"):
            continue
        try:
            type_, may_be_none = param_type(annotation)
        except TypeError as error:
            raise TypeError(f"{cls.__name__}: parameter {name}: {error}") from None
        found[name] = Param(name, type_, not may_be_none and not hasattr(cls, name), getattr(cls, name, None))
    return found


def _described(cls: type[Leaf]) -> tuple[str, str, str]:
    summary, *rest = [line.strip() for line in (cls.__doc__ or "").strip().splitlines()] or [""]
    example = [line for line in rest if line.startswith("- ")]
    return summary, "\n".join(example), " ".join(line for line in rest if line and line not in example)


def _uses(uses: str | By | tuple[str | By, ...]) -> tuple[str | By, ...]:
    parts = uses if isinstance(uses, tuple) else (uses,)
    found: list[str | By] = []
    for part in parts:
        found.extend(part.split() if isinstance(part, str) else [part])
    return tuple(found)


def _alternatives(wanted: Alternative | Requirement) -> Requirement:
    return wanted if isinstance(wanted, tuple) else (wanted,)


def _check(declared: Declaration) -> None:
    """A wrong declaration is a programmer's mistake: said when the class is made, not when a tree is read."""
    problems = [f"parameter {name} is a word of the tree language" for name in declared.params if name in RESERVED]
    problems += [f"parameter {name} hides what every leaf has" for name in declared.params if name in _EVERY_LEAF]
    problems += [f"{name} is not a parameter" for name in _named_params(declared) if name not in declared.params]
    problems += [
        f"{word} in requires is neither a mode ({', '.join(MODES)}) nor a parameter"
        for requirement in declared.requires.values()
        for alternative in requirement
        for word in alternative
        if word not in MODES and word not in declared.params
    ]
    problems += [
        f"{need} is not a capability: {', '.join(sorted(CAPABILITIES))}"
        for need in declared.needs
        if need not in CAPABILITIES
    ]
    problems += [f"{use} is not a resource" for use in declared.uses if isinstance(use, str) and use not in RESOURCES]
    tables = (*declared.requires, *declared.changes, *declared.through, *declared.families)
    problems += [f"{family} is not a robot family" for family in tables if family not in FAMILIES]
    if not declared.summary.endswith("."):
        problems.append("the docstring must begin with a sentence that ends with a full stop, on one line")
    if not declared.example.startswith(f"- {declared.name}"):
        problems.append(f'the docstring needs an example that begins with "- {declared.name}", on a line of its own')
    if problems:
        raise TypeError(f"{declared.name}: {'; '.join(problems)}")


_EVERY_LEAF = frozenset(("declaration", "robot", "folder", *vars(Leaf)))


def _named_params(declared: Declaration) -> list[str]:
    named = [*declared.reads, *declared.result_params, *declared.one_of]
    named += [use.param for use in declared.uses if isinstance(use, By)]
    for change in declared.changes.values():
        named += [value.param for value in change.values() if isinstance(value, By)]
    return named
