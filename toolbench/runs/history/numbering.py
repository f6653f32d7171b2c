"""The numbers of runs, by which people refer to them."""

from collections.abc import Callable
from itertools import count


class Numbers:
    """A counter of runs; it continues after the last number of a history read from a file."""

    def __init__(self) -> None:
        """Start: the first run gets the number 1."""
        self.reset()

    def reset(self) -> None:
        """Start again with the number 1, like a new process."""
        self._go_on(1)

    def skip_to(self, number: int) -> None:
        """Continue with the number after *number*, unless the counter is higher already."""
        self._go_on(max(number + 1, self.take()))

    def _go_on(self, number: int) -> None:
        self.take: Callable[[], int] = count(number).__next__
        """Returns the next number."""


numbers = Numbers()
"""The numbers of this process."""
