"""What the models of one conversation took, and when: so a fork knows what its past cost."""

from collections.abc import Iterable
from threading import Lock
from typing import Any

from toolbench.llm.models import Usage

Row = tuple[int, int | None, int | None, float | None]


class Spending:
    """Adds up what answers took; each is noted with the number of the event before it."""

    def __init__(self) -> None:
        """Nothing was spent yet."""
        self._entries: list[tuple[int, Usage]] = []
        self._lock = Lock()
        self.total = Usage()
        """What all of it took, as far as the models say."""

    def add(self, usage: Usage, after: int) -> None:
        """Add *usage*, which was spent after the event number *after*."""
        with self._lock:
            self._entries.append((after, usage))
            self.total += usage

    def before(self, event: int) -> "Spending":
        """Return what was spent before the event number *event* was there."""
        past = Spending()
        for after, usage in tuple(self._entries):
            if after < event:
                past.add(usage, after)
        return past

    def rows(self) -> list[Row]:
        """Return all of it as numbers: the event before, tokens read and written, dollars."""
        entries = tuple(self._entries)
        return [(n, u.input_tokens, u.output_tokens, u.cost) for n, u in entries]

    @classmethod
    def of(cls, rows: Iterable[Any]) -> "Spending":
        """Return what *rows* say, as `rows` wrote them.

        Raises:
            TypeError: If a row is none.
            ValueError: If a row has not four parts.
        """
        spending = cls()
        for after, read, written, cost in rows:
            spending.add(Usage(read, written, cost).checked(), int(after))
        return spending
