"""What readers of both buses do with a sample: keep it, hand it on, notice changes, count what is bad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from orchestrator.bus.contract import BusError, Report, Sample
from orchestrator.wire.codec import codec
from orchestrator.wire.errors import WireError
from orchestrator.wire.fields import FieldReader
from orchestrator.wire.topics import Topic

_UNSEEN = object()


class Intake:
    """The receiving end of one topic, whatever brings the samples."""

    def __init__(self, topic: Topic, report: Callable[[Report], None]) -> None:
        self.topic = topic
        self.matched = 0
        self.received = 0
        self.bad = 0
        self._report = report
        self._newest: Sample | None = None
        self._handlers: list[Callable[[Sample], None]] = []
        self._watched: dict[str, tuple[FieldReader, Any]] = {}
        self._reported: set[str] = set()

    def newest(self, age: float = 0.0) -> Sample | None:
        return self._newest

    def on_sample(self, handler: Callable[[Sample], None]) -> None:
        self._only_events("on_sample")
        self._handlers.append(handler)

    def watch(self, path: str) -> None:
        self._only_events("watch")
        self._watched.setdefault(path, (codec(self.topic.type).field(path, plain=True), _UNSEEN))

    def reject(self, error: WireError) -> None:
        self.bad += 1
        if error.problem not in self._reported and len(self._reported) < 100:
            self._reported.add(error.problem)
            self._report(Report("bad_sample", self.topic.name, str(error.on(self.topic.name))))

    def accept(self, sample: Sample) -> bool:
        """Take in a sample; says whether a watched field changed."""
        self.received += 1
        self._newest = sample
        for handler in self._handlers:
            try:
                handler(sample)
            except WireError as error:
                if error.type_name != codec(self.topic.type).type_name:
                    raise  # it is about something else that the handler reads or writes
                self.reject(error)
        return bool(self._watched) and self._changed(sample.data)

    def _changed(self, data: bytes) -> bool:
        changed = False
        for path, (read, last) in self._watched.items():
            try:
                value = read(data)
            except WireError as error:
                self.reject(error)
                value = error.problem  # what cannot be read is a change too: somebody relies on this field
            if value != last:
                self._watched[path] = (read, value)
                changed = True
        return changed

    def _only_events(self, what: str) -> None:
        if self.topic.kind == "stream":
            raise BusError(f"{self.topic.name} is a stream: only its newest sample is kept, so {what} is not possible")
