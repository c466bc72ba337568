"""Against CycloneDDS 0.10 in C, the generation that Dobot's and PND's robots run, with C types from our own .idl."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cyclonedds.idl import IdlStruct

from orchestrator.bus.dds import DdsBus
from orchestrator.bus.settings import DdsSettings
from orchestrator.data import data_path
from orchestrator.wire.codec import codec
from orchestrator.wire.example import example
from orchestrator.wire.registry import message_types
from orchestrator.wire.topics import Topic
from tests.support.messages import plain
from tests.support.tools import need

pytestmark = [pytest.mark.interop, pytest.mark.dds, pytest.mark.timeout(180)]

IDL = data_path("idl")
ROBOTS = {key: cls for key, cls in message_types().items() if key.startswith(("dobot_atom", "pnd_adam"))}
GENERATIONS = sorted({key.partition(":")[0] for key in ROBOTS})


def types_of(generation: str) -> dict[str, type[IdlStruct]]:
    return {key.partition(":")[2]: cls for key, cls in ROBOTS.items() if key.partition(":")[0] == generation}


def idl_files(generation: str) -> list[Path]:
    """The generation's files, and those of its package that it does not replace."""
    own = sorted((IDL / generation).glob("*.idl"))
    names = {file.name for file in own}
    package = IDL / generation.partition("/")[0]
    return own + [file for file in sorted(package.glob("*.idl")) if file.name not in names]


def build_peer(folder: Path, generation: str) -> Path:
    sources = []
    for idl in idl_files(generation):
        out = folder / idl.parent.relative_to(IDL)
        out.mkdir(parents=True, exist_ok=True)
        subprocess.run(["idlc", "-I", IDL, idl], cwd=out, check=True)
        sources.append(out / f"{idl.stem}.c")
    descriptors = {name: cls.__idl_typename__.replace(".", "_") + "_desc" for name, cls in types_of(generation).items()}
    includes = "".join(f'#include "{source.with_suffix(".h").relative_to(folder)}"\n' for source in sources)
    entries = " ".join(f'ENTRY("{name}", {symbol})' for name, symbol in descriptors.items())
    (folder / "types.h").write_text(f"#include <stdlib.h>\n{includes}#define TYPES {entries}\n")
    program = folder / "peer"
    show = [f"-DSHOW_{generation.partition('/')[0]}"]
    peer = Path(__file__).with_name("peer.c")
    subprocess.run(["gcc", "-Wall", *show, f"-I{folder}", "-o", program, peer, *sources, "-lddsc"], check=True)
    return program


@contextmanager
def running_peer(program: Path, settings: DdsSettings) -> Iterator[subprocess.Popen[str]]:
    environment = os.environ | {"CYCLONEDDS_URI": settings.xml()}
    command = [str(program), str(settings.domain)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) as peer:
        assert peer.stdout is not None
        assert peer.stdout.readline() == "up\n"
        yield peer
        assert peer.stdin is not None
        if not peer.stdin.closed:
            peer.stdin.close()


def variations(cls: type[IdlStruct]) -> list[Any]:
    """Messages with full, empty and single-element sequences."""
    return [example(cls, count) for count in (2, 0, 1)]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_type_passes_through_the_robots_own_serialiser(
    generation: str, tmp_path: Path, settings: DdsSettings
) -> None:
    need("idlc", "gcc")
    program = build_peer(tmp_path, generation)
    with DdsBus(settings, "us") as bus, running_peer(program, settings) as peer:
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
                wait_until(bus, lambda name=name, count=round_number + 1: len(came_back[name]) == count)
                assert plain(codec(cls).decode(came_back[name][-1])) == plain(message)
        assert peer.poll() is None  # it did not crash
        assert peer.stdin is not None
        peer.stdin.close()
        assert peer.stdout is not None
        printed = peer.stdout.read().splitlines()
    assert peer.returncode == 0
    assert printed[-1] == "alive to the end"
    assert_cross_check(generation, types, printed)


def assert_cross_check(generation: str, types: dict[str, type[IdlStruct]], printed: list[str]) -> None:
    if generation == "dobot_atom":
        assert f"dobot target_id {example(types['AMRCommand_']).target_id}" in printed
    if generation == "pnd_adam":
        assert f"pnd position[11] {example(types['HandState_']).position[11]}" in printed


def wait_until(bus: DdsBus, condition: Any) -> None:
    end = bus.clock.now() + 20
    while not condition():
        assert bus.clock.now() < end, "the peer did not answer"
        bus.wait(0.01)
