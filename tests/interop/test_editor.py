"""The schema in a real editor: yaml-language-server, which VS Code's YAML extension uses."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from orchestrator.leaf import installed
from orchestrator.robots.facts_of import facts_of
from orchestrator.robots.profiles import load_profile, profile_names
from orchestrator.treefile.schema import schema
from tests.support.language_server import LanguageServer, language_server
from tests.support.tools import need

pytestmark = pytest.mark.interop

SETTINGS = {"yaml": {"schemaStore": {"enable": False}, "validate": True, "hover": True, "completion": True}}


@pytest.fixture
def server_program(pytestconfig: pytest.Config) -> Path:
    """The language server from npm, kept for the next time."""
    need("node", "npm")
    assert pytestconfig.cache is not None
    folder = pytestconfig.cache.mkdir("yaml-language-server")
    program = folder / "node_modules" / "yaml-language-server" / "bin" / "yaml-language-server"
    if not program.exists():
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), "yaml-language-server"]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode and not os.environ.get("CI"):
            pytest.skip("npm cannot install yaml-language-server")
        assert result.returncode == 0, result.stderr
    return program


class Editor:
    """One document open in an editor; `|` in its text is where the cursor stands."""

    def __init__(self, server: LanguageServer, schema_file: Path) -> None:
        self._server = server
        self._head = f"# yaml-language-server: $schema={schema_file}\ntree: t\n"
        self._number = 0

    def complete(self, text: str) -> set[str]:
        found = self._server.request("textDocument/completion", self._open(text))
        return {item["label"] for item in (found["items"] if isinstance(found, dict) else found)}

    def hover(self, text: str) -> str:
        found = self._server.request("textDocument/hover", self._open(text))
        return str(found["contents"]["value"])

    def problems(self, text: str) -> list[str]:
        uri = self._open(text)["textDocument"]["uri"]
        while True:
            said = self._server.notification("textDocument/publishDiagnostics")
            if said["uri"] == uri:
                return [each["message"] for each in said["diagnostics"]]

    def _open(self, text: str) -> Any:
        self._number += 1
        uri = f"file:///trees/t{self._number}.yaml"
        before, _, after = text.partition("|")
        written = self._head + before
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": written + after}
        self._server.notify("textDocument/didOpen", {"textDocument": document})
        line = written.count("\n")
        position = {"line": line, "character": len(written) - written.rfind("\n") - 1}
        return {"textDocument": {"uri": uri}, "position": position}


def test_completion_hover_and_diagnostics(server_program: Path, tmp_path: Path) -> None:
    schema_file = tmp_path / "schema.json"
    schema_file.write_text(json.dumps(schema(installed(), facts_of(load_profile("atom_w")), profile_names())))
    with language_server("node", str(server_program), "--stdio") as server:
        server.notify("workspace/didChangeConfiguration", {"settings": SETTINGS})
        editor = Editor(server, schema_file)

        offered = editor.complete("root:\n  - |")
        assert {"MoveToTag", "SetFsm", "selector", "wait_for"} <= offered
        assert "StandPose" not in offered  # an Atom-W has no legs to pose
        assert {"tag", "heading", "give_up_blocked"} <= editor.complete("root:\n  - MoveToTag:\n      |")
        assert {"timeout", "retry", "finally"} <= editor.complete("root:\n  - MoveToTag: {tag: 12}\n    |")
        assert {"zero_torque", "ready"} <= editor.complete("root:\n  - SetFsm:\n      state: |")
        assert {"shelf", "table"} <= editor.complete("root:\n  - MoveToTag:\n      tag: |")
        assert {"robot", "params", "require", "root"} <= editor.complete("|\n")
        assert {"atom_w", "gr2"} <= editor.complete("robot: |\n")

        assert "Drive the base to a floor tag" in editor.hover("root:\n  - Move|ToTag: {tag: 12}\n")
        assert "heading: angle" in editor.hover("root:\n  - MoveToTag: {tag: 12, head|ing: 90 deg}\n")
        assert "further attempts" in editor.hover("root:\n  - CheckErrors:\n    re|try: 2\n")

        assert editor.problems("root:\n  - CheckErrors\n  - MoveToTag: {tag: 12}\n    retry: 2\n") == []
        assert any("sped" in text for text in editor.problems("root:\n  - MoveToTag: {tag: 12, sped: 1}\n"))
        assert editor.problems("root:\n  - Wait: {time: 2}\n")
        assert editor.problems("rooot: []\n")
