"""A server as a child process: one JSON message a line on its stdin and stdout."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Self

import anyio
import anyio.lowlevel
import mcp_types
from fastmcp.client.transports.base import ClientTransport, TransportOptions
from mcp import ClientSession
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from toolbench.core.process_guard import guarded
from toolbench.mcp.config.program import find_program
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.mcp.wire.framing import Lines, mend
from toolbench.mcp.wire.written_message import WrittenMessage, written

_CHUNK = 1 << 18  # bytes


@dataclass
class Patience:
    """Seconds that a server has at each step of its end."""

    after_eof: float = 2.0
    after_sigterm: float = 1.0


@dataclass
class ProcessTransport(ClientTransport):
    """Runs the process of one entry, for the time of one session."""

    entry: ServerEntry
    inbox: Inbox
    patience: Patience = field(default_factory=Patience)
    pid: int | None = None
    exit_code: int | None = None
    """What the process ended with, if it ended before it was told to."""
    ended: bool = False
    """Whether its stdout is closed: nothing will come any more."""
    lines: Lines = field(default_factory=Lines)
    _stopping: bool = False
    _is_read_out: bool = False

    @asynccontextmanager
    async def connect_session(
        self,
        *,
        transport_options: TransportOptions | None = None,
        **session_kwargs: Any,
    ) -> AsyncIterator[ClientSession]:
        """Start the process and yield the session with it; end both afterwards."""
        make = (transport_options or TransportOptions()).session_class
        with self.inbox.stderr.pipe() as stderr:
            process = await self._start(stderr)
            stderr.close()  # the process has its own: with it ends the reading
            self.pid = process.pid
            try:
                incoming, outgoing = _Incoming(self, process), _Outgoing(self, process)
                async with make(incoming, outgoing, **session_kwargs) as session:
                    yield session
            finally:
                with anyio.CancelScope(shield=True):
                    await self._stop(process)

    async def _start(self, stderr: Any) -> Process:
        env = get_default_environment() | dict(self.entry.env)
        program = find_program(self.entry.command, env, self.entry.cwd)
        return await asyncio.create_subprocess_exec(
            *guarded(program, self.entry.args),
            env=env,
            cwd=self.entry.cwd,
            stdin=PIPE,
            stdout=PIPE,
            stderr=stderr,
            start_new_session=True,
            limit=_CHUNK,
        )

    async def read(self, process: Process) -> list[WrittenMessage]:
        """Return what the process said next; nothing if it will say nothing more."""
        stdout: Any = process.stdout
        with suppress(OSError):
            while chunk := await stdout.read(_CHUNK):
                if messages := list(self._taken(chunk)):
                    return messages
        self.ended = True
        with anyio.move_on_after(1):  # its exit code and its last words say why
            while process.returncode is None or not self.inbox.stderr.is_read:
                await anyio.sleep(0.01)
        if not self._stopping:
            self.exit_code = process.returncode
            if self.inbox.recorder is not None:
                self.inbox.recorder.ended(process.returncode)
        self._is_read_out = True
        return []

    async def write(self, process: Process, text: str) -> None:
        """Say *text* to the process.

        Raises:
            BrokenResourceError: If it does not listen any more; nothing will be read either.
        """
        stdin: Any = process.stdin
        try:
            stdin.write(text.encode() + b"\n")
            await stdin.drain()
        except OSError as error:
            with anyio.move_on_after(1):  # the reader knows more about why it ended
                while not self._is_read_out:
                    await anyio.sleep(0.01)
            if process.stdout is not None:
                process.stdout.feed_eof()
            raise anyio.BrokenResourceError from error

    def _taken(self, chunk: bytes) -> Iterator[WrittenMessage]:
        for line in self.lines.feed(chunk):
            text = line.decode("utf-8", "replace")
            if (message := _read(line)) is not None:
                yield WrittenMessage(message, text=text)
                continue
            for message in self._mended(line):
                yield WrittenMessage(message, text=text, is_exact=False)

    def _mended(self, line: bytes) -> list[Any]:
        read = mcp_types.jsonrpc_message_adapter
        try:
            return [read.validate_python(each, by_name=False) for each in mend(line)]
        except ValueError:
            self.inbox.note_noise(line.decode("utf-8", "replace"))
            return []

    async def _stop(self, process: Process) -> None:
        self._stopping = True
        stdin: Any = process.stdin
        stdin.close()
        rest = asyncio.ensure_future(_drained(process))  # who cannot write cannot end
        try:
            for seconds, signum in (
                (self.patience.after_eof, signal.SIGTERM),
                (self.patience.after_sigterm, signal.SIGKILL),
            ):
                if await _ended(process, seconds):
                    break
                _signal_group(process, signum)
            await _ended(process, 1.0)
        finally:  # FastMCP's patience may be shorter, and its cancelling passes every shield
            _signal_group(process, signal.SIGKILL)  # and the children it left behind
        await asyncio.wait({rest}, timeout=0.5)  # the pipe is closed once it was read
        rest.cancel()


def _read(line: bytes) -> Any:
    """Return the message that *line* is, read strictly; None if it is none."""
    try:
        return mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return None


@dataclass
class _Way:
    """One way to or from a process, as the SDK's session wants it: no task of its own."""

    transport: ProcessTransport
    process: Process

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Leave the pipe to the transport, which closes it with the process."""


@dataclass
class _Incoming(_Way):
    waiting: deque[WrittenMessage] = field(default_factory=deque)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> WrittenMessage:
        with suppress(anyio.EndOfStream):
            return await self.receive()
        raise StopAsyncIteration

    async def receive(self) -> WrittenMessage:
        """Return the next message.

        Raises:
            EndOfStream: If there will be none.
        """
        if self.waiting:
            await anyio.lowlevel.checkpoint()  # others work on between those of a flood
        else:
            self.waiting.extend(await self.transport.read(self.process))
        if not self.waiting:
            raise anyio.EndOfStream
        return self.waiting.popleft()


class _Outgoing(_Way):
    async def send(self, item: SessionMessage, /) -> None:
        await self.transport.write(self.process, written(item).text)


async def _drained(process: Process) -> None:
    stdout: Any = process.stdout
    with suppress(OSError):
        while await stdout.read(_CHUNK):
            pass


async def _ended(process: Process, seconds: float) -> bool:
    with anyio.move_on_after(seconds):
        while process.returncode is None:
            await anyio.sleep(0.01)
    return process.returncode is not None


def _signal_group(process: Process, signum: int) -> None:
    """Reach the process and all it started; its number is that of its group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signum)


def is_supported() -> bool:
    """Tell whether this platform has process groups; else FastMCP's own transport is used."""
    return sys.platform != "win32"
