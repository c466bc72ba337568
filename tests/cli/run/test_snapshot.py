"""The picture of a run."""

from __future__ import annotations

from xml.etree import ElementTree

from orchestrator.cli.run.snapshot import snapshot
from orchestrator.data import data_path
from orchestrator.testing import StartMission


def test_a_picture_shows_the_run_at_an_instant(mission: StartMission) -> None:
    run = mission(data_path("trees/04_deliver_atom_w.yaml"))
    run.finish()
    svg = snapshot("SIM", run.events, 6.0)
    ElementTree.fromstring(svg)
    plain = svg.replace("&#160;", " ")
    for shown in ("SIM", "atom_w", "deliver_atom_w", "▶", "m driven"):
        assert shown in plain
    assert "url(http" not in svg
