"""Write all messages between this client and servers to a file, line by line, without secrets.

A `Recorder` writes one file, and a `ServerRecorder` writes the lines of one server to that file.
Servers that are recorded in the same file share one `Recorder`, which `open_recorders` keeps.
`Opening` keeps the first messages of a connection, because a recording that begins later must start
with them.
"""

import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import RLock
from time import time
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

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
from toolbench.mcp.recording.tape import mapping_of, params_of
from toolbench.redaction import MARK, numbered_mark
from toolbench.redaction.detect import Secrecy
from toolbench.redaction.matcher import colours_in
from toolbench.redaction.redactor import NO_SECRETS, Redactor

if TYPE_CHECKING:
    from toolbench.mcp.wire.messages import WrittenMessage

_log = logging.getLogger(__name__)
# Lone surrogates must be kept
_ANY = "surrogatepass"
_TOO_DEEP = {"code": -32700, "message": "The answer was nested too deeply to be recorded."}


class Recorder:
    """Writes one recording, for one or several servers. Any thread may write.

    `write` returns only after the line is in the file, so the line is not lost if the kernel is
    killed.
    """

    def __init__(self, path: Path) -> None:
        """Start a new recording at *path*; earlier recordings are renamed to `path~`, `path~2`, ….

        Raises:
            ServerError: If the file at *path* is not a recording, or cannot be written.
        """
        self.path = path
        self.users = 0
        """The number of servers that currently write to the file."""
        # Several threads write: the caller's, the background loop, and readers of stderr
        self._lock = RLock()
        self._numbers: dict[str, int] = {}
        self._known = NO_SECRETS
        # Whether the file ends with an incomplete line
        self._is_cut = False
        # Why a frame could not be written; empty if all were
        self._loss = ""
        try:
            _put_aside(self.path)
            self._file: BinaryIO | None = _opened(self.path, os.O_CREAT)
        except ServerError:
            # A ServerError is an OSError too
            raise
        except OSError as error:
            msg = f"Cannot write the recording {str(self.path)!r}: {error.strerror}."
            raise ServerError(msg) from None
        start = {"format": FORMAT, "version": VERSION, "toolbench": __version__}
        self.write("start", '""', to_json(start))
        if self._loss:
            # Without its first line, the file would not count as a recording, and so never be
            # overwritten
            self.close()
            self.path.unlink(missing_ok=True)
            msg = f"Cannot write the recording {str(self.path)!r}: {self._loss}."
            raise ServerError(msg)

    def write(
        self, direction: Direction, server: str, message: bytes, at: float | None = None
    ) -> None:
        """Append a frame with *message* (JSON without secrets) and the time *at*, or now.

        *server* is the server's name as JSON, because it is the same in all frames of a server.
        """
        at = at or time()
        head = f'{{"at": {at:.6f}, "direction": "{direction}", "server": {server}, "message": '
        line = b"".join((head.encode(), message, b"}\n"))
        with self._lock:
            if self._file is None:
                # A line on stderr may arrive after the session was closed
                return
            if self.is_deleted:
                self._warn("the file was deleted, and the next connection begins it anew")
                return
            if self._is_cut:
                # End the incomplete line first
                line = b"\n" + line
            try:
                # Written at once, because another process may be reading the file
                written = self._file.write(line)
            except OSError as error:
                # A full disk must not end a call
                self._warn(error.strerror or str(error))
                return
            self._is_cut = written < len(line)
            if self._is_cut:
                self._warn("a part of it could not be written")

    @property
    def is_deleted(self) -> bool:
        """Whether the file was deleted from its folder, so that nobody can read it any more."""
        with self._lock:
            if self._file is None:
                return not self.path.exists()
            return os.fstat(self._file.fileno()).st_nlink == 0

    def _warn(self, why: str) -> None:
        if not self._loss:
            self._loss = why
            _log.warning("The recording %s is not complete: %s.", self.path, why)

    def open_again(self) -> None:
        """Open a closed file again for appending."""
        with self._lock:
            try:
                self._file = self._file or _opened(self.path)
            except OSError as error:
                self._warn(error.strerror or str(error))

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    # --- secrets ------------------------------------------------------------------

    def knowing(self, redactor: Redactor) -> Redactor:
        """Return a redactor for the secrets of *redactor* and of all earlier redactors."""
        with self._lock:
            self._known = self._known.joined(redactor)
            return self._known

    def hidden(self, value: Any, redactor: Redactor, masked: Any = None) -> Any:
        """Replace each secret in the JSON *value* by a numbered mark, and return the result.

        If *value* has no secrets, the same object is returned.

        Args:
            value: The value to write.
            redactor: An object that knows the secrets to search for. Secrets of earlier redactors
                are replaced too.
            masked: A copy of *value* in which `MARK` replaces secrets that *redactor* does not
                know. A search could not find these secrets.

        Raises:
            RecursionError: If *value* has a secret, and is nested too deeply.
        """
        if masked is None:
            masked = value
        with self._lock:
            known = self.knowing(redactor)
            if masked is value and known.value(value) is value:
                return value
            return self._marked(value, masked)

    def _marked(self, value: Any, masked: Any) -> Any:
        if isinstance(masked, str) and masked == MARK != value:
            if isinstance(value, str):
                return self._mark(value)
            return self._mark(json_of(value).decode())
        if isinstance(value, str):
            return self._text(value)
        if not isinstance(value, dict | list):
            return value
        if len(value) != len(masked):
            # Two names were replaced by the same mark
            return numbered_mark(0)
        if isinstance(value, list):
            return [self._marked(*both) for both in zip(value, masked, strict=True)]
        hidden = dict[str, Any]()
        for (name, part), masked_part in zip(value.items(), masked.values(), strict=True):
            hidden[self._text(name)] = self._marked(part, masked_part)
        return hidden

    def _text(self, text: str) -> str:
        data = text.encode(errors=_ANY)
        pieces, at = list[bytes](), 0
        for start, end in self._known.spans(data):
            writing = data[start:end]
            mark = self._mark(writing.decode(errors=_ANY)).encode()
            pieces += [data[at:start], mark, colours_in(writing)]
            at = end
        if not pieces:
            return text
        return b"".join([*pieces, data[at:]]).decode(errors=_ANY)

    def _mark(self, secret: str) -> str:
        return numbered_mark(self._numbers.setdefault(secret, len(self._numbers) + 1))


def _opened(path: Path, flags: int = 0) -> BinaryIO:
    """Open a recording for appending; only its owner can read it."""
    place = open_unlinked(path, os.O_WRONLY | os.O_APPEND | flags, 0o600)
    # Unbuffered, so that each frame is in the file immediately
    return os.fdopen(place, "ab", buffering=0)


def _put_aside(path: Path) -> None:
    """Rename the recording at *path*, so that a new recording can be written.

    Raises:
        ServerError: If the file at *path* is not a recording.
    """
    if not path.exists() or not path.stat().st_size:
        return
    with path.open("rb") as file:
        first = frame_of(file.readline(10_000))
    if first is None or first.direction != "start":
        msg = f"{str(path)!r} is not a recording and is not overwritten: choose another file."
        raise ServerError(msg)
    place = path.with_name(f"{path.name}~")
    for number in count(2):
        if not place.exists():
            break
        place = path.with_name(f"{path.name}~{number}")
    path.replace(place)


class OpenRecorders:
    """The open recorders by file; servers with the same file share a recorder."""

    def __init__(self) -> None:
        """Create an empty collection."""
        self._open: dict[Path, Recorder] = {}
        # Servers connect in several threads, and two must not create the same file
        self._lock = RLock()

    def enter(self, path: str | Path) -> Recorder:
        """Return the open recorder of *path*, or a new one; call `leave` when you are done."""
        place = Path(path).expanduser().absolute()
        with self._lock:
            recorder = self._open.get(place)
            if recorder is None or recorder.is_deleted:
                recorder = self._open[place] = Recorder(place)
            recorder.users += 1
        return recorder

    def enter_again(self, recorder: Recorder) -> Recorder:
        """Open the file of *recorder* again, and return the recorder that writes to it from now on.

        Usually, this is *recorder* itself. If another recorder has started to write to the file,
        return that recorder. If the file was deleted, return a new recorder.
        """
        with self._lock:
            current = self._open.setdefault(recorder.path, recorder)
            if current.is_deleted:
                # A recording that cannot be written must not prevent the connection
                with suppress(ServerError):
                    current = self._open[recorder.path] = Recorder(recorder.path)
                    current.knowing(recorder.knowing(NO_SECRETS))
            current.open_again()
            current.users += 1
        return current

    def leave(self, recorder: Recorder) -> None:
        """Stop using *recorder*; the last user closes the file."""
        with self._lock:
            recorder.users -= 1
            if recorder.users <= 0:
                if self._open.get(recorder.path) is recorder:
                    del self._open[recorder.path]
                recorder.close()


open_recorders = OpenRecorders()


# --- the frames of one server ---------------------------------------------------------------


class ServerRecorder:
    """Writes the messages, lines, connections and failures of one server into a recording."""

    def __init__(
        self,
        recorder: Recorder,
        server: str,
        *,
        hide: Callable[[str, Mapping[str, Any]], Any],
    ) -> None:
        """Prepare to write the messages of *server* with *recorder*.

        Args:
            recorder: Writes the file of the recording.
            server: The name of the session.
            hide: A function that is called with the name of a tool and the arguments of a call. It
                returns the arguments with `MARK` in place of secrets.
        """
        self.recorder = recorder
        self.at: float | None = None
        """The time for the next frames, in seconds since the epoch; None means the current time."""
        self._server = json.dumps(server)
        self._is_open = False
        self._has_left = False
        self._places = _SecretPlaces(hide)

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self.recorder.path

    def message(
        self, direction: Literal["sent", "received"], item: "WrittenMessage", redactor: Redactor
    ) -> None:
        """Write a JSON-RPC message, with the secrets of *redactor* hidden."""
        masked = None
        if direction == "received":
            self._places.note(vars(item.message))
        else:
            masked = self._places.hidden(vars(item.message))
        known = self.recorder.knowing(redactor)
        if item.is_exact and masked is None and not may_have_secrets(item.text, known):
            raw = _one_line(item.text)
        else:
            raw = self._without_secrets(item, redactor, masked)
        self.recorder.write(direction, self._server, raw, self.at)

    def _without_secrets(
        self, item: "WrittenMessage", redactor: Redactor, masked: dict[str, Any] | None
    ) -> bytes:
        """Return *item* as JSON, with all secrets hidden, also those that `MARK` replaces in *masked*."""
        if item.is_exact:
            raw = _one_line(item.text)
            value = read_json(raw)
        else:
            value = item.message.model_dump(by_alias=True, exclude_unset=True)
            raw = json_of(value)
        if masked is not None:
            # The message also has the fields that were not sent
            masked = {name: masked[name] for name in value}
        try:
            hidden = self.recorder.hidden(value, redactor, masked)
        except RecursionError:
            # The deep part cannot be checked for secrets
            hidden = {"jsonrpc": "2.0", "id": value.get("id"), "error": _TOO_DEEP}
        if hidden is value:
            return raw
        return json_of(hidden)

    def line(self, direction: Direction, line: str, redactor: Redactor) -> None:
        """Write a line of stderr, or a line of stdout that is not a message."""
        self._write(direction, self.recorder.hidden(line, redactor))

    def connected(self, transport: str, mode: str) -> None:
        """Write that a connection was opened."""
        if self.recorder.is_deleted:
            self.leave()
        if self._has_left:
            self.recorder = open_recorders.enter_again(self.recorder)
        self._is_open, self._has_left = True, False
        self._write("connect", {"transport": transport, "mode": mode})

    def ended(self, exit_code: int | None) -> None:
        """Write that the connection ended; a second call does nothing."""
        if self._is_open:
            self._is_open = False
            self._write("end", {"exit_code": exit_code})

    def leave(self) -> None:
        """Stop using the file until the next connection. A second call does nothing."""
        if not self._has_left:
            self._has_left = True
            open_recorders.leave(self.recorder)

    def forgotten(self, token: str) -> None:
        """Write that the server no longer knew the session; the request *token* is sent again."""
        self._write("failure", {"token": token, "text": "", "asides": [], "repeated": True})

    def failed(self, token: Any, text: str, asides: Iterable[str], redactor: Redactor) -> None:
        """Write the error that the caller of the request with *token* got in place of an answer."""
        details = {"token": token, "text": text, "asides": list(asides)}
        self._write("failure", self.recorder.hidden(details, redactor))

    def _write(self, direction: Direction, message: Any) -> None:
        self.recorder.write(direction, self._server, json_of(message), self.at)


def may_have_secrets(text: str, redactor: Redactor) -> bool:
    """Tell quickly whether *text*, the JSON of a message, must be searched value by value."""
    # Escaped characters may hide a secret
    return bool(redactor) and ("\\" in text or redactor.occurs_in(text))


def _one_line(text: str) -> bytes:
    # JSON may have these line breaks only between its parts, not inside strings
    return text.replace("\n", " ").replace("\r", " ").encode()


# --- secrets that no search finds -----------------------------------------------------------

Form = tuple[str, str]
"""What identifies a server's question: a request state and a key, or no state and an id."""
_BY_NAME = Secrecy({})


class _SecretPlaces:
    """Hides secrets in messages by their place in a message, even if they are short or numbers."""

    def __init__(self, hide: Callable[[str, Mapping[str, Any]], Any]) -> None:
        """Use *hide*, a function that replaces secrets in a tool's arguments by `MARK`."""
        self._hide = hide
        self._forms: dict[Form, Secrecy] = {}

    def note(self, message: Mapping[str, Any]) -> None:
        """Remember the forms in the server's *message* that the user is asked to fill in."""
        if message.get("method") == "elicitation/create":
            self._keep(("", str(message.get("id"))), params_of(message))
            return
        result = mapping_of(message.get("result"))
        for key, request in mapping_of(result.get("inputRequests")).items():
            self._keep((str(result.get("requestState")), key), params_of(mapping_of(request)))

    def _keep(self, form: Form, params: Mapping[str, Any]) -> None:
        schema = params.get("requestedSchema")
        if isinstance(schema, Mapping):
            self._forms[form] = Secrecy(schema)

    def hidden(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the client's *message* with `MARK` in place of secrets; None if it has none."""
        hidden = dict(message)
        if "result" in message:
            form = "", str(message.get("id"))
            hidden["result"] = self._answer(form, message["result"])
        elif params := params_of(message):
            hidden["params"] = self._params(str(message.get("method")), params)
        if hidden == message:
            return None
        return hidden

    def _params(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        # The user may send any JSON as the parameters of a request
        hidden = dict(params)
        arguments = mapping_of(params.get("arguments"))
        if method == "tools/call" and arguments:
            hidden["arguments"] = self._hide(str(params.get("name")), arguments)
        elif method == "prompts/get" and arguments:
            hidden["arguments"] = _BY_NAME.hide(arguments)[0]
        elif method == "completion/complete":
            argument = mapping_of(params.get("argument"))
            if "value" in argument:
                typed = {str(argument.get("name")): argument["value"]}
                [value] = _BY_NAME.hide(typed)[0].values()
                hidden["argument"] = {**argument, "value": value}
            context = mapping_of(params.get("context"))
            if others := mapping_of(context.get("arguments")):
                hidden["context"] = {**context, "arguments": _BY_NAME.hide(others)[0]}
        answers = dict[str, Any]()
        for key, answer in mapping_of(params.get("inputResponses")).items():
            answers[key] = self._answer((str(params.get("requestState")), key), answer)
        if answers:
            hidden["inputResponses"] = answers
        return hidden

    def _answer(self, form: Form, answer: Any) -> Any:
        """Return *answer*, the user's answer to *form*, with `MARK` in place of each secret."""
        secrecy, content = self._forms.pop(form, None), mapping_of(answer).get("content")
        if secrecy is None or not isinstance(content, Mapping):
            return answer
        return {**answer, "content": secrecy.hide(content)[0]}


# --- a recording that begins later ----------------------------------------------------------

OPENING = frozenset({"initialize", "notifications/initialized", "server/discover"})
"""The methods of the messages that open a connection."""


@dataclass
class Opening:
    """How the current connection was opened, with its first messages."""

    transport: str = ""
    mode: str = ""
    messages: "list[tuple[Literal['sent', 'received'], WrittenMessage]]" = field(
        default_factory=list
    )

    def write(self, recorder: ServerRecorder, redactor: Redactor) -> None:
        """Write the opening to a recording, with the secrets of *redactor* hidden."""
        recorder.connected(self.transport, self.mode)
        for direction, item in self.messages:
            recorder.message(direction, item, redactor)
