"""What every test may use."""

from __future__ import annotations

import locale
import os
import uuid
from collections.abc import Iterator

import pytest

from orchestrator.bus.settings import DdsSettings, loopback
from tests.steady import STOOD_STILL, Watch, run_steadily

WATCH = pytest.StashKey[Watch]()


@pytest.fixture
def settings(worker_id: str) -> DdsSettings:
    """A private DDS network: a domain for each test worker, a tag for each test."""
    worker = 0 if worker_id == "master" else int(worker_id.removeprefix("gw"))
    # Out of reach of the vendors' domains (0, 1, 2, 123). Two test runs that meet on one are kept apart by the tag.
    domain = 130 + (os.getppid() * 8 + worker) % 100
    return loopback(domain, tag=f"test-{uuid.uuid4()}")


@pytest.fixture
def ascii_locale() -> Iterator[None]:
    """As on a machine where nobody has said that texts are UTF-8."""
    before = locale.setlocale(locale.LC_CTYPE)
    locale.setlocale(locale.LC_CTYPE, "C")
    yield
    locale.setlocale(locale.LC_CTYPE, before)


@pytest.fixture(scope="session", autouse=True)
def _histories(tmp_path_factory: pytest.TempPathFactory) -> None:
    """No run of a test is kept among those of whoever runs the tests."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    if item.get_closest_marker("dds") is None:  # everything that is not in real time
        return None
    stash = item.config.stash
    if WATCH not in stash:
        stash[WATCH] = Watch()
        item.config.add_cleanup(stash[WATCH].close)
    run_steadily(item, nextitem, stash[WATCH])
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") == "call":
                for name, value in report.user_properties:
                    if name == STOOD_STILL:
                        terminalreporter.write_line(f"run again: {report.nodeid}: the machine {name} for {value} s")
