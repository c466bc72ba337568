"""Lines of generated Python, indented as they are written."""

from __future__ import annotations

from types import TracebackType


class Source:
    """The text of one generated function.

    with out.block("if x:"):
        out("y()")
    """

    def __init__(self, head: str) -> None:
        self.lines = [head]
        self.depth = 1

    def __call__(self, line: str) -> None:
        self.lines.append(" " * self.depth + line)

    def block(self, head: str) -> Source:
        self(head)
        return self

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.depth -= 1
