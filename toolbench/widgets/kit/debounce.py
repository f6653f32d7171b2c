"""Delay the effect of a click until the last typed keys have arrived."""

from collections.abc import Callable
from threading import Lock
from time import monotonic

from toolbench.runs.kernel_loop.loop_timer import later
from toolbench.widgets.kit.ticker import ticker

QUIET = 0.3  # seconds after the last edit before a click takes effect


class Debounce:
    """A delay of actions until a form was not edited for a moment.

    ipywidgets sends a field's change only after the kernel has answered the change before,
    but it sends a click at once. So a quick click arrives before the last typed keys.
    """

    def __init__(self) -> None:
        """Start without an edit."""
        self._last_edit = 0.0
        self._waiting = False
        self._lock = Lock()

    def edited(self) -> None:
        """Note an edit now."""
        self._last_edit = monotonic()

    def then(self, act: Callable[[], object]) -> None:
        """Call *act* once there are no edits: at once, or later in another thread.

        Do nothing while an earlier call waits, as a second click asks for the same.
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
            later(QUIET - (monotonic() - self._last_edit), ticker.look_now)
