"""Bytes that the vendors' own programs wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parents[1] / "wire" / "captures"


def captures(topic: str) -> list[tuple[bytes, dict[str, Any]]]:
    """Every capture of a topic: its bytes and its values."""
    rows = [row for file in sorted(_FOLDER.glob("*.json")) for row in json.loads(file.read_text())]
    return [(bytes.fromhex(row["cdr_hex"]), row["values"]) for row in rows if row["topic"] == topic]
