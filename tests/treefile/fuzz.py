"""Damaged and invented files through the reader, the whole check and the formatter: each must be answered.

    python -m tests.treefile.fuzz reader 10000000 1     # target, number of inputs, seed
    python -m tests.treefile.fuzz check 500000 1
    python -m tests.treefile.fuzz fmt 50000 1

Inputs come in batches that depend on seed and number only, so that a batch named in a report can be run again:
`... reader 1000 1 --first-batch 77`.
"""

from __future__ import annotations

import argparse
import faulthandler
import math
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from orchestrator.clock import VirtualClock
from orchestrator.engine.builder import build
from orchestrator.mission.loading import surroundings as on_this_machine
from orchestrator.robots.facts import RobotFacts
from orchestrator.treefile import Surroundings, check_file
from orchestrator.treefile.format import formatted
from orchestrator.treefile.model import TreeNode
from orchestrator.yamlfile import Document, Findings, Mapping, Node, Scalar, Sequence, read_file, read_text
from tests.treefile.conftest import CATALOGUE
from tests.treefile.fuzz_inputs import Inputs
from tests.treefile.stand_in import FIELDS, ROBOTS

BATCH = 1000
LONGEST = 5.0  # s of processor time for one input; the fuzzed ones are small
STUCK = 300.0  # s for a batch: a hang inside the C parser is seen only so
COMPARED = 20  # every so many inputs the reader's answer is compared with PyYAML's


# What must hold for every answer


class Wrong(AssertionError):
    """An answer that is none."""


def hold_findings(findings: Findings, sources: dict[str, list[str]]) -> None:
    """Every finding is a sentence at a place that exists."""
    for finding in findings.sorted():
        place = finding.place
        lines = sources.get(place.file)
        if lines is None:
            raise Wrong(f"a finding in no file: {finding}")
        if not (1 <= place.line <= len(lines) and 1 <= place.column <= len(lines[place.line - 1]) + 1):
            raise Wrong(f"a finding outside the file: {finding}")
        if not finding.message.strip() or len(finding.message) > 1000:
            raise Wrong(f"no sentence: {finding!r}")
    findings.render()


def read_one(inputs: Inputs, number: int, folder: Path) -> int:
    """One text through the reader; how much was found."""
    text = inputs.anything()
    LAST.text = text
    findings = Findings()
    if number % 50 == 0:
        path = folder / "main.yaml"
        path.write_bytes(_as_bytes(inputs.chance, text))
        read_file(path, findings)
        return len(findings)
    document = read_text(text, "t", findings)
    if findings:
        hold_findings(findings, {"t": text.split("\n")})
    elif document.root is None:
        raise Wrong("nothing was read and nothing was said")
    if number % COMPARED == 0 and not findings.errors:
        hold_same(document, text)
    return len(findings)


def _as_bytes(chance: random.Random, text: str) -> bytes:
    raw = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(chance.randint(0, 3)):
        raw.insert(chance.randint(0, len(raw)), chance.randrange(256))
    return bytes(raw)


def hold_same(document: Document, text: str) -> None:
    """What was read without an error is what PyYAML reads."""
    theirs = yaml.load(text, yaml.CBaseLoader)
    if plain(document.root) != theirs:
        raise Wrong(f"PyYAML reads {theirs!r}")


def plain(node: Node | None) -> object:
    if isinstance(node, Mapping):
        return {key: plain(value) for key, (_, value) in node.entries.items()}
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return node.text if isinstance(node, Scalar) else None


def _write(inputs: Inputs, folder: Path) -> dict[str, list[str]]:
    """A mission and, beside it, two files it may use."""
    texts = {"main.yaml": inputs.mission()}
    for name in ("part.yaml", "other.yaml"):
        if str(folder / name) not in LAST.sources or inputs.chance.random() < 0.02:
            texts[name] = inputs.invented()
    LAST.text = "\n=== and ===\n".join(texts.values())
    for name, text in texts.items():
        # Surrogates cannot be written; what is not UTF-8 is the reader's campaign.
        raw = text.encode("utf-8", "replace")
        (folder / name).write_bytes(raw)
        LAST.sources[str(folder / name)] = raw.decode().removeprefix("\ufeff").split("\n")
    return LAST.sources


def check_one(inputs: Inputs, number: int, folder: Path) -> int:
    """One mission through the whole check; how much was found."""
    against = inputs.chance.choice(SURROUNDINGS)
    inputs.mostly_for(against.robot)
    sources = _write(inputs, folder)
    checked = check_file(folder / "main.yaml", against, folder)
    if not checked.ok and not checked.findings.errors:
        raise Wrong("not ok, and nothing was said")
    if checked.findings:
        hold_findings(checked.findings, sources)
    if checked.tree.root is not None:
        hold_finite(checked.tree.root)
    if checked.ok:
        build(checked.tree, CATALOGUE, None, NoFields(), VirtualClock())
    return len(checked.findings)


class NoFields:
    """A robot that reports nothing: enough to build a tree, which is not run."""

    def read(self, name: str) -> None:
        return None

    def why(self, name: str) -> str:
        return name

    def watch(self, name: str) -> None:
        pass


def hold_finite(node: TreeNode) -> None:
    """No number that is none gets into a tree."""
    modifiers = node.modifiers
    for value in (*node.values.values(), modifiers.timeout, modifiers.delay, modifiers.cooldown, modifiers.retry_wait):
        if isinstance(value, float) and not math.isfinite(value):
            raise Wrong(f"{value} in {node}")
    for child in (*node.children, *(node.otherwise or ()), *modifiers.finally_):
        hold_finite(child)


def format_one(inputs: Inputs, number: int, folder: Path) -> int:
    """One mission through the formatter: refused, or laid out so that a second time changes nothing."""
    LAST.text = text = inputs.mission()
    findings = Findings()
    once = formatted(text, "t", findings)
    if once is None:
        if not findings.errors:
            raise Wrong("not laid out, and nothing was said")
        return len(findings)
    if formatted(once, "t", findings) != once:
        raise Wrong("laid out differently the second time")
    return len(findings)


def _all_surroundings() -> list[Surroundings]:
    robots: list[RobotFacts | None] = [None, *ROBOTS.values()]
    stand_ins = [
        Surroundings(CATALOGUE, FIELDS, robot=robot, robot_named=ROBOTS.get, robot_names=ROBOTS) for robot in robots
    ]
    return [*stand_ins, *(on_this_machine(name) for name in ("atom_w", "gr2", "adam_u"))]


SURROUNDINGS = _all_surroundings()
TARGETS: dict[str, Callable[[Inputs, int, Path], int]] = {"reader": read_one, "check": check_one, "fmt": format_one}


class _Last:
    """The input being tried, and the files that lie beside it."""

    def __init__(self) -> None:
        self.text = ""
        self.sources: dict[str, list[str]] = {}


LAST = _Last()


@dataclass
class Report:
    inputs: int = 0
    clean: int = 0
    found: int = 0
    slowest: float = 0.0
    slowest_text: str = ""
    failures: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    def __str__(self) -> str:
        rate = self.inputs / self.seconds if self.seconds else 0.0
        return (
            f"{self.inputs} inputs in {self.seconds:.0f} s ({rate:.0f}/s): {self.clean} clean, {self.found} findings "
            f"in the others, slowest {self.slowest * 1000:.0f} ms, {len(self.failures)} kinds of failure"
        )


def _too_long(signum: int, frame: object) -> None:
    raise TimeoutError(f"more than {LONGEST} s of processor time")


def run(target: str, count: int, seed: int, first_batch: int = 0, progress: bool = False) -> Report:
    """Run so many inputs; no input may raise, take for ever or be left without an answer."""
    one, report = TARGETS[target], Report()
    before = signal.signal(signal.SIGVTALRM, _too_long)
    started = time.monotonic()
    try:
        in_memory = Path("/dev/shm")
        with tempfile.TemporaryDirectory(dir=in_memory if in_memory.is_dir() else None) as name:
            batch = first_batch
            while report.inputs < count:
                _run_batch(
                    one,
                    Inputs(random.Random(f"{target} {seed} {batch}")),
                    min(BATCH, count - report.inputs),
                    batch,
                    Path(name),
                    report,
                )
                report.seconds = time.monotonic() - started
                batch += 1
                if progress and batch % 100 == 0:
                    print(report, flush=True)
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return report


def _run_batch(
    one: Callable[[Inputs, int, Path], int], inputs: Inputs, count: int, batch: int, folder: Path, report: Report
) -> None:
    faulthandler.dump_traceback_later(STUCK, exit=True)
    LAST.sources.clear()
    for number in range(count):
        start = time.thread_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
        try:
            found = one(inputs, number, folder)
            report.clean += found == 0
            report.found += found
        except Exception as problem:
            where = traceback.extract_tb(problem.__traceback__)[-1]
            kind = f"{type(problem).__name__} at {where.filename}:{where.lineno}"
            if kind not in report.failures:
                report.failures[kind] = f"batch {batch}, input {number}: {problem}\n{LAST.text[:3000]!r}"
                print(kind, report.failures[kind], traceback.format_exc(limit=-4), sep="\n", flush=True)
        report.inputs += 1
        took = time.thread_time() - start
        if took > report.slowest:
            report.slowest, report.slowest_text = took, LAST.text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("count", type=int, help="number of inputs")
    parser.add_argument("seed", type=int)
    parser.add_argument("--first-batch", type=int, default=0)
    options = parser.parse_args()
    faulthandler.enable()
    report = run(options.target, options.count, options.seed, options.first_batch, progress=True)
    print(report)
    print(f"slowest: {report.slowest_text[:500]!r}")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
