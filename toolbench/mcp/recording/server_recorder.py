"""Write one server's messages, lines, connections and failures to a recording."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

from toolbench.mcp.recording.frame import Direction, json_of, read_json
from toolbench.mcp.recording.recorder import Recorder, open_recorders
from toolbench.mcp.recording.secret_places import SecretPlaces, at, with_part
from toolbench.redaction import MARK
from toolbench.redaction.redactor import Redactor

_MARK = MARK.strip("<>")


def is_plain(text: str, redactor: Redactor) -> bool:
    """Tell whether *text*, the JSON of a message, can be written unchanged.

    True: *text* has no secret of *redactor* and no mark of a secret. False: *text* may have a secret
    and needs a full check.
    """
    if _MARK in text:
        return False
    # Escaped characters may hide a secret
    return not redactor or not ("\\" in text or redactor.occurs_in(text))


class Written(Protocol):
    """The protocol of JSON-RPC messages with the text that was sent or received."""

    message: Any
    text: str
    is_exact: bool
    """Whether the text is exactly the message; False if a broken line was repaired."""


class ServerRecorder:
    """Writes one session into a recording."""

    def __init__(
        self,
        recorder: Recorder,
        server: str,
        *,
        hide: Callable[[str, Mapping[str, Any]], Any],
    ) -> None:
        """Write as *server* into the file of *recorder*.

        Args:
            recorder: Writes the file of the recording.
            server: The name of the session.
            hide: Gets the name of a tool and arguments; returns the arguments with `MARK` for each
                secret.
        """
        self.recorder = recorder
        self._server = server
        self._is_open = False
        self._has_left = False
        self._places = SecretPlaces(hide)

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self.recorder.path

    def message(
        self, direction: Literal["sent", "received"], item: Written, redactor: Redactor
    ) -> None:
        """Write a JSON-RPC message, with the secrets of *redactor* hidden."""
        fields, parts = vars(item.message), []
        if direction == "sent":
            parts = list(self._places.parts(fields))
        else:
            self._places.note(fields)
        known = self.recorder.knowing(redactor)
        if item.is_exact and not parts and is_plain(item.text, known):
            raw = _one_line(item.text)
            self.recorder.write(direction, self._server, raw)
            return
        value, raw = _parsed(item)
        try:
            hidden = self.recorder.hidden(value, redactor)
        except RecursionError:
            # The deep part cannot be checked for secrets
            hidden = _too_deep(fields.get("id"))
        for path, masked in parts:
            pieces = at(hidden, path), at(value, path), masked
            hidden = with_part(hidden, path, self.recorder.hidden_places(*pieces))
        raw = raw if hidden is value else json_of(hidden)
        self.recorder.write(direction, self._server, raw)

    def line(self, direction: Direction, line: str, redactor: Redactor) -> None:
        """Write a line of stderr, or a line of stdout that is not a message."""
        hidden = self.recorder.hidden(line, redactor)
        self.recorder.write(direction, self._server, json_of(hidden))

    def connected(self, transport: str, mode: str) -> None:
        """Write that a connection was opened."""
        if self._has_left:
            self.recorder = open_recorders.enter_again(self.recorder)
        self._is_open, self._has_left = True, False
        about = {"transport": transport, "mode": mode}
        self.recorder.write("connect", self._server, json_of(about))

    def ended(self, exit_code: int | None) -> None:
        """Write that the connection ended; a second call does nothing."""
        if self._is_open:
            self._is_open = False
            self.recorder.write("end", self._server, json_of({"exit_code": exit_code}))

    def leave(self) -> None:
        """Stop using the file until the next connection. A second call does nothing."""
        if not self._has_left:
            self._has_left = True
            open_recorders.leave(self.recorder)

    def forgotten(self, token: str) -> None:
        """Write that the server lost our session; the request with *token* is then sent again."""
        details = {"token": token, "text": "", "asides": [], "repeated": True}
        self.recorder.write("failure", self._server, json_of(details))

    def failed(
        self,
        token: Any,
        text: str,
        asides: Mapping[str, Any] | tuple[Any, ...],
        redactor: Redactor,
    ) -> None:
        """Write the error that the caller of the request with *token* got in place of an answer."""
        details = {"token": token, "text": text, "asides": list(asides)}
        hidden = self.recorder.hidden(details, redactor)
        self.recorder.write("failure", self._server, json_of(hidden))


def _parsed(item: Written) -> tuple[Any, bytes]:
    """Return the message of *item* as a JSON value, and as JSON text on one line."""
    message, line = item.message, _one_line(item.text)
    try:
        value = read_json(line)
        if isinstance(value, dict) and value.get("id") == getattr(message, "id", None):
            return value, line
    except (ValueError, RecursionError):
        # The line was repaired: write the repaired message
        pass
    value = message.model_dump(by_alias=True, exclude_unset=True)
    return value, json_of(value)


def _too_deep(identity: Any) -> dict[str, Any]:
    """Return an error in place of an answer that is nested too deeply to be searched for secrets."""
    error = {
        "code": -32700,
        "message": "The answer was nested too deeply to be recorded.",
    }
    return {"jsonrpc": "2.0", "id": identity, "error": error}


def _one_line(text: str) -> bytes:
    # Such line breaks are between the parts of JSON, not inside its texts
    if "\n" in text or "\r" in text:
        text = text.replace("\n", " ").replace("\r", " ")
    return text.encode()
