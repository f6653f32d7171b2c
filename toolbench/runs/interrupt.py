"""Let Kernel > Interrupt stop background runs too.

ipykernel ignores SIGINT while no cell runs, and puts its own handler back around every message:
so ours is put in place from the kernel's loop, between two messages.
"""

import signal
import sys
import threading
from collections.abc import Callable, Iterable, Sized
from typing import Any, Protocol

from toolbench.runs.run import Run


class Runs(Sized, Iterable[Run], Protocol):
    """The background runs that are going on."""


class _Handler:
    """The handler in place, and the one it displaced."""

    def __init__(self) -> None:
        self.previous: Any = None
        self.current: Any = None

    def switch(self, runs: Runs, stop: Callable[[Run, str], None]) -> None:
        """Take SIGINT while there are runs, give it back when there are none."""
        if threading.current_thread() is not threading.main_thread():
            return
        installed = signal.getsignal(signal.SIGINT)
        if len(runs) and installed is not self.current:

            def interrupt(number: int, frame: object) -> None:
                for run in runs:
                    stop(run, "interrupted")

            self.previous, self.current = installed, interrupt
            signal.signal(signal.SIGINT, interrupt)
        elif not len(runs) and self.current is not None and installed is self.current:
            signal.signal(signal.SIGINT, self.previous)
            self.current = None


_handler = _Handler()


def watch_interrupts(runs: Runs, stop: Callable[[Run, str], None]) -> None:
    """Look whether *runs* still need SIGINT; from any thread, does nothing outside a kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    loop = getattr(getattr(shell, "kernel", None), "io_loop", None)
    if loop is not None:
        loop.add_callback(_handler.switch, runs, stop)
