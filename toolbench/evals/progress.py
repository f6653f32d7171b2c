"""Show the progress of an evaluation or a sweep on a line of its cell."""

from collections.abc import Callable, Iterable
from time import monotonic
from warnings import warn

from toolbench.runs.progress import EVERY, line

OnProgress = Callable[[str], object]


QUIET = 60.0
"""The seconds without a finished task after which the line says so."""
SOON = 3.0
"""The seconds of work after which the line appears."""


def announce(notes: Iterable[str], on_progress: OnProgress | None) -> None:
    """Pass *notes* to *on_progress*; if it is None, warn, as if the caller's caller did so."""
    for note in notes:
        if on_progress is None:
            warn(note, stacklevel=3)
        else:
            on_progress(note)


class ProgressLine:
    """A line that shows the number of finished and remaining tasks, and the time left."""

    def __init__(
        self,
        name: str,
        total: int,
        on_progress: OnProgress | None = None,
        *,
        estimate: object = "",
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Show the progress of *total* tasks, after the texts *name* and *estimate*.

        *on_progress* is called with each text, even before the line appears in the cell. *clock*
        returns the time in seconds.
        """
        self._estimate = f"{estimate}; " if estimate else ""
        self._name, self._total, self._on_progress = name, total, on_progress
        self.done = self.errors = 0
        self.cost: float | None = None
        self._clock = clock
        self._began = self._last = clock()
        self._last_done = 0
        self._due = 0.0

    @property
    def text(self) -> str:
        """The progress: `12 of 40, 28 left, about 3 s`."""
        left = self._total - self.done
        parts = [f"{self.done:,} of {self._total:,}", f"{left:,} left"]
        if self.done and left:
            seconds = (self._clock() - self._began) / self.done * left
            parts.append(f"about {_time(seconds)}")
        if self.errors:
            parts.append(f"{self.errors:,} without an answer")
        if self.cost is not None:
            parts.append(f"{self.cost:.4f} dollars so far")
        if left and (silent := self._silence()) >= QUIET:
            parts.append(
                f"no result for {_time(silent)} (is a worker running? After an interrupt, "
                "finished results are kept)"
            )
        return f"{self._name}: {self._estimate}{', '.join(parts)}"

    def _silence(self) -> float:
        """Return the seconds since the last task ended."""
        if self.done != self._last_done:
            self._last, self._last_done = self._clock(), self.done
        return self._clock() - self._last

    def show(self, text: str) -> None:
        """Pass *text* to *on_progress*, and show it in the cell after `SOON` seconds of work."""
        if self._clock() - self._began >= SOON:
            line.put(self, text)
        if self._on_progress is not None:
            self._on_progress(text)

    def draw(self) -> None:
        """Show the progress, at most a few times a second."""
        now = self._clock()
        if now >= self._due:
            self._due = now + EVERY
            self.show(self.text)

    def erase(self) -> None:
        """Remove the line."""
        line.take(self)


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5_400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3_600:.1f} h"
