"""A server as a child process: one JSON message a line on its stdin and stdout."""

import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types
from anyio.abc import Process
from fastmcp.client.transports.base import ClientTransport, TransportOptions
from mcp import ClientSession
from mcp.client.stdio import get_default_environment

from toolbench.mcp.entries import ServerEntry
from toolbench.mcp.framing import Lines, mend
from toolbench.mcp.guard import find_program, guarded
from toolbench.mcp.inbox import Inbox
from toolbench.mcp.wire.texts import WrittenMessage, written

_CHUNK = 1 << 18  # bytes
_GONE = (
    anyio.ClosedResourceError,
    anyio.BrokenResourceError,
    anyio.EndOfStream,
    OSError,
)


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
            self.pid = process.pid
            to_session, incoming = anyio.create_memory_object_stream[Any](0)
            outgoing, from_session = anyio.create_memory_object_stream[Any](0)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._read, process, to_session)
                tasks.start_soon(self._write, process, from_session, to_session)
                try:
                    async with make(incoming, outgoing, **session_kwargs) as session:
                        yield session
                finally:
                    with anyio.CancelScope(shield=True):
                        await self._stop(process)
                    for stream in (to_session, incoming, outgoing, from_session):
                        stream.close()
                    tasks.cancel_scope.cancel()

    async def _start(self, stderr: Any) -> Process:
        env = get_default_environment() | dict(self.entry.env)
        program = find_program(self.entry.command, env, self.entry.cwd)
        return await anyio.open_process(
            guarded(program, self.entry.args),
            env=env,
            cwd=self.entry.cwd,
            stderr=stderr,
            start_new_session=True,
        )

    async def _read(self, process: Process, to_session: Any) -> None:
        stdout: Any = process.stdout
        with suppress(*_GONE):
            while True:
                for line in self.lines.feed(await stdout.receive(_CHUNK)):
                    text = line.decode("utf-8", "replace")
                    for message in self._messages(line):
                        await to_session.send(WrittenMessage(message, text=text))
        self.ended = True
        await _ended(process, 0.5)  # its exit code is part of why it ended
        if not self._stopping:
            self.exit_code = process.returncode
        to_session.close()  # whoever waits for an answer learns that none will come

    def _messages(self, line: bytes) -> list[Any]:
        read = mcp_types.jsonrpc_message_adapter
        try:
            return [read.validate_json(line, by_name=False)]
        except ValueError:
            pass
        try:
            return [read.validate_python(each, by_name=False) for each in mend(line)]
        except ValueError:
            self.inbox.note_noise(line.decode("utf-8", "replace"))
            return []

    async def _write(
        self, process: Process, from_session: Any, to_session: Any
    ) -> None:
        stdin: Any = process.stdin
        with suppress(*_GONE):
            async for item in from_session:
                await stdin.send(written(item).text.encode() + b"\n")
        with anyio.move_on_after(0.5):  # the reader knows more about why it ended
            while not self.ended:
                await anyio.sleep(0.01)
            await _ended(process, 0.5)
        to_session.close()

    async def _stop(self, process: Process) -> None:
        self._stopping = True
        stdin: Any = process.stdin
        with suppress(*_GONE):
            await stdin.aclose()
        for seconds, signum in (
            (self.patience.after_eof, signal.SIGTERM),
            (self.patience.after_sigterm, signal.SIGKILL),
        ):
            if await _ended(process, seconds):
                break
            _signal_group(process, signum)
        await _ended(process, 1.0)
        _signal_group(process, signal.SIGKILL)  # children it left behind
        await process.aclose()


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
