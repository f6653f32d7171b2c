"""The MCP server of a notebook: FastMCP's web application with our token check and handlers."""

from asyncio import AbstractEventLoop
from collections.abc import Sequence
from typing import Any

import mcp_types as types
from fastmcp import FastMCP

from toolbench._version import __version__
from toolbench.serving.access.guard import OneToken, OwnHeader
from toolbench.serving.announcements import Announcements
from toolbench.serving.handlers import Begin, Handlers
from toolbench.serving.http_thread import HOST, HttpThread
from toolbench.serving.offer import Offer

_PATH = "/mcp"


class Server:
    """An MCP server for the tools of an `Offer`, which runs until it is closed."""

    def __init__(
        self,
        offer: Offer,
        *,
        name: str,
        token: str,
        port: int,
        allowed_hosts: Sequence[str],
        begin: Begin,
    ) -> None:
        """Start a server for the tools of *offer*; it answers requests until `close` is called.

        Args:
            offer: The tools to serve.
            name: The name by which clients know the server.
            token: The token that clients must send.
            port: The port on 127.0.0.1; 0 uses a free port.
            allowed_hosts: Additional host names that clients may use.
            begin: A function that creates the object for a call by a client, and starts the call.

        Raises:
            ServerError: If the port cannot be used, or the server does not start.
        """
        self._offer = offer
        self._told_version = offer.version
        self._news = Announcements()
        self._thread = HttpThread(name, port)
        self.url = f"http://{HOST}:{self._thread.port}{_PATH}"
        guard = OneToken(token)
        try:
            server = fastmcp_server(offer, begin, name=name, news=self._news, auth=guard)
            app = server.http_app(
                path=_PATH,
                host_origin_protection=True,
                allowed_hosts=[*allowed_hosts],
            )
            self._thread.start(OwnHeader(app), guard.knows)
        except BaseException:
            # Nothing is left open, even after an interrupt
            self._thread.close()
            raise

    @property
    def loop(self) -> AbstractEventLoop:
        """The event loop in which requests are answered."""
        return self._thread.loop

    def announce_news(self) -> None:
        """Notify clients soon if the answer to `tools/list` has changed."""
        self._thread.call_soon(self._announce)

    def _announce(self) -> None:
        self._offer.renew()
        if self._offer.version != self._told_version:
            self._told_version = self._offer.version
            self._news.tell()

    def close(self) -> None:
        """Stop serving."""
        self._thread.call_soon(self._news.close)
        self._thread.close()


def fastmcp_server(
    offer: Offer,
    begin: Begin,
    *,
    name: str,
    news: Announcements | None = None,
    auth: OneToken | None = None,
) -> FastMCP[Any]:
    """Return a FastMCP server that offers the tools in *offer*.

    Args:
        offer: The tools to serve.
        begin: A function that starts a client's call of a tool, and returns the object for the
            call.
        name: The name by which clients know the server.
        news: An object that notifies clients when the tools change. If None, a new one is created.
        auth: An object that checks the token of each request. If None, clients need no token.
    """
    if news is None:
        news = Announcements()
    server: FastMCP[Any] = FastMCP(name, version=__version__, auth=auth, dereference_schemas=False)
    handlers = Handlers(offer, news, begin)

    def input_schema_of(name: str) -> Any:
        described = offer.described.get(name)
        return None if described is None else described["inputSchema"]

    low = server._mcp_server
    low.add_request_handler("tools/list", types.PaginatedRequestParams, handlers.list_tools)
    low.add_request_handler("tools/call", types.CallToolRequestParams, handlers.call_tool)
    low.add_request_handler(
        "subscriptions/listen", types.SubscriptionsListenRequestParams, news.listen
    )
    low.get_tool_input_schema = input_schema_of
    return server
