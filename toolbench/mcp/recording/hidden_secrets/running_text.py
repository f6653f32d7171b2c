"""Find texts that arrive in pieces, such as log messages or blocks of a result.

A secret may be spread over the pieces.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from toolbench.redaction import MARK
from toolbench.redaction.marks import numbered_mark
from toolbench.redaction.redactor import Redactor
from toolbench.redaction.spread import Piece, Succession

Place = tuple[str, ...]
"""The keys that lead to a text in a message; empty if the message is the text."""
Mark = Callable[[str], str]
"""A function that returns the numbered mark of a secret."""
_MESSAGES: Mapping[str, tuple[Place, ...]] = {
    "notifications/message": (("params", "data"), ("params", "data", "msg")),
    "notifications/progress": (("params", "message"),),
}
# The progress of each call is a source of texts
_MOST_SOURCES = 100
_BLOCKS: tuple[Place, ...] = ((), ("text",), ("resource", "text"), ("content", "text"))


class RunningText(NamedTuple):
    """A text that a later message may continue."""

    source: tuple[str, ...]
    """The key that messages of one sequence share."""
    place: Place


def running_text(server: str, message: Any) -> RunningText | None:
    """Return the text of *message*, if a later notification of *server* may continue it; else None."""
    if not isinstance(message, Mapping) or "id" in message:
        return None
    method = message.get("method")
    place = _first_text(message, _MESSAGES.get(str(method), ()))
    if place is None:
        return None
    token = message["params"].get("progressToken")
    return RunningText((server, str(method), str(token)), place)


class RunningTexts:
    """Hides the secrets that are spread over the texts of a recording. One thread at a time may use it."""

    def __init__(self, mark: Mark) -> None:
        """Begin without texts; *mark* returns the numbered mark of a secret."""
        self._mark = mark
        self._successions: dict[tuple[str, ...], Succession] = {}

    def hidden(self, message: Any, text: RunningText, redactor: Redactor) -> Any:
        """Return *message* without the end of a secret in its text, and what may begin a secret there.

        What stands in earlier messages was hidden then. It is not known yet which secret has begun,
        so the mark of a beginning has no number of its own.

        Args:
            message: A message, in which whole secrets are hidden.
            text: The place of the text in the message.
            redactor: A redactor with the secrets.
        """
        # At the end, as the newest
        succession = self._successions.pop(text.source, None) or Succession()
        self._successions[text.source] = succession
        while len(self._successions) > _MOST_SOURCES:
            del self._successions[next(iter(self._successions))]
        pieces = succession.add(redactor, text_at(message, text.place))
        name = self._mark("".join(piece.text for piece in pieces)) if pieces else ""
        begun = succession.begun(redactor)
        marked = [*((p, name) for p in pieces), *((p, numbered_mark(0)) for p in begun)]
        for piece, mark in marked:
            if piece.back == 0:
                message = without_piece(message, text.place, piece, mark)
        return message


def without_spread(value: Any, redactor: Redactor, mark: Mark) -> Any:
    """Return the JSON *value*; a secret that is spread over several items of a list is hidden."""
    if isinstance(value, dict):
        copy = {k: without_spread(v, redactor, mark) for k, v in value.items()}
        return copy if any(copy[key] is not value[key] for key in copy) else value
    if not isinstance(value, list):
        return value
    items = [without_spread(item, redactor, mark) for item in value]
    succession = Succession()
    for index, item in enumerate(items):
        place = _first_text(item, _BLOCKS)
        if place is None:
            succession = Succession()
            continue
        pieces = succession.add(redactor, text_at(item, place))
        name = mark("".join(piece.text for piece in pieces)) if pieces else ""
        for piece in pieces:
            at = index - piece.back
            items[at] = without_piece(items[at], _first_text(items[at], _BLOCKS) or (), piece, name)
    same = all(one is other for one, other in zip(items, value, strict=True))
    return value if same else items


def without_piece(message: Any, place: Place, piece: Piece, mark: str) -> Any:
    """Return *message* with *piece* of the text at *place* replaced by *mark*."""
    if place:
        inner = without_piece(message[place[0]], place[1:], piece, mark)
        return {**message, place[0]: inner}
    return piece.hidden_in(message).replace(MARK, mark)


def text_at(message: Any, place: Place) -> Any:
    """Return the part of *message* at *place*; None if there is no such part."""
    for key in place:
        message = message.get(key) if isinstance(message, Mapping) else None
    return message


def _first_text(message: Any, places: tuple[Place, ...]) -> Place | None:
    return next((p for p in places if isinstance(text_at(message, p), str)), None)
