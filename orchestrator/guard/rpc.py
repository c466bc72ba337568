"""Dobot's JSON-RPC, called from a thread of its own so that a slow robot never delays a stop."""

from __future__ import annotations

import json
import queue
import socket
import threading

from orchestrator.robots.drive import RpcCall

_TIMEOUT = 1.0


class RpcCaller:
    """Calls in order, one connection each; what comes back is not evidence, so it is not waited for."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._address = (host, int(port))
        self._calls: queue.SimpleQueue[RpcCall] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="json-rpc", daemon=True).start()

    def __call__(self, call: RpcCall) -> None:
        self._calls.put(call)

    def _work(self) -> None:
        number = 0
        while True:
            call = self._calls.get()
            number += 1
            request = {"jsonrpc": "2.0", "id": number, "method": call.method, "params": call.params}
            try:
                with socket.create_connection(self._address, timeout=_TIMEOUT) as connection:
                    connection.sendall(json.dumps(request).encode())
                    connection.recv(65536)
            except OSError:
                continue  # no evidence will come, and whoever asked will say so
