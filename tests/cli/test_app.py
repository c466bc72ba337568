import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest
from typer.testing import CliRunner

from orchestrator import __version__
from orchestrator.cli.app import app


def test_version() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.output == f"orchestrator {__version__}\n"


def test_help_says_what_this_is_not() -> None:
    result = CliRunner().invoke(app, [])
    assert "Not a certified safety function" in " ".join(result.output.replace("│", " ").split())


ARROW = """
tree: arrow
robot: atom_w
root:
  - Wait: {time: 1 s}
    name: shelf → table
"""


def start(tmp_path: Path, *options: str, tree: str = ARROW) -> subprocess.Popen[str]:
    (tmp_path / "arrow.yaml").write_text(tree)
    command = [sys.executable, "-m", "orchestrator.cli", "run", str(tmp_path / "arrow.yaml"), "--virtual", *options]
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "XDG_STATE_HOME": str(tmp_path)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("options", "shown"), [((), "table: success"), (("--json",), "shelf \\u2192 table")])
def test_a_name_that_the_output_cannot_show_does_not_end_a_run(
    options: tuple[str, ...], shown: str, tmp_path: Path
) -> None:
    with start(tmp_path, *options) as process:
        said, complaint = process.communicate(timeout=60)
    assert process.returncode == 0, complaint
    assert shown in said


def test_json_is_json_whatever_the_output_can_show(tmp_path: Path) -> None:
    with start(tmp_path, "--json", tree=ARROW.replace("→", "ü 😀")) as process:
        said, complaint = process.communicate(timeout=60)
    assert process.returncode == 0, complaint
    events = [json.loads(line) for line in said.splitlines()]
    assert events[0]["nodes"][-1]["name"] == "shelf ü 😀 table"


def test_a_pipe_that_nobody_reads_ends_a_run_in_virtual_time_with_a_word(tmp_path: Path) -> None:
    with start(tmp_path) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        complaint = process.stderr.read()
        assert process.wait(timeout=60) == 130
    assert complaint == "nobody reads the output any more\n"


@pytest.mark.parametrize(
    ("command", "code"), [(["nodes"], 2), (["run", "arrow.yaml", "--virtual"], 130), (["--help"], 2)]
)
def test_output_that_cannot_be_written_is_told_in_one_line(command: list[str], code: int, tmp_path: Path) -> None:
    (tmp_path / "arrow.yaml").write_text(ARROW)
    with Path("/dev/full").open("w") as full:
        done = _into(command, tmp_path, stdout=full)
    assert done.returncode == code
    assert len(done.stderr.splitlines()) == 1
    assert "No space left on device" in done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-"])
def test_closed_streams_do_not_end_a_run(closed: str, tmp_path: Path) -> None:
    (tmp_path / "arrow.yaml").write_text(ARROW)
    line = f'"{sys.executable}" -m orchestrator.cli run "{tmp_path}/arrow.yaml" --virtual {closed}'
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def _into(command: list[str], folder: Path, stdout: IO[str]) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(Path.cwd())}
    run = [sys.executable, "-m", "orchestrator.cli", *command]
    pipe = subprocess.PIPE
    return subprocess.run(
        run, cwd=folder, env=environment, stdout=stdout, stderr=pipe, text=True, timeout=60, check=False
    )
