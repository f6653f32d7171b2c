"""How far a run is, as its executor says."""

from dataclasses import dataclass
from math import isnan, nan


@dataclass(frozen=True)
class Progress:
    """How far a run is: *value* of *total*, in whatever unit, and what is being done."""

    value: float = 0.0
    total: float | None = None
    message: str = ""

    @property
    def share(self) -> float | None:
        """How much of the work is done, between 0 and 1, if that can be told."""
        share = self.value / self.total if self.total else nan
        return None if isnan(share) else min(max(share, 0.0), 1.0)  # no JSON has a nan

    @property
    def counted(self) -> str:
        """The numbers as a person reads them: `3 of 10`, or `3`, or nothing."""
        if self.total:
            return f"{self.value:g} of {self.total:g}"
        return f"{self.value:g}" if self.value else ""
