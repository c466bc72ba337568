"""`python -m orchestrator.cli` is `orchestrator`."""

from orchestrator.cli import main

main()
