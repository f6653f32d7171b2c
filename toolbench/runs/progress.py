"""The progress that an executor reports, and the line of a cell that shows it.

`ProgressView` shows the progress of one run on the line that all runs of a cell share.
`connecting_stages` shows on that line what a connecting server is doing.
"""

import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from math import isfinite
from queue import Empty, SimpleQueue
from threading import current_thread, main_thread
from time import monotonic
from typing import Any, TypeVar
from uuid import uuid4

from toolbench.core.background_loop import portal
from toolbench.display.caps import shorten
from toolbench.display.escape import NO_MATHS, escape, link, visible
from toolbench.runs.input_prompt import can_ask_in_cell
from toolbench.runs.kernel import has_kernel, running_shell
from toolbench.runs.output import sink_here

# Larger floats are not exact to the unit
_EXACT = 1e15


@dataclass(frozen=True)
class Progress:
    """The progress of a run: *value* of *total*, in any unit, and a *message* on the step."""

    value: float = 0.0
    total: float | None = None
    message: str = ""

    @property
    def share(self) -> float | None:
        """The fraction of the work that is done, between 0 and 1; None if it is unknown."""
        if not self.total or not isfinite(self.total) or not isfinite(self.value):
            return None
        return min(max(self.value / self.total, 0.0), 1.0)

    @property
    def counted(self) -> str:
        """The numbers as the user sees them: `3 of 10`, or `3`, or an empty string."""
        if self.total:
            return f"{_read(self.value)} of {_read(self.total)}"
        if self.value:
            return _read(self.value)
        return ""

    @property
    def text(self) -> str:
        """The message and the numbers, in one line."""
        return " · ".join(filter(None, (self.message, self.counted)))


def _read(number: float) -> str:
    if isfinite(number) and abs(number) < _EXACT and number == round(number):
        return f"{number:,.0f}"
    return f"{number:.4g}"


# Seconds after the first report of progress until the line appears
SOON = 1.0
# Seconds between drawings
EVERY = 0.25
# Characters
_WIDTH = 200

T = TypeVar("T")


class ProgressView:
    """The progress of one run, shown in the cell that waits for the run.

    Any thread may set `state`. But only the main thread, which waits for the run, draws the
    progress, because front ends lose or misplace output that other threads display.
    """

    in_cell = False
    """Whether the thread that created the run waits for it, such as the thread of a cell."""

    def __init__(self, name: str) -> None:
        """Begin without progress, for a run of the tool *name*."""
        self.state = Progress()
        """The latest report of the executor."""
        self._name = name
        self._due: float | None = None

    @property
    def drawer(self) -> Callable[[], None] | None:
        """The method `draw`, to be called regularly in a wait; None if this thread cannot draw."""
        is_cell = self.in_cell and current_thread() is main_thread()
        if not is_cell or getattr(running_shell(), "kernel", None) is None:
            return None
        return self.draw

    def draw(self) -> None:
        """Show the progress on the cell's line, unless there is none or it was drawn a moment ago.

        Outside a cell or in another thread, this does nothing.
        """
        now = monotonic()
        is_early = self._due is not None and now < self._due
        if is_early or self.drawer is None or not (text := self.state.text):
            return
        if self._due is None:
            self._due = now + SOON
        if now >= self._due:
            self._due = now + EVERY
            line.put(self, f"{self._name}: {text}")

    def erase(self) -> None:
        """Remove the progress from the line; in threads other than the main thread, do nothing."""
        if self._due is not None and current_thread() is main_thread():
            line.take(self)


class Line:
    """The line of text that all runs of a cell share; it is cleared when the cell ends."""

    def __init__(self) -> None:
        """Create an empty line that belongs to no cell yet."""
        self.reset()

    def reset(self) -> None:
        """Forget the cell and the text of its line."""
        self._shell: Any = None
        self._cell = ""
        # The last cell that has ended; its tasks may still be running
        self._ended = ""
        self._display = ""
        self._text = ""
        self._texts: dict[object, str] = {}
        self._pages: dict[object, str] = {}

    @property
    def is_empty(self) -> bool:
        """Whether the line has no text."""
        return not self._text

    def put(self, key: object, text: str, page: str = "") -> None:
        """Show *text* for the object *key* on the line, and a link to *page* if there is one."""
        shell = running_shell()
        cell = _cell_of(shell)
        if not cell or cell == self._ended:
            return
        if cell != self._cell:
            self.reset()
            self._shell, self._cell = shell, cell
            shell.events.register("post_run_cell", self._end)
        self._texts[key] = shorten(" ".join(text.split()), _WIDTH)
        self._pages[key] = page
        self._show()

    def take(self, key: object) -> None:
        """Remove the text that `put` showed for *key*."""
        self._pages.pop(key, None)
        if self._texts.pop(key, None) is not None:
            self._show()

    def _end(self, *_: object) -> None:
        self._shell.events.unregister("post_run_cell", self._end)
        self._texts.clear()
        self._pages.clear()
        self._show()
        self._ended = self._cell

    def _show(self) -> None:
        line = visible(shorten("  |  ".join(self._texts.values()), _WIDTH))
        pages = [visible(page) for page in self._pages.values() if page]
        text = "\n".join([line, *pages])
        if text == self._text:
            return
        parts = [escape(line), *(link(page, escape(page)) for page in pages)]
        inner = "<br>".join(parts)
        # Addresses are long and have no spaces
        style = "overflow-wrap:anywhere"
        html = ""
        if text:
            html = f'<div {NO_MATHS} style="{style}">{inner}</div>'
        known, self._display = bool(self._display), self._display or uuid4().hex
        self._text = text
        # A line that cannot be shown must not fail the work
        with suppress(Exception):
            self._shell.display_pub.publish(
                {"text/plain": text, "text/html": html},
                transient={"display_id": self._display},
                update=known,
            )


def _cell_of(shell: Any) -> str:
    """Return the message id of the cell that *shell* is running; empty if it cannot show a line.

    A click on a widget does not run a cell, and neither does code in the IPython tool. If the
    output of the cell is captured, for example by `%%capture`, no line is shown, because it would
    be captured too.
    """
    if sink_here() is not None:
        return ""
    ask = getattr(getattr(shell, "kernel", None), "get_parent", None)
    if ask is None or not type(shell.display_pub).__module__.startswith("ipykernel"):
        return ""
    parent = ask()
    if parent.get("msg_type") != "execute_request":
        return ""
    return str(parent["header"]["msg_id"])


line = Line()
"""The line of the cell that is running."""


def wait(queue: "SimpleQueue[T]", draw: Callable[[], object] | None) -> T:
    """Return the next item of *queue*; call *draw* regularly until there is one."""
    while draw is not None:
        with suppress(Empty):
            return queue.get(timeout=EVERY)
        draw()
    return queue.get()


_STAGES = {
    "initialize": "waiting for its first answer",
    "server/discover": "waiting for its first answer",
    "tools/list": "listing its tools",
}
_OVER = ("connected", "failed", "closed")


@contextmanager
def connecting_stages(sessions: Collection[Any]) -> Iterator[None]:
    """Within the `with` block, show the stages of connecting *sessions* if connecting takes long.

    Only the main thread shows stages, and only if a user is watching. The output of a notebook that
    runs without a user is often compared with the saved output, so it must not contain stages.

    If the user has to authorize access on a web page, the link to this page is always shown
    immediately. Outside a kernel, and in other threads, the address of the page is printed to
    stderr.
    """
    # Only the thread of the cell may draw
    is_cell = current_thread() is main_thread()
    draw: Callable[[], None] = partial(_print_pages, sessions, set())
    if is_cell:
        draw = _drawer(sessions)
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
                # Without seconds: a link that is redrawn would miss a click
                line.put(session, f"{session.name}: authorize in the browser:", page)
            elif is_watched and seconds >= SOON:
                line.put(session, f"{session.name}: {stage(session)}, {seconds:.0f} s")
        if not has_kernel():
            _print_pages(sessions, printed)

    return draw


def _print_pages(sessions: Collection[Any], printed: set[str]) -> None:
    """Print the address of each page on which to authorize, if it is not in *printed* yet."""
    for session in sessions:
        page = session.connection.inbox.authorization_url
        if page and page not in printed:
            printed.add(page)
            text = f"{session.name}: authorize in the browser: {page}"
            sys.stderr.write(f"{visible(text)}\n")


def stage(session: Any) -> str:
    """Return in words what *session* is doing to connect, such as `listing its tools`."""
    if not session.traffic and session.entry.transport == "stdio":
        return "starting the server"
    if not session.traffic:
        return "reaching the server"
    requests = session.traffic.find(kind="request", direction="sent")
    if not requests:
        return "connecting"
    return _STAGES.get(requests[-1].method, "connecting")
