"""The example of docs/data.md is a leaf that works, with a profile that names a URDF."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from orchestrator.data import data_path
from orchestrator.leaf import Leaf, Status
from orchestrator.robots.profile import Profile
from orchestrator.robots.profiles import load_profile
from tests.support.leaf_harness import Stage

PAGE = Path(__file__).parents[2] / "docs" / "data.md"


def urdf_of(profile: Profile) -> str:
    """One joint after the other from the body on: nothing like the robot, but with all its joints."""
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    parts, parent = [f'<link name="body">{mass}</link>'], "body"
    for joint in profile.joints:
        link = f"{joint.name}_link"
        parts.append(f'<link name="{link}">{mass}</link>')
        parts.append(
            f'<joint name="{joint.name}_joint" type="revolute"><parent link="{parent}"/><child link="{link}"/>'
            f'<origin xyz="0 0 0.01"/><axis xyz="0 1 0"/>'
            f'<limit lower="{joint.position.low}" upper="{joint.position.high}" effort="1" velocity="1"/></joint>'
        )
        parent = link
    return f'<robot name="chain">{"".join(parts)}</robot>'


def test_the_example_works(tmp_path: Path) -> None:
    (tmp_path / "gr2.urdf").write_text(urdf_of(load_profile("gr2")))
    (tmp_path / "gr2.yaml").write_text(data_path("config/robots/gr2.yaml").read_text() + "\nurdf: gr2.urdf\n")
    (example,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    found: dict[str, Any] = {}
    exec(compile(example, str(PAGE), "exec", dont_inherit=True), found)
    leaf: type[Leaf] = found["HandIsUp"]
    stage = Stage("gr2", urdf=load_profile(tmp_path / "gr2.yaml").urdf)
    assert stage.play(leaf, height=-10.0).status is Status.SUCCESS
    assert stage.play(leaf, height=10.0).status is Status.FAILURE
