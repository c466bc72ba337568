"""`orchestrator exchange`: every topic to a second process and back, shown as it happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from orchestrator.bus.exchange import Exchanged


def exchange() -> None:
    """Send every topic to a second process and back: does DDS work on this machine?"""
    from rich.console import Console

    from orchestrator.bus.contract import BusError
    from orchestrator.bus.exchange import exchange

    console = Console(highlight=False)
    console.print("Every topic of every robot goes to another process over DDS, and back.")
    good = total = 0
    try:
        for row in exchange():
            console.print(_line(row), soft_wrap=True)
            good, total = good + row.same, total + 1
    except BusError as error:
        console.print(f"error: {error}", style="red", soft_wrap=True)
        raise typer.Exit(1) from None
    console.print(f"{good} of {total} topics came back unchanged.", style="green" if good == total else "red")
    raise typer.Exit(0 if good == total else 1)


def _line(row: Exchanged) -> str:
    took = "no answer" if row.round_trip is None else f"{row.round_trip * 1e6:.0f} µs"
    verdict = "[green]same[/]" if row.same else "[red]different[/]"
    return f"{row.label:48}{row.topic.type.__name__:28}{row.size:6} bytes {took:>10}  {verdict}"
