"""Who uses which part of the robot."""

from __future__ import annotations

from pathlib import Path

import behaviours.hands
import behaviours.joints
from orchestrator.engine.resources import Resources, parts_used
from tests.treefile.beside import MOTION
from tests.treefile.stand_in import ATOM_W, GR2


class Holder:
    def __init__(self, name: str, resources: Resources) -> None:
        self.name = name
        self.lost = ""
        self._resources = resources

    def give_up(self, reason: str) -> None:
        self.lost = reason
        self._resources.release(self)


def test_a_part_is_given_only_after_its_holder_has_given_it_up() -> None:
    resources = Resources()
    first, second = Holder("first", resources), Holder("second", resources)
    resources.claim(["base", "head"], first)
    resources.claim(["left_hand"], second)
    assert first.lost == ""
    resources.claim(["base"], second)
    assert first.lost == "second took its base"
    assert set(resources.holders) == {"base", "left_hand"}


def test_parameters_decide_which_parts_a_leaf_uses() -> None:
    move = behaviours.joints.MoveJoints.declaration
    assert parts_used(move, {"group": "left_arm", "pose": None}, ATOM_W) == ["upper"]
    assert parts_used(move, {"group": None, "pose": "nod"}, ATOM_W) == ["head"]
    assert parts_used(move, {"angles": {"head_yaw": 0.1, "left_elbow_pitch": 0.1}}, ATOM_W) == ["upper", "head"]
    assert parts_used(behaviours.hands.HandOpen.declaration, {"hand": "left"}, ATOM_W) == ["left_hand"]


def test_a_motion_uses_what_it_moves_besides_the_upper_body(tmp_path: Path) -> None:
    play = behaviours.joints.PlayMotion.declaration
    (tmp_path / "kick.yaml").write_text(MOTION.format(joint="left_hip_pitch", angle="10 deg"))
    (tmp_path / "wave.yaml").write_text(MOTION.format(joint="left_elbow_pitch", angle="10 deg"))
    assert parts_used(play, {"file": "kick.yaml"}, GR2, tmp_path) == ["upper", "head", "legs"]
    assert parts_used(play, {"file": "wave.yaml"}, GR2, tmp_path) == ["upper", "head"]
    assert parts_used(play, {"file": "gone.yaml"}, GR2, tmp_path) == ["upper", "head"]
