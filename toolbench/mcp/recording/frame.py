"""The format of a recording: JSON Lines, one frame per line, always appended.

Every line is an object with four keys:

- `at`: seconds since the epoch.
- `direction`: the kind of frame, see `Direction`.
- `server`: the name of the server; empty in the first line.
- `message`: depends on the direction:
  - `sent` and `received`: the complete JSON-RPC message.
  - `start`, only in the first line: `{"format": "toolbench-recording", "version": 1}`.
  - `connect`: how a connection was opened, as `{"transport", "mode"}`.
  - `stderr` and `noise`: a line that the server wrote to stderr, or to stdout between messages.
  - `end`: `{"exit_code"}`, if a connection ended by itself.
  - `failure`: the error of a call that got no answer, as `{"token", "text", "asides"}`. `token` is
    the progress token of the call, or null if no connection could be opened. `repeated` is added if
    the request was sent again because the server no longer knew the session.

Each secret is replaced by `<secret-hidden:N>`. Within one file, equal numbers stand for equal
secrets. `<secret-hidden>` without a number was part of the original message. An incomplete line at
the end of a file is ignored.
"""

import json
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pydantic_core import from_json, to_json

Direction = Literal["start", "connect", "sent", "received", "stderr", "noise", "end", "failure"]
"""The kind of a frame. Only `sent` and `received` are messages."""

# A tuple, because a value from a file may be unhashable
_DIRECTIONS = get_args(Direction)
# Levels of nesting; the fast parser allows 200
_DEEP = 150
FORMAT = "toolbench-recording"
VERSION = 1


@dataclass(frozen=True)
class Frame:
    """One line of a recording.

    Examples:
        >>> from toolbench.mcp import create_mcp_tools
        >>> from toolbench.mcp.recording import Recording
        >>> from toolbench.testing import FakeMCPServer
        >>> with create_mcp_tools(FakeMCPServer("shop"), record="shop.mcp.jsonl") as client:
        ...     names = [tool.name for tool in client]
        >>> frames = Recording.read("shop.mcp.jsonl").frames
        >>> {frame.server for frame in frames if frame.message.get("method") == "tools/list"}
        {'shop'}
    """

    at: float
    """Seconds since the epoch."""
    direction: Direction
    server: str
    message: Any


def frame_of(line: bytes) -> Frame | None:
    """Return the frame on *line*; None if *line* is not a frame."""
    try:
        fields = read_json(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or "message" not in fields:
        return None
    direction: Any = fields.get("direction")
    server, at = fields.get("server"), fields.get("at")
    if direction not in _DIRECTIONS or not isinstance(server, str | None):
        return None
    if not isinstance(at, int | float):
        at = 0.0
    return Frame(at=at, direction=direction, server=server or "", message=fields["message"])


def read_json(line: bytes) -> Any:
    """Return the JSON value of *line*, even if it is nested too deeply for fast parsers.

    Raises:
        ValueError: If *line* is not JSON.
        RecursionError: If the value is nested too deeply even for the slow parser.
    """
    try:
        return from_json(line)
    except ValueError:
        if line.count(b"[") + line.count(b"{") < _DEEP:
            raise
        # This parser allows more levels
        return json.loads(line)


def json_of(value: Any) -> bytes:
    """Return *value* as JSON on one line."""
    try:
        return to_json(value)
    except ValueError:
        # Half of a surrogate pair
        return json.dumps(value, default=str).encode()
