"""Leaves that give the robot one command and follow it to its end."""

from __future__ import annotations

from typing import Protocol

from orchestrator.leaf.leaf import Leaf, Status
from orchestrator.robots.outcome import Outcome

_STATUS = {status.value: status for status in Status}


class Judge(Protocol):
    """Watches a command of a capability until it has succeeded or failed."""

    def outcome(self) -> Outcome:
        """How far it is now."""

    def cancel(self) -> None:
        """Call off what still goes on."""


class Command(Leaf, declared=False):
    """A subclass says in `command` what to ask of the robot; the capability judges when that is done.

    Stopped, whatever still goes on is called off: a stream ends with standstill or hold, a task of the base is
    cancelled. Paused, too; resumed, the command is given anew. Nothing is asked for that contradicts itself.
    """

    _judge: Judge | None = None

    def command(self) -> Judge:
        """Ask the robot; what comes back knows how far it is."""
        raise NotImplementedError

    def start(self) -> None:
        self._judge = None  # if the command cannot be given, there is none to stop
        if self.mistake() is None:
            self._judge = self._ask()

    def _ask(self) -> Judge:
        judge = self.command()
        if not hasattr(judge, "outcome"):
            raise TypeError(f"command() returned {judge!r} instead of what a capability gave it")
        return judge

    def step(self) -> Status:
        if self._judge is None:
            _, why = self.mistake() or ("", "the command was not given")
            return self.fail("refused", why)
        return self.take(self._judge.outcome())

    def stop(self) -> None:
        if self._judge is not None:
            self._judge.cancel()

    def pause(self) -> None:
        self.stop()

    def resume(self) -> None:
        self.start()

    def take(self, outcome: Outcome) -> Status:
        """Show what the capability says."""
        said = outcome.text if outcome.status == "success" else ""  # which is all that is told of a success
        self.reason = outcome.reason or said
        self.message = outcome.text
        self.progress = outcome.progress
        self.result = outcome.result
        self.same_until = outcome.until
        return _STATUS[outcome.status]
