"""What a leaf's declaration says, in words: for the catalogue on the command line, the editor and the docs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from orchestrator.leaf import By, Declaration, Leaf, Param, ParamType
from orchestrator.robots.families import FAMILIES, may_have
from orchestrator.treefile.model import text_of
from orchestrator.treefile.modes import CALLED
from orchestrator.yamlfile.units import DIMENSIONS, shown, units_of


def type_text(wanted: ParamType) -> str:
    """`percent, 1 % to 100 %`."""
    return wanted.name + "".join(f", {part}" for part in (range_text(wanted),) if part)


def range_text(wanted: ParamType) -> str:
    if wanted.kind == "list":
        return _length_text(wanted)
    if wanted.limit is not None:
        return f"within the robot's {wanted.limit}"
    lower, upper = (None if bound is None else text_of(bound, wanted.kind) for bound in (wanted.lower, wanted.upper))
    if lower is not None and upper is not None:
        return f"{lower} to {upper}"
    if lower is not None:
        return f"at least {lower}"
    return f"at most {upper}" if upper is not None else ""


def _length_text(wanted: ParamType) -> str:
    if wanted.limit is not None:
        return f"as many as the robot's {wanted.limit}"
    lower, upper = wanted.lower, wanted.upper
    least = [f"at least {lower:g}"] if lower is not None else []
    return " and ".join(least + ([f"at most {upper:g}"] if upper is not None else []))


def default_text(param: Param) -> str:
    """What a parameter is when it is left out; empty when it must be given or is simply absent."""
    if param.required or param.default is None:
        return ""
    return text_of(param.default, param.type.kind) or "[]"


def signature(declared: Declaration) -> str:
    """The parameters in a line, those that may be left out in brackets."""
    return ", ".join(name if param.required else f"[{name}]" for name, param in declared.params.items())


def uses_text(declared: Declaration) -> str:
    return ", ".join(_use(declared, use) for use in declared.uses)


def _use(declared: Declaration, use: str | By) -> str:
    if isinstance(use, str):
        return use
    if declared.params[use.param].type.moves is not None:
        return f"what {use.param} moves"
    return f"what {use.param} names" if use.table is None else " or ".join(use.table.values())


def requires_text(declared: Declaration) -> list[str]:
    """Where it is allowed, a sentence per family."""
    return [
        f"{family}: {' or else '.join(alternative_text(alternative) for alternative in alternatives)}"
        for family, alternatives in declared.requires.items()
    ]


def alternative_text(alternative: Mapping[str, Iterable[Any]]) -> str:
    """One combination of modes: `fsm walk with upper-body control remote`."""
    return " with ".join(f"{CALLED.get(mode, mode)} {_either(values)}" for mode, values in alternative.items())


def _either(values: Iterable[Any]) -> str:
    return " or ".join(str(value).lower() for value in values)


def changes_text(declared: Declaration) -> list[str]:
    """What holds after its success, a sentence per family."""
    return [
        f"{family}: {', '.join(_change(mode, to) for mode, to in change.items())}"
        for family, change in declared.changes.items()
    ]


def _change(mode: str, to: str | By) -> str:
    if isinstance(to, str):
        return f"{CALLED[mode]} {to}"
    if to.table is None:
        return f"{CALLED[mode]} as {to.param} says"
    cases = ", ".join(f"{value} after {str(case).lower()}" for case, value in to.table.items())
    return f"{CALLED[mode]} {cases}"


def result_text(declared: Declaration) -> str:
    parts = [*declared.result, *(f"what {param} lists" for param in declared.result_params)]
    return ", ".join(parts)


def timeout_text(declared: Declaration) -> str:
    if declared.timeout is None:
        return "none"
    own = " more than it takes by itself" if declared.leaf.takes is not Leaf.takes else ""
    return shown(declared.timeout, "duration") + own


def families_of(declared: Declaration) -> list[str]:
    """The families it exists on that have robots with what it needs."""
    able = [family for family in FAMILIES if may_have(family).issuperset(declared.needs)]
    return [family for family in able if family in declared.families]


def facts(declared: Declaration) -> list[tuple[str, str]]:
    """Everything there is to say about a leaf beside its sentence, parameters and example; no empty lines."""
    rows = [
        ("note", declared.remark),
        ("needs", ", ".join(declared.needs)),
        ("uses", uses_text(declared)),
        ("on", ", ".join(families_of(declared))),
        *(("the robot reports", f"{name.format(param.upper())} for {param}") for param, name in declared.reads.items()),
        *(("allowed in", text) for text in requires_text(declared)),
        ("the guard file", declared.permission and f"must allow {declared.permission}"),
        *(("afterwards", text) for text in changes_text(declared)),
        ("exactly one of", ", ".join(declared.one_of)),
        ("result", result_text(declared)),
        ("timeout", timeout_text(declared)),
        ("after a pause", "" if declared.resumable else "cannot go on: it fails with not_resumable"),
    ]
    return [(label, text) for label, text in rows if text]


def to_json(declared: Declaration) -> dict[str, Any]:
    """A leaf for other programs."""
    return {
        "name": declared.name,
        "summary": declared.summary,
        "example": declared.example,
        "remark": declared.remark or None,
        "parameters": [
            {
                "name": param.name,
                "type": param.type.name,
                "range": range_text(param.type) or None,
                "units": units_of(param.type.kind) if param.type.kind in DIMENSIONS else None,
                "required": param.required,
                "default": default_text(param) or None,
            }
            for param in declared.params.values()
        ],
        "needs": list(declared.needs),
        "uses": [_use(declared, use) for use in declared.uses],
        "families": families_of(declared),
        "allowed_in": requires_text(declared),
        "permission": declared.permission or None,
        "afterwards": changes_text(declared),
        "one_of": list(declared.one_of),
        "result": [*declared.result, *declared.result_params],
        "timeout": declared.timeout,
        "resumable": declared.resumable,
        "looks": declared.looks,
        "implemented": declared.implemented,
    }
