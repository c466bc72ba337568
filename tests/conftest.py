"""What every test may use."""

from __future__ import annotations

import os
import uuid

import pytest

from orchestrator.bus.settings import DdsSettings, loopback


@pytest.fixture
def settings(worker_id: str) -> DdsSettings:
    """A private DDS network: a domain for each test worker, a tag for each test."""
    worker = 0 if worker_id == "master" else int(worker_id.removeprefix("gw"))
    # Out of reach of the vendors' domains (0, 1, 2, 123). Two test runs that meet on one are kept apart by the tag.
    domain = 130 + (os.getppid() * 8 + worker) % 100
    return loopback(domain, tag=f"test-{uuid.uuid4()}")


@pytest.fixture(scope="session", autouse=True)
def _histories(tmp_path_factory: pytest.TempPathFactory) -> None:
    """No run of a test is kept among those of whoever runs the tests."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
