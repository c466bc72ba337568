"""A small client of a language server: JSON-RPC over its standard input and output."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

Message = dict[str, Any]


class LanguageServer:
    """Speaks to one server; answers whatever it asks back with nothing."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._requests = 0
        self._notifications: list[Message] = []

    def notify(self, method: str, params: Message) -> None:
        self._send({"method": method, "params": params})

    def request(self, method: str, params: Message) -> Any:
        """The result of a request."""
        self._requests += 1
        self._send({"id": self._requests, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") == self._requests and "method" not in message:
                assert "error" not in message, message["error"]
                return message["result"]

    def notification(self, method: str) -> Message:
        """The next notification of this kind."""
        while True:
            for number, message in enumerate(self._notifications):
                if message["method"] == method:
                    return dict(self._notifications.pop(number)["params"])
            self._receive()

    def _send(self, message: Message) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _receive(self) -> Message:
        assert self._process.stdout is not None
        length = 0
        while (line := self._process.stdout.readline().strip()) or not length:
            assert line or self._process.poll() is None, "the server has ended"
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        message: Message = json.loads(self._process.stdout.read(length))
        if "method" in message and "id" in message:
            self._send({"id": message["id"], "result": None})
        elif "method" in message:
            self._notifications.append(message)
        return message


@contextmanager
def language_server(*command: str) -> Iterator[LanguageServer]:
    """A running server that has been introduced to us."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        server = LanguageServer(process)
        try:
            capabilities = {"textDocument": {"hover": {"contentFormat": ["markdown"]}, "completion": {}}}
            server.request("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
            server.notify("initialized", {})
            yield server
        finally:
            process.kill()
