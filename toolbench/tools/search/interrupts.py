"""Stop searches that are running, from another thread."""

from collections.abc import Callable

from toolbench.tools.failure_sentence import RunError


class Interrupts:
    """Counts interrupts. An interrupt stops all searches that began before it."""

    def __init__(self) -> None:
        """Begin with the count 0."""
        self._count = 0

    def add(self) -> None:
        """Interrupt all searches that are running."""
        self._count += 1

    def since_now(self) -> Callable[[], bool]:
        """Return a function for a search that begins now: it returns True after the next interrupt."""
        begun = self._count
        return lambda: self._count != begun


def interrupted() -> RunError:
    """Return the error of a search that was stopped."""
    return RunError("The search was interrupted. Search a smaller directory, or again.")
