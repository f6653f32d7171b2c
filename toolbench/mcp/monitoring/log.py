"""Keep the messages that a server logs through MCP, by level."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from time import time
from typing import Any

from pydantic_core import to_json

LEVELS = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
"""MCP's log levels, least severe first. Source: RFC 5424."""

LOG_KEYS = ("level", "logger")
"""The keys for filters; levels can be compared, as in `level>=warning`."""
LOG_ORDERS = {"level": LEVELS}

# The most characters of one message
_LONGEST = 10_000
# The most characters of a level or a logger
_LONGEST_NAME = 100


@dataclass(frozen=True)
class LogEntry:
    """One log message of a server."""

    time: float
    """Seconds since the epoch."""
    level: str
    logger: str
    text: str

    def __str__(self) -> str:
        origin = self.level.upper()
        if self.logger:
            origin += f" {self.logger}"
        return f"{origin}: {self.text}"

    @property
    def searched(self) -> str:
        """The text that filters search."""
        return str(self)

    def value(self, key: str) -> str:
        """Return the value of *key*, one of `LOG_KEYS`; an unknown level counts as `info`."""
        if key == "logger":
            return self.logger
        if self.level.lower() not in LEVELS:
            return "info"
        return self.level


class ServerLog:
    """The last log messages of a server, oldest first."""

    def __init__(
        self,
        *,
        entries: int = 2000,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        """Keep the newest *entries* messages; call *on_change* after each new message."""
        self.on_level: Callable[[str], object] = lambda level: None
        """Asks the server for messages of a level and above."""
        self._entries: deque[LogEntry] = deque(maxlen=entries)
        self._lock = Lock()
        self._on_change = on_change
        self.total = 0
        """The number of all messages, including messages that are not kept."""

    def __iter__(self) -> Iterator[LogEntry]:
        with self._lock:
            return iter(list(self._entries))

    def __len__(self) -> int:
        return len(self._entries)

    def set_level(self, level: str) -> None:
        """Ask the server for messages of *level* and above: `debug`, `info`, ... `emergency`.

        Until you call this, a server of the newer protocol (MCP 2026-07-28) should send no log
        messages. A server of an older protocol may send messages of any level.

        Raises:
            ToolbenchError: If *level* is not one of MCP's levels.
            ServerError: If the server does not support logging, refuses, or cannot be reached.
        """
        self.on_level(level)

    def add(self, params: Mapping[str, Any]) -> None:
        """Keep the log message in *params* of `notifications/message`; secrets must be hidden."""
        text = _text_of(params.get("data"))
        if len(text) > _LONGEST:
            text = f"{text[:_LONGEST]}… ({len(text):,} characters)"
        entry = LogEntry(
            time=time(),
            level=str(params.get("level", "info"))[:_LONGEST_NAME],
            logger=str(params.get("logger") or "")[:_LONGEST_NAME],
            text=text,
        )
        with self._lock:
            self._entries.append(entry)
            self.total += 1
        self._on_change()


def _text_of(data: Any) -> str:
    # The form that FastMCP sends
    if isinstance(data, Mapping) and isinstance(data.get("msg"), str):
        rest = {k: v for k, v in data.items() if k != "msg" and v is not None}
        if rest:
            return f"{data['msg']} {_text_of(rest)}"
        return str(data["msg"])
    if isinstance(data, str):
        return data
    return to_json(data, fallback=str).decode()
