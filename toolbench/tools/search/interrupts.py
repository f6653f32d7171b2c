"""Stop what is under way, from another thread."""

from collections.abc import Callable

from toolbench.tools.failure_sentence import RunError


class Interrupts:
    """Counts interrupts; work that began before the last one is interrupted."""

    def __init__(self) -> None:
        """Begin without any."""
        self._count = 0

    def add(self) -> None:
        """Interrupt all that is under way."""
        self._count += 1

    def since_now(self) -> Callable[[], bool]:
        """Return what tells whether there was an interrupt since this call."""
        begun = self._count
        return lambda: self._count != begun


def interrupted() -> RunError:
    """Return what to say of a search that was stopped."""
    return RunError("The search was interrupted. Search a smaller directory, or again.")
