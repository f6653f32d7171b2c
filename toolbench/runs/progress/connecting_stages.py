"""The stages of connecting a server, on a line of the cell that waits for it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from toolbench.core.background_loop import portal
from toolbench.runs.input_prompt import can_ask_in_cell
from toolbench.runs.progress.cell_progress import SOON, line

_STAGES = {
    "initialize": "waiting for its first answer",
    "server/discover": "waiting for its first answer",
    "tools/list": "listing its tools",
}


@contextmanager
def connecting_stages(name: str, session: Callable[[], Any]) -> Iterator[None]:
    """Show the stages of connecting the server *name* during the `with` block, if it takes long.

    Nothing is shown if no person watches: the output of such notebooks is often compared with the
    saved output.

    Args:
        name: The name of the server.
        session: Returns the server's session; None if it does not exist yet.
    """
    if not can_ask_in_cell():
        yield
        return
    begun, key = monotonic(), object()

    def draw() -> None:
        seconds = monotonic() - begun
        if seconds >= SOON:
            line.put(key, f"{name}: {stage(session())}, {seconds:.0f} s")

    try:
        with portal.drawing(draw):
            yield
    finally:
        line.take(key)


def stage(session: Any) -> str:
    """Return the present stage of connecting *session*, in words."""
    if session is not None and (page := session.connection.inbox.authorization_url):
        return f"authorize in the browser: {page}"
    if session is None or not session.traffic:
        return "starting the server" if _is_process(session) else "reaching the server"
    requests = session.traffic.find(kind="request", direction="sent")
    return _STAGES.get(requests[-1].method if requests else "", "connecting")


def _is_process(session: Any) -> bool:
    return session is None or session.entry.transport == "stdio"
