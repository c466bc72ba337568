"""How long a leaf may take: never less than it takes by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import behaviours
from behaviours.flow import Wait
from behaviours.fsm import WaitStable
from behaviours.joints import MoveJoints, PlayMotion
from behaviours.mobile_base import DriveBase, MoveToTag
from behaviours.velocity import Walk
from orchestrator.leaf import Catalogue, Declaration, leaves_of
from orchestrator.testing.run import StartMission

MOTIONS = Path(__file__).parent / "motions"
TIMED = [leaf for leaf in Catalogue(leaves_of(behaviours)) if "time" in leaf.params and leaf.timeout is not None]


@pytest.mark.parametrize("declared", TIMED, ids=lambda declared: declared.name)
def test_the_longest_time_that_may_be_asked_for_is_no_timeout(declared: Declaration) -> None:
    longest = declared.params["time"].type.upper or 3600.0
    values = {name: param.default for name, param in declared.params.items()} | {"time": longest}
    if "forward" in values:
        values["forward"] = 0.1
    limit = declared.leaf(None, values).time_limit
    assert limit is not None and limit >= longest + 5.0


@pytest.mark.parametrize(
    ("leaf", "values", "takes"),
    [
        (Walk, {"forward": 0.3, "left": 0.4, "turn": 0.0, "distance": 20.0, "heading": None, "time": None}, 40.0),
        (Walk, {"forward": 0.0, "left": 0.0, "turn": -0.1, "distance": None, "heading": -6.0, "time": None}, 60.0),
        (Walk, {"forward": 0.0, "left": 0.0, "turn": 0.0, "distance": 20.0, "heading": None, "time": None}, 0.0),
        (PlayMotion, {"file": "wave_gr2.yaml", "speed": 1.0}, 200.0),
        (PlayMotion, {"file": "there_is_none.yaml", "speed": 1.0}, 0.0),
        (MoveJoints, {"time": 50.0}, 50.0),
        (WaitStable, {"time": 60.0}, 60.0),
        (DriveBase, {"time": 60.0}, 60.0),
    ],
)
def test_what_it_takes_by_itself_follows_from_its_parameters(leaf: Any, values: dict[str, Any], takes: float) -> None:
    made = leaf(None, values, MOTIONS)
    assert made.takes() == pytest.approx(takes)
    assert made.time_limit == pytest.approx(takes + leaf.declaration.timeout)


def test_waiting_takes_what_it_says_and_has_no_limit() -> None:
    made = Wait(None, {"time": 60.0})
    assert (made.takes(), made.time_limit) == (60.0, None)


@pytest.mark.parametrize(("give_up_blocked", "limit"), [(30.0, 300.0), (60.0, 300.0), (600.0, 840.0)])
def test_a_way_may_be_blocked_as_long_as_it_says(give_up_blocked: float, limit: float) -> None:
    made = MoveToTag(None, {"tag": 3, "heading": None, "give_up_blocked": give_up_blocked})
    assert made.time_limit == limit
    assert made.takes() == 0.0  # when all goes well nothing is in the way


@pytest.mark.parametrize(
    "node",
    ["Walk: {forward: 0.3 m/s, time: 120 s}", "Walk: {forward: 0.2 m/s, distance: 20 m}", "WaitStable: {time: 60 s}"],
)
def test_a_mission_waits_as_long_as_its_leaf_needs(mission: StartMission, node: str) -> None:
    run = mission(
        f"""\
tree: patience
robot: gr2
root:
  - SetFsm: {{state: pd_stand}}
  - WaitStable
  - SetFsm: {{state: walk}}
  - SetVelocitySource: {{source: navigation}}
  - {node}
"""
    )
    assert run.finish().status == "success", run.story()
