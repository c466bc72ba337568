"""Faults on the robot of a mission: what it would never notice is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.mission.faults import check_faults
from orchestrator.robots.profiles import load_profile
from orchestrator.sim.faults import FaultError

TO_ATOM_W = (
    "rpc/SetFsmId, rpc/SwitchUpperLimbControl, rpc/SetVel, rt/upper/cmd, rt/hands/cmd, rt/enable/motors, "
    "rt/clear/errors, rt/amr/cmd, rpc/GetFsmId"
)


@pytest.mark.parametrize(
    ("robot", "fault"),
    [
        ("atom_w", "lost:rt/set/fsm/id"),
        ("atom", "refused:rt/switch/upper/control,nth=1"),
        ("atom_w", "late_exec:rpc/AMRNavigateToTag"),
        ("atom", "ack_only:rt/lower/cmd"),
    ],
)
def test_a_fault_on_a_command_that_nobody_sends_is_refused(robot: str, fault: str) -> None:
    with pytest.raises(FaultError, match="would change nothing"):
        check_faults(load_profile(robot), [fault])


def test_the_refusal_names_what_is_sent() -> None:
    with pytest.raises(FaultError) as refusal:
        check_faults(load_profile("atom_w"), ["lost:rt/set/fsm/id"])
    wanted = f"lost on rt/set/fsm/id would change nothing: missions send atom_w {TO_ATOM_W}"
    assert str(refusal.value) == wanted


@pytest.mark.parametrize(
    ("robot", "fault"),
    [
        ("atom_w", "lost:rpc/SetFsmId"),
        ("atom_w", "lost:rpc/GetFsmId"),
        ("atom_w", "partial:rt/amr/cmd"),
        ("atom_w", "foreign_writer:rt/set/fsm/id"),
        ("gr2", "lost:whole_body_fsm_state_change_cmd"),
        ("adam_u", "double_exec:rt/lowcmd"),
    ],
)
def test_every_other_fault_may_be(robot: str, fault: str) -> None:
    check_faults(load_profile(robot), [fault])


def test_without_json_rpc_the_topic_is_what_is_sent() -> None:
    old = replace(load_profile("atom"), rpc=None, velocity=None)
    check_faults(old, ["lost:rt/set/fsm/id"])
    with pytest.raises(FaultError, match="would change nothing"):
        check_faults(old, ["lost:rpc/SetFsmId"])
