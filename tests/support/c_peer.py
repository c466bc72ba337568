"""Programs in C on CycloneDDS 0.10, as Dobot's and PND's robots run it, with C types from our own .idl."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cyclonedds.idl import IdlStruct

from orchestrator.bus.dds import DdsBus
from orchestrator.bus.settings import DdsSettings
from orchestrator.data import data_path
from orchestrator.wire.registry import message_types

IDL = data_path("idl")
ROBOTS = {key: cls for key, cls in message_types().items() if key.startswith(("dobot_atom", "pnd_adam"))}
GENERATIONS = sorted({key.partition(":")[0] for key in ROBOTS})
PATIENCE = 20.0
"""s after which a test gives up on its peer."""


def types_of(generation: str) -> dict[str, type[IdlStruct]]:
    return {key.partition(":")[2]: cls for key, cls in ROBOTS.items() if key.partition(":")[0] == generation}


def idl_files(generation: str) -> list[Path]:
    """The generation's files, and those of its package that it does not replace."""
    own = sorted((IDL / generation).glob("*.idl"))
    names = {file.name for file in own}
    package = IDL / generation.partition("/")[0]
    return own + [file for file in sorted(package.glob("*.idl")) if file.name not in names]


def build(folder: Path, generation: str, program: Path) -> Path:
    """Compile a C program with a generation's types in "types.h", their list in TYPES and VENDOR_(package) defined."""
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
    built = folder / program.stem
    vendor = f"-DVENDOR_{generation.partition('/')[0]}"
    subprocess.run(["gcc", "-Wall", vendor, f"-I{folder}", "-o", built, program, *sources, "-lddsc"], check=True)
    return built


@contextmanager
def running(program: Path, settings: DdsSettings) -> Iterator[subprocess.Popen[str]]:
    """The program at work on this network; it leaves when its standard input is closed."""
    environment = os.environ | {"CYCLONEDDS_URI": settings.xml()}
    command = [str(program), str(settings.domain)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) as peer:
        assert peer.stdout is not None
        assert peer.stdout.readline() == "up\n"
        yield peer


def send_away(peer: subprocess.Popen[str]) -> list[str]:
    """Let the program end; the lines it printed. It must not have crashed before."""
    assert peer.poll() is None
    assert peer.stdin is not None
    assert peer.stdout is not None
    peer.stdin.close()
    printed = peer.stdout.read().splitlines()
    assert peer.wait() == 0
    assert printed[-1] == "alive to the end"
    return printed


def wait_until(bus: DdsBus, condition: Callable[[], bool]) -> None:
    end = bus.clock.now() + PATIENCE
    while not condition():
        assert bus.clock.now() < end, "the peer did not answer"
        bus.wait(0.01)
