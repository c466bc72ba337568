"""Against CycloneDDS 0.10 in C, the generation that Dobot's and PND's robots run, with C types from our own .idl."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cyclonedds.idl import IdlStruct

from orchestrator.bus.dds import DdsBus
from orchestrator.bus.settings import DdsSettings
from orchestrator.wire.codec import codec
from orchestrator.wire.example import example
from orchestrator.wire.topics import Topic
from tests.support.c_peer import GENERATIONS, build, running, send_away, types_of, wait_until
from tests.support.messages import plain
from tests.support.tools import need

pytestmark = [pytest.mark.interop, pytest.mark.dds, pytest.mark.timeout(180)]


def variations(cls: type[IdlStruct]) -> list[Any]:
    """Messages with full, empty and single-element sequences."""
    return [example(cls, count) for count in (2, 0, 1)]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_type_passes_through_the_robots_own_serialiser(
    generation: str, tmp_path: Path, settings: DdsSettings
) -> None:
    need("idlc", "gcc")
    program = build(tmp_path, generation, Path(__file__).with_name("peer.c"))
    with DdsBus(settings, "us") as bus, running(program, settings) as peer:
        types = types_of(generation)
        writers = {name: bus.writer(Topic(f"there/{name}", cls, "command")) for name, cls in types.items()}
        readers = {name: bus.reader(Topic(f"back/{name}", cls, "event")) for name, cls in types.items()}
        came_back: dict[str, list[Any]] = {name: [] for name in types}
        for name, reader in readers.items():
            reader.on_sample(lambda sample, name=name: came_back[name].append(sample.data))  # type: ignore[misc]
        wait_until(bus, lambda: all(w.ready for w in writers.values()) and all(r.matched for r in readers.values()))
        bus.wait(0.3)
        for round_number in range(3):
            for name, cls in types.items():
                message = variations(cls)[round_number]
                writers[name].write(message)
                wait_until(bus, lambda name=name, count=round_number + 1: len(came_back[name]) == count)  # type: ignore[misc]
                assert plain(codec(cls).decode(came_back[name][-1])) == plain(message)
        printed = send_away(peer)
    assert_cross_check(generation, types, printed)


def assert_cross_check(generation: str, types: dict[str, type[IdlStruct]], printed: list[str]) -> None:
    if generation == "dobot_atom":
        assert f"dobot target_id {example(types['AMRCommand_']).target_id}" in printed
    if generation == "pnd_adam":
        assert f"pnd position[11] {example(types['HandState_']).position[11]}" in printed
