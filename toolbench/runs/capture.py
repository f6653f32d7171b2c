"""Send what a background run prints, logs, warns and displays to that run."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from toolbench.runs.routing import routing
from toolbench.runs.run import Run


@contextmanager
def captured(run: Run) -> Iterator[None]:
    """Send what this thread, and threads it starts, print, log and display to *run*."""
    publisher = _publisher()
    keep = _keeping(run)
    routing.acquire()
    if publisher is not None:
        publisher.register_hook(keep)  # thread-local in ipykernel
    try:
        yield
    finally:
        if publisher is not None:
            publisher.unregister_hook(keep)
        routing.release()


def _publisher() -> Any:
    """IPython's display publisher, where it has ipykernel's thread-local hooks."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    publisher = getattr(shell, "display_pub", None)
    return publisher if hasattr(publisher, "register_hook") else None


def _keeping(run: Run) -> Callable[[dict[str, Any]], None]:
    def keep(message: dict[str, Any]) -> None:
        data = message["content"].get("data", {})
        run.write("display", data.get("text/plain", "") + "\n")

    return keep
