"""Stop searches that are running, from another thread."""

from collections.abc import Callable

from toolbench.tools.failure_sentence import RunError


class Interrupts:
    """A counter of interrupts. An interrupt stops all work that began before the interrupt."""

    def __init__(self) -> None:
        """Start without interrupts."""
        self._count = 0

    def add(self) -> None:
        """Interrupt all work that is running."""
        self._count += 1

    def since_now(self) -> Callable[[], bool]:
        """Return a function that returns True after the next interrupt."""
        begun = self._count
        return lambda: self._count != begun


def interrupted() -> RunError:
    """Return the error of a search that was stopped."""
    return RunError("The search was interrupted. Search a smaller directory, or again.")
