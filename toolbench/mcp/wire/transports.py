"""Create the transport for an entry of a configuration."""

import importlib.util
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from fastmcp.client.transports import FastMCPTransport, StdioTransport
from fastmcp.client.transports.base import ClientTransport, TransportOptions
from mcp import ClientSession

from toolbench.errors import ServerError
from toolbench.mcp.config.server_entry import ServerEntry, UnapprovedEntry
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.mcp.wire.http import HttpTransport, SseTransport
from toolbench.mcp.wire.memory import MemoryTransport
from toolbench.mcp.wire.stdio import ProcessTransport, is_supported


@dataclass
class Tapped(ClientTransport):
    """A wrapper around a transport, so that its sessions have our own class."""

    inner: ClientTransport
    session_class: Callable[..., ClientSession]

    def __post_init__(self) -> None:
        """Support the same protocols as the wrapped transport."""
        self.legacy_only = self.inner.legacy_only

    @asynccontextmanager
    async def connect_session(
        self,
        *,
        transport_options: TransportOptions | None = None,
        **session_kwargs: Any,
    ) -> AsyncIterator[ClientSession]:
        """Connect with the wrapped transport, and yield a session created by `session_class`."""
        make: Any = self.session_class
        options = replace(transport_options or TransportOptions(), session_class=make)
        async with self.inner.connect_session(
            transport_options=options, **session_kwargs
        ) as session:
            yield session

    async def close(self) -> None:
        """Close the wrapped transport."""
        await self.inner.close()  # type: ignore[no-untyped-call]


def transport_of(entry: ServerEntry, inbox: Inbox) -> ClientTransport:
    """Return the transport to the server of *entry*, in which variables must be expanded already.

    Raises:
        ServerError: If *entry* names no server.
    """
    # Entries must be approved by `trust.configurations` before they get here
    if isinstance(entry, UnapprovedEntry):
        msg = f"The servers of {str(entry.file)!r} were not approved."
        raise ServerError(msg)
    match entry.transport:
        case "http":
            return HttpTransport(entry, inbox)
        case "sse":
            return SseTransport(entry, inbox)
        case "replay":
            return MemoryTransport(partial(entry.server.serve, inbox=inbox))
        case "memory":
            return _in_process(_server_object(entry))
    if is_supported():
        return ProcessTransport(entry, inbox)
    return _PlainProcess(entry, inbox)


@dataclass
class _PlainProcess(ClientTransport):
    """FastMCP's process transport, for platforms without process groups."""

    entry: ServerEntry
    inbox: Inbox

    @asynccontextmanager
    async def connect_session(self, **settings: Any) -> AsyncIterator[ClientSession]:
        with self.inbox.stderr.pipe() as stderr:
            inner = StdioTransport(
                self.entry.command,
                list(self.entry.args),
                env=dict(self.entry.env),
                cwd=self.entry.cwd,
                keep_alive=False,
                log_file=stderr,
            )
            async with inner.connect_session(**settings) as session:
                yield session


def _in_process(server: Any) -> ClientTransport:
    """Return the object *server*'s own transport, or else FastMCP's transport to it."""
    if isinstance(server, ClientTransport):
        return server
    own = getattr(server, "client_transport", None)
    if own is None:
        return FastMCPTransport(server)
    transport: ClientTransport = own()
    return transport


def _server_object(entry: ServerEntry) -> Any:
    """Return the server of *entry*: an object, an object in a module, or a server from OpenAPI."""
    server = entry.server
    if isinstance(server, Mapping) and "openapi" in server:
        from toolbench.mcp.wire.openapi import OpenApiTransport  # noqa: PLC0415 - PyYAML

        return OpenApiTransport(server, entry.base)
    if isinstance(server, str):
        return _from_module(server, entry.base)
    if isinstance(server, ClientTransport) or hasattr(server, "client_transport"):
        return server
    if hasattr(server, "run") and hasattr(server, "name"):
        return server
    msg = f"A {type(server).__name__} is not an MCP server: give a FastMCP object, a command or a URL."
    raise ServerError(msg)


def _from_module(target: str, base: Path) -> Any:
    """Return the server in `file.py`, `file.py:name` or `package.module:name`."""
    place, name = target, ""
    if not target.endswith(".py"):
        place, _, name = target.partition(":")
    if place.endswith(".py"):
        module = _load_file(base / Path(place).expanduser())
    else:
        try:
            module = import_module(place)
        except ImportError as error:
            msg = f"Cannot import {place!r}: {error}."
            raise ServerError(msg) from None
    for candidate in [name] if name else ["mcp", "server", "app"]:
        if (server := getattr(module, candidate, None)) is not None:
            return server
    if name:
        description = repr(name)
    else:
        description = "a server called mcp, server or app"
    msg = f"{place!r} has no {description}: name it, as in 'file.py:my_server'."
    raise ServerError(msg)


def _load_file(path: Path) -> Any:
    if not path.is_file():
        msg = f"There is no file {str(path)!r}."
        raise ServerError(msg)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        msg = f"{str(path)!r} is not a Python file."
        raise ServerError(msg)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module
