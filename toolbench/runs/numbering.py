"""The numbers of runs, by which people refer to them."""

from collections.abc import Callable
from itertools import count


class Numbers:
    """A counter that numbers the runs; `skip_to` skips the numbers of a history file."""

    def __init__(self) -> None:
        """Make a counter whose first number is 1."""
        self.reset()

    def reset(self) -> None:
        """Continue with the number 1, like a new process."""
        self._go_on(1)

    def skip_to(self, number: int) -> None:
        """Continue with the number after *number*, unless the next number is higher already."""
        self._go_on(max(number + 1, self.take()))

    def _go_on(self, number: int) -> None:
        self.take: Callable[[], int] = count(number).__next__
        """Returns the number of the next run."""


numbers = Numbers()
"""The counter of this process."""
