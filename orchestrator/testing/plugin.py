"""The pytest plug-in: the fixture `mission`, the story of a failed test, and the coverage of missions.

Loaded by pytest in every project where the program is installed, so it imports nothing heavy before it is used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from orchestrator.mission.coverage import Coverage
    from orchestrator.testing.run import MissionRun, StartMission

_COVERAGE: pytest.StashKey[Coverage] = pytest.StashKey()
_RUNS: pytest.StashKey[list[MissionRun]] = pytest.StashKey()
_WORKER = "orchestrator_missions"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("orchestrator", "missions of the orchestrator")
    group.addoption(
        "--mission-coverage", action="store_true", help="after the tests, show which nodes of missions were exercised"
    )


@pytest.fixture
def mission(request: pytest.FixtureRequest, tmp_path: Path) -> StartMission:
    """Starts a mission in virtual time: `mission("trees/deliver.yaml", values={"pick": 12}, faults=["soft@6s"])`.

    The tree is a file, relative to the test's own folder or to the root of the tests, or the text of one. `robot` goes
    before the tree's own; `substitute` and `answers` map names of nodes to what happens there.
    """
    from orchestrator.testing.run import MissionRun

    runs: list[MissionRun] = request.node.stash.setdefault(_RUNS, [])

    def start(
        tree: str | Path,
        robot: str | None = None,
        values: Mapping[str, object] | None = None,
        faults: Sequence[str] = (),
        substitute: Mapping[str, str] | None = None,
        answers: Mapping[str, str] | None = None,
        seed: int = 0,
    ) -> MissionRun:
        file = _file(tree, request, tmp_path)
        count = _coverage(request.config).recorder(_name_of_text(tree, request) if _is_text(tree) else "")
        run = MissionRun(file, robot, values, faults, substitute, answers, seed, count)
        runs.append(run)
        return run

    return start


def _file(tree: str | Path, request: pytest.FixtureRequest, folder: Path) -> Path:
    if _is_text(tree):
        file = folder / "mission.yaml"
        file.write_text(str(tree), encoding="utf-8")
        return file
    places = dict.fromkeys((request.path.parent / tree, request.config.rootpath / tree))
    found = next((place for place in places if place.exists()), None)
    if found is None:
        hint = "; if it is the text of a tree, put a line break in it" if ":" in str(tree) else ""
        raise FileNotFoundError(f"there is no {' and no '.join(str(place) for place in places)}{hint}")
    return found.parent.resolve() / found.name


def _is_text(tree: str | Path) -> bool:
    return "\n" in str(tree)


def _name_of_text(tree: str | Path, request: pytest.FixtureRequest) -> str:
    """What coverage calls it: its file is another one in every test."""
    return f"{request.path}, text {hashlib.blake2b(str(tree).encode(), digest_size=3).hexdigest()}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    """Below a failed test stands what its missions did."""
    result = yield
    report = result.get_result()
    if report.failed:
        for run in item.stash.get(_RUNS, []):
            report.sections.append((f"mission {run.name}", run.story()))


# Coverage: of this process, and with pytest-xdist of all its workers.


def _coverage(config: pytest.Config) -> Coverage:
    from orchestrator.mission.coverage import Coverage

    return config.stash.setdefault(_COVERAGE, Coverage())


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None and _COVERAGE in session.config.stash:
        output[_WORKER] = session.config.stash[_COVERAGE].to_builtins()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """A worker of pytest-xdist has ended."""
    from orchestrator.mission.coverage import Coverage

    told = (getattr(node, "workeroutput", None) or {}).get(_WORKER)
    if told:
        _coverage(node.config).merge(Coverage.from_builtins(told))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if config.getoption("--mission-coverage"):
        terminalreporter.section("coverage of missions")
        coverage = config.stash.get(_COVERAGE, None)
        terminalreporter.write_line(coverage.render() if coverage and coverage.nodes else "no mission was run")
