"""Write all messages between us and servers to a file, line by line, without secrets."""

import json
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, count
from pathlib import Path
from threading import RLock
from time import time
from typing import Any, BinaryIO, Literal, Protocol

from pydantic_core import to_json

from toolbench._version import __version__
from toolbench.errors import ServerError
from toolbench.files import open_unlinked
from toolbench.mcp.recording.frame import (
    FORMAT,
    VERSION,
    Direction,
    frame_of,
    json_of,
    read_json,
)
from toolbench.mcp.recording.secret_places import SecretPlaces, at, with_part
from toolbench.redaction import MARK, numbered_mark
from toolbench.redaction.redactor import Redactor

_log = logging.getLogger(__name__)
# Secrets of one file with their own number
_MOST_SECRETS = 10_000


class Recorder:
    """Writes one recording, for one or several servers. Any thread may write."""

    def __init__(self, path: str | Path) -> None:
        """Begin a new recording at *path*; older recordings are kept as `path~`, `path~2`, ….

        Raises:
            ServerError: If the file at *path* is something else than a recording, or cannot be written.
        """
        self.path = Path(path).expanduser().absolute()
        self._lock = RLock()
        self._numbers: dict[str, int] = {}
        self._redactors: dict[str, Redactor] = {}
        self._every = Redactor()
        # Whether the file ends within a line
        self._is_cut = False
        self._is_incomplete = False
        try:
            _put_aside(self.path)
            self._file: BinaryIO | None = _opened(self.path)
        except ServerError:
            # A ServerError is an OSError too
            raise
        except OSError as error:
            msg = f"Cannot write the recording {str(self.path)!r}: {error.strerror}."
            raise ServerError(msg) from None
        start = {"format": FORMAT, "version": VERSION, "toolbench": __version__}
        self.write("start", "", to_json(start))

    def write(self, direction: Direction, server: str, message: bytes) -> None:
        """Append a frame; *message* is JSON without secrets."""
        line = b"".join((_head(direction, server), message, b"}\n"))
        with self._lock:
            self._append(line)

    def knowing(self, redactor: Redactor) -> Redactor:
        """Return a redactor of the secrets of *redactor* and of all earlier redactors."""
        with self._lock:
            self._every = self._every.joined(redactor)
            return self._every

    def _append(self, line: bytes) -> None:
        # An incomplete line becomes a line of its own
        data = b"\n" + line if self._is_cut else line
        try:
            written = self._put(data)
        except OSError as error:
            # A full disk must not end a call
            self._warn(error.strerror or str(error))
            return
        self._is_cut = written < len(data)
        if self._is_cut:
            self._warn("a part of it could not be written")

    def _put(self, data: bytes) -> int:
        """Write *data* in one piece, because another process may read the file meanwhile.

        Return the number of bytes.
        """
        if self._file is not None:
            return self._file.write(data)
        # Late frames of a closed session
        with _opened(self.path) as file:
            return file.write(data)

    def _warn(self, why: str) -> None:
        if not self._is_incomplete:
            self._is_incomplete = True
            _log.warning("The recording %s is not complete: %s.", self.path, why)

    def hidden(self, value: Any, redactor: Redactor) -> Any:
        """Return *value* with each secret replaced by its numbered mark.

        The secrets are those of *redactor* and of all earlier redactors.
        """
        with self._lock:
            value = _numbered(value, numbered_mark(0))
            known = self.knowing(redactor)
            if not known:
                return value
            if known.value(value) is value:
                return value
            return self._marked(value)

    def _marked(self, value: Any) -> Any:
        for secret in sorted(self._every.secrets, key=len, reverse=True):
            own = self._redactors.setdefault(secret, Redactor([secret]))
            masked = own.value(value)
            if masked is not value:
                value = _numbered(masked, self._mark(secret))
        return value

    def hidden_places(self, value: Any, original: Any, masked: Any) -> Any:
        """Return *value* with a numbered mark in each place where *masked* has `MARK`.

        *original* has the secrets in the same places; equal secrets get equal marks.
        """
        with self._lock:
            if masked == MARK != original:
                text = original if isinstance(original, str) else _text(original)
                return self._mark(text)
            if not isinstance(value, dict | list):
                return value
            if not len(value) == len(original) == len(masked):
                # Two secret names became one mark
                return numbered_mark(0)
            if isinstance(value, list):
                items = zip(value, original, masked, strict=True)
                return [self.hidden_places(*item) for item in items]
            parts = zip(value.values(), original.values(), masked.values(), strict=True)
            hidden = [self.hidden_places(*part) for part in parts]
            return dict(zip(value, hidden, strict=True))

    def _mark(self, secret: str) -> str:
        if secret not in self._numbers and len(self._numbers) >= _MOST_SECRETS:
            return numbered_mark(0)
        return numbered_mark(self._numbers.setdefault(secret, len(self._numbers) + 1))

    def open_again(self) -> None:
        """Open the closed file again, to append."""
        # Each later frame tries again
        with self._lock, suppress(OSError):
            self._file = self._file or _opened(self.path)

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None


def _head(direction: Direction, server: str) -> bytes:
    """Return the head of a line, up to the message, with the present time."""
    return f'{{"at": {time():.6f}, {_origin(direction, server)}'.encode()


@lru_cache(maxsize=256)
def _origin(direction: Direction, server: str) -> str:
    return f'"direction": "{direction}", "server": {json.dumps(server)}, "message": '


def _text(value: Any) -> str:
    return json_of(value).decode()


def _numbered(value: Any, mark: str) -> Any:
    """Return *value* with the plain mark in its texts replaced by *mark*."""
    if isinstance(value, str):
        return value.replace(MARK, mark) if MARK in value else value
    if isinstance(value, dict):
        copy = {_numbered(k, mark): _numbered(item, mark) for k, item in value.items()}
        return copy if copy != value else value
    if isinstance(value, list):
        items = [_numbered(item, mark) for item in value]
        return items if items != value else value
    return value


def _opened(path: Path) -> BinaryIO:
    """Open a recording to append to it; only its user can read it."""
    place = open_unlinked(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    return os.fdopen(place, "ab", buffering=0)


def _put_aside(path: Path) -> None:
    """Rename the recording at *path*, so that a new recording can be written.

    Raises:
        ServerError: If the file at *path* is something else than a recording.
    """
    if not path.exists() or not path.stat().st_size:
        return
    with path.open("rb") as file:
        first = frame_of(file.readline(10_000))
    if first is None or first.direction != "start":
        msg = f"{str(path)!r} is not a recording and is not overwritten: choose another file."
        raise ServerError(msg)
    names = chain(("~",), (f"~{number}" for number in count(2)))
    places = (path.with_name(path.name + name) for name in names)
    path.replace(next(place for place in places if not place.exists()))


class OpenRecorders:
    """The open recorders, by file. Servers with the same file share a recorder."""

    def __init__(self) -> None:
        """Make an empty collection."""
        self._open: dict[Path, tuple[Recorder, int]] = {}
        self._lock = RLock()

    def enter(self, path: str | Path) -> Recorder:
        """Return the open recorder of *path*, or open a new recorder. Call `leave` afterwards."""
        place = Path(path).expanduser().absolute()
        with self._lock:
            recorder, users = self._open.get(place, (None, 0))
            recorder = Recorder(place) if recorder is None else recorder
            self._open[place] = recorder, users + 1
        return recorder

    def enter_again(self, recorder: Recorder) -> Recorder:
        """Return the recorder that now writes the file of *recorder*, and open the file again.

        This is *recorder* itself, or a newer recorder.
        """
        with self._lock:
            current, users = self._open.get(recorder.path, (recorder, 0))
            current.open_again()
            self._open[recorder.path] = current, users + 1
        return current

    def leave(self, recorder: Recorder) -> None:
        """Stop using *recorder*; the last user closes the file."""
        with self._lock:
            _, users = self._open.get(recorder.path, (recorder, 1))
            if users > 1:
                self._open[recorder.path] = recorder, users - 1
            else:
                self._open.pop(recorder.path, None)
                recorder.close()


open_recorders = OpenRecorders()


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
