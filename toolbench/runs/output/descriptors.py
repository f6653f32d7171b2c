"""Hide the secrets of runs in output that reaches a kernel's stream through a file descriptor.

A process that a tool starts writes to the descriptor it inherits, and so does C code. A thread of
ipykernel reads this output and writes it to the stream. It is not known which run wrote it.
"""

from collections.abc import Callable
from threading import RLock, Timer
from weakref import WeakSet

from toolbench.redaction.remembered_secrets import remembered

# Seconds without new output; then text that was held back is shown
PAUSE = 1.0


class DescriptorOutput:
    """The output of one stream's file descriptor, with the secrets of all runs hidden.

    It is not known which run wrote a text, so short secrets of all runs of the cell are hidden.
    Text that may be the beginning of a secret is held back until more text comes, the cell ends, or
    no text comes for a while.
    """

    def __init__(self, write: Callable[[str], int]) -> None:
        """Make an output that passes each text without secrets to *write*."""
        self._write = write
        self._stream = remembered.redactor_of_cell.stream()
        self._timer: Timer | None = None
        # reentrant: an object deleted while it is held may print too
        self._lock = RLock()
        _outputs.add(self)

    def write(self, text: str) -> None:
        """Add *text*, which was read from the descriptor."""
        with self._lock:
            self._stream.redactor = remembered.redactor_of_cell
            safe_text = self._stream.feed(text)
            if safe_text:
                self._write(safe_text)
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._stream.held:
                self._timer = Timer(PAUSE, self.flush)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Show the text that is held back."""
        with self._lock:
            if rest := self._stream.flush():
                self._write(rest)


def flush_descriptors() -> None:
    """Show the text of all streams that is still held back, and forget the short secrets of the cell.

    To be called at the end of a cell.
    """
    for output in list(_outputs):
        output.flush()
    remembered.end_cell()


_outputs: WeakSet[DescriptorOutput] = WeakSet()
