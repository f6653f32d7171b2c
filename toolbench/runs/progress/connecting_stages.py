"""Show the stages of connecting servers, on a line in the cell that waits for them."""

import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from threading import current_thread, main_thread
from time import monotonic
from typing import Any

from toolbench.core.background_loop import portal
from toolbench.display.escape import visible
from toolbench.runs.input_prompt import can_ask_in_cell
from toolbench.runs.kernel import has_kernel
from toolbench.runs.progress.cell_progress import SOON, line

_STAGES = {
    "initialize": "waiting for its first answer",
    "server/discover": "waiting for its first answer",
    "tools/list": "listing its tools",
}
_OVER = ("connected", "failed", "closed")


@contextmanager
def connecting_stages(sessions: Collection[Any]) -> Iterator[None]:
    """In the `with` block, show the stages of connecting *sessions*, if connecting takes long.

    If no person watches, no stage is shown: the output of such notebooks is often compared with the
    saved output. A page on which a person has to authorize is always shown, and at once; outside a
    kernel, and in other threads than the main one, the address of the page is printed to stderr. In
    such threads no stage is shown.
    """
    # Only the thread of the cell may draw
    is_cell = current_thread() is main_thread()
    draw = _drawer(sessions) if is_cell else partial(_print_pages, sessions, set())
    try:
        with portal.drawing(draw):
            yield
    finally:
        for session in sessions:
            line.take(session)


def _drawer(sessions: Collection[Any]) -> Callable[[], None]:
    begun, is_watched = monotonic(), can_ask_in_cell()
    printed: set[str] = set()

    def draw() -> None:
        seconds = monotonic() - begun
        for session in sessions:
            page = session.connection.inbox.authorization_url
            if session.connection.status in _OVER:
                line.take(session)
            elif page:
                # Without seconds: a link that is drawn anew would miss a click
                line.put(session, f"{session.name}: authorize in the browser:", page)
            elif is_watched and seconds >= SOON:
                line.put(session, f"{session.name}: {stage(session)}, {seconds:.0f} s")
        if not has_kernel():
            _print_pages(sessions, printed)

    return draw


def _print_pages(sessions: Collection[Any], printed: set[str]) -> None:
    """Print the pages to authorize on, each once; add them to *printed*."""
    for session in sessions:
        page = session.connection.inbox.authorization_url
        if page and page not in printed:
            printed.add(page)
            text = f"{session.name}: authorize in the browser: {page}"
            sys.stderr.write(f"{visible(text)}\n")


def stage(session: Any) -> str:
    """Return in words what the connecting of *session* is doing now, such as `listing its tools`."""
    if not session.traffic:
        is_process = session.entry.transport == "stdio"
        return "starting the server" if is_process else "reaching the server"
    requests = session.traffic.find(kind="request", direction="sent")
    return _STAGES.get(requests[-1].method if requests else "", "connecting")
