"""The tokens and cost of each answer, so that a fork can count the answers that it copied."""

from collections.abc import Iterable
from threading import Lock
from typing import Any

from toolbench.llm.models import Usage

Row = tuple[int, int | None, int | None, float | None]


class Spending:
    """The tokens and cost of each answer, and their sum.

    Each answer is kept with the number of the event before the answer.
    """

    def __init__(self) -> None:
        """Make a record without answers; the sum is zero."""
        self._entries: list[tuple[int, Usage]] = []
        self._lock = Lock()
        self.total = Usage()
        """The sum of all answers, as far as the models report it."""

    def add(self, usage: Usage, after: int) -> None:
        """Add *usage*, which was spent after the event number *after*."""
        with self._lock:
            self._entries.append((after, usage))
            self.total += usage

    def before(self, event: int) -> "Spending":
        """Return the part of the spending that came before the event with the number *event*."""
        past = Spending()
        for after, usage in tuple(self._entries):
            if after < event:
                past.add(usage, after)
        return past

    def rows(self) -> list[Row]:
        """Return a row for each answer: the number of the event before, tokens in and out, dollars."""
        entries = tuple(self._entries)
        return [(n, u.input_tokens, u.output_tokens, u.cost) for n, u in entries]

    @classmethod
    def of(cls, rows: Iterable[Any]) -> "Spending":
        """Return the spending in *rows*, which the method `rows` made.

        Raises:
            TypeError: If an item is not a row.
            ValueError: If a row does not have four parts.
        """
        spending = cls()
        for after, read, written, cost in rows:
            spending.add(Usage(read, written, cost).checked(), int(after))
        return spending
