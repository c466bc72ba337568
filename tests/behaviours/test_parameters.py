"""What `check` says, with line and column, about every leaf with a wrong parameter or on a robot that is not able."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

import behaviours
from orchestrator.leaf import Catalogue, Declaration, Param, leaves_of
from orchestrator.robots.facts import RobotFacts
from orchestrator.robots.facts_of import facts_of
from orchestrator.robots.profiles import load_profile, profile_names
from orchestrator.treefile import Surroundings, check_file
from orchestrator.yamlfile.findings import Finding

CATALOGUE = Catalogue(leaves_of(behaviours))
WITH_PARAMETERS = [declared for declared in CATALOGUE if declared.params]
UNIT = {
    "duration": " s", "length": " m", "angle": " rad", "speed": " m/s", "angular speed": " rad/s", "percent": " %",
    "number": "", "int": "",
}  # fmt: skip
"""How a number of each kind is written."""
LITTLE = 1e-3
LEAF_LINE, FIRST_PARAMETER = 3, 4
WORDS = ("text",)
"""Whatever is written is right."""


@cache
def robots() -> dict[str, RobotFacts]:
    """Every robot there is, one whose base turns on the spot, and one whose nominal gains its owner knows."""
    found = {name: facts_of(load_profile(name)) for name in profile_names()}
    for name, like, capability in (("turning", "atom_w", "rotate_base"), ("tuned", "gr2", "gains")):
        robot = found[like]
        found[name] = replace(robot, name=name, capabilities=robot.capabilities | {capability})
    return found


def has_what_it_needs(robot: RobotFacts, declared: Declaration) -> bool:
    return robot.family in declared.families and robot.capabilities.issuperset(declared.needs)


def values_of(declared: Declaration) -> dict[str, Any]:
    """The parameters of its first example, as they are written."""
    node = yaml.load(declared.example.replace("?,", ","), yaml.BaseLoader)[0]  # it takes the mark for a key
    return dict(node[declared.name]) if isinstance(node, Mapping) else {}


def check(declared: Declaration, values: Mapping[str, str], robot: RobotFacts, folder: Path) -> list[Finding]:
    """What is wrong with one node on a robot; its parameters stand on lines of their own, in their order."""
    path = folder / "tree.yaml"
    written = "".join(f"\n      {name}: {value}" for name, value in values.items())
    path.write_text(f"tree: tried\nroot:\n  - {declared.name}:{written}\n")
    found = check_file(path, Surroundings(CATALOGUE, robot.fields, robot=robot)).findings.sorted()
    return [finding for finding in found if finding.severity == "error"]


def at(findings: list[Finding], line: int, column: int) -> list[str]:
    return [finding.code for finding in findings if (finding.place.line, finding.place.column) == (line, column)]


def some_robot(declared: Declaration) -> RobotFacts:
    """One that can do it and reports whatever the leaf may look at."""
    watched = {field for field in declared.reads.values() if "{}" not in field}
    for robot in robots().values():
        if has_what_it_needs(robot, declared) and watched <= robot.fields.keys():
            return robot
    return robots()["gr2"]


def tried(declared: Declaration, param: Param, value: str, folder: Path) -> list[str]:
    """What is found wrong with a parameter when it is so, at the place where it is written."""
    kept = {name: text for name, text in values_of(declared).items() if name not in declared.one_of}
    values = {param.name: value} | {name: _written(text) for name, text in kept.items() if name != param.name}
    findings = check(declared, values, some_robot(declared), folder)
    column = len(f"      {param.name}: ") + 1
    return [f.code for f in findings if f.place.line == FIRST_PARAMETER and f.place.column >= column]


def _written(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(value)}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {text}' for key, text in value.items())}}}"
    return str(value)


def bounds(declared: Declaration, param: Param) -> tuple[float | None, float | None]:
    """Of a value, or of each value of a list."""
    wanted = param.type.of or param.type
    if wanted.limit is not None:
        return some_robot(declared).ranges[wanted.limit]
    return wanted.lower, wanted.upper


def in_unit(declared: Declaration, param: Param, number: float) -> str:
    wanted = param.type.of or param.type
    text = f"{number:.12g}{UNIT[wanted.kind]}"
    return text if param.type.of is None else _written([text, *values_of(declared)[param.name][1:]])


def limits() -> Iterator[Any]:
    """Every bound of every parameter, and which way is out."""
    for declared in WITH_PARAMETERS:
        for param in declared.params.values():
            for bound, out in zip(bounds(declared, param), (-LITTLE, LITTLE)):
                if bound is not None:
                    yield pytest.param(declared, param, bound, out, id=f"{declared.name}-{param.name}-{bound:g}")


each_parameter = pytest.mark.parametrize(
    ("declared", "param"),
    [
        pytest.param(declared, param, id=f"{declared.name}-{param.name}")
        for declared in WITH_PARAMETERS
        for param in declared.params.values()
    ],
)


@pytest.mark.parametrize(("declared", "param", "bound", "out"), list(limits()))
def test_a_little_beyond_its_range_is_an_error_and_the_bound_itself_is_not(
    declared: Declaration, param: Param, bound: float, out: float, tmp_path: Path
) -> None:
    assert tried(declared, param, in_unit(declared, param, bound + out), tmp_path) == ["out-of-range"]
    assert tried(declared, param, in_unit(declared, param, bound), tmp_path) == []


def test_a_list_with_a_value_too_few_or_too_many_is_an_error(tmp_path: Path) -> None:
    declared = next(declared for declared in WITH_PARAMETERS if declared.name == "HandPose")
    fingers = declared.params["fingers"]
    for count in (0, 5, 7):
        assert tried(declared, fingers, _written(["10 %"] * count), tmp_path) == ["wrong-length"]
    assert tried(declared, fingers, _written(["10 %"] * 6), tmp_path) == []


@each_parameter
def test_something_of_another_kind_is_an_error(declared: Declaration, param: Param, tmp_path: Path) -> None:
    assert tried(declared, param, "{what: [is, this]}", tmp_path) or param.type.kind == "joint_angles"
    if param.type.kind not in WORDS and (param.type.of is None or param.type.of.kind not in WORDS):
        assert tried(declared, param, "no_such_thing", tmp_path)


@pytest.mark.parametrize("number", ["nan", ".nan", "inf", "1e999"])
@each_parameter
def test_what_is_no_number_is_never_one(declared: Declaration, param: Param, number: str, tmp_path: Path) -> None:
    if param.type.kind in UNIT:
        assert tried(declared, param, number + UNIT[param.type.kind], tmp_path)


@each_parameter
def test_a_quantity_without_its_unit_is_an_error(declared: Declaration, param: Param, tmp_path: Path) -> None:
    if UNIT.get(param.type.kind):
        assert tried(declared, param, "1", tmp_path)


@each_parameter
def test_a_parameter_that_is_needed_is_missed(declared: Declaration, param: Param, tmp_path: Path) -> None:
    values = {name: _written(text) for name, text in values_of(declared).items() if name != param.name}
    missed = at(check(declared, values, some_robot(declared), tmp_path), LEAF_LINE, len("  - ") + 1)
    others = any(name in values for name in declared.one_of if name != param.name)
    needed = param.required or (param.name in declared.one_of and not others)
    assert ("missing-parameter" in missed) is needed


@each_parameter
def test_a_slip_of_the_pen_is_named_where_it_stands(declared: Declaration, param: Param, tmp_path: Path) -> None:
    values = {f"{param.name}q": "1"} | {
        name: _written(text) for name, text in values_of(declared).items() if name != param.name
    }
    findings = check(declared, values, some_robot(declared), tmp_path)
    assert at(findings, FIRST_PARAMETER, len("      ") + 1) == ["unknown-parameter"]
    assert param.name in next(finding.sentence for finding in findings if finding.code == "unknown-parameter")


@pytest.mark.parametrize("declared", list(CATALOGUE), ids=lambda declared: declared.name)
def test_a_robot_that_lacks_what_a_leaf_needs_is_refused_at_the_leaf(declared: Declaration, tmp_path: Path) -> None:
    values = {name: _written(text) for name, text in values_of(declared).items()}
    for robot in robots().values():
        found = set(at(check(declared, values, robot, tmp_path), LEAF_LINE, len("  - ") + 1))
        refused = bool(found & {"lacks-capability", "wrong-family"})
        assert refused is not has_what_it_needs(robot, declared), robot.name


@pytest.mark.parametrize("declared", [leaf for leaf in CATALOGUE if leaf.needs], ids=lambda declared: declared.name)
def test_there_is_a_robot_for_every_leaf(declared: Declaration) -> None:
    assert any(has_what_it_needs(robot, declared) for robot in robots().values())
