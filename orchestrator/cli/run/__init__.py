"""`orchestrator run`: a mission, from its check to its end."""

from orchestrator.cli.run.command import run

__all__ = ["run"]
