"""Hold back frames whose text may end with the beginning of a secret.

A secret may be spread over several lines or messages of a log. A written frame cannot be changed,
so a frame that may end with the beginning of a secret waits, with all frames after it, for the next
text of the same sequence (the source), such as the next log message.
"""

from collections import deque
from dataclasses import dataclass
from typing import Any

from toolbench.mcp.recording.frame import json_of
from toolbench.mcp.recording.hidden_secrets.running_text import (
    Mark,
    Place,
    RunningText,
    text_at,
    without_piece,
)
from toolbench.redaction.redactor import Redactor
from toolbench.redaction.spread import Piece, Succession

# Waiting frames: a process that is killed loses them
_MOST_FRAMES = 20
# Sources: the progress of each call is a source
_MOST_SOURCES = 100
# Texts of one source that a secret may be spread over
_MOST_TEXTS = 50


@dataclass(eq=False)
class WaitingFrame:
    """A frame that may not be written yet: its line before the message, the message, its text's place."""

    head: bytes
    message: Any
    place: Place

    @property
    def line(self) -> bytes:
        """The whole line."""
        return b"".join((self.head, json_of(self.message), b"}\n"))


class _Source:
    """The last texts of one sequence, such as a server's log messages, and the frames with these texts."""

    def __init__(self) -> None:
        self.succession = Succession()
        self.frames: deque[WaitingFrame] = deque(maxlen=_MOST_TEXTS)

    def hide(self, pieces: list[Piece], mark: Mark) -> None:
        name = mark("".join(piece.text for piece in pieces)) if pieces else ""
        for piece in pieces:
            if piece.back < len(self.frames):
                frame = self.frames[-1 - piece.back]
                frame.message = without_piece(frame.message, frame.place, piece, name)


class FrameQueue:
    """The frames of a recording that are not written yet, in order. One thread at a time may use it."""

    def __init__(self, mark: Mark) -> None:
        """Make an empty queue; *mark* returns the numbered mark of a secret."""
        self._mark = mark
        self._frames: list[WaitingFrame | bytes] = []
        self._sources: dict[tuple[str, ...], _Source] = {}
        self._begun: dict[tuple[str, ...], list[Piece]] = {}

    def add(self, line: bytes) -> list[bytes]:
        """Add a complete *line*; return the lines that can be written."""
        if not self._frames:
            return [line]
        self._frames.append(line)
        return self._ready()

    def add_text(
        self, head: bytes, message: Any, text: RunningText, redactor: Redactor
    ) -> list[bytes]:
        """Add a frame with a *text*; return the lines that can be written.

        Args:
            head: The beginning of the frame's line, up to the message.
            message: The message of the frame, in which whole secrets are hidden.
            text: The place of the text in the message.
            redactor: A redactor with the secrets.
        """
        frame = WaitingFrame(head, message, text.place)
        self._frames.append(frame)
        source = self._sources.pop(text.source, None) or _Source()
        # Move it to the end, as the newest
        self._sources[text.source] = source
        source.frames.append(frame)
        pieces = source.succession.add(redactor, text_at(message, text.place))
        source.hide(pieces, self._mark)
        self._begun.pop(text.source, None)
        if pieces := source.succession.begun(redactor):
            self._begun[text.source] = pieces
        while len(self._sources) > _MOST_SOURCES:
            self._forget(next(iter(self._sources)))
        return self._ready()

    def _ready(self) -> list[bytes]:
        if len(self._frames) > _MOST_FRAMES:
            return self.settled()
        return [] if self._begun else self.ended()

    def settled(self) -> list[bytes]:
        """Return all lines. Hide each text that may begin a secret, because the rest may follow."""
        for source, pieces in self._begun.items():
            self._sources[source].hide(pieces, self._mark)
        return self.ended()

    def ended(self) -> list[bytes]:
        """Return all lines. No text follows, so the beginning of a secret is not hidden."""
        self._begun.clear()
        frames, self._frames = self._frames, []
        return [each if isinstance(each, bytes) else each.line for each in frames]

    def _forget(self, source: tuple[str, ...]) -> None:
        if pieces := self._begun.pop(source, None):
            self._sources[source].hide(pieces, self._mark)
        del self._sources[source]
