"""Do what a click asks for once the last keys are here."""

from collections.abc import Callable
from threading import Lock
from time import monotonic

from toolbench.widgets.kit.ticker import ticker

QUIET = 0.3  # seconds without an edit before a click counts


class Debounce:
    """Knows when a form was edited last.

    ipywidgets holds a field's news back until the kernel has answered the one before, but
    not a click: a quick person's click overtakes the end of what they typed.
    """

    def __init__(self) -> None:
        """Nothing was edited yet."""
        self._last_edit = 0.0
        self._waiting = False
        self._lock = Lock()

    def edited(self) -> None:
        """Note that something was edited just now."""
        self._last_edit = monotonic()

    def then(self, act: Callable[[], object]) -> None:
        """Call *act* when it is quiet: at once, or later in another thread.

        Does nothing while one waits already: a second click asks for the same again.
        """
        with self._lock:
            if self._waiting:
                return
            self._waiting = True

        def go() -> bool:
            if monotonic() - self._last_edit < QUIET:
                return True
            self._waiting = False
            act()
            return False

        if go():
            ticker.watch(go)
