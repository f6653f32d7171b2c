"""One MCP server, connected: its state, its lists, calls to it, and what it says meanwhile."""

from asyncio import AbstractEventLoop
from collections.abc import Callable, Sequence
from typing import Any, Literal

from toolbench.core.portal import portal
from toolbench.mcp.calls import Call
from toolbench.mcp.catalog import Catalog
from toolbench.mcp.changes import Listener
from toolbench.mcp.connection import Connection
from toolbench.mcp.definition import MCPToolAction, MCPToolDefinition
from toolbench.mcp.entries import ServerEntry
from toolbench.mcp.executor import MCPToolExecutor
from toolbench.mcp.failures import call_failed
from toolbench.mcp.handlers import Answerer, OnProgress
from toolbench.mcp.inbox import Inbox
from toolbench.mcp.link import Link, Status
from toolbench.mcp.listing import DisabledTool
from toolbench.mcp.logs import ServerLog
from toolbench.mcp.offers import Offers
from toolbench.mcp.resources import (
    MCPPromptObservation,
    MCPResourceObservation,
    Prompt,
    Resource,
    ResourceTemplate,
)
from toolbench.mcp.results import MCPToolObservation
from toolbench.mcp.snapshot import Snapshot, ToolsDiff
from toolbench.mcp.stderr import StderrTail
from toolbench.mcp.subscriptions import Subscriptions
from toolbench.mcp.tap import Traffic
from toolbench.mcp.waiting import wait_answering

Era = Literal["modern", "legacy"]

_CALL_SECONDS = 300.0


class MCPServerSession:
    """A server of a client. Get one from `MCPClient.servers`.

    Everything here may be called from any thread; what waits, waits with a time limit.
    """

    def __init__(
        self,
        name: str,
        entry: ServerEntry,
        *,
        timeout: float = 30.0,
        mode: str = "auto",
        answerer: Answerer | None = None,
        roots: Sequence[str] = (),
    ) -> None:
        """Prepare a session; `connect` opens it.

        Args:
            name: What the server is called here.
            entry: How it is reached.
            timeout: Seconds for connecting, and for each list.
            mode: `auto`, `legacy` (the handshake of 2025 and before), or a version.
            answerer: Who answers the server's questions where a call names nobody.
            roots: File URLs the server may look at, if it cares.
        """
        self.name = name
        self.entry = entry
        self.call_seconds = entry.seconds or _CALL_SECONDS
        """How long a call may take."""
        self._inbox = Inbox(name, answerer=answerer)
        self._inbox.on_list_changed = self._list_changed
        self._timeout = timeout
        self._link = Link(
            entry,
            self._inbox,
            seconds=timeout,
            mode=entry.mode or mode,
            roots=list(roots),
            greet=self._greet,
        )
        self._offers = Offers(self._link, timeout)
        self._subscriptions = Subscriptions(self._link, timeout)
        self._inbox.on_resource_updated = self._subscriptions.note
        self._catalog = Catalog(name, self)
        self._modern = False
        self._described: dict[str, Any] = {}
        self._version = ""

    def __repr__(self) -> str:
        era = f", {self.protocol_version}" if self._version else ""
        return f"MCPServerSession({self.name!r}, {self.status}{era}, {len(self._catalog)} tools)"

    # --- state --------------------------------------------------------------------

    @property
    def status(self) -> Status:
        """`new`, `connecting`, `connected`, `lost`, `failed` or `closed`."""
        return self._link.status

    @property
    def error(self) -> str | None:
        """Why the server could not be reached, with what to do about it."""
        return self._link.error

    @property
    def protocol_version(self) -> str | None:
        """The version of MCP both sides speak."""
        return self._version or None

    @property
    def era(self) -> Era | None:
        """`modern` (2026-07-28 and later) or `legacy` (with a handshake)."""
        if not self._version:
            return None
        return "modern" if self._modern else "legacy"

    @property
    def mode(self) -> str:
        """How the next connection is negotiated; what worked is remembered."""
        return self._link.mode

    @property
    def pid(self) -> int | None:
        """The number of the server's process, if it is one of ours."""
        return self._link.connection.pid if self.status == "connected" else None

    @property
    def server_info(self) -> dict[str, Any]:
        """What the server says it is: `name`, `version`, `title`."""
        return dict(self._described.get("serverInfo", {}))

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the server says it can do."""
        return dict(self._described.get("capabilities", {}))

    @property
    def instructions(self) -> str:
        """How the server wants to be used, in its own words."""
        return str(self._described.get("instructions") or "")

    @property
    def loop(self) -> AbstractEventLoop | None:
        """The background loop, once there was a connection."""
        return self._link.loop

    @property
    def answerer(self) -> Answerer | None:
        """Who answers the server's questions where a call names nobody."""
        return self._inbox.answerer

    @answerer.setter
    def answerer(self, answerer: Answerer | None) -> None:
        self._inbox.answerer = answerer

    @property
    def stderr(self) -> StderrTail:
        """The last lines the server's process wrote on stderr."""
        return self._inbox.stderr

    @property
    def log(self) -> ServerLog:
        """The last messages the server logged through MCP."""
        return self._inbox.log

    @property
    def traffic(self) -> Traffic:
        """The last messages on the wire, both ways."""
        return self._inbox.traffic

    @property
    def noise(self) -> list[str]:
        """The first lines on the server's stdout that were no messages."""
        return list(self._inbox.noise)

    def observe(self, listener: Listener) -> Callable[[], None]:
        """Call *listener* with what changed, some times a second; return how to stop that."""
        return self._inbox.changes.listen(listener)

    # --- connecting ---------------------------------------------------------------

    def connect(self, mode: str | None = None) -> None:
        """Connect, or connect again, in *mode* if one is given.

        Raises:
            ServerError: If the server cannot be reached.
        """
        portal.call(self.aconnect, mode)

    def reconnect(self, mode: str | None = None) -> None:
        """Disconnect and connect again; arguments as for `connect`."""
        self.connect(mode)

    def close(self) -> None:
        """Disconnect; the server's process ends. Closing twice does no harm."""
        portal.call(self.aclose)

    async def aconnect(self, mode: str | None = None) -> None:
        """Do what `connect` does, in the background loop."""
        await self._link.open(mode)

    async def aclose(self) -> None:
        """Do what `close` does, in the background loop."""
        self._subscriptions.stop()
        await self._link.close()

    async def _greet(self, connection: Connection) -> None:
        """Learn who is there and what it offers, on every new connection."""
        self._described = connection.described()
        self._version = connection.protocol_version
        self._modern = connection.is_modern
        self._offers.forget()
        await self._list_tools(connection)
        await self._subscriptions.follow(connection)

    # --- tools --------------------------------------------------------------------

    def refresh(self) -> None:
        """List the tools again; resources and prompts when they are looked at next.

        Raises:
            ServerError: If the server cannot be reached.
        """
        portal.call(self._refresh)

    @property
    def tools(self) -> list[MCPToolDefinition]:
        """What can be called, in the server's order."""
        return self._catalog.tools

    @property
    def disabled_tools(self) -> list[DisabledTool]:
        """What the server lists and cannot be called, each with its reason."""
        return list(self._catalog.disabled)

    @property
    def problems(self) -> list[str]:
        """What went wrong with lists and subscriptions, though the server is connected."""
        listed, lost = self._catalog.problem, self._subscriptions.lost
        found = [] if listed is None else [f"tools/list: {listed}"]
        return [*found, *(f"no news of {uri!r}: {why}" for uri, why in lost.items())]

    @property
    def last_change(self) -> ToolsDiff | None:
        """How the tools changed last, if they ever did."""
        return self._catalog.last_change

    def tool(self, name: str) -> MCPToolDefinition:
        """Return the tool the server calls *name*.

        Raises:
            ToolNotFoundError: If there is none, or it is disabled.
        """
        return self._catalog.find(name)

    def call(
        self, name: str, arguments: dict[str, Any] | None = None
    ) -> MCPToolObservation:
        """Call the tool *name*, listed or not, with *arguments* as they are, unchecked."""
        return MCPToolExecutor(self, name)(MCPToolAction(data=arguments or {}))

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        on_progress: OnProgress | None = None,
        answerer: Answerer | None = None,
    ) -> dict[str, Any]:
        """Call a tool in the background loop and return the result as the server sent it.

        Raises:
            CallFailedError: If there is none, for whatever reason.
        """
        call = Call(
            seconds=self.call_seconds,
            tool=name,
            on_progress=on_progress,
            answerer=answerer,
        )

        def send(session: Any, responses: Any, state: str | None) -> Any:
            return session.call_tool(
                name,
                arguments,
                meta={"progressToken": call.token},
                input_responses=responses,
                request_state=state,
                allow_input_required=True,
            )

        try:
            return await self._link.ask(send, call)
        except Exception as error:  # the SDK's, the server's, the network's
            raise call_failed(error, call, self._inbox) from error

    async def _refresh(self) -> None:
        self._offers.forget()
        await self._list_tools(await self._link.live())

    async def _follow(self) -> None:
        """List again what changed; a session that was closed meanwhile stays closed."""
        if self.status == "connected":
            await self._list_tools(self._link.connection)

    async def _list_tools(self, connection: Connection) -> None:
        items, problem = await connection.pages(
            "tools",
            lambda session, params: session.list_tools(params=params),
            self._timeout,
        )
        self._catalog.read(items, problem, is_modern=self._modern)
        self._inbox.changes.note("tools")

    def _list_changed(self, name: str) -> None:
        """Take the server's word that a list changed; runs in the background loop."""
        self._offers.forget(name)
        self._inbox.changes.note(name)
        if name == "tools":
            self._link.soon(self._follow)

    # --- resources and prompts ----------------------------------------------------

    @property
    def resources(self) -> list[Resource]:
        """What can be read; listed on first use and after a change."""
        return portal.call(self._offers.resources)

    @property
    def templates(self) -> list[ResourceTemplate]:
        """Families of resources, with variables to fill in."""
        return portal.call(self._offers.templates)

    @property
    def prompts(self) -> list[Prompt]:
        """What the server can write for a model."""
        return portal.call(self._offers.prompts)

    def read_resource(self, uri: str) -> MCPResourceObservation:
        """Read what *uri* names.

        Raises:
            ServerError: If the server refuses or cannot be reached.
        """
        return wait_answering(self._offers.read, uri, answerer=self.answerer)

    def subscribe(self, uri: str) -> None:
        """Hear of changes of the resource *uri*: listeners are told, `updated` has it.

        Raises:
            ServerError: If the server refuses; in the newer protocol it does that in silence.
        """
        portal.call(self._subscriptions.add, uri)

    def unsubscribe(self, uri: str) -> None:
        """Hear no more of the resource *uri*."""
        portal.call(self._subscriptions.remove, uri)

    @property
    def updated(self) -> list[str]:
        """The resources that changed since they were subscribed to, each once."""
        return list(self._subscriptions.updated)

    def get_prompt(self, name: str, /, **arguments: str) -> MCPPromptObservation:
        """Let the server write the prompt *name* with *arguments*.

        Raises:
            ServerError: If the server refuses or cannot be reached.
        """
        write = self._offers.write
        return wait_answering(write, name, arguments, answerer=self.answerer)

    def complete(
        self,
        target: Prompt | ResourceTemplate | str,
        argument: str,
        value: str = "",
        /,
        **others: str,
    ) -> list[str]:
        """Return what the server proposes for an argument that starts with *value*.

        Args:
            target: The prompt or template, or its name or URI template.
            argument: The name of the argument or variable.
            value: What has been typed so far.
            **others: The values of the other arguments.

        A server that proposes nothing, or cannot, gives an empty list.
        """
        return portal.call(self._offers.propose, target, argument, value, others)

    def snapshot(self) -> Snapshot:
        """Return all the server offers, JSON-ready and in a fixed order, to keep or compare."""
        return Snapshot.of(self)
