"""Generates the message types in this folder from `idl/`; run by `make types`.

CycloneDDS' own IDL compiler does the work. Its Python output can only live in top-level packages, where `std_msgs`
would shadow ROS 2's, so it is rewritten into one private module per vendor package and per firmware variant.
"""

from __future__ import annotations

import ast
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import cyclonedds

from orchestrator.data import data_path

ROOM = "orchestrator.wire"
HEADER = "# Generated from idl/ by `make types`; do not edit.\n"

# CycloneDDS 0.10, which Dobot and PND run, dies of a peer that announces uint8 or int8: docs/wire.md, "Eight bits".
EIGHT_BIT = {"uint8": "byte", "int8": "char"}

# CycloneDDS 11 marks an enum's first literal as its default, 0.10 marks none. Only without the mark are the type ids
# equal, so that the robot has no reason to ask for the type before it matches.
NO_DEFAULT_LITERAL = "\n\n\n{}.__idl_enum_default_value__ = None"


class GenerateError(Exception):
    """An .idl file that can't become Python types; the message names the file and what is wrong with it."""


@dataclass
class Definition:
    """One struct or enum, as the compiler wrote it."""

    node: ast.ClassDef
    dds_name: str
    source: Path


class Home(NamedTuple):
    """Where a type lives: a vendor package, or one of its firmware variants."""

    package: str
    variant: str | None = None

    @property
    def module(self) -> str:
        return ".".join([ROOM, *filter(None, self)])

    @property
    def path(self) -> Path:
        return Path(*filter(None, self), "__init__.py")


Homes = dict[Home, dict[str, Definition]]


def main() -> int:
    try:
        write(generate(data_path("idl")), Path(__file__).parent)
    except GenerateError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def generate(idl: Path) -> dict[Path, str]:
    """The generated modules, by their path inside `orchestrator/wire/`."""
    with tempfile.TemporaryDirectory() as scratch:
        compiler = Compiler(Path(scratch), idl)
        homes = {home: _definitions(compiler, files) for home, files in _sources(idl)}
    return {home.path: _module(home, homes) for home in homes}


def write(modules: dict[Path, str], room: Path) -> None:
    """Puts the modules into `room`; of the packages it writes, nothing older stays."""
    for package in {path.parts[0] for path in modules}:
        shutil.rmtree(room / package, ignore_errors=True)
    for path, text in modules.items():
        (room / path).parent.mkdir(parents=True, exist_ok=True)
        (room / path).write_text(text, encoding="utf-8")


def _sources(idl: Path) -> Iterator[tuple[Home, list[Path]]]:
    folders = sorted({file.parent for file in idl.rglob("*.idl")})
    for folder in folders:
        parts = folder.relative_to(idl).parts
        if len(parts) not in (1, 2):
            raise GenerateError(f"{folder}: .idl files belong into idl/<package>/ or idl/<package>/<variant>/")
        yield Home(*parts), sorted(folder.glob("*.idl"))


def _definitions(compiler: Compiler, files: list[Path]) -> dict[str, Definition]:
    found: dict[str, Definition] = {}
    for file in files:
        for definition in compiler.definitions(file):
            name = definition.node.name
            if name in found:
                other = found[name]
                raise GenerateError(
                    f"{file}: {definition.dds_name} has the same class name as {other.dds_name} in {other.source}; "
                    "one package can hold only one of them"
                )
            found[name] = definition
    return found


class Compiler:
    """The IDL compiler inside the cyclonedds wheel, made to run."""

    def __init__(self, scratch: Path, idl: Path) -> None:
        wheel = Path(cyclonedds.__file__).parent
        plugins = sorted(wheel.glob("_idlpy*"))
        original = wheel / ".libs" / "idlc"
        if not plugins or not original.exists():
            raise GenerateError(f"no IDL compiler in {wheel}: types can be generated on Linux x86-64 only")
        self._plugin = plugins[0]
        self._libraries = wheel.parent / "cyclonedds.libs"
        self._idl = idl
        self._scratch = scratch
        self._idlc = scratch / "idlc"
        self._idlc.write_bytes(with_writable_dynamic_section(original.read_bytes()))
        self._idlc.chmod(0o755)

    def definitions(self, file: Path) -> list[Definition]:
        """The types that `file` itself defines, in its order (included files are compiled on their own)."""
        with tempfile.TemporaryDirectory(dir=self._scratch) as out:
            self._compile(file, Path(out))
            modules = sorted(Path(out).rglob("_*.py"))
            texts = [module.read_text(encoding="utf-8") for module in modules if module.name != "__init__.py"]
        if not texts:
            raise GenerateError(f"{file}: defines no type")
        return [definition for text in texts for definition in _parse(text, file)]

    def _compile(self, file: Path, out: Path) -> None:
        command: list[str | Path] = [self._idlc, "-l", self._plugin, "-I", self._idl.resolve(), file.resolve()]
        done = subprocess.run(
            command,
            cwd=out,  # the Python backend ignores -o
            env={"LD_LIBRARY_PATH": str(self._libraries)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",  # idlc's own warnings can hold bytes that are no text
            check=False,
        )
        # What the Python backend can't express it reports with [ERROR] and a return code of 0.
        if done.returncode or "[ERROR]" in done.stdout:
            raise GenerateError(f"{file}: {done.stdout.strip() or f'the IDL compiler ended with {done.returncode}'}")


def with_writable_dynamic_section(elf: bytes) -> bytes:
    """The wheel's idlc, able to start: its .dynamic section reaches into a segment that is mapped read-only."""
    load, dynamic, writable, page = 1, 2, 2, 4096
    image = bytearray(elf)
    (table,) = struct.unpack_from("<Q", image, 32)
    size, count = struct.unpack_from("<HH", image, 54)
    headers = [(at, *struct.unpack_from("<IIQQQQQ", image, at)) for at in range(table, table + size * count, size)]
    start, length = next((address, memory) for _, kind, _, _, address, _, _, memory in headers if kind == dynamic)
    for at, kind, flags, _, address, _, _, memory in headers:
        first, last = address // page * page, -(-(address + memory) // page) * page
        if kind == load and first < start + length and start < last:
            struct.pack_into("<I", image, at + 4, flags | writable)
    return bytes(image)


def _parse(text: str, source: Path) -> Iterator[Definition]:
    for node in ast.parse(text).body:
        match node:
            case ast.ClassDef(bases=[ast.Attribute(attr="IdlStruct" | "IdlEnum")]):
                names = [word.value for word in node.keywords if word.arg == "typename"]
                yield Definition(node, ast.literal_eval(names[0]), source)
            case ast.Import() | ast.ImportFrom() | ast.If() | ast.Expr():
                pass  # the docstring, and imports that _module() writes anew
            case _:
                shown = ast.unparse(node).replace("\n", " ")
                raise GenerateError(f"{source}: only structs and enums can be generated, not: {shown}")


@dataclass
class _References(ast.NodeTransformer):
    """Replaces what the compiler left as strings by the classes themselves, and notes which ones those are."""

    home: Home
    homes: Homes
    source: Path
    local: list[str] = field(default_factory=list)
    imported: set[tuple[str, str]] = field(default_factory=set)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, str):
            return node
        package, name = node.value.split(".")[0], node.value.split(".")[-1]
        candidates = [self.home, Home(package)] if package == self.home.package else [Home(package)]
        for home in candidates:
            definition = self.homes.get(home, {}).get(name)
            if definition and definition.dds_name == node.value:
                if home == self.home:
                    self.local.append(name)
                else:
                    self.imported.add((home.module, name))
                return ast.Name(name, ast.Load())
        raise GenerateError(f"{self.source}: {node.value} is defined in no .idl file of idl/{package}/")

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        return ast.Attribute(node.value, EIGHT_BIT.get(node.attr, node.attr), node.ctx)


def _module(home: Home, homes: Homes) -> str:
    """The text of one generated module: every class after the classes it holds."""
    written: dict[str, str] = {}
    imported: dict[str, str] = {}

    def add(name: str) -> None:
        if name in written:
            return
        definition = homes[home][name]
        references = _References(home, homes, definition.source)
        for statement in definition.node.body:
            if isinstance(statement, ast.AnnAssign):
                statement.annotation = references.visit(statement.annotation)
        for needed in references.local:
            add(needed)
        for module, needed in references.imported:
            if needed in homes[home] or imported.setdefault(needed, module) != module:
                raise GenerateError(f"{definition.source}: two types called {needed} meet in one package")
        written[name] = _class_text(definition.node)

    for name in homes[home]:
        add(name)
    return _layout(list(written.values()), imported, sorted(written))


def _class_text(node: ast.ClassDef) -> str:
    default_literal = [word for word in node.keywords if word.arg == "default"]
    node.keywords = [word for word in node.keywords if word not in default_literal]
    return ast.unparse(node) + (NO_DEFAULT_LITERAL.format(node.name) if default_literal else "")


def _layout(classes: list[str], imported: dict[str, str], names: list[str]) -> str:
    body = "\n\n\n".join(classes)
    library = {
        r"@dataclass\b": "from dataclasses import dataclass",
        r"\bauto\(\)": "from enum import auto",
        r"\bidl\.": "import cyclonedds.idl as idl",
        r"\bannotate\.": "import cyclonedds.idl.annotations as annotate",
        r"\btypes\.": "import cyclonedds.idl.types as types",
    }
    lines = [line for used, line in library.items() if re.search(used, body)]
    for module in sorted(set(imported.values())):
        needed = sorted(name for name in imported if imported[name] == module)
        lines += [f"from {module} import {', '.join(needed)}"]
    exports = "".join(f'    "{name}",\n' for name in names)
    return HEADER + "\n" + "\n".join(lines) + f"\n\n__all__ = [\n{exports}]\n\n\n{body}\n"


if __name__ == "__main__":
    sys.exit(main())
