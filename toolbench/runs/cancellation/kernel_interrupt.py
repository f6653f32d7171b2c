"""Let Kernel > Interrupt stop background runs too.

ipykernel ignores SIGINT while no cell runs, and installs its own handlers of SIGINT around every
message and every `await` of a cell. So the kernel's loop installs our handler over these handlers,
and while there are background runs, it checks regularly that our handler is still in place. Our
handler also calls the handler that it covers.
"""

import signal
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolbench.runs.control import Active
from toolbench.runs.control import INTERRUPTED
from toolbench.runs.shell import running_shell

# Seconds until the handler is checked again
AGAIN = 0.5


class InterruptWatch:
    """Installs a handler of SIGINT while there are background runs."""

    def __init__(self, runs: "Active") -> None:
        """Make a watch that stops *runs* when the kernel is interrupted."""
        self._runs = runs
        self._watching = False

    def look(self) -> None:
        """Install or remove the handler as needed; any thread may call this. No effect outside a kernel."""
        loop = _kernel_loop()
        if loop is not None:
            loop.add_callback(self._switch, loop)

    def cell_begins(self) -> None:
        """Install the handler before a cell that may `await`: an interrupt stops the cell and the runs."""
        loop = _kernel_loop()
        alone = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if loop is not None and len(self._runs) and not alone:
            self._switch(loop)

    def _switch(self, loop: Any) -> None:
        """Install or remove the handler as needed, in the kernel's loop."""
        if threading.current_thread() is not threading.main_thread():
            return
        installed: Any = signal.getsignal(signal.SIGINT)
        if not len(self._runs):
            while isinstance(installed, _Cover):
                installed = installed.covered
                signal.signal(signal.SIGINT, installed)
            return
        if not isinstance(installed, _Cover):
            signal.signal(signal.SIGINT, _Cover(self._runs, loop, installed))
        if not self._watching:
            self._watching = True
            loop.call_later(AGAIN, self._again, loop)

    def _again(self, loop: Any) -> None:
        self._watching = False
        self._switch(loop)


class _Cover:
    """The handler of SIGINT: it stops the runs, then calls the handler that it covers."""

    def __init__(self, runs: "Active", loop: Any, covered: Any) -> None:
        self._runs, self._loop, self.covered = runs, loop.asyncio_loop, covered

    def __call__(self, number: int, frame: Any) -> None:
        # not here: the interrupted code may hold the locks needed to stop a run
        self._loop.call_soon_threadsafe(self._runs.stop_all, INTERRUPTED)
        # a KeyboardInterrupt must not end the loop
        if callable(self.covered) and self.covered is not signal.default_int_handler:
            self.covered(number, frame)


def _kernel_loop() -> Any:
    return getattr(getattr(running_shell(), "kernel", None), "io_loop", None)
