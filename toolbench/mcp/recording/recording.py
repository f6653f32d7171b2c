"""Read a recording: its frames, its servers, their calls and what they offer. Replay it."""

import gc
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, starmap
from pathlib import Path
from threading import Lock
from typing import Any, Self

from toolbench.display.escape import visible
from toolbench.errors import ServerError, did_you_mean
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.lists.listing import read_tools
from toolbench.mcp.recording.frame import FORMAT, VERSION, Frame, frame_of
from toolbench.mcp.recording.player import Player
from toolbench.mcp.recording.tape import Exchange, Tape, mapping_of, params_of
from toolbench.mcp.snapshots.diff import Change
from toolbench.mcp.snapshots.snapshot import Snapshot
from toolbench.redaction import without_numbers
from toolbench.runs.questions import Answer

_pause = Lock()
# The most bytes to read of the first line
_LONGEST_START = 10_000
_LISTS = {
    "tools/list": ("tools", "tools", "name"),
    "resources/list": ("resources", "resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "templates", "uriTemplate"),
    "prompts/list": ("prompts", "prompts", "name"),
}


@dataclass(frozen=True)
class RecordedCall:
    """A call of a tool in a recording.

    Examples:
        >>> from toolbench.mcp import create_mcp_tools
        >>> from toolbench.mcp.recording import Recording
        >>> from toolbench.testing import FakeMCPServer
        >>> server = FakeMCPServer("shop")
        >>> server.answer("price", {"eur": 3})
        >>> with create_mcp_tools(server, record="shop.mcp.jsonl") as client:
        ...     result = client["price"](sku=12)
        >>> [call] = Recording.read("shop.mcp.jsonl").calls
        >>> call.tool, call.arguments, call.result["structuredContent"]
        ('price', {'sku': 12}, {'eur': 3})
    """

    server: str
    tool: str
    arguments: Mapping[str, Any]
    result: Mapping[str, Any] | None = field(default=None, repr=False)
    """The result, if there was one."""
    error: Mapping[str, Any] | None = None
    """The JSON-RPC error, if there was one."""
    answers: tuple[Any, ...] = ()
    """The answers to the server's questions, in the form of preset answers for `answering`."""
    seconds: float | None = None
    """The duration, including waiting for answers; None if the recording ends before the result."""
    failure: str | None = None
    """Why the call failed, if there was neither a result nor an error."""


class Recording:
    """The content of a file with a recording, as it was when the file was read.

    Examples:
        >>> from toolbench.mcp import create_mcp_tools
        >>> from toolbench.mcp.recording import Recording
        >>> from toolbench.testing import FakeMCPServer
        >>> server = FakeMCPServer("clock")
        >>> server.answer("now", "12:00")
        >>> with create_mcp_tools(server, record="clock.mcp.jsonl") as client:
        ...     result = client["now"]({})
        >>> Recording.read("clock.mcp.jsonl").servers
        ('clock',)
        >>> with create_mcp_tools(replay="clock.mcp.jsonl") as client:
        ...     client["now"]({}).text
        '12:00'
    """

    frames: tuple[Frame, ...]
    """All frames in order; a frame is one line of the recording."""

    def __init__(self, path: Path, frames: Sequence[Frame]) -> None:
        """Create a recording from the *frames* of the file *path*."""
        self.path = path
        self.frames = tuple(frames)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read the recording at *path*; an incomplete last line is left out.

        Raises:
            ServerError: If the file cannot be read, or is not a recording of this version.
        """
        path = Path(path).expanduser()
        try:
            with path.open("rb") as file:
                start = file.readline()
                _check_start(path, start)
                with _collector_paused():
                    frames = list(_frames_in(chain([start], file)))
        except ServerError:
            # A ServerError is an OSError too
            raise
        except OSError as error:
            msg = f"Cannot read the recording {str(path)!r}: {error.strerror}."
            raise ServerError(msg) from None
        return cls(path, frames)

    def __repr__(self) -> str:
        servers = visible(", ".join(self.servers)) or "no server"
        return f"Recording({self.path.name!r}, {servers}, {len(self.frames):,} frames)"

    @cached_property
    def servers(self) -> tuple[str, ...]:
        """The names of the servers in the recording."""
        return tuple(dict.fromkeys(f.server for f in self.frames if f.server))

    def recorded_name(self, server: str | None) -> str | None:
        """Return the name that the server *server* has in the recording.

        If the recording has only one server, return its name, whatever *server* is. Otherwise,
        return *server*.
        """
        if len(self.servers) == 1:
            return self.servers[0]
        return server

    def tape(self, server: str | None = None) -> Tape:
        """Return the requests to *server*, with their answers, in the recorded order.

        *server* may be None if the recording has only one server.

        Raises:
            ServerError: If the recording does not contain *server*, or *server* is None and there
                are several servers.
        """
        name = self._named(server)
        return Tape(name, (f for f in self.frames if f.server == name))

    def _named(self, server: str | None) -> str:
        if server is None and len(self.servers) == 1:
            return self.servers[0]
        if server in self.servers:
            return str(server)
        there = ", ".join(map(repr, self.servers)) or "none at all"
        if server is None:
            msg = f"Say which server of the recording {self.path.name!r}: {there}."
        else:
            near = did_you_mean(server, self.servers) or f" Servers: {there}."
            msg = f"The recording {self.path.name!r} has no server {server!r}.{near}"
        raise ServerError(msg)

    @property
    def calls(self) -> list[RecordedCall]:
        """The tool calls, server by server; a call with questions, or of a task, counts once."""
        calls = []
        for server in self.servers:
            tape = self.tape(server)
            for exchange in tape.exchanges:
                if exchange.is_call and "requestState" not in exchange.params:
                    calls.append(_call(server, exchange, tape))
        return calls

    def snapshot(self, server: str | None = None) -> Snapshot:
        """Return the tools, resources and prompts that *server* had at the end of the recording.

        The snapshot contains only lists that the client requested during the recording. *server*
        may be None if the recording has only one server.

        Raises:
            ServerError: If the recording does not contain *server*, or *server* is None and there
                are several servers.
        """
        return _snapshot(self.tape(server))

    def diff(self, other: "Recording") -> list[Change]:
        """Return the changes from the servers in this recording to the servers in *other*.

        If each recording has only one server, these two are compared, even if their names differ.
        Otherwise, servers of the same name are compared. If only one of the recordings has a
        server, all tools, resources and prompts of this server count as added or removed.
        """
        if len(self.servers) == len(other.servers) == 1:
            return self.snapshot().diff(other.snapshot())
        changes = list[Change]()
        for server in sorted({*self.servers, *other.servers}):
            name = visible(server)
            for change in self._offered(server).diff(other._offered(server)):
                where, text = f"{name}/{change.where}", f"{name}: {change.text}"
                changes.append(replace(change, where=where, text=text))
        return changes

    def _offered(self, server: str) -> Snapshot:
        if server in self.servers:
            return self.snapshot(server)
        return NOTHING


def _frames_in(lines: Iterable[bytes]) -> Iterator[Frame]:
    """Yield the frames on *lines*; an incomplete last line is left out."""
    for line in lines:
        if line.endswith(b"\n"):
            frame = frame_of(line)
            if frame is not None:
                yield frame


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause the garbage collector, which would look at all earlier frames again and again."""
    # Of two readers, the second would find it disabled, and leave it so
    with _pause:
        was_enabled = gc.isenabled()
        try:
            gc.disable()
            yield
        finally:
            if was_enabled:
                gc.enable()


def _check_start(path: Path, line: bytes) -> None:
    """Check *line*, the first line of the file *path*.

    Raises:
        ServerError: If the file is not a recording of this version.
    """
    about = _start_in(line)
    if not about:
        msg = f"{str(path)!r} is not a recording: %mcp connect --record makes one."
        raise ServerError(msg)
    if about.get("version") != VERSION:
        msg = (
            f"The recording {str(path)!r} is of version {about.get('version')!r}; "
            f"this toolbench reads version {VERSION}."
        )
        raise ServerError(msg)


def _start_in(line: bytes) -> Mapping[str, Any]:
    """Return the content of the first *line* of a recording; empty if it is not a recording."""
    frame = frame_of(line)
    if frame is None:
        return {}
    about = mapping_of(frame.message)
    if about.get("format") != FORMAT:
        return {}
    return about


def _call(server: str, exchange: Exchange, tape: Tape) -> RecordedCall:
    response, result, failure = tape.outcome(exchange) or {}, None, None
    if isinstance(response.get("result"), Mapping):
        result = response["result"]
    if exchange.failure is not None:
        failure = str(exchange.failure.get("text"))
    return RecordedCall(
        server=server,
        tool=str(exchange.params.get("name")),
        arguments=mapping_of(exchange.params.get("arguments")),
        result=result,
        error=response.get("error"),
        answers=tuple(starmap(_preset, tape.answered(exchange))),
        seconds=tape.seconds(exchange),
        failure=failure,
    )


def _preset(question: Mapping[str, Any], answer: Mapping[str, Any]) -> Any:
    """Return *answer* to the server's *question*, in the form of a preset answer."""
    if question.get("method") == "sampling/createMessage":
        return Answer("accept", {"answer": dict(answer)})
    if answer.get("action") == "cancel":
        return Answer("cancel")
    if answer.get("action") != "accept":
        return None
    if params_of(question).get("mode") == "url":
        return True
    return dict(mapping_of(answer.get("content")))


def _snapshot(tape: Tape) -> Snapshot:
    offered: dict[str, Any] = {"tools": {}}
    # The tools; some may have the same name
    rows = list[Any]()
    is_modern = False
    for exchange in tape.exchanges:
        result = (exchange.response or {}).get("result")
        if not isinstance(result, Mapping):
            continue
        if exchange.method in ("initialize", "server/discover"):
            offered |= _described(result)
            is_modern = exchange.method == "server/discover"
        elif exchange.method in _LISTS:
            key, part, name = _LISTS[exchange.method]
            is_first_page = "cursor" not in exchange.params
            if is_first_page or part not in offered:
                offered[part] = {}
            if part == "tools" and is_first_page:
                rows = []
            for item in _items(result.get(key)):
                if part == "tools":
                    rows.append(item)
                elif isinstance(item, Mapping):
                    offered[part].setdefault(str(item.get(name)), dict(item))
    good, bad = read_tools(rows, is_modern=is_modern)
    offered["tools"] = {tool.name: dict(tool.raw) for tool in good}
    offered["disabled"] = {tool.name: tool.reason for tool in bad}
    return Snapshot.of(without_numbers(offered))


def _items(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return []


NOTHING = Snapshot.of({key: {} for key in ("tools", "resources", "templates", "prompts")})
"""An empty snapshot, used for a server that is not in the recording."""


def _described(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the server's description of itself in *result*, its first answer."""
    stamp = mapping_of(result.get("_meta"))
    info = result.get("serverInfo") or stamp.get("io.modelcontextprotocol/serverInfo")
    version, versions = result.get("protocolVersion"), result.get("supportedVersions")
    if not version and isinstance(versions, list) and versions:
        version = versions[0]
    return {
        "server": mapping_of(info),
        "protocolVersion": version,
        "capabilities": result.get("capabilities") or {},
        "instructions": result.get("instructions") or "",
    }


def offer_in(path: str | Path, server: str | None = None) -> Snapshot:
    """Return the tools, resources and prompts of a server from a snapshot or a recording.

    Args:
        path: The file of the snapshot or recording; its name does not matter.
        server: The name of the server, if a recording has several.

    Raises:
        ServerError: If the file cannot be read, is neither a snapshot nor a recording, or does not
            contain *server*.
    """
    path = Path(path).expanduser()
    if not is_recording(path):
        return Snapshot.read(path)
    recording = Recording.read(path)
    if len(recording.servers) == 1:
        server = None
    return recording.snapshot(server)


def is_recording(path: Path) -> bool:
    """Tell whether the file at *path* is a recording of any version."""
    try:
        with path.open("rb") as file:
            first = frame_of(file.readline(_LONGEST_START))
    except OSError:
        # Reading it as a snapshot raises the error
        return False
    return first is not None and first.direction == "start"


# --- replaying ----------------------------------------------------------------------------

_VARIABLE = "TOOLBENCH_REPLAY"


def is_replaying() -> bool:
    """Return whether `TOOLBENCH_REPLAY` is set, so that `record=` replays its file.

    Examples:
        >>> import os
        >>> from toolbench.mcp.recording import is_replaying
        >>> is_replaying()
        False
        >>> os.environ["TOOLBENCH_REPLAY"] = "1"
        >>> is_replaying()
        True
        >>> del os.environ["TOOLBENCH_REPLAY"]
    """
    return os.environ.get(_VARIABLE, "").strip().lower() not in ("", "0", "no", "false")


def replay_entry(recording: Recording, server: str | None = None) -> ServerEntry:
    """Return the entry that replays *server*; any name fits if the recording has one server.

    Raises:
        ServerError: If *server* is not in the recording.
    """
    player = Player(recording.tape(recording.recorded_name(server)))
    return ServerEntry(transport="replay", server=player, url=str(recording.path))


def replay_config(recording: Recording) -> dict[str, Any]:
    """Return a configuration that replays all servers of *recording*.

    Raises:
        ServerError: If the recording has no server.
    """
    if not recording.servers:
        msg = (
            f"The recording {str(recording.path)!r} has no server: nothing can be replayed from it."
        )
        raise ServerError(msg)
    servers = {name: replay_entry(recording, name) for name in recording.servers}
    return {"mcpServers": servers}
