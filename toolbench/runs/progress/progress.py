"""The progress of a run, as its executor reports it."""

from dataclasses import dataclass
from math import inf, isfinite
from typing import Self

# Larger floats are not exact to the unit
_EXACT = 1e15


@dataclass(frozen=True)
class Progress:
    """The progress of a run: *value* of *total*, in any unit, and a *message* on the present work."""

    value: float = 0.0
    total: float | None = None
    message: str = ""

    @classmethod
    def of(cls, value: float, total: float | None, message: str) -> Self:
        """Return the progress for numbers of any size, as an executor or a server reports them."""
        return cls(_float(value), None if total is None else _float(total), message)

    @property
    def share(self) -> float | None:
        """The part of the work that is done, between 0 and 1; None if this is unknown."""
        if not self.total or not isfinite(self.total) or not isfinite(self.value):
            return None
        return min(max(self.value / self.total, 0.0), 1.0)

    @property
    def counted(self) -> str:
        """The numbers as a person reads them: `3 of 10`, or `3`, or an empty text."""
        if self.total:
            return f"{_read(self.value)} of {_read(self.total)}"
        return _read(self.value) if self.value else ""

    @property
    def text(self) -> str:
        """The message and the numbers, in one line."""
        return " · ".join(filter(None, (self.message, self.counted)))


def _float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        # An integer of more than 308 digits
        return inf if number > 0 else -inf


def _read(number: float) -> str:
    is_whole = number == round(number) if isfinite(number) else False
    if is_whole and abs(number) < _EXACT:
        return f"{number:,.0f}"
    return f"{number:.4g}"
