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
    """Start a proxy through which one browser reaches only public network addresses.

    The proxy runs on this machine. All requests of the browser go through it, including redirects
    and requests of scripts. The proxy looks up a host name only once, and connects to the
    addresses that it has checked. Therefore, a DNS server cannot return another address after the
    check.

    Args:
        refused: A function that is called with the host of each refused connection, and with the
            reason. Some hosts were not requested by the page, but by Chromium itself.
        resolver: A function that returns the network addresses of a host and port.

    Returns:
        The server of the proxy. If you close it, open connections stay open until the browser
        exits.
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
