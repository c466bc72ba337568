"""What became of the intents a run asked for: both ways to the guard keep it the same way."""

from __future__ import annotations

from orchestrator.guard.outputs import ANSWER, NOT_FOLLOWED, Report
from orchestrator.robots.commander import Receipt
from orchestrator.robots.intents import AnyIntent, Stream


class Receipts:
    """Numbers intents, and keeps their receipts up to date with the guard's reports."""

    def __init__(self) -> None:
        self._receipts: dict[int, Receipt] = {}
        self._streams: dict[int, Receipt] = {}
        self._last = 0

    def open(self, intent: AnyIntent) -> tuple[int, Receipt]:
        """A new intent: its number and its receipt."""
        self._last += 1
        receipt = self._receipts[self._last] = Receipt(intent)
        if isinstance(intent, Stream):
            self._streams[self._last] = receipt
        return self._last, receipt

    @property
    def streams(self) -> tuple[int, ...]:
        """The streams the tree still holds: a heartbeat renews them."""
        return tuple(self._streams)

    @property
    def let_through(self) -> tuple[AnyIntent, ...]:
        """Every intent that was not refused."""
        return tuple(receipt.intent for receipt in list(self._receipts.values()) if receipt.state != "refused")

    def release(self, receipt: Receipt) -> int | None:
        """The number of what is no longer wanted, if it still goes on."""
        kept = self._streams if isinstance(receipt.intent, Stream) else self._receipts
        number = next((number for number, each in reversed(list(kept.items())) if each is receipt), None)
        if number is not None:
            self._streams.pop(number, None)
        return number

    def take(self, report: Report, at: float) -> None:
        """The guard said something at this time."""
        receipt = self._receipts.get(report.id)
        if receipt is None:
            return
        if report.kind == "sent" and receipt.state == "pending":
            receipt.sent_at, receipt.state = at, "sent"
        elif report.kind == "evidence":
            receipt.confirmed = True
        elif report.kind == "warning" and report.value == ANSWER:
            receipt.answer = report.text
        elif report.kind in ("refused", "ended"):
            receipt.reason, receipt.not_followed = report.text, report.value == NOT_FOLLOWED
            receipt.state = "refused" if report.kind == "refused" else "ended"
            self._streams.pop(report.id, None)
