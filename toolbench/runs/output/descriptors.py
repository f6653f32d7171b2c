"""Hide the secrets of runs in what reaches a stream of the kernel by its file descriptor.

A process that a tool starts writes to the descriptor it inherits, and so does C code. A thread
of ipykernel reads that and writes it to the stream; of which run it is, is unknown.
"""

from collections.abc import Callable
from threading import RLock, Timer
from weakref import WeakSet

from toolbench.redaction.remembered import remembered

PAUSE = 1.0  # seconds: what is held back is shown when nothing followed for so long


class DescriptorOutput:
    """What one stream got by its descriptor, with the secrets of all runs hidden.

    What may be the beginning of a secret is held back until more comes, the cell ends, or
    nothing came for a while.
    """

    def __init__(self, write: Callable[[str], int]) -> None:
        """Give *write* what can be shown."""
        self._write = write
        self._stream = remembered.redactor.stream()
        self._timer: Timer | None = None
        # what is collected as garbage while it is held may print too
        self._lock = RLock()
        _outputs.add(self)

    def write(self, text: str) -> None:
        """Take *text*."""
        with self._lock:
            self._stream.redactor = remembered.redactor
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
        """Show what is held back."""
        with self._lock:
            if rest := self._stream.flush():
                self._write(rest)


def flush_descriptors() -> None:
    """Show what is held back of all streams, as it is right when a cell ends."""
    for output in list(_outputs):
        output.flush()


_outputs: WeakSet[DescriptorOutput] = WeakSet()
