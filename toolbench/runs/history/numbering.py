"""The numbers by which people name runs."""

from collections.abc import Callable
from itertools import count


class Numbers:
    """Numbers runs; a history read from a file continues where that left off."""

    def __init__(self) -> None:
        """Begin with 1."""
        self.reset()

    def reset(self) -> None:
        """Begin again with 1, as a new process does."""
        self._go_on(1)

    def skip_to(self, number: int) -> None:
        """Give no number up to *number* any more."""
        self._go_on(max(number + 1, self.take()))

    def _go_on(self, number: int) -> None:
        self.take: Callable[[], int] = count(number).__next__
        """Returns the next number."""


numbers = Numbers()
"""The numbers of this process."""
