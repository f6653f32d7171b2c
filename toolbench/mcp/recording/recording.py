"""Read a recording: its frames, its servers, their calls, and what they offer."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self, overload

from toolbench.display.escape import visible
from toolbench.errors import ServerError, did_you_mean
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.lists.listing import read_tools
from toolbench.mcp.recording.frame import FORMAT, VERSION, Frame, frame_of
from toolbench.mcp.recording.player import Player
from toolbench.mcp.recording.tape import Exchange, Tape
from toolbench.mcp.snapshots.diff import Change
from toolbench.mcp.snapshots.snapshot import Snapshot
from toolbench.redaction import without_numbers

_CHUNK = 1 << 20
# Bytes read of the first line
_LONGEST_START = 10_000
_LISTS = {
    "tools/list": ("tools", "tools", "name"),
    "resources/list": ("resources", "resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "templates", "uriTemplate"),
    "prompts/list": ("prompts", "prompts", "name"),
}


@dataclass(frozen=True)
class RecordedCall:
    """A call of a tool in a recording."""

    server: str
    tool: str
    arguments: Mapping[str, Any]
    result: Mapping[str, Any] | None = field(default=None, repr=False)
    """The result, if there was one."""
    error: Mapping[str, Any] | None = None
    """The JSON-RPC error, if there was one."""


class Recording:
    """A recording in a file; frames are read from the file at each use."""

    def __init__(self, path: Path, lines: list[int]) -> None:
        """Take the file *path*.

        *lines* has the start of each complete line, and then the end of the last line.
        """
        self.path = path
        self._lines = lines

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Open the recording at *path*; an incomplete last line is left out.

        Raises:
            ServerError: If the file cannot be read, or is not a recording of this version.
        """
        path = Path(path).expanduser()
        try:
            lines = _line_starts(path)
            recording = cls(path, lines)
            first = recording.frames[0] if len(lines) > 1 else None
            is_begun = _begins_as_one(path)
        except OSError as error:
            msg = f"Cannot read the recording {str(path)!r}: {error.strerror}."
            raise ServerError(msg) from None
        about = first.message if first is not None else None
        if not is_begun or (len(lines) > 1 and not _is_start(about)):
            msg = f"{str(path)!r} is not a recording: %mcp connect --record makes one."
            raise ServerError(msg)
        if isinstance(about, Mapping) and about.get("version") != VERSION:
            msg = (
                f"The recording {str(path)!r} is of version {about.get('version')!r}; "
                f"this toolbench reads version {VERSION}."
            )
            raise ServerError(msg)
        return recording

    def __repr__(self) -> str:
        servers = visible(", ".join(self.servers)) or "no server"
        return f"Recording({self.path.name!r}, {servers}, {len(self.frames):,} frames)"

    @property
    def frames(self) -> "Frames":
        """All frames, in their order."""
        return Frames(self.path, self._lines)

    @cached_property
    def servers(self) -> tuple[str, ...]:
        """The names of the servers in the recording."""
        return tuple(dict.fromkeys(f.server for f in self.frames if f.server))

    def recorded_name(self, server: str | None) -> str | None:
        """Return the name in the recording of a server that is called *server* now.

        The only server of a recording may be replayed under any name; other names are the same.
        """
        return self.servers[0] if len(self.servers) == 1 else server

    def tape(self, server: str | None = None) -> Tape:
        """Return the requests of *server*, or of the only server, with their answers, in order.

        Raises:
            ServerError: If the recording lacks *server*, or has several servers and none is named.
        """
        name = self._named(server)
        return Tape.of(name, (f for f in self.frames if f.server == name))

    def _named(self, server: str | None) -> str:
        if server is None and len(self.servers) == 1:
            return self.servers[0]
        if server in self.servers:
            return str(server)
        there = ", ".join(map(repr, self.servers)) or "none at all"
        if server is None:
            msg = f"Say which server of the recording {self.path.name!r}: {there}."
        else:
            msg = (
                f"The recording {self.path.name!r} has no server {server!r}."
                f"{did_you_mean(server, self.servers) or f' There is: {there}.'}"
            )
        raise ServerError(msg)

    @property
    def calls(self) -> list[RecordedCall]:
        """The tool calls, server by server; a call of several rounds, or of a task, counts once."""
        calls = []
        for server in self.servers:
            tape = self.tape(server)
            for exchange in tape.exchanges:
                if exchange.is_call and "requestState" not in exchange.params:
                    calls.append(_call(server, exchange, tape.outcome(exchange)))
        return calls

    def snapshot(self, server: str | None = None) -> Snapshot:
        """Return what *server*, or the only server, offered last: its tools, resources and prompts.

        The snapshot has only those lists that the client requested.

        Raises:
            ServerError: If the recording lacks *server*, or has several servers and none is named.
        """
        return _snapshot(self.tape(server))

    def diff(self, other: "Recording") -> list[Change]:
        """Return how the servers of *other* differ from those of this recording; see `Snapshot.diff`.

        If each recording has one server, the two servers are compared, even if their names differ.
        Otherwise servers of the same name are compared; a missing server offers nothing.
        """
        if len(self.servers) == len(other.servers) == 1:
            return self.snapshot().diff(other.snapshot())
        changes = list[Change]()
        for server in sorted({*self.servers, *other.servers}):
            before, after = (
                recording.snapshot(server) if server in recording.servers else NOTHING
                for recording in (self, other)
            )
            changes += [
                replace(
                    c,
                    where=f"{visible(server)}/{c.where}",
                    text=f"{visible(server)}: {c.text}",
                )
                for c in before.diff(after)
            ]
        return changes


class Frames(Sequence[Frame]):
    """The frames of a file; each is read when it is used."""

    def __init__(self, path: Path, lines: list[int]) -> None:
        """Read the frames from *path*; see `Recording`."""
        self._path = path
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines) - 1

    def __iter__(self) -> Iterator[Frame]:
        with self._path.open("rb") as file:
            for start, end in zip(self._lines, self._lines[1:], strict=False):
                frame = frame_of(file.read(end - start))
                if frame is not None:
                    yield frame

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> list[Frame]: ...
    def __getitem__(self, index: int | slice) -> Frame | list[Frame]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        start, end = self._lines[number : number + 2]
        with self._path.open("rb") as file:
            file.seek(start)
            frame = frame_of(file.read(end - start))
        return frame or Frame(0.0, "noise", "", None)


def _line_starts(path: Path) -> list[int]:
    """Return the offsets of the complete lines of the file, and the end of the last line."""
    starts, place = [0], 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            position = chunk.find(b"\n")
            while position >= 0:
                starts.append(place + position + 1)
                position = chunk.find(b"\n", position + 1)
            place += len(chunk)
    return starts


def _begins_as_one(path: Path) -> bool:
    """Tell whether the file is empty or begins like a frame, which may be incomplete."""
    with path.open("rb") as file:
        return file.read(1) in (b"", b"{")


def _is_start(message: Any) -> bool:
    return isinstance(message, Mapping) and message.get("format") == FORMAT


def _call(server: str, exchange: Exchange, outcome: Mapping[str, Any] | None) -> RecordedCall:
    response = outcome or {}
    arguments = exchange.params.get("arguments")
    return RecordedCall(
        server=server,
        tool=str(exchange.params.get("name")),
        arguments=arguments if isinstance(arguments, Mapping) else {},
        result=response.get("result"),
        error=response.get("error"),
    )


def _snapshot(tape: Tape) -> Snapshot:
    offered: dict[str, Any] = {"tools": {}}
    # The tools; some may have the same name
    tool_rows: list[Any] = []
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
            if "cursor" not in exchange.params or part not in offered:
                offered[part] = {}
            items = result.get(key)
            for item in items if isinstance(items, list) else ():
                if isinstance(item, Mapping):
                    offered[part].setdefault(str(item.get(name)), dict(item))
            if part == "tools":
                tool_rows = [] if "cursor" not in exchange.params else tool_rows
                tool_rows += items if isinstance(items, list) else ()
    good, bad = read_tools(tool_rows, is_modern=is_modern)
    offered["tools"] = {tool.name: dict(tool.raw) for tool in good}
    offered["disabled"] = {tool.name: tool.reason for tool in bad}
    return Snapshot.of(without_numbers(offered))


NOTHING = Snapshot.of({key: {} for key in ("tools", "resources", "templates", "prompts")})
"""An empty snapshot, for a server that is not in the recording."""


def _described(result: Mapping[str, Any]) -> dict[str, Any]:
    meta = result.get("_meta")
    stamp = meta if isinstance(meta, Mapping) else {}
    info = result.get("serverInfo") or stamp.get("io.modelcontextprotocol/serverInfo")
    versions = result.get("supportedVersions")
    newest = versions[0] if isinstance(versions, list) and versions else None
    return {
        "server": info if isinstance(info, Mapping) else {},
        "protocolVersion": result.get("protocolVersion") or newest,
        "capabilities": result.get("capabilities") or {},
        "instructions": result.get("instructions") or "",
    }


def offer_in(path: str | Path, server: str | None = None) -> Snapshot:
    """Return what a server offers, read from a file. The file is a snapshot or a recording.

    Args:
        path: The file, of any name.
        server: The server, if a recording has several.

    Raises:
        ServerError: If the file cannot be read, is not a snapshot or a recording, or lacks the server.
    """
    path = Path(path).expanduser()
    if not is_recording(path):
        return Snapshot.read(path)
    recording = Recording.read(path)
    return recording.snapshot(server if len(recording.servers) > 1 else None)


def is_recording(path: Path) -> bool:
    """Tell whether the file at *path* is a recording."""
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
    """Tell whether `TOOLBENCH_REPLAY` is set, so that `record=` replays the file."""
    return os.environ.get(_VARIABLE, "").strip().lower() not in ("", "0", "no", "false")


def replay_entry(recording: Recording, server: str | None = None) -> ServerEntry:
    """Return the entry of *server*. If the recording has only one server, *server* may be any name.

    Raises:
        ServerError: If *server* is not in the recording.
    """
    player = Player(recording.tape(recording.recorded_name(server)))
    return ServerEntry(transport="replay", server=player, url=str(recording.path))


def replay_config(recording: Recording) -> dict[str, Any]:
    """Return all servers of *recording* as a configuration.

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
