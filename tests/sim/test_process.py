"""Simulated robots in real time, over real DDS on loopback."""

from __future__ import annotations

import json
import re
import socket
from dataclasses import replace
from typing import Any

import pytest

from orchestrator.bus.settings import DdsSettings
from orchestrator.robots.profiles import load_profile
from orchestrator.sim.faults import FaultError
from orchestrator.sim.process import LiveTwin, open_network, private_network
from orchestrator.wire import dobot_atom
from orchestrator.wire.pnd_adam import MotorCmd_
from tests.support.live import simulated

pytestmark = pytest.mark.dds

COMMAND: Any = dobot_atom.AMRCommandType
STATE: Any = dobot_atom.NavigationStatus_


def test_atom_w_drives() -> None:
    with simulated("atom_w", "amr_stop@rt/amr/state.navigation_status=RUNNING") as robot:
        robot.tell("rt/set/fsm/id", id=2)
        robot.see("rt/lower/state", lambda m: m.fsm_id == 2)
        robot.tell("rt/amr/cmd", command_type=COMMAND.MOVE_TO_TAG, target_id=12)
        robot.see("rt/amr/state", lambda m: m.navigation_status is STATE.RUNNING)
        robot.see("rt/emergency/state", lambda m: m.amr_emergency_triggered)


def test_aurora_stands() -> None:
    with simulated("gr2") as robot:
        robot.tell("whole_body_fsm_state_change_cmd", desired_state=2)
        robot.see("aurora_state", lambda m: m.whole_body_fsm_state == 2)
        robot.see("robot_stand_pose_state", lambda m: m.stable_level > 50)
        robot.see("base_data_pub", lambda m: m.header.stamp.sec > 0)


def test_adam_moves() -> None:
    with simulated("adam_u") as robot:
        robot.tell("rt/lowcmd", motor_cmd=[MotorCmd_(1, 0.2, 0.0, 0.0, 9.0, 0.9, 0.0, 0)] * 19)
        robot.see("rt/lowstate", lambda m: abs(m.motor_state[3].q - 0.2) < 0.01)


def test_after_a_reboot_it_has_other_writers() -> None:
    with simulated("atom_w", "reboot,seconds=200ms@rt/lower/state.fsm_id=0") as robot:
        writers: set[int] = set()
        robot.bus.reader(robot.topics["rt/amr/state"]).on_sample(lambda sample: writers.add(sample.writer))
        robot.until(lambda: len(writers) == 1)
        robot.tell("rt/set/fsm/id", id=0)
        robot.until(lambda: len(writers) == 2)


def test_a_stranger_appears() -> None:
    with simulated("atom_w", "foreign_writer:rt/amr/cmd") as robot:
        robot.until(lambda: any(writer.name == "stranger" for writer in robot.bus.writers("rt/amr/cmd")))


def request(port: int, text: str) -> Any:
    with socket.create_connection(("127.0.0.1", port), timeout=30.0) as connection:
        connection.sendall(text.encode())
        return json.loads(connection.recv(65536))


def test_json_rpc_over_tcp() -> None:
    with simulated("atom") as robot:
        match = re.search(r"JSON-RPC on 127.0.0.1:(\d+)", robot.first_line)
        assert match is not None
        answer = request(int(match[1]), '{"jsonrpc": "2.0", "id": 1, "method": "GetFsmId", "params": {}}')
        assert answer == {"jsonrpc": "2.0", "id": 1, "result": {"fsm_id": 1}}
        assert "error" in request(int(match[1]), "{}")


def test_no_faults_on_an_open_network(settings: DdsSettings) -> None:
    profile = replace(load_profile("gr2"), domain=settings.domain)
    assert open_network(profile).tag == ""
    with pytest.raises(FaultError, match="need a network of their own"):
        LiveTwin(profile, open_network(profile), faults=("security",))
    assert private_network(profile, "x").tag == "x"
