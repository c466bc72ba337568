import re
from dataclasses import replace
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Literal, get_origin
from unittest.mock import Mock

import pytest

from orchestrator.bus.memory import MemoryNetwork
from orchestrator.clock import VirtualClock
from orchestrator.leaf import (
    Angle,
    Between,
    By,
    Duration,
    Leaf,
    Limit,
    ParamType,
    Percent,
    Status,
    Tag,
    param_type,
    types,
)
from orchestrator.robots.families import CAPABILITIES
from orchestrator.robots.knowledge import Known, Unknown
from orchestrator.robots.profiles import load_profile, profile_names
from orchestrator.robots.reasons import Reason
from orchestrator.robots.robot import Robot


class Drive(Leaf, needs="mobile_base", uses="base", requires={"atom": {"fsm": ("ready",)}}, timeout=60.0):
    """Drive somewhere.

    - Drive: {tag: 12, heading: 90 deg}
    """

    tag: Tag
    heading: Angle | None = None
    grip: Annotated[Percent, Between(10, 90)] = 50.0

    def step(self) -> Status:
        return Status.SUCCESS if self.tag == 12 else self.fail("wrong_tag")


def test_a_class_is_its_own_declaration() -> None:
    declared = Drive.declaration
    assert (declared.name, declared.summary) == ("Drive", "Drive somewhere.")
    assert declared.example == "- Drive: {tag: 12, heading: 90 deg}"
    assert (declared.needs, declared.uses, declared.timeout) == (("mobile_base",), ("base",), 60.0)
    assert declared.requires == {"atom": ({"fsm": ("ready",)},)}
    assert {name: (p.type.kind, p.required, p.default) for name, p in declared.params.items()} == {
        "tag": ("tag", True, None),
        "heading": ("angle", False, None),
        "grip": ("percent", False, 50.0),
    }


def test_an_instance_has_the_robot_and_its_parameters() -> None:
    robot: Any = "robot"
    leaf = Drive(robot, values={"tag": 12, "heading": None})
    assert leaf.robot is robot
    assert (leaf.tag, leaf.grip) == (12, 50.0)
    assert leaf.step() is Status.SUCCESS


def test_a_failing_leaf_keeps_its_reason() -> None:
    leaf = Drive(robot=None, values={"tag": 3})
    assert leaf.step() is Status.FAILURE
    assert leaf.reason == "wrong_tag"


def test_a_leaf_without_steps_is_only_declared() -> None:
    class Later(Leaf):
        """Do it later.

        - Later
        """

    assert Drive.declaration.implemented
    assert not Later.declaration.implemented


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (int, ParamType("int")),
        (float, ParamType("number")),
        (bool, ParamType("bool")),
        (str, ParamType("text")),
        (Duration, ParamType("duration", lower=0)),
        (Literal["a", "b"], ParamType("choice", choices=("a", "b"))),
        (list[Percent], ParamType("list", of=ParamType("percent", lower=0, upper=100))),
        (Annotated[int, Between(1, 3)], ParamType("int", lower=1, upper=3)),
        (Annotated[Angle, Limit("stand.pitch")], ParamType("angle", limit="stand.pitch")),
    ],
)
def test_annotations_become_types(annotation: object, expected: ParamType) -> None:
    assert param_type(annotation) == (expected, False)
    assert param_type(annotation | None) == (expected, True)  # type: ignore[operator]


@pytest.mark.parametrize("annotation", [dict, int | str, bytes])
def test_other_annotations_are_refused(annotation: object) -> None:
    with pytest.raises(TypeError):
        param_type(annotation)


def declare(doc: str = "Do it.\n\n- Bad", annotations: dict[str, object] | None = None, **keywords: object) -> None:
    type("Bad", (Leaf,), {"__doc__": doc, "__annotations__": annotations or {}, "__module__": __name__}, **keywords)


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"annotations": {"timeout": int}}, "timeout is a word of the tree language"),
        ({"annotations": {"y": int}}, "y is a word of the tree language"),
        ({"annotations": {"robot": int}}, "robot hides what every leaf has"),
        ({"annotations": {"x": dict}}, "Bad: parameter x: not a type of a parameter"),
        ({"need": "hands"}, "Bad: need: there is no such class keyword"),
        ({"needs": "hnads"}, "Bad: hnads is not a capability: .*hands"),
        ({"uses": "tail"}, "tail is not a resource"),
        ({"uses": (By("hand"),)}, "hand is not a parameter"),
        ({"requires": {"spot": {}}}, "spot is not a robot family"),
        ({"one_of": ("a",)}, "a is not a parameter"),
        (
            {"requires": {"atom": {"fsn": ("ready",)}}},
            r"fsn in requires is neither a mode \(fsm, .*\) nor a parameter",
        ),
        ({"doc": ""}, "the docstring must begin with a sentence that ends with a full stop"),
        ({"doc": "Do it\n\n- Bad"}, "must begin with a sentence that ends with a full stop, on one line"),
        ({"doc": "Do it."}, 'the docstring needs an example that begins with "- Bad"'),
    ],
)
def test_a_wrong_declaration_is_refused_when_the_class_is_made(keywords: dict[str, object], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        declare(**keywords)  # type: ignore[arg-type]


WRITING = (Path(__file__).parents[2] / "docs" / "writing_leaves.md").read_text()


def test_the_leaves_of_the_documentation_can_be_used() -> None:
    names: dict[str, Any] = {"__name__": "documented"}
    for block in re.findall(r"```python\n(.*?)```", WRITING, re.DOTALL):
        exec(block, names)
    assert names["StandPose"].declaration.implemented
    wait = names["WaitForCharge"]
    levels = [Known(40.0, 0.0), Known(42.0, 0.0), Known(45.0, 0.0), Known(20.0, 0.0), Unknown(Reason.STALE, "silent")]
    robot = SimpleNamespace(battery=SimpleNamespace(level=lambda: levels.pop(0)))
    leaf = wait(robot, {"gain": 5.0})
    leaf.start()
    assert [leaf.step() for _ in range(3)] == [Status.RUNNING, Status.RUNNING, Status.SUCCESS]
    assert (leaf.step(), leaf.reason) == (Status.FAILURE, "discharging")
    assert (leaf.step(), leaf.reason) == (Status.FAILURE, "stale")


def test_a_look_of_the_documentation_says_what_is_wrong_and_nothing_when_all_is_well() -> None:
    names: dict[str, Any] = {"__name__": "documented"}
    for block in re.findall(r"```python\n(.*?)```", WRITING, re.DOTALL):
        exec(block, names)
    levels = [Known(90.0, 0.0), Known(20.0, 0.0), Unknown(Reason.STALE, "silent")]
    robot = SimpleNamespace(battery=SimpleNamespace(level=lambda: levels.pop(0)))
    leaf = names["CheckCharged"](robot, {"least": 80.0})
    told = [(leaf.step(), leaf.message) for _ in range(3)]
    assert told[0] == (Status.SUCCESS, "")
    assert told[1] == (Status.FAILURE, "the battery is at 20 %")
    assert told[2] == (Status.FAILURE, "battery.level is not known: silent")


def offered(capability: object) -> tuple[set[str], set[str]]:
    """What it reads and what it asks for, each as it is called."""
    reads, asks = set(), set()
    for name in dir(capability):
        each = getattr(capability, name)
        if name.startswith("_") or not callable(each):
            continue
        found = signature(each)
        returned = str(found.return_annotation)
        call = f"{name}({', '.join(found.parameters)})"
        if returned in ("Judge", "Task", "Grasp"):
            asks.add(call)
        elif returned.startswith("Known") or found.return_annotation is found.empty:
            reads.add(call)
    return reads, asks


def test_what_the_capabilities_offer_is_in_the_documentation() -> None:
    table = WRITING.partition("| `self.robot.` |")[2].partition("\n\n")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.MULTILINE))
    told = {name: tuple(set(re.findall(r"`(.+?)`", cell)) for cell in row.split("|")) for name, row in rows.items()}
    found: dict[str, tuple[set[str], set[str]]] = {}
    for profile in map(load_profile, profile_names()):
        able = replace(profile, capabilities=profile.capabilities | {"gains"})  # which no robot has so far
        robot = Robot(able, MemoryNetwork(VirtualClock()).bus("run"), Mock())
        for name in filter(robot.has, CAPABILITIES & set(Robot.__annotations__)):
            reads, asks = found.setdefault(name, (set(), set()))
            more = offered(getattr(robot, name))
            reads |= more[0]
            asks |= more[1]
    assert told == found


def test_every_type_of_a_parameter_is_in_the_documentation() -> None:
    named = {name for name, each in vars(types).items() if get_origin(each) is Annotated}
    table = WRITING.partition("| annotation |")[2].partition("\n\n")[0]
    assert named - set(re.findall(r"\w+", table)) == set()


def test_every_class_keyword_is_in_the_documentation() -> None:
    keywords = [
        name for name, each in signature(Leaf.__init_subclass__).parameters.items() if each.kind is each.KEYWORD_ONLY
    ]
    table = WRITING.partition("| class keyword |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)`", table, re.MULTILINE) == keywords
