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
