"""The command line. Heavy imports happen inside the command that needs them."""

from orchestrator.cli.app import main

__all__ = ["main"]
