"""Keep the messages that opened a connection, for a recording that begins later."""

from dataclasses import dataclass
from typing import Literal

from toolbench.mcp.recording.server_recorder import ServerRecorder, Written
from toolbench.redaction.redactor import Redactor

_METHODS = frozenset({"initialize", "notifications/initialized", "server/discover"})


@dataclass(frozen=True)
class _Message:
    direction: Literal["sent", "received"]
    item: Written


class Opening:
    """The first messages of the present connection."""

    def __init__(self) -> None:
        """Make an opening without messages."""
        self._way = ("", "")
        self._messages: list[_Message] = []

    def begin(self, transport: str, mode: str) -> None:
        """Drop the kept messages, because a new connection begins, over *transport* and in *mode*."""
        self._way = (transport, mode)
        self._messages = []

    def note(
        self,
        direction: Literal["sent", "received"],
        method: str,
        item: Written,
    ) -> None:
        """Keep a message if it belongs to the opening.

        Args:
            direction: Whether the message was sent or received.
            method: The method of the message; for an answer, the method of the request.
            item: The message.
        """
        if method in _METHODS:
            self._messages.append(_Message(direction, item))

    def write(self, recorder: ServerRecorder, redactor: Redactor) -> None:
        """Write the opening to a recording, with the secrets of *redactor* hidden."""
        recorder.connected(*self._way)
        for each in self._messages:
            recorder.message(each.direction, each.item, redactor)
