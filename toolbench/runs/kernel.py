"""The IPython shell and kernel of this process, if any: their cells, interrupts and end.

Kernel > Interrupt also stops background runs. ipykernel ignores SIGINT while no cell runs, and
installs its own SIGINT handlers around every message and every `await` of a cell. So the kernel's
loop installs our handler over theirs, and checks regularly that it is still in place while there
are background runs. Our handler also calls the handler that it replaces.
"""

import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolbench.runs.control import BackgroundRuns


def running_shell() -> Any:
    """Return the running IPython shell, or None, without importing IPython."""
    ipython = sys.modules.get("IPython")
    if ipython is None:
        return None
    return ipython.get_ipython()


def has_kernel() -> bool:
    """Tell whether this process is a Jupyter kernel; a terminal's shell, for example, is not."""
    return hasattr(running_shell(), "kernel")


def running_cell(shell: Any) -> str | None:
    """Return the front end's id of the cell that *shell* is running; None without such a cell."""
    ask = getattr(getattr(shell, "kernel", None), "get_parent", None)
    if ask is None:
        return None
    # The request that the kernel is answering, if the front end named the cell
    match ask():
        case {"metadata": {"cellId": str(cell_id)}}:
            return cell_id
    return None


def notebook_folder() -> Path:
    """Return the notebook's folder, even after `%cd`; the current folder if no server names it."""
    folder = Path(os.environ.get("JPY_SESSION_NAME", "")).parent
    if folder.is_absolute() and folder.is_dir():
        return folder
    return Path.cwd()


# Seconds until the handler is checked again
AGAIN = 0.5
# And while a message is handled: after it, ipykernel puts back the handler from before it
AGAIN_IN_MESSAGE = 0.02


class InterruptWatch:
    """Installs a handler of SIGINT while there are background runs."""

    def __init__(self, runs: "BackgroundRuns") -> None:
        """Make a watch that stops *runs* when the kernel is interrupted."""
        self._runs = runs
        self._next_check: Any = None

    def look(self) -> None:
        """Install or remove the handler as needed, from any thread; do nothing outside a kernel."""
        loop = _kernel_loop()
        if loop is not None:
            loop.add_callback(self._switch, loop)

    def cell_begins(self) -> None:
        """Install the handler before a cell that may `await`, so an interrupt stops the runs."""
        loop = _kernel_loop()
        alone = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if loop is not None and len(self._runs) and not alone:
            self._switch(loop)

    def _switch(self, loop: Any) -> None:
        """Install or remove the handler as needed; called in the kernel's loop."""
        if threading.current_thread() is not threading.main_thread():
            return
        if self._next_check is not None:
            loop.remove_timeout(self._next_check)
            self._next_check = None
        installed: Any = signal.getsignal(signal.SIGINT)
        if not len(self._runs):
            while isinstance(installed, _Cover):
                installed = installed.covered
                signal.signal(signal.SIGINT, installed)
            return
        if not isinstance(installed, _Cover):
            installed = _Cover(self._runs, loop, installed)
            signal.signal(signal.SIGINT, installed)
        wait = AGAIN
        if installed.covered is signal.default_int_handler:
            wait = AGAIN_IN_MESSAGE
        self._next_check = loop.call_later(wait, self._switch, loop)


class _Cover:
    """The handler of SIGINT: stops the background runs, then calls the handler that it replaces."""

    def __init__(self, runs: "BackgroundRuns", loop: Any, covered: Any) -> None:
        self._runs, self._loop, self.covered = runs, loop.asyncio_loop, covered

    def __call__(self, number: int, frame: Any) -> None:
        # not here: the interrupted code may hold the locks needed to stop a run
        self._loop.call_soon_threadsafe(self._runs.interrupt)
        # a KeyboardInterrupt must not end the loop
        if callable(self.covered) and self.covered is not signal.default_int_handler:
            self.covered(number, frame)


def _kernel_loop() -> Any:
    return getattr(getattr(running_shell(), "kernel", None), "io_loop", None)
