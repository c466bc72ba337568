"""How big a mission may be: whatever is written, the answer must come in a second."""

from __future__ import annotations

from orchestrator.yamlfile import Findings
from orchestrator.yamlfile.findings import Placed

NODES_OF_FILE = 2000
NODES = 5000  # with all subtrees, as everything below
DEPTH = 64
VALUES = 50_000  # ten for each node
EXPRESSIONS = 150_000  # characters: thirty for each node
SHORTEST = 20  # characters that the shortest expression counts
NAMES_OF_FILE = 1000


class TooMuch(Exception):
    """More than may be; already reported."""


class Effort:
    """What the files of one check have cost so far, each counted as often as it is used."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self.nodes = 0
        self._values = 0
        self._expressions = 0

    def node(self, at: Placed, number_in_file: int) -> None:
        """One more node."""
        self.nodes += 1
        if number_in_file > NODES_OF_FILE:
            self.refuse(at, "too-many-nodes", f"more than {NODES_OF_FILE} nodes in a file: split it")
        if self.nodes > NODES:
            self.refuse(at, "too-many-nodes", f"more than {NODES} nodes with all subtrees")

    def expressions(self, at: Placed, characters: int) -> None:
        """One more expression, or text in which names are replaced."""
        self._expressions += max(characters, SHORTEST)
        if self._expressions > EXPRESSIONS:
            self._refuse_all(at, f"{EXPRESSIONS} characters of expressions")

    def values(self, at: Placed, count: int) -> None:
        """One more use of a file with so many values."""
        self._values += count
        if self._values > VALUES:
            self._refuse_all(at, f"{VALUES} words and values")

    def _refuse_all(self, at: Placed, what: str) -> None:
        self.refuse(at, "too-much", f"more than {what} with all subtrees: this is too much for one mission")

    def refuse(self, at: Placed, code: str, message: str) -> None:
        """Say what there is too much of, and end the check."""
        self._findings.error(at, code, message)
        raise TooMuch
