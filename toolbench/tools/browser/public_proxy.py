"""A proxy through which a browser reaches public addresses only."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

from toolbench.tools.failure_sentence import RunError
from toolbench.tools.web_read.addresses import Resolver, allowed, resolve

# Seconds to wait for the head of a request, and for a connection
_PATIENCE = 30.0
# Bytes of a head, and of each part that is passed on
_SIZE = 65_536
_REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_CONNECTED = b"HTTP/1.1 200 Connection established\r\n\r\n"


async def start_proxy(
    refused: Callable[[str, RunError], None], *, resolver: Resolver = resolve
) -> asyncio.Server:
    """Start a proxy on this machine for one browser, and return the server of the proxy.

    Everything that a page loads comes through the proxy: after redirects, from scripts and in new
    windows too. The proxy resolves a host name only once, and connects to the address that it has
    checked. So the name cannot lead elsewhere after the check. Closing the server does not close
    its connections; they end when the browser exits.

    Args:
        refused: A function that gets the host of each refused connection, and the reason. The page
            may not have asked for this host, because Chromium also connects to hosts for its own
            purposes.
        resolver: A function that returns the network addresses of a host and port.
    """

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, EOFError, ValueError, asyncio.LimitOverrunError):
            await _serve(reader, writer, refused, resolver)
        writer.close()

    return await asyncio.start_server(serve, "127.0.0.1", 0, limit=_SIZE)


async def _serve(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    refused: Callable[[str, RunError], None],
    resolver: Resolver,
) -> None:
    """Answer one request of the browser: connect to its host, and copy data in both directions."""
    async with asyncio.timeout(_PATIENCE):
        head = await reader.readuntil(b"\r\n\r\n")
    first, _, fields = head.partition(b"\r\n")
    method, target, version = first.decode("latin-1").split(" ")
    is_tunnel = method == "CONNECT"
    url = urlsplit(f"//{target}" if is_tunnel else target)
    if not url.hostname:
        return
    port = url.port or 80
    try:
        addresses = await allowed(url.hostname, port, resolver=resolver, private=False)
        far_reader, far_writer = await _connected(url.hostname, addresses, port)
    except RunError as failure:
        refused(url.hostname, failure)
        if is_tunnel:
            writer.write(_REFUSED)
            await writer.drain()
        return
    try:
        if is_tunnel:
            writer.write(_CONNECTED)
        else:
            path = url._replace(scheme="", netloc="", fragment="").geturl() or "/"
            start = f"{method} {path} {version}\r\nConnection: close\r\n".encode("latin-1")
            far_writer.write(start + _without_hops(fields))
        await asyncio.gather(_pass_on(reader, far_writer), _pass_on(far_reader, writer))
    finally:
        far_writer.close()


async def _connected(
    host: str, addresses: list[str], port: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to the first of *addresses*, the addresses of *host*, that answers.

    Raises:
        RunError: If none of the addresses answers.
    """
    failure: OSError | None = None
    for address in addresses:
        try:
            async with asyncio.timeout(_PATIENCE):
                return await asyncio.open_connection(address, port)
        except OSError as error:
            failure = error
    reason = str(failure or "") or "it does not answer"
    msg = f"{host} cannot be reached ({reason}). Try again later, or another page."
    raise RunError(msg) from failure


def _without_hops(fields: bytes) -> bytes:
    """Return the header *fields* of a request without those that only the proxy needs."""
    kept = [
        line
        for line in fields.split(b"\r\n")
        if not line.lower().startswith((b"proxy-", b"connection:"))
    ]
    return b"\r\n".join(kept)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy everything that *reader* receives to *writer*, then end the stream of *writer*."""
    with suppress(OSError):
        while data := await reader.read(_SIZE):
            writer.write(data)
            await writer.drain()
    with suppress(OSError, RuntimeError):
        if writer.can_write_eof():
            writer.write_eof()
