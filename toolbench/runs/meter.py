"""How far a run is, on a line of the cell that waits for it, once that takes a while."""

from threading import current_thread, main_thread
from time import monotonic
from typing import Any, Self
from uuid import uuid4

from toolbench.display.escape import NO_MATHS, escape, visible
from toolbench.runs.progress import Progress
from toolbench.runs.shell import running_shell

SOON = 1.0  # seconds of work before anything is shown
EVERY = 0.25  # seconds from one drawing to the next
_NOTHING = {"text/plain": "", "text/html": ""}


class Meter:
    """One line among the outputs of a cell, drawn by the cell's own thread.

    What other threads display, front ends lose or put elsewhere: they only leave the progress
    here, and whoever waits for the run draws it.
    """

    def __init__(self, name: str, publish: Any) -> None:
        """Draw for the tool *name* through *publish*, IPython's `DisplayPublisher.publish`."""
        self._name = name
        self._publish = publish
        self._due = monotonic() + SOON
        self._id = ""

    @classmethod
    def here(cls, name: str) -> Self | None:
        """Return a meter for the cell this thread runs; None where there is no such cell."""
        shell = running_shell()
        kernel = getattr(shell, "kernel", None)  # a terminal has no line to draw again
        if kernel is None or current_thread() is not main_thread():
            return None
        in_a_cell = kernel.get_parent().get("msg_type") == "execute_request"
        return cls(name, shell.display_pub.publish) if in_a_cell else None

    def draw(self, progress: Progress) -> None:
        """Show *progress*, if there is any and it is time to."""
        if progress == Progress() or monotonic() < self._due:
            return
        if current_thread() is not main_thread():
            return
        self._due = monotonic() + EVERY
        words = filter(None, (progress.message, progress.counted))
        said = visible(f"{self._name}: {' · '.join(words)}")
        self._show(
            {"text/plain": said, "text/html": f"<div {NO_MATHS}>{escape(said)}</div>"}
        )

    def erase(self) -> None:
        """Show nothing any more; call it in the cell's thread too."""
        if self._id and current_thread() is main_thread():
            self._show(_NOTHING)

    def _show(self, data: dict[str, str]) -> None:
        known, self._id = bool(self._id), self._id or uuid4().hex
        self._publish(data, transient={"display_id": self._id}, update=known)
