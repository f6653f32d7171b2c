"""What a run printed and displayed: the first part and the last, however much there was."""

from collections import deque
from collections.abc import Mapping
from threading import Lock
from typing import Any, NamedTuple

from toolbench.display.bundles import bundle_html, bundle_text
from toolbench.display.escape import Html

LIMIT = 200_000  # characters kept, half at each end
RICH_LIMIT = 5_000_000  # characters of markup kept of what was displayed


class Chunk(NamedTuple):
    """A piece of output."""

    stream: str
    """`stdout`, `stderr`, `log` or `display`."""
    text: str
    html: Html = Html("")
    """How it looks, if it was displayed and is more than text."""


class Output:
    """The output of a run, in order; the middle of a flood is counted, not kept."""

    def __init__(self, limit: int = LIMIT) -> None:
        """Keep at most *limit* characters."""
        self._half = limit // 2
        self._head: list[Chunk] = []
        self._tail: deque[Chunk] = deque()
        self._head_size = self._tail_size = self.omitted = 0
        self._rich_room = RICH_LIMIT
        self._updatable: dict[str, Chunk] = {}
        self._lock = Lock()

    def write(self, stream: str, text: str) -> None:
        """Add *text*."""
        with self._lock:
            self._write(stream, text)

    def show(self, data: Mapping[str, Any], name: str | None = None) -> None:
        """Add a displayed mime bundle.

        Args:
            data: The bundle.
            name: Its display id; an earlier one of that name is replaced.
        """
        text = bundle_text(data)
        html = bundle_html(data)
        with self._lock:
            chunk = Chunk("display", f"{text}\n", self._affordable(html))
            if name is not None:
                earlier = self._updatable.get(name)
                self._updatable[name] = chunk
                if earlier is not None and self._replace(earlier, chunk):
                    return
            self._append(chunk)

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

    def _affordable(self, html: Html) -> Html:
        if len(html) > self._rich_room:
            return Html("")
        self._rich_room -= len(html)
        return html

    def _replace(self, earlier: Chunk, chunk: Chunk) -> bool:
        for part in (self._head, self._tail):
            for index, kept in enumerate(part):
                if kept is earlier:
                    part[index] = chunk
                    self._rich_room += len(earlier.html)
                    return True
        return False

    def _append(self, chunk: Chunk) -> None:
        """Add *chunk* whole, or only its text where that is too long."""
        if len(chunk.text) > self._half:
            self._write(chunk.stream, chunk.text)
        elif self._head_size < self._half and not self._tail:
            self._head.append(chunk)
            self._head_size += len(chunk.text)
        else:
            self._to_tail(chunk)

    def _write(self, stream: str, text: str) -> None:
        room = max(self._half - self._head_size, 0)
        if room:
            self._head.append(Chunk(stream, text[:room]))
            self._head_size += len(text[:room])
        rest = text[room:]
        if rest:
            kept = rest[-self._half :]
            self.omitted += len(rest) - len(kept)
            self._to_tail(Chunk(stream, kept))

    def _to_tail(self, chunk: Chunk) -> None:
        self._tail.append(chunk)
        self._tail_size += len(chunk.text)
        while self._tail_size - len(self._tail[0].text) >= self._half:
            gone = self._tail.popleft()
            self._tail_size -= len(gone.text)
            self._rich_room += len(gone.html)
            self.omitted += len(gone.text)
