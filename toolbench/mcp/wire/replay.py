"""The transport to a recorded server: no process, no network."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastmcp.client.transports.base import ClientTransport
from mcp import ClientSession

from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.mcp.recording.player import LineListener, Player, RecordedFailureError
from toolbench.mcp.wire.memory import MemoryTransport


@dataclass
class ReplayTransport(ClientTransport):
    """A transport to a recorded server, for one session."""

    player: Player
    inbox: Inbox

    def __post_init__(self) -> None:
        """Make the transport to the player."""
        serve = partial(self.player.serve, listener=_LogListener(self.inbox))
        self._inner = MemoryTransport(serve)

    @property
    def ended(self) -> bool:
        """Whether the server closed the connection."""
        return self._inner.ended

    @asynccontextmanager
    async def connect_session(self, **settings: Any) -> AsyncIterator[ClientSession]:
        """Yield a session with the recorded server.

        Raises:
            RecordedFailureError: If the recorded connection failed: this connection fails as well.
        """
        if (error := self.player.connect_error) is not None:
            raise RecordedFailureError(error)
        async with self._inner.connect_session(**settings) as session:
            yield session


class _LogListener(LineListener):
    """Puts recorded lines of stderr and stdout into the inbox."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox

    def stderr(self, line: str) -> None:
        self._inbox.stderr.add(line)

    def noise(self, line: str) -> None:
        self._inbox.note_noise(line)
