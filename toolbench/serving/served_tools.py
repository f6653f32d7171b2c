"""Serve tools of this process to agents: `serve`."""

import atexit
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, Self

from toolbench.core.tool import ToolDefinition, hooks
from toolbench.errors import MissingExtraError
from toolbench.runs.questions import Question
from toolbench.serving.access.client_config import Client, ClientConfig
from toolbench.serving.access.connection_file import ConnectionFile
from toolbench.serving.access.proxy_hint import proxy_hint
from toolbench.serving.access.serve_settings import Require, check_settings
from toolbench.serving.access.token import Token
from toolbench.serving.call import ServedCall
from toolbench.serving.offer import Offer
from toolbench.serving.served_view import served_bundle
from toolbench.wording import counted

if TYPE_CHECKING:
    from types import TracebackType

Answerer = Literal["agent", "notebook"]
Listener = Callable[[ServedCall | None], object]
"""A function that receives the call that has changed, or None if something else has changed."""
KEPT_CALLS = 1_000
"""How many calls `Served.calls` keeps, besides running ones; `history()` has earlier calls."""
_PAUSED = "calls are paused"
_EACH = "each call of this server is asked about"


class Served:
    """A server of tools, which runs until you call `close`.

    If the server is the last value of a cell, a panel with all calls is displayed. In a saved
    notebook, the panel shows the last 50 calls.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.serving import serve
        >>> @tool
        ... def double(number: int) -> int:
        ...     "Double a number."
        ...     return 2 * number
        >>> server = serve(double)
        >>> list(server.tools), server.url.startswith("http://127.0.0.1:")
        (['double'], True)
        >>> server.close()
        >>> server.is_closed
        True
    """

    def __init__(
        self,
        tools: Any,
        *,
        name: str,
        port: int,
        require: Require,
        answer_within: float,
        allowed_hosts: Sequence[str],
    ) -> None:
        """Start the server; the arguments are those of `serve`."""
        allowed_hosts = check_settings(
            name=name,
            port=port,
            require=require,
            answer_within=answer_within,
            allowed_hosts=allowed_hosts,
        )
        self.name = name
        self.require = require
        """When the user must allow a call: if the "policy" says so, "always", or "never"."""
        self.answer_within = answer_within
        """How many seconds the user has to answer before the call is refused."""
        self.questions_to: Answerer = "agent"
        """Who answers the questions of a running tool.

        "agent" is the user of the agent, if the agent's program can ask; "notebook" is the user at
        this notebook. The user of the agent has ten minutes to answer. If more than 32 questions
        are open, the oldest is cancelled.
        """
        self._lock = RLock()
        self._calls: deque[ServedCall] = deque()
        self._count = 0
        self._listeners: tuple[Listener, ...] = ()
        self._is_paused = self._is_closed = False
        self.token = Token.new()
        """The token that clients must send, as `Authorization: Bearer ...`.

        If a proxy uses that header itself, clients send `X-Toolbench-Token: ...` instead.
        """
        self._offer = Offer(tools)
        self._server = _server_of(
            self._offer,
            name=name,
            token=self.token,
            port=port,
            allowed_hosts=allowed_hosts,
            begin=self._begin,
        )
        self.url: str = self._server.url
        """The URL of the server, for streamable HTTP."""
        self.proxy_hint = proxy_hint(self.url, allowed_hosts)
        """How a client on another machine reaches the server through JupyterHub or Binder; else "".

        jupyter-server-proxy forwards an answer only when it is complete, so progress arrives
        together with the result. In the newer protocol, it forwards no notifications of changed
        tools. In the older protocol, it forwards no questions: set `questions_to` to "notebook" for
        such clients.
        """
        self._file = ConnectionFile(name, self.url, self.token)
        try:
            self._file.write()
        except BaseException:
            # Nothing is left open, even after an interrupt
            self._server.close()
            raise
        self._forget = hooks.definitions.listen(self.look), hooks.listings.listen(self.look)
        open_servers.append(self)
        atexit.register(self.close)

    # --- its state ----------------------------------------------------------------------

    @property
    def tools(self) -> Mapping[str, ToolDefinition[Any, Any]]:
        """The served tools by name, in their latest definitions."""
        return self._offer.tools

    @property
    def calls(self) -> tuple[ServedCall, ...]:
        """The last 1,000 calls and all running calls, newest last."""
        with self._lock:
            return tuple(self._calls)

    @property
    def count(self) -> int:
        """The number of all calls since the server was started."""
        return self._count

    @property
    def is_paused(self) -> bool:
        """Whether each new call waits until the user accepts it; see `pause`."""
        return self._is_paused

    @property
    def is_closed(self) -> bool:
        """Whether the server is closed."""
        return self._is_closed

    def client_config(self, client: Client = "mcp") -> ClientConfig:
        """Return the configuration that connects *client*, to be pasted into the client's file.

        Args:
            client: "claude" (Desktop and Code), "cursor", "vscode", "codex", or "mcp" for any
                client that reads `mcpServers`, such as OpenHands.
        """
        return ClientConfig(client, self.name)

    def __repr__(self) -> str:
        if self._is_closed:
            return f"<Served {self.name!r}: closed>"
        count = counted(len(self._offer.tools), "tool")
        return f"<Served {self.name!r}: {count} at {self.url}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Return the view without widgets: the tools, the clients' configurations, the calls."""
        return served_bundle(self)

    # --- what the user does -------------------------------------------------------------

    def pause(self) -> None:
        """Make each new call wait until the user accepts it.

        A call that is not accepted within `answer_within` seconds is refused.
        """
        self._is_paused = True
        self._tell()

    def resume(self) -> None:
        """Let new calls run again, and accept calls that are waiting only because of `pause`."""
        self._is_paused = False
        for call in self.calls:
            call.accept_if(_PAUSED, confirm=self.require != "never")
        self._tell()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Register *listener*, which is called after each change of a call or of the server.

        The argument of *listener* is the call that has changed, or None if the server has changed.
        *listener* may be called from any thread, and must return quickly.

        Returns:
            A function that removes the listener.
        """
        with self._lock:
            self._listeners = (*self._listeners, listener)
        return lambda: self._unlisten(listener)

    def look(self) -> None:
        """Look up the tools again, and notify the clients if the tools changed."""
        self._offer.outdate()
        self._server.announce_news()
        self._tell()

    def close(self) -> None:
        """Stop the server and the running calls; no thread, socket or file remains."""
        # A fork of the process that serves
        if self._file.process != os.getpid():
            return
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
        atexit.unregister(self.close)
        for forget in self._forget:
            forget()
        self._file.remove()
        for call in self.calls:
            if not call.is_over:
                call.stop("stopped: the server was closed")
        self._server.close()
        self._offer.close()
        open_servers.remove(self)
        self._tell()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: "TracebackType | None",
    ) -> None:
        self.close()

    # --- what the server does -----------------------------------------------------------

    def _begin(
        self,
        tool: ToolDefinition[Any, Any],
        arguments: Mapping[str, Any],
        client: str,
        can_ask: Callable[[Question], bool],
    ) -> ServedCall:
        """Start a call of *tool* for *client*.

        *can_ask* tells whether the client can show a question to its user.
        """
        call = ServedCall(
            tool,
            arguments,
            client=client,
            answer_within=self.answer_within,
            loop=self._server.loop,
            asks_client=lambda q: self.questions_to == "agent" and can_ask(q),
            changed=self._tell,
        )
        self._keep(call)
        asks_because = _EACH if self.require == "always" else ""
        if self._is_paused and not asks_because:
            asks_because = _PAUSED
        confirm = self._is_paused or self.require != "never"
        call.begin(confirm=confirm, asks_because=asks_because)
        return call

    def _keep(self, call: ServedCall) -> None:
        """Keep *call*; if too many calls are kept, drop the oldest call that has ended."""
        with self._lock:
            self._count += 1
            self._calls.append(call)
            if len(self._calls) > KEPT_CALLS:
                oldest = next((one for one in self._calls if one.is_over), None)
                if oldest is not None:
                    self._calls.remove(oldest)

    def _tell(self, call: ServedCall | None = None) -> None:
        for listener in self._listeners:
            listener(call)

    def _unlisten(self, listener: Listener) -> None:
        with self._lock:
            self._listeners = tuple(one for one in self._listeners if one != listener)


open_servers: list[Served] = []
"""The open servers of this process."""


def _server_of(offer: Offer, **settings: Any) -> Any:
    try:
        from toolbench.serving.mcp_server import (  # noqa: PLC0415 - FastMCP takes seconds
            Server,
        )
    except ImportError as error:
        # FastMCP or a package that it needs is missing
        extra = "serve"
        raise MissingExtraError(extra) from error
    return Server(offer, **settings)


def serve(
    tools: Any,
    *,
    name: str = "notebook",
    port: int = 0,
    require: Require = "policy",
    answer_within: float = 60,
    allowed_hosts: Sequence[str] = (),
) -> Served:
    """Serve *tools* over MCP to agents on this machine, and return the server.

    Each call is recorded in `history()` as a run with the source "agent". If you define a tool
    again, the new definition is served, and clients are notified. This function requires the
    optional dependency `jupyter-toolbench[serve]`.

    The output schema of a tool is made from its return annotation, unless the annotation is `str`
    or an image. If a result does not match the schema, the client receives an error that names the
    problem. NaN is sent as a string, because JSON does not have it. The secrets of a tool are
    looked up in this process; the agent is never asked for them.

    The server listens only on 127.0.0.1. It refuses requests without the right token (status 401),
    requests to another host name (421), and requests from a web page of another machine (403). A
    client must send the token within ten seconds after connecting. If more than 128 connections are
    open, the oldest connections that have not sent the token are closed.

    Args:
        tools: A tool, a class of tools, a `Tool` spec, the name of a tool, or a list of these. It
            may also be a function that returns tools. The function is called again whenever you
            define a tool.
        name: The name that clients and `toolbench connect` use for the server. If several servers
            have this name, `toolbench connect` uses the newest one that is running.
        port: The port on 127.0.0.1. If it is 0, a free port is chosen.
        require: When the user must allow a call before it runs: if the policy requires it
            ("policy"), "always" or "never". A call that the policy denies never runs. Answers that
            you have prepared by `answering` do not count as consent.
        answer_within: The number of seconds that the user has to answer. After this time, the call
            is refused.
        allowed_hosts: Additional host names by which clients may address this machine, for example
            through a proxy. Each must be a full name, such as "hub.example.org".

    Raises:
        MissingExtraError: If the optional dependency `jupyter-toolbench[serve]` is not installed.
        RegistrationError: If an item of *tools* is not a tool, or two tools have the same name.
        ServerError: If the port is taken, or the name of the server is invalid.
        ToolbenchError: If another setting is invalid.
        ToolNotFoundError: If no tool has one of the given names.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.serving import serve
        >>> @tool
        ... def greet(name: str) -> str:
        ...     "Greet a guest."
        ...     return f"Welcome, {name}!"
        >>> server = serve(greet, name="reception")
        >>> config = server.client_config("claude")
        >>> config["mcpServers"]["reception"]["args"]
        ['connect', 'reception']
        >>> server.close()
    """
    return Served(
        tools,
        name=name,
        port=port,
        require=require,
        answer_within=answer_within,
        allowed_hosts=allowed_hosts,
    )
