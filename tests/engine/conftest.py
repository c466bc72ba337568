"""Missions for the tests of the engine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.missions import Mission, mission


@pytest.fixture
def fly(tmp_path: Path) -> Callable[..., Mission]:
    """`fly(nodes, answers=..., battery__level=80)`: a mission in virtual time."""

    def make(text: str, **options: Any) -> Mission:
        return mission(tmp_path, text, **options)

    return make
