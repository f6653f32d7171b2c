"""One MCP server, connected: its state, its lists, calls to it, and what it says meanwhile."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from toolbench.core.background_loop import portal
from toolbench.errors import ServerError, ended
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.connected_servers import connected
from toolbench.mcp.connection.connection import Connection
from toolbench.mcp.connection.failure_messages import CallFailedError, call_failed
from toolbench.mcp.connection.open_calls import Call
from toolbench.mcp.connection.reconnection import ReconnectingConnection, Status
from toolbench.mcp.connection.subscriptions import Subscriptions
from toolbench.mcp.definition import MCPToolAction, MCPToolDefinition
from toolbench.mcp.elicitation import Answerer, OnProgress
from toolbench.mcp.executor import MCPToolExecutor
from toolbench.mcp.features.argument_completion import complete
from toolbench.mcp.features.prompt_list import PromptList
from toolbench.mcp.features.resource_list import ResourceList
from toolbench.mcp.features.resources import (
    MCPPromptObservation,
    MCPResourceObservation,
    Prompt,
    ResourceTemplate,
)
from toolbench.mcp.features.tool_list import ToolList
from toolbench.mcp.monitoring.change_listeners import Listener
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.mcp.recording.recorder import Recorder, open_recorders
from toolbench.mcp.recording.server_recorder import ServerRecorder
from toolbench.mcp.recording.session_recording import cannot_record, start, stop
from toolbench.mcp.results import MCPToolObservation
from toolbench.mcp.snapshots.snapshot import Snapshot
from toolbench.mcp.trust.approvals import Approvals, server_key
from toolbench.mcp.trust.trust import Trust
from toolbench.redaction.redactor import Redactor
from toolbench.redaction.result_redactors import results

Era = Literal["modern", "legacy"]
SessionStatus = Status | Literal["incomplete"]

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
        recorder: Recorder | None = None,
        approvals: Approvals | None = None,
    ) -> None:
        """Prepare a session; `connect` opens it.

        Args:
            name: What the server is called here.
            entry: How it is reached.
            timeout: Seconds for connecting, and for each list.
            mode: `auto`, `legacy` (the handshake of 2025 and before), or a version.
            answerer: Who answers the server's questions where a call names no handler.
            roots: File URLs the server may look at, if it cares.
            recorder: Writes down all that goes back and forth.
            approvals: What was approved of servers: one that changed since is not called.
        """
        self.name = name
        self.entry = entry
        self.call_seconds = entry.seconds or _CALL_SECONDS
        """How long a call may take."""
        self.answerer = answerer
        """Who answers the server's questions where a call names no handler."""
        self._seconds = timeout
        self._inbox = inbox = Inbox(name, answerer=lambda: self.answerer)
        self.connection = ReconnectingConnection(
            entry,
            inbox,
            seconds=timeout,
            mode=entry.mode or mode,
            roots=list(roots),
            greet=self._greet,
        )
        """The way to the server: its status, mode, process."""
        self._subscriptions = Subscriptions(self.connection, timeout)

        self.tools = ToolList(self)
        """What can be called: a sequence, and what cannot, and why."""
        if recorder is not None:
            inbox.recorder = ServerRecorder(recorder, name, hide=self.tools.hide)
        self.resources = ResourceList(self.connection, timeout, self._subscriptions)
        """What can be read: a sequence, and how to read one or to hear of its changes."""
        self.prompts = PromptList(self.connection, timeout)
        """What the server can write for a model: a sequence, and how to get one."""
        key = None if approvals is None else server_key(entry)
        self.trust = Trust(name, key, approvals) if key and approvals else None
        """Whether the server still says what was approved; None where approval is not required."""
        self.stderr = inbox.stderr
        """The last lines the server's process wrote on stderr."""
        self.log = inbox.log
        """The last messages the server logged through MCP."""
        self.traffic = inbox.traffic
        """The last messages on the wire, both ways."""
        self.noise = inbox.noise
        """The first lines on the server's stdout that were no messages."""

        self.protocol_version: str | None = None
        """The version of MCP both sides speak."""
        self.era: Era | None = None
        """`modern` (2026-07-28 and later) or `legacy` (with a handshake)."""
        self.server_info: dict[str, Any] = {}
        """What the server says it is: `name`, `version`, `title`."""
        self.capabilities: dict[str, Any] = {}
        """What the server says it can do."""
        self.instructions = ""
        """How the server wants to be used, in its own words."""

        inbox.on_list_changed = self._list_changed
        inbox.on_resource_updated = self._subscriptions.note

    def __repr__(self) -> str:
        version = f", {self.protocol_version}" if self.protocol_version else ""
        tools = f"{len(self.tools)} tools"
        if disabled := self.tools.disabled:
            tools += f", {len(disabled)} more cannot be called: see tools.disabled"
        return f"MCPServerSession({self.name!r}, {self.status}{version}, {tools})"

    # --- the connection -----------------------------------------------------------

    @property
    def status(self) -> SessionStatus:
        """`new`, `connecting`, `connected`, `incomplete`, `lost`, `failed` or `closed`.

        An incomplete one is connected, but its list of tools did not come: `error` says why.
        """
        has_no_list = self.tools.problem is not None and not self.tools
        status = self.connection.status
        return "incomplete" if status == "connected" and has_no_list else status

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection, whatever came over it."""
        return self.connection.status == "connected"

    @property
    def error(self) -> str | None:
        """Why the server could not be reached, or lists no tools, with what to do about it."""
        problem = self.tools.problem
        if self.status != "incomplete" or problem is None:
            return self.connection.error
        return (
            f"Server {self.name!r} is connected, but does not list its tools: {ended(problem)} "
            "reconnect() asks again; call(name, arguments) works without the list."
        )

    @property
    def problems(self) -> list[str]:
        """What went wrong with lists and subscriptions, though the server is connected."""
        problem, lost = self.tools.problem, self._subscriptions.lost
        problems = [] if problem is None else [f"tools/list: {problem}"]
        return [*problems, *(f"no news of {uri!r}: {why}" for uri, why in lost.items())]

    def observe(self, listener: Listener) -> Callable[[], None]:
        """Call *listener* with what changed, some times a second; return how to stop that."""
        return self._inbox.changes.listen(listener)

    def reconnect(self, mode: str | None = None) -> None:
        """Connect, in place of the connection there is, in *mode* if one is given.

        Raises:
            ServerError: If the server cannot be reached.
        """
        portal.call(self.aconnect, mode)

    def close(self) -> None:
        """Disconnect; the server's process ends. Closing twice does no harm."""
        portal.call(self.aclose)

    async def aconnect(self, mode: str | None = None) -> None:
        """Do what `reconnect` does, in the background loop."""
        await self.connection.open(mode)

    async def aclose(self) -> None:
        """Do what `close` does, in the background loop."""
        self._subscriptions.stop()
        await self.connection.close()
        if (recorder := self._inbox.recorder) is not None:
            recorder.leave()

    def start_recording(self, path: str | Path) -> Path:
        """Write all that goes between us and the server into *path*, from now on.

        How the connection was opened is written first, and the lists are asked for anew: the
        file can be replayed as if it had been recorded from the start.

        Raises:
            ServerError: If the session is recorded or replayed, or not connected, or the file
                is something else or cannot be written.
        """
        if self.recording is not None or not self.is_connected:
            raise cannot_record(self.name, self.recording)
        return portal.call(self._start_recording, open_recorders.enter(path))

    async def _start_recording(self, recorder: Recorder) -> Path:
        start(recorder, self.name, self._inbox, self.tools.hide)
        await self._refresh()
        return recorder.path

    def stop_recording(self) -> Path | None:
        """End the recording; return its file, None if there is none."""
        return portal.call(stop, self._inbox)

    @property
    def recording(self) -> Path | None:
        """The file that the session is recorded into, or replayed from, if it is."""
        if self.entry.transport == "replay":
            return Path(self.entry.url)
        recorder = self._inbox.recorder
        return None if recorder is None else recorder.path

    async def _greet(self, connection: Connection) -> None:
        """Learn who is there and what it offers, on every new connection."""
        described = connection.described()
        self.server_info = dict(described.get("serverInfo", {}))
        self.capabilities = dict(described.get("capabilities", {}))
        self.instructions = str(described.get("instructions") or "")
        self.protocol_version = connection.protocol_version
        self.era = "modern" if connection.is_modern else "legacy"
        await self._list(connection)
        await self._subscriptions.follow(connection)
        connected.add(self)

    # --- its lists ----------------------------------------------------------------

    def refresh(self) -> None:
        """List the tools again; resources and prompts when they are looked at next.

        Raises:
            ServerError: If the server cannot be reached.
        """
        portal.call(self._refresh)

    async def _refresh(self) -> None:
        await self._list(await self.connection.live())

    async def _list(self, connection: Connection) -> None:
        self.resources.forget()
        self.prompts.forget()
        await self._list_tools(connection)

    async def _list_tools(self, connection: Connection) -> None:
        """List the tools; whether the server is still trusted is looked at each time."""
        await self.tools.list_anew(connection, self._seconds)
        if self.trust is not None:
            offer = {"tools": self.tools.raw, "instructions": self.instructions}
            self.trust.look(self._inbox.entry_redactor.value(offer))
        self._inbox.changes.note("tools")

    def _list_changed(self, name: str) -> None:
        """Take the server's word that a list changed; runs in the background loop."""
        self._inbox.changes.note(name)
        match name:
            case "resources":
                self.resources.forget()
            case "prompts":
                self.prompts.forget()
            case "tools":
                self.connection.soon(self._follow)

    async def _follow(self) -> None:
        """List the tools again; a session that was closed meanwhile stays closed."""
        if self.is_connected:
            await self._list_tools(self.connection.current)

    def snapshot(self) -> Snapshot:
        """Return all the server offers, JSON-ready and in a fixed order, to keep or compare."""
        templates = self.resources.templates
        offered = {
            "server": self.server_info,
            "protocolVersion": self.protocol_version,
            "capabilities": self.capabilities,
            "instructions": self.instructions,
            "tools": self.tools.raw,
            "disabled": {tool.name: tool.reason for tool in self.tools.disabled},
            "resources": {item.uri: dict(item.raw) for item in self.resources},
            "templates": {item.uri_template: dict(item.raw) for item in templates},
            "prompts": {prompt.name: dict(prompt.raw) for prompt in self.prompts},
        }
        return Snapshot.of(self._inbox.redactor.value(offered))

    # --- using it -----------------------------------------------------------------

    def tool(self, name: str) -> MCPToolDefinition:
        """Return the tool the server calls *name*, as `tools[name]` does.

        Raises:
            ToolNotFoundError: If there is none, or it is disabled.
        """
        return self.tools[name]

    def call(
        self, name: str, arguments: dict[str, Any] | None = None
    ) -> MCPToolObservation:
        """Call the tool *name*, listed or not, with *arguments* as they are, unchecked."""
        action = MCPToolAction(data=arguments or {})
        observation = MCPToolExecutor(self, name)(action)
        results.show(observation, self._inbox.redactor)
        return observation

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
        if self.trust is not None:
            try:
                self.trust.check()
            except ServerError as error:
                raise CallFailedError(str(error)) from None
        self.keep_secret(self.tools.secrets_in(name, arguments))
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
            return await self.connection.ask(send, call)
        except Exception as error:  # the SDK's, the server's, the network's
            failed = call_failed(error, call, self._inbox)
            if (recorder := self._inbox.recorder) is not None:
                failure = str(failed), tuple(failed.asides)
                recorder.failed(call.token, *failure, self._inbox.redactor)
            raise failed from error

    def keep_secret(self, secrets: Iterable[str]) -> Redactor:
        """Show *secrets* of a call nowhere of the session; return what hides all it was told."""
        self._inbox.keep_secret(secrets)
        return self._inbox.redactor

    def read_resource(self, uri: str) -> MCPResourceObservation:
        """Read what *uri* names, as `resources.read` does."""
        return self.resources.read(uri)

    def get_prompt(self, name: str, /, **arguments: str) -> MCPPromptObservation:
        """Let the server write the prompt *name*, as `prompts.get` does."""
        return self.prompts.get(name, **arguments)

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
        parameters = (self.connection, self._seconds, target, argument, value, others)
        return portal.call(complete, *parameters)
