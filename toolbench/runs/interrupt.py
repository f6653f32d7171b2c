"""Let Kernel > Interrupt stop background runs too.

ipykernel ignores SIGINT while no cell runs, and puts its own handlers in place around every
message and every `await` of a cell: so ours is put over them from the kernel's loop, looked
after while there are runs, and passes the signal on to the one it covers.
"""

import signal
import sys
import threading
from typing import Any

from toolbench.runs.active import Active

AGAIN = 0.5  # seconds until it is looked after again


class InterruptWatch:
    """Takes SIGINT while there are background runs."""

    def __init__(self, runs: Active) -> None:
        """Stop *runs* when the kernel is interrupted."""
        self._runs = runs
        self._covered: Any = None
        self._ours: Any = None
        self._watching = False

    def look(self) -> None:
        """See whether SIGINT is still needed; from any thread, does nothing outside a kernel."""
        loop = _kernel_loop()
        if loop is not None:
            loop.add_callback(self._switch, loop)

    def _switch(self, loop: Any) -> None:
        """Put the handler in place or take it away; runs in the kernel's loop."""
        if threading.current_thread() is not threading.main_thread():
            return
        installed = signal.getsignal(signal.SIGINT)
        if not len(self._runs):
            if self._ours is not None and installed is self._ours:
                signal.signal(signal.SIGINT, self._covered)
            self._ours = None
            return
        if self._ours is None or installed is not self._ours:
            self._ours = self._handler(installed)
            self._covered = installed
            signal.signal(signal.SIGINT, self._ours)
        if not self._watching:
            self._watching = True
            loop.call_later(AGAIN, self._again, loop)

    def _again(self, loop: Any) -> None:
        self._watching = False
        self._switch(loop)

    def _handler(self, covered: Any) -> Any:
        def interrupt(number: int, frame: Any) -> None:
            self._runs.stop_all("interrupted")
            if callable(covered):  # a cell goes on at the same time
                covered(number, frame)

        return interrupt


def _kernel_loop() -> Any:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(getattr(shell, "kernel", None), "io_loop", None)
