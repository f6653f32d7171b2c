"""What a run printed: the first part and the last, however much there was."""

from collections import deque
from threading import Lock
from typing import NamedTuple

LIMIT = 200_000  # characters kept, half at each end


class Chunk(NamedTuple):
    """A piece of output."""

    stream: str
    """`stdout`, `stderr`, `log` or `display`."""
    text: str


class Output:
    """The output of a run, in order; the middle of a flood is counted, not kept."""

    def __init__(self, limit: int = LIMIT) -> None:
        """Keep at most *limit* characters."""
        self._half = limit // 2
        self._head: list[Chunk] = []
        self._tail: deque[Chunk] = deque()
        self._head_size = self._tail_size = self.omitted = 0
        self._lock = Lock()

    def write(self, stream: str, text: str) -> None:
        """Add *text*."""
        with self._lock:
            room = max(self._half - self._head_size, 0)
            if room:
                self._head.append(Chunk(stream, text[:room]))
                self._head_size += len(text[:room])
            rest = text[room:]
            if not rest:
                return
            kept = rest[-self._half :]
            self.omitted += len(rest) - len(kept)
            self._tail.append(Chunk(stream, kept))
            self._tail_size += len(kept)
            while self._tail_size - len(self._tail[0].text) >= self._half:
                gone = self._tail.popleft()
                self._tail_size -= len(gone.text)
                self.omitted += len(gone.text)

    def chunks(self) -> list[Chunk]:
        """Return what was kept, a note in place of what was not."""
        with self._lock:
            gap = f"\n… {self.omitted:,} characters left out …\n"
            middle = [Chunk("log", gap)] if self.omitted else []
            return [*self._head, *middle, *self._tail]

    @property
    def text(self) -> str:
        """All of it, as one text."""
        return "".join(chunk.text for chunk in self.chunks())
