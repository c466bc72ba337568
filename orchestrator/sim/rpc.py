"""Dobot's JSON-RPC as the twin serves it: one request, one answer, plain JSON text.

`RpcService.take` is the whole service; in virtual time `call` is used directly, in the process a socket brings them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from orchestrator.sim.lines import Action, Command

BAD_JSON, UNEXPECTED, SERVER = 4, 5, 6
BAD_TRANSITION, UPPER_REFUSED, VELOCITY_REFUSED = 100, 101, 102
"""Dobot's error codes."""


class RpcRefusal(Exception):
    """What was asked is not possible now."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass
class Call:
    """One request under way, and whoever waits for its answer."""

    method: str
    params: dict[str, Any]
    answer: Callable[[dict[str, Any]], None]

    def succeed(self, **result: Any) -> None:
        self.answer({"result": result})

    def fail(self, code: int, text: str) -> None:
        self.answer({"error": {"code": code, "message": text}})


Method = Callable[[dict[str, Any]], dict[str, Any]]


def method_command(name: str, method: Method, stimulus: Callable[[Action], Action]) -> Command:
    """A method as a command that faults can be put on."""

    def execute(call: Call) -> None:
        try:
            call.succeed(**method(call.params))
        except RpcRefusal as refusal:
            call.fail(refusal.code, str(refusal))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            call.fail(UNEXPECTED, f"bad parameters: {error!r}")

    return Command(
        f"rpc/{name}",
        stimulus(execute),
        acknowledge=lambda call: call.succeed(),
        refuse=lambda call: call.fail(SERVER, "refused"),
    )


class RpcService:
    """Answers requests by the methods it was given."""

    def __init__(self, methods: dict[str, Command]) -> None:
        self._methods = methods

    def answer(self, request: str) -> str | None:
        """The answer to a request; None if none comes at once."""
        answers: list[str] = []
        self.take(request, answers.append)
        return answers[0] if answers else None

    def take(self, request: str, reply: Callable[[str], None]) -> None:
        """Do what a request asks for; `reply` gets the answer when there is one, which may be later or never."""
        try:
            message = json.loads(request)
            number, name, params = message.get("id"), message["method"], message.get("params") or {}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            reply(_text(None, {"error": {"code": BAD_JSON, "message": "not a JSON-RPC request"}}))
            return
        if not isinstance(number, str | int | float | None):
            reply(_text(None, {"error": {"code": BAD_JSON, "message": "an id is a number or a text"}}))
            return
        if not isinstance(name, str) or name not in self._methods or not isinstance(params, dict):
            text = f"no method {name!r} with such parameters"
            reply(_text(number, {"error": {"code": UNEXPECTED, "message": text}}))
            return
        self.call(name, params, lambda answer: reply(_text(number, answer)))

    def call(self, method: str, params: dict[str, Any], answer: Callable[[dict[str, Any]], None]) -> None:
        """`answer` gets what a method gives: `{"result": ...}` or `{"error": ...}`."""
        self._methods[method](Call(method, params, answer))


def _text(number: Any, answer: dict[str, Any]) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number} | answer)
