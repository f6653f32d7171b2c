"""Run a server as a child process, with one JSON message per line on stdin and stdout."""

import asyncio
import json
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
from fastmcp.client.transports.base import ClientTransport, TransportOptions
from mcp import ClientSession
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from toolbench.mcp.config.program import find_program
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.mcp.wire.messages import (
    QUOTED,
    NoiseError,
    WrittenMessage,
    failure_of,
    mended,
    message_in,
    written,
)
from toolbench.network import MOST_BYTES
from toolbench.processes.guard import process_guard

# Bytes
_CHUNK = 1 << 18
# Bytes of a line that are kept: more than any secret has, so that secrets can be hidden
_START = 100_000


@dataclass
class Lines:
    """Splits chunks of bytes into complete lines, in linear time."""

    pending: list[bytes] = field(default_factory=list)
    size: int = 0
    """The number of bytes of the incomplete line."""

    def feed(self, chunk: bytes) -> list[bytes]:
        """Add *chunk*, and return the lines that it completes."""
        *ended, rest = chunk.split(b"\n")
        if ended:
            self.size += len(ended[0])
            ended[0] = b"".join((*self.pending, ended[0]))
            if self.size > MOST_BYTES:
                ended[0] = _refused(ended[0], self.size)
            self.pending, self.size = [], 0
        self.size += len(rest)
        if self.size <= MOST_BYTES:
            self.pending.append(rest)
        elif len(self.pending) > 1:
            self.pending = [b"".join(self.pending)[:_START]]
        return [line for line in ended if line.strip()]

    @property
    def start(self) -> str:
        """The beginning of the incomplete line."""
        return b"".join(self.pending)[:_START].decode("utf-8", "replace")


def _refused(line: bytes, size: int) -> bytes:
    """Return an error to use in place of a message that is too long; *line* is a part of it."""
    reason = f"too long: it has {size:,} bytes, and more than {MOST_BYTES:,} are not read"
    try:
        return json.dumps(failure_of(line[:_START], reason)).encode()
    except NoiseError:
        return line[:QUOTED]


@dataclass
class Patience:
    """How many seconds to wait after each step of ending a server's process."""

    after_eof: float = 2.0
    after_sigterm: float = 1.0


@dataclass
class ProcessTransport(ClientTransport):
    """A transport that runs the process of *entry* for one session."""

    entry: ServerEntry
    inbox: Inbox
    patience: Patience = field(default_factory=Patience)
    pid: int | None = None
    exit_code: int | None = None
    """The exit code, if the process ended before it was stopped."""
    ended: bool = False
    """Whether the stdout of the process is closed, so that no more messages arrive."""
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
        """Start the process and yield its session; end both afterwards."""
        make = (transport_options or TransportOptions()).session_class
        with self.inbox.stderr.pipe() as stderr:
            process = await self._start(stderr)
            # The process has its own copy, so reading stops when the process ends
            stderr.close()
            self.pid = process.pid
            try:
                process_guard.add(process.pid)
                incoming, outgoing = _Incoming(self, process), _Outgoing(self, process)
                async with make(incoming, outgoing, **session_kwargs) as session:
                    yield session
            finally:
                try:
                    with anyio.CancelScope(shield=True):
                        await self._stop(process)
                finally:
                    # Done even if FastMCP cancels through the shield
                    process_guard.discard(process.pid)

    async def _start(self, stderr: Any) -> Process:
        env = get_default_environment() | dict(self.entry.env)
        program = find_program(self.entry.command, env, self.entry.cwd)
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                program,
                *self.entry.args,
                env=env,
                cwd=self.entry.cwd,
                stdin=PIPE,
                stdout=PIPE,
                stderr=stderr,
                start_new_session=True,
                limit=_CHUNK,
            )
        )
        try:
            # Without a shield, a cancelled start would wait for the process twice, and asyncio
            # would warn about an "Unknown child process"
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            await self._stop(await starting)
            raise

    async def read(self, process: Process) -> list[WrittenMessage]:
        """Return the next messages from the process; an empty list if there will be no more."""
        stdout: Any = process.stdout
        with suppress(OSError):
            while chunk := await stdout.read(_CHUNK):
                if messages := list(self._taken(chunk)):
                    return messages
        self.ended = True
        # Wait for its exit code and its last lines
        with anyio.move_on_after(1):
            while process.returncode is None or not self.inbox.stderr.is_read:
                await anyio.sleep(0.01)
        if not self._stopping:
            self.exit_code = process.returncode
            if self.inbox.recorder is not None:
                self.inbox.recorder.ended(process.returncode)
        self._is_read_out = True
        return []

    async def write(self, process: Process, text: str) -> None:
        """Write *text* as a line to the process.

        Raises:
            BrokenResourceError: If the stdin of the process is closed.
        """
        stdin: Any = process.stdin
        try:
            stdin.write(text.encode() + b"\n")
            await stdin.drain()
        except OSError as error:
            # The reader finds out why the process ended
            with anyio.move_on_after(1):
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
        try:
            return mended(line)
        except ValueError:
            self.inbox.note_noise(line.decode("utf-8", "replace"))
            return []

    async def _stop(self, process: Process) -> None:
        # The process ended by itself a moment ago
        if self.ended and await _ended(process, 1.0):
            self.exit_code = process.returncode
        self._stopping = True
        stdin: Any = process.stdin
        stdin.close()
        # A process may be unable to end while it cannot write
        rest = asyncio.ensure_future(_drained(process))
        try:
            for seconds, signum in (
                (self.patience.after_eof, signal.SIGTERM),
                (self.patience.after_sigterm, signal.SIGKILL),
            ):
                if await _ended(process, seconds):
                    break
                _signal_group(process, signum)
            await _ended(process, 1.0)
        finally:
            # FastMCP may cancel earlier, even through a shield. The process's children end too
            _signal_group(process, signal.SIGKILL)
        # The pipe is closed once everything is read
        await asyncio.wait({rest}, timeout=0.5)
        rest.cancel()


def _read(line: bytes) -> Any:
    """Parse *line* strictly as a message; return None if it is not a message."""
    try:
        return message_in(line)
    except ValueError:
        return None


@dataclass
class _Way:
    """A pipe to or from the process, with the stream methods that the SDK's session needs."""

    transport: ProcessTransport
    process: Process

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Do nothing: the transport closes the pipe and the process."""


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
            EndOfStream: If no more messages arrive.
        """
        if self.waiting:
            # Let other tasks run between many messages
            await anyio.lowlevel.checkpoint()
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
    """Send a signal to the process and its children, which form a process group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signum)


def is_supported() -> bool:
    """Tell whether this platform has process groups; otherwise FastMCP's transport is used."""
    return sys.platform != "win32"
