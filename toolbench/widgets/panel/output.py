"""Show the growing output of a run without sending old parts again."""

from collections.abc import Iterator
from itertools import groupby
from time import monotonic
from typing import Any

from rich.text import Text

from toolbench.display.ansi import from_ansi
from toolbench.display.escape import Html
from toolbench.display.render import to_html
from toolbench.runs.output import Chunk, Output
from toolbench.widgets.kit.parts import Parts, put
from toolbench.wording import counted

# Characters after which a piece ends at the next line end
SEALED = 1_000
# Characters in pieces; while more is printed, only the end of it is shown
LIVE = 20_000
# Characters shown of the rest, head and tail, after the run
REST = 60_000
# Characters of the end that are shown while more is printed
_WINDOW = 1_500
# Seconds at the start with an update every tick
_SWIFT = 3.0
# Seconds between two later updates
_PACE = 0.25
_STYLES = {"stderr": "red", "log": "dim"}

Piece = tuple[Chunk, ...]


class LogView:
    """A view of an output, in pieces that each fill about a screen. Only the last piece is sent again."""

    def __init__(self, parts: Parts) -> None:
        """Make an empty view."""
        self._parts = parts
        self._pieces: list[Piece] = []
        self._widgets: list[Any] = []
        self._begun = self._drawn_at = monotonic()
        self._limit = REST
        # Most tools print nothing
        self._lines: Any = None
        self.widget = parts.column(kind="toolbench-log")

    def clear(self) -> None:
        """Remove the output."""
        if self._lines is not None:
            self._lines.children = ()
        self._parts.drop(self._widgets)
        self._pieces, self._widgets = [], []
        self._begun = monotonic()

    def show(self, output: Output, *, over: bool, limit: int = REST) -> None:
        """Update the view. While the output grows, some calls do nothing, to save time.

        Args:
            output: The output so far.
            over: Whether the output is complete.
            limit: The maximum number of characters of the rest (see `divided`) to show.
        """
        now = monotonic()
        late = now - self._begun > _SWIFT
        if not over and late and now - self._drawn_at < _PACE:
            return
        self._drawn_at = now
        pieces, rest = divided(output.chunks())
        if rest:
            pieces.append(rest if over else _window(rest))
        is_other, self._limit = limit != self._limit, limit
        for index, piece in enumerate(pieces):
            self._put(index, piece, is_other=is_other)
        self._drop_beyond(len(pieces))
        if self._lines is None and self._widgets:
            self._lines = self._parts.column(*self._widgets)
            self.widget.children = [self._lines]
        elif self._lines is not None and self._lines.children != tuple(self._widgets):
            self._lines.children = self._widgets

    def _put(self, index: int, piece: Piece, *, is_other: bool) -> None:
        """Show *piece*; one that is shown already only if the limit *is_other* than before."""
        if index == len(self._pieces):
            self._pieces.append(piece)
            # So that the keyboard can scroll
            focus = None if index else True
            html = _html(piece, self._limit)
            self._widgets.append(self._parts.html(html, tabbable=focus))
        elif self._pieces[index] != piece or is_other:
            self._pieces[index] = piece
            put(self._widgets[index], _html(piece, self._limit))

    def _drop_beyond(self, count: int) -> None:
        """Remove all pieces except the first *count*.

        The number of pieces can become smaller: if an output has too much HTML, a
        display that is updated is shown as text.
        """
        self._parts.drop(self._widgets[count:])
        del self._pieces[count:], self._widgets[count:]


def divided(chunks: list[Chunk]) -> tuple[list[Piece], Piece]:
    """Return two things: pieces of whole lines from *chunks*, and the rest after `LIVE` characters.

    A complete piece does not change when more output follows.
    """
    pieces: list[Piece] = []
    piece: list[Chunk] = []
    size = total = 0
    for number, chunk in enumerate(_of_lines(chunks)):
        if total >= LIVE and not piece:
            return pieces, tuple(_of_lines(chunks))[number:]
        if chunk.html and piece:
            pieces.append(tuple(piece))
            piece, size = [], 0
        piece.append(chunk)
        size, total = size + len(chunk.text), total + len(chunk.text)
        if chunk.html or (size >= SEALED and chunk.text.endswith("\n")):
            pieces.append(tuple(piece))
            piece, size = [], 0
    return [*pieces, tuple(piece)] if piece else pieces, ()


def _of_lines(chunks: list[Chunk]) -> Iterator[Chunk]:
    for chunk in chunks:
        if chunk.html:
            yield chunk
        else:
            for line in chunk.text.splitlines(keepends=True):
                yield Chunk(chunk.stream, line)


def _window(rest: Piece) -> Piece:
    text = "".join(chunk.text for chunk in rest)
    window = text[-_WINDOW:]
    if len(window) == len(text):
        return rest
    note = f"… {counted(len(text) - len(window), 'character')} before this …\n"
    return (Chunk("log", note), Chunk("stdout", window))


def _html(piece: Piece, limit: int) -> Html:
    parts: list[str] = []
    for is_rich, group in groupby(piece, lambda chunk: bool(chunk.html)):
        chunks = list(group)
        parts += map(_chunk_html, chunks) if is_rich else [_printed(chunks, limit)]
    return Html("".join(parts))


def _chunk_html(chunk: Chunk) -> str:
    return f'<div class="toolbench-shown">{chunk.html}</div>'


def _printed(chunks: list[Chunk], limit: int) -> str:
    texts = (
        _styled(stream, "".join(chunk.text for chunk in group))
        for stream, group in groupby(chunks, lambda chunk: chunk.stream)
    )
    markup = to_html(Text.assemble(*texts), limit=limit)
    # The style sheet replaces the style of the tag
    body = markup[markup.index(">") + 1 :]
    # HTML drops a first newline
    first_newline = "\n" if body.startswith("\n") else ""
    return f'<pre class="toolbench-out">{first_newline}{body}'


def _styled(stream: str, text: str) -> Text:
    styled = from_ansi(text)
    if stream in _STYLES:
        styled.stylize_before(_STYLES[stream])
    return styled
