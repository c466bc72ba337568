"""The one error of this room."""

from __future__ import annotations


class WireError(ValueError):
    """Bytes or values that are not what the type says: names topic, type, field and offset."""

    def __init__(self, type_name: str, field: str, offset: int | None, problem: str, topic: str | None = None) -> None:
        self.type_name = type_name
        self.field = field
        self.offset = offset
        self.problem = problem
        self.topic = topic
        super().__init__(type_name, field, offset, problem, topic)

    def on(self, topic: str) -> WireError:
        """The same error, with the topic it happened on."""
        return WireError(self.type_name, self.field, self.offset, self.problem, topic)

    def __str__(self) -> str:
        where = f"{self.type_name}.{self.field}" if self.field else self.type_name
        at = f" at byte {self.offset}" if self.offset is not None else ""
        topic = f"{self.topic}: " if self.topic else ""
        return f"{topic}{where}{at}: {self.problem}"
