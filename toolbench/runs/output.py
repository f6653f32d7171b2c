"""The output of code: where it goes, which parts of it are kept, and how secrets are masked.

A sink is an object that gets the output of the calling code instead of the screen. An `Output`
keeps only the start and the end of long output. A `RunOutput` also masks the secrets of its run.
"""

import sys
from collections import deque
from collections.abc import Mapping
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from toolbench.display.blocks import bundle_html, bundle_text
from toolbench.display.escape import Html
from toolbench.redaction.redactor import Stream
from toolbench.runs.current_run import CurrentRun, Inherited
from toolbench.threads import leave_behind_in_forks

if TYPE_CHECKING:
    from toolbench.runs.run import Run

# Characters kept, half at each end
LIMIT = 200_000
# Characters of markup kept of displayed objects
RICH_LIMIT = 5_000_000
# Maximum characters that are searched for secrets at once
_TOGETHER = 10_000


class Chunk(NamedTuple):
    """One piece of the output of a run."""

    stream: str
    """`stdout`, `stderr`, `log` or `display`."""
    text: str
    html: Html = Html("")
    """The HTML of a displayed object; empty if there is only text."""
    name: str | None = None
    """The display id; a later chunk with the same id can replace this chunk."""


class Output:
    """The output of a piece of work, in order; if it is long, only its start and end are kept."""

    def __init__(self, limit: int = LIMIT) -> None:
        """Create an empty output that keeps about *limit* characters.

        It may keep up to 50 % more, because single pieces are not cut.
        """
        self._half = limit // 2
        self._head, self._tail = _End(), _End()
        # Whether the head is full, so that new output goes to the tail
        self._is_flood = False
        self.omitted = 0
        self._coming: deque[Chunk] = deque()
        self._taking_in = False
        # Reentrant, because an object that is deleted while the lock is held may print too
        self._lock = RLock()

    def write(self, stream: str, text: str) -> None:
        """Add *text*, which was written to *stream*."""
        self._take_in(Chunk(stream, text))

    def display(self, data: Mapping[str, Any], name: str | None = None) -> None:
        """Add a mime bundle that was displayed.

        Args:
            data: The bundle.
            name: The display id. An earlier bundle with this id is replaced. The new bundle takes
                its place if there is room; otherwise, it is added at the end.
        """
        text, html = bundle_text(data), bundle_html(data)
        self._take_in(Chunk("display", f"{text}\n", html, name))

    def chunks(self) -> list[Chunk]:
        """Return the kept chunks, with a note that replaces the omitted middle."""
        with self._lock:
            gap = f"\n… {self.omitted:,} characters left out …\n"
            middle = [Chunk("log", gap)] if self.omitted else []
            return [*self._head.chunks, *middle, *self._tail.chunks]

    @property
    def text(self) -> str:
        """The output that was kept, as one string, with a note that replaces the omitted middle."""
        return "".join(chunk.text for chunk in self.chunks())

    def _take_in(self, chunk: Chunk) -> None:
        """Add *chunk*, after the chunks that other threads are adding."""
        self._coming.append(chunk)
        with self._lock:
            if self._taking_in:
                return
            self._taking_in = True
            try:
                while self._coming:
                    self._add(self._coming.popleft())
            finally:
                self._taking_in = False

    def _add(self, chunk: Chunk) -> None:
        if chunk.name is not None and self._replaced(chunk):
            return
        if chunk.stream != "display" or len(chunk.text) > self._half:
            self._write(chunk.stream, chunk.text)
        elif not self._is_flood and self._head.size + len(chunk.text) <= self._half:
            self._head.append(self._affordable(chunk))
        else:
            self._to_tail(self._affordable(chunk))

    def _replaced(self, chunk: Chunk) -> bool:
        """Remove the earlier chunk with *chunk*'s name, and put *chunk* there if there is room.

        Return whether *chunk* is now in the place of the earlier chunk.
        """
        for end in (self._head, self._tail):
            index = end.index(chunk.name)
            if index is not None:
                grown = len(chunk.text) - len(end.chunks[index].text)
                fits = grown <= max(self._half - end.size, 0)
                end.pop(index)
                if fits:
                    end.insert(index, self._affordable(chunk))
                return fits
        return False

    def _affordable(self, chunk: Chunk) -> Chunk:
        spent = self._head.markup + self._tail.markup
        if spent + len(chunk.html) > RICH_LIMIT:
            return chunk._replace(html=Html(""))
        return chunk

    def _write(self, stream: str, text: str) -> None:
        room = 0 if self._is_flood else self._half - self._head.size
        if text[:room]:
            self._head.append(Chunk(stream, text[:room]))
        if len(text) > room:
            begin = max(room, len(text) - self._half)
            self.omitted += begin - room
            self._to_tail(Chunk(stream, text[begin:]))

    def _to_tail(self, chunk: Chunk) -> None:
        self._is_flood = True
        self._tail.append(chunk)
        while self._tail.size - len(self._tail.chunks[0].text) >= self._half:
            self.omitted += len(self._tail.pop(0).text)


class _End:
    """One end of an output: its first chunks, or its last chunks.

    `size` is the number of characters of the chunks' text; `markup` is that of their HTML.
    """

    def __init__(self) -> None:
        self.chunks: deque[Chunk] = deque()
        self.size = self.markup = 0

    def index(self, name: str | None) -> int | None:
        names = (index for index, chunk in enumerate(self.chunks) if chunk.name == name)
        return next(names, None)

    def append(self, chunk: Chunk) -> None:
        self.insert(len(self.chunks), chunk)

    def insert(self, index: int, chunk: Chunk) -> None:
        self.chunks.insert(index, chunk)
        self.size += len(chunk.text)
        self.markup += len(chunk.html)

    def pop(self, index: int) -> Chunk:
        chunk = self.chunks[index]
        del self.chunks[index]
        self.size -= len(chunk.text)
        self.markup -= len(chunk.html)
        return chunk


# --- of a run, without its secrets --------------------------------------------------


class RunOutput(Output):
    """The output of one run, with the run's secrets masked.

    Each stream, such as `stdout`, is searched for secrets separately. If a cell shows the output
    directly, it is not kept here. In this case, `filtered` and `bundle` mask its secrets.
    """

    def __init__(self, run: "Run") -> None:
        """Create the empty output of *run*; it also masks secrets that the run learns later."""
        super().__init__()
        self.run = run
        self._streams: dict[str, Stream] = {}
        # Pieces of one stream that were not searched yet: `print("n =", 3)` writes four pieces
        self._pieces: list[str] = []
        self._pieces_stream, self._pieces_size = "", 0
        leave_behind_in_forks(self)

    def leave_behind(self) -> None:
        """In a forked process, drop the text that is held back: the parent will show it."""
        self._streams = {}
        self._pieces = []
        self._lock = RLock()

    def write(self, stream: str, text: str) -> None:
        """Add *text*, which was written to *stream*, with its secrets masked."""
        with self._lock:
            if stream != self._pieces_stream or self._pieces_size > _TOGETHER:
                self._search_pieces()
            self._pieces_stream = stream
            self._pieces_size += len(text)
            # `print(end="")`, perhaps in a loop
            if text:
                self._pieces.append(text)
        self.run.changed()

    def display(self, data: Mapping[str, Any], name: str | None = None) -> None:
        """Add a mime bundle that was displayed, with its secrets masked. See `Output.display`."""
        super().display(self.bundle(data), name)
        self.run.changed()

    def chunks(self) -> list[Chunk]:
        """Return the kept chunks, with a note that replaces the omitted middle."""
        with self._lock:
            self._search_pieces()
            return super().chunks()

    def _search_pieces(self) -> None:
        """Add the pieces that were written last, with their secrets masked."""
        # An object that is deleted during the search may print to another stream
        stream, pieces = self._pieces_stream, self._pieces
        self._pieces, self._pieces_size = [], 0
        if not pieces:
            return
        try:
            text = self.filtered(stream, "".join(pieces))
        except BaseException:
            # After an interrupt, the next caller searches the same pieces again
            self._pieces = [*pieces, *self._pieces]
            raise
        super()._take_in(Chunk(stream, text))

    def _take_in(self, chunk: Chunk) -> None:
        """Add *chunk*, after the text that was written before it."""
        with self._lock:
            self._search_pieces()
            super()._take_in(chunk)

    def filtered(self, stream: str, text: str) -> str:
        """Add *text* to *stream*; return the text that can be shown now, with secrets masked."""
        redactor = self.run.secrets.redactor
        if not redactor:
            return text
        with self._lock:
            known = self._streams.get(stream)
            if known is None:
                known = self._streams[stream] = redactor.stream()
            known.redactor = redactor
            safe_text = known.feed(text)
            # No more text may follow
            if self.run.done.is_set():
                safe_text += known.flush()
            return safe_text

    def bundle(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the mime bundle *data* with its secrets masked."""
        redactor = self.run.secrets.redactor
        if not redactor:
            return data
        return redactor.bundle(data)

    def flush(self) -> None:
        """Show the text that was held back because it might be the beginning of a secret.

        Call this at the end of the run. If the other output of the run was shown in a cell, this
        text is shown there too.
        """
        with self._lock:
            self._search_pieces()
        for name, stream in list(self._streams.items()):
            with self._lock:
                text = stream.flush()
            if name == "log" or sink_here() is self:
                super()._take_in(Chunk(name, text))
                self.run.changed()
            elif text:
                getattr(sys, name).write(text)


# --- where it goes ----------------------------------------------------------------


class Sink(Protocol):
    """An object that gets the output of a piece of work, perhaps from several threads."""

    def write(self, stream: str, text: str) -> None:
        """Add *text*, which was printed to *stream*: `stdout` or `stderr`."""

    def display(self, data: Mapping[str, Any], name: str | None = None) -> None:
        """Add *data*, a mime bundle that was displayed under the display id *name*."""


class Redirection:
    """The sink of a piece of work, and of the threads that the work starts."""

    def __init__(
        self,
        sink: Sink,
        outer: "Redirection | None",
        run: CurrentRun | None = None,
    ) -> None:
        """Send the output of the work to *sink* until `end` is called, then to the sink of *outer*.

        Args:
            sink: The object that gets the output.
            outer: The redirection around this one, if any.
            run: The run whose output is redirected, if any.
        """
        self.sink: Sink | None = sink
        self.outer = outer
        self.run = run

    def end(self) -> None:
        """Release the sink, so that a thread that still runs does not keep it in memory."""
        self.sink = None


redirection_of_code: Inherited[Redirection] = Inherited("toolbench_sink")
"""The innermost redirection of the calling code, even if that redirection has ended."""


def sink_here() -> Sink | None:
    """Return the sink that gets the output of the calling code, if any."""
    redirection = redirection_here()
    if redirection is None:
        return None
    return redirection.sink


def redirection_here() -> Redirection | None:
    """Return the innermost redirection of the calling code that has not ended, if any."""
    redirection = redirection_of_code.get()
    while redirection is not None and redirection.sink is None:
        redirection = redirection.outer
    return redirection
