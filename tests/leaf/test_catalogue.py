import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest

import behaviours
from orchestrator.leaf import GROUP, Catalogue, Leaf, installed, leaves_of

ALL = {
    "SetFsm",
    "WaitStable",
    "StandPose",
    "MoveToTag",
    "HandGrasp",
    "ClearErrors",
    "CheckEmergency",
    "SetUpperFsm",
    "SwitchUpperControl",
    "SetVelocitySource",
    "Walk",
    "Stop",
    "MoveJoints",
    "MoveHand",
    "PlayMotion",
    "SetGains",
    "EnableMotors",
    "HandPose",
    "HandOpen",
    "CancelNavigation",
    "PauseNavigation",
    "ResumeNavigation",
    "RotateBase",
    "SetBaseSpeed",
    "SubscribeLaser",
    "DriveBase",
    "StartMapping",
    "SaveMap",
    "StopMapping",
    "CheckBattery",
    "CheckErrors",
    "CheckPose",
    "CheckContact",
    "WaitForButton",
    "WaitForFsm",
    "Wait",
    "Log",
    "Set",
    "Ask",
}


def test_our_own_leaves_are_found_through_the_entry_point() -> None:
    catalogue = installed()
    assert catalogue.problems == []
    assert set(catalogue.leaves) >= ALL


def test_a_package_is_searched_module_by_module() -> None:
    assert sorted(declared.name for declared in leaves_of(behaviours)) == sorted(ALL)


def test_a_package_that_cannot_be_loaded_is_named_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [EntryPoint("mine", "no_such_package_here", GROUP), EntryPoint("ours", "behaviours", GROUP)]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entries)
    catalogue = installed()
    assert "no_such_package_here cannot be loaded" in catalogue.problems[0]
    assert catalogue.get("SetFsm") is not None


def test_a_name_declared_twice_keeps_the_first_and_says_so() -> None:
    first = leaves_of(behaviours)
    other = type("SetFsm", (Leaf,), {"__doc__": "Do.\n\n- SetFsm", "__module__": "mine"})
    catalogue = Catalogue([*first, other.declaration])  # type: ignore[attr-defined]
    assert catalogue.get("SetFsm") in first
    assert catalogue.problems == ["SetFsm is declared twice: in behaviours.fsm and in mine, which is not used"]


def test_no_package_puts_a_leaf_in_the_place_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    other = ModuleType("mine")
    leaf = type("CheckEmergency", (Leaf,), {"__doc__": "Look away.\n\n- CheckEmergency", "__module__": "mine"})
    other.CheckEmergency = leaf  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mine", other)
    entries = [EntryPoint("a", "mine", GROUP), EntryPoint("ours", "behaviours", GROUP)]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entries)
    catalogue = installed()
    found = catalogue.get("CheckEmergency")
    assert found is not None and found.leaf.__module__ == "behaviours.emergency"
    assert "CheckEmergency is declared twice" in catalogue.problems[0]


def test_a_package_that_ends_the_program_is_named_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "leaves_that_leave.py").write_text("raise SystemExit(0)\n")
    monkeypatch.syspath_prepend(tmp_path)
    entries = [EntryPoint("mine", "leaves_that_leave", GROUP), EntryPoint("ours", "behaviours", GROUP)]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entries)
    catalogue = installed()
    assert catalogue.problems == ["the behaviours of leaves_that_leave cannot be loaded: SystemExit: 0"]
    assert catalogue.get("SetFsm") is not None


def test_the_catalogue_needs_no_heavy_library() -> None:
    script = (
        "import sys, orchestrator.leaf as leaf; leaf.installed(); import orchestrator.yamlfile; "
        "print(sorted({'numpy', 'py_trees', 'cyclonedds', 'pydantic', 'ruamel'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert out.stdout.strip() == "[]"
