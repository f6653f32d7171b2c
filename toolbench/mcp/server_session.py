"""The session with one MCP server: its state, lists, calls, log and traffic."""

from asyncio import to_thread
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal
from weakref import ref

from toolbench.core.background_loop import portal
from toolbench.core.schema import hide_in_views
from toolbench.core.tool import hooks
from toolbench.errors import ServerError, ToolbenchError, did_you_mean, ended
from toolbench.mcp.client_features import ClientFeatures
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.config.writer import portable_entry
from toolbench.mcp.connection.connection import Connection
from toolbench.mcp.connection.open_calls import Call
from toolbench.mcp.connection.reconnection import ReconnectingConnection, Status
from toolbench.mcp.connection.subscriptions import Subscriptions
from toolbench.mcp.development import Development
from toolbench.mcp.elicitation import Answerer, OnProgress, wait_answering
from toolbench.mcp.errors import CallFailedError, about_noise, asides_of, call_failed
from toolbench.mcp.lists.completions import Completions, complete
from toolbench.mcp.lists.prompts import MCPPromptObservation, Prompt, PromptList
from toolbench.mcp.lists.resources import MCPResourceObservation, ResourceList, ResourceTemplate
from toolbench.mcp.lists.roots import RootList
from toolbench.mcp.lists.skills import SkillList
from toolbench.mcp.lists.tools import ToolList
from toolbench.mcp.monitoring.changes import Listener
from toolbench.mcp.monitoring.log import LEVELS
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.mcp.monitoring.stderr import StderrTail
from toolbench.mcp.recording.player import CUT_OFF
from toolbench.mcp.recording.recorder import Recorder, ServerRecorder, open_recorders
from toolbench.mcp.recording.so_far import write_kept
from toolbench.mcp.results import MCPToolObservation
from toolbench.mcp.servers import connected
from toolbench.mcp.snapshots.snapshot import Snapshot
from toolbench.mcp.tasks import MCPTask, refuse_older_task, task_result
from toolbench.mcp.tool import MCPToolAction, MCPToolDefinition, MCPToolExecutor
from toolbench.mcp.trust.approvals import Approvals, server_key
from toolbench.mcp.trust.trust import Trust
from toolbench.redaction.detect import Secrecy
from toolbench.redaction.redactor import Redactor
from toolbench.runs.policy import has_changed, policy
from toolbench.runs.progress import connecting_stages

if TYPE_CHECKING:
    from toolbench.mcp.client import MCPClient

Era = Literal["modern", "legacy"]
SessionStatus = Status | Literal["incomplete"]

ELSEWHERE = {
    "tools/call": "A tool call may need consent: use call() or the tool itself.",
    "initialize": "The handshake belongs to connecting: use reconnect().",
    "server/discover": "The handshake belongs to connecting: use reconnect().",
    "subscriptions/listen": "Its answer is an endless stream: use resources.subscribe(uri).",
}
"""The requests that `MCPServerSession.request` refuses, each with advice on what to use instead."""
_CALL_SECONDS = 300.0
_MOST_TASKS = 100


class MCPServerSession:
    """A session with one server; `MCPClient.servers` has the sessions of a client by name.

    Any thread may call the methods. Methods that wait for the server have a time limit.

    Examples:
        >>> from toolbench.mcp import create_mcp_tools
        >>> from toolbench.testing import FakeMCPServer
        >>> server = FakeMCPServer("library")
        >>> server.resource("library://hours", "Monday to Friday, 9 to 18")
        >>> with create_mcp_tools(server) as client:
        ...     session = client.servers["library"]
        ...     print(session.status, session.read_resource("library://hours").text)
        connected Monday to Friday, 9 to 18
    """

    def __init__(
        self,
        name: str,
        entry: ServerEntry,
        *,
        timeout: float = 30.0,
        mode: str = "auto",
        answerer: Answerer | None = None,
        features: ClientFeatures | None = None,
        recorder: Recorder | None = None,
        approvals: Approvals | None = None,
        development: Development | None = None,
        client: "MCPClient | None" = None,
    ) -> None:
        """Prepare a session; `reconnect` opens it.

        Args:
            name: The name that the client uses for the server.
            entry: The configuration of the server.
            timeout: The time limit in seconds for connecting, including the first reading of the
                lists. The same limit applies to each list that is read later.
            mode: The protocol to use: `auto`, `legacy` (MCP 2025-11-25 and before), or a version.
            answerer: A function that answers the server's questions, unless a call has another
                handler.
            features: The roots and extensions that this client offers the server.
            recorder: Writes all messages to a file.
            approvals: The approved tools and instructions, by server. If those of this server have
                changed since, its tools cannot be called.
            development: Watches the source files of the server, if the user is developing it.
                Changes of the server then need no approval until the session is closed.
            client: The client to which the session belongs.
        """
        self.name = name
        # Weak: servers are disconnected with their client, even if a view still shows a session
        self._client = None if client is None else ref(client)
        self.entry = entry
        features = features or ClientFeatures()
        self.call_seconds = entry.seconds or _CALL_SECONDS
        """The time limit of a call, in seconds."""
        self.answerer = answerer
        """A function that answers the server's questions, unless a call has another handler."""
        self._seconds = timeout
        self._inbox = inbox = Inbox(name, self)
        self.connection = ReconnectingConnection(
            entry,
            inbox,
            seconds=timeout,
            mode=entry.mode or mode,
            features=features,
            greet=self._greet,
            development=development,
        )
        """The connection to the server, with its status, mode and process."""
        self.notices = self.connection.notices
        """Notes for the user and the model, which the next result of a call will contain."""
        self._subscriptions = Subscriptions(self, timeout)
        self.trust: Trust | None = None
        """Compares the server's tools with the approved ones; None if no approval is needed."""
        self._approvals = approvals
        self._require_approval()
        self.tools = ToolList(self)
        """The sequence of tools; its `disabled` has the tools that cannot be called."""
        if recorder is not None:
            inbox.recorder = ServerRecorder(recorder, name, hide=self.tools.hide)
        self.resources = ResourceList(self.connection, timeout, self._subscriptions)
        """The sequence of resources, with methods to read and subscribe to them.

        If the server sends content with a lifetime (`ttlMs`), the content is kept for this time,
        unless the server announces a change or you call `refresh()`. `read(uri, anew=True)` always
        requests the content, and so does every read in a session that is recorded or replayed.
        """
        self.roots = RootList(self.connection, features)
        """The folders that the server may ask for; `roots.change(*folders)` replaces them."""
        self.skills = SkillList(self.connection, timeout, self.resources)
        """The sequence of skills, with a method to read a skill's files.

        A file whose SHA-256 differs from that in the server's list is refused. No code of a skill
        is run.
        """
        self.prompts = PromptList(self.connection, timeout)
        """The sequence of prompts, with a method to get the messages of a prompt."""
        self.tasks: deque[MCPTask] = deque(maxlen=_MOST_TASKS)
        """The most recent tasks that calls of this session started, with their last known state.

        If the server runs a call as a task (MCP 2026-07-28), the call waits for the task without a
        time limit. Cancelling the run, or ending the kernel, cancels the task at the server. A tool
        that can only run as a task of MCP 2025-11-25 is not called.
        """
        self.log = inbox.log
        """The most recent log messages that the server sent through MCP."""
        self.traffic = inbox.traffic
        """The most recent messages on the wire, in both directions."""
        self.protocol_version: str | None = None
        """The version of MCP that both sides use."""
        self.era: Era | None = None
        """The protocol: `modern` (2026-07-28 and later) or `legacy` (with a handshake)."""
        self.server_info: dict[str, Any] = {}
        """The server's description of itself: `name`, `version`, `title`."""
        self.capabilities: dict[str, Any] = {}
        """The capabilities that the server declares."""
        self.instructions = ""
        """The server's own instructions for its use."""

        # A cell and the explorer may begin a recording at the same time
        self._beginning = Lock()
        inbox.log.on_level = partial(portal.call, self._set_log_level)

    def __repr__(self) -> str:
        version = f", {self.protocol_version}" if self.protocol_version else ""
        tools = self.tools.count_words
        if disabled := self.tools.disabled:
            tools += f", {len(disabled)} more cannot be called: see tools.disabled"
        return f"MCPServerSession({self.name!r}, {self.status}{version}, {tools})"

    # --- the connection -----------------------------------------------------------

    @property
    def client(self) -> "MCPClient | None":
        """The client to which the session belongs; None if the client no longer exists."""
        if self._client is None:
            return None
        return self._client()

    @property
    def stderr(self) -> StderrTail:
        """The last lines that the server's process wrote to stderr."""
        return self._inbox.stderr

    @property
    def remarks(self) -> list[str]:
        """Notes for the user in the next result; unlike `notices`, no model sees them."""
        return self._inbox.remarks

    @property
    def noise(self) -> list[str]:
        """The first lines on the server's stdout that are not MCP messages."""
        return self._inbox.noise

    @property
    def status(self) -> SessionStatus:
        """`new`, `connecting`, `connected`, `incomplete`, `lost`, `failed` or `closed`.

        `incomplete` means that the server is connected but does not list its tools; `error` says
        why.
        """
        status = self.connection.status
        if status == "connected" and self.tools.problem is not None and not self.tools:
            return "incomplete"
        return status

    @property
    def portable_entry(self) -> ServerEntry:
        """The configuration in a form that connects the server from any folder."""
        return portable_entry(self.entry, folder=self.connection.folder, mode=self.connection.mode)

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection, with or without a list of tools."""
        return self.connection.status == "connected"

    @property
    def error(self) -> str | None:
        """Why the server cannot be reached or does not list its tools, with advice; else None."""
        problem = self.tools.problem
        if self.status != "incomplete" or problem is None:
            return self.connection.error
        return (
            f"Server {self.name!r} is connected, but does not list its tools: {ended(problem)} "
            "reconnect() asks again; call(name, arguments) works without the list."
        )

    @property
    def problems(self) -> list[str]:
        """Problems with the connected server's lists and subscriptions."""
        problems = []
        if self.tools.problem is not None:
            problems.append(f"tools/list: {self.tools.problem}")
        if why := self._subscriptions.interruption:
            problems.append(
                f"notifications of changed lists and resources stopped: {ended(why)} "
                "toolbench opens their stream again by itself; reconnect() does it now."
            )
        for uri, why in self._subscriptions.lost.items():
            problems.append(f"no updates of {uri!r}: {why}")
        return problems

    def observe(self, listener: Listener) -> Callable[[], None]:
        """Call *listener* after changes, a few times a second; return a function to remove it."""
        return self._inbox.changes.listen(listener)

    def reconnect(self, mode: str | None = None) -> None:
        """Close the connection if it is open, and connect again.

        *mode* is the protocol, as in `MCPClient.connect`. If it is None, the mode of the last
        connection is used.

        Raises:
            ServerError: If the server cannot be reached.
        """
        with connecting_stages([self]):
            portal.call(self.aconnect, mode)

    def close(self) -> None:
        """Disconnect and end the server's process. A second call does nothing."""
        portal.call(self.aclose)

    async def aconnect(self, mode: str | None = None) -> None:
        """Do the same as `reconnect`; await this in the background loop."""
        await self.connection.open(mode)

    async def aclose(self) -> None:
        """Do the same as `close`; await this in the background loop."""
        self._subscriptions.stop()
        self.resources.forget()
        await self.connection.close()
        # The server is no longer under development
        self._require_approval()
        if (recorder := self._inbox.recorder) is not None:
            recorder.leave()

    # --- a server under development -------------------------------------------------

    @property
    def development(self) -> Development | None:
        """The watched source files of a server under development; None without `dev=True`."""
        return self.connection.development

    def catch_up(self) -> list[str]:
        """Restart the server if it is under development and its files have changed.

        Return a list with one note for the user. It names the changes in the server's tools,
        resources and prompts since the previous note. The list is empty if there is nothing to
        report.

        Raises:
            ServerError: If the server does not start.
        """
        return portal.call(self.acatch_up)

    async def acatch_up(self) -> list[str]:
        """Do the same as `catch_up`; await this in the background loop."""
        development = self.development
        if development is None:
            return []
        try:
            await self.connection.catch_up()
        except ServerError as error:
            msg = str(error)
            if cause := development.cause:
                msg = f"{cause}, and {self.name} does not start with it.\n{msg}"
            raise ServerError(msg) from None
        # The comparison may be slow, depending on the server
        return await to_thread(development.note, self.name)

    def start_recording(self, path: str | Path) -> Path:
        """Write all messages of the session to the file *path*, from now on.

        The messages that opened the connection are written too, and the lists of tools, resources
        and prompts are requested again. The file can therefore be replayed like a recording of the
        whole session.

        Raises:
            ServerError: If the session is not connected, is already being recorded, or is a replay.
                Also if the file cannot be written, or exists and is not a recording.
        """
        with self._beginning:
            if self.recording is None and not self.is_connected:
                msg = f"Server {self.name!r} cannot be recorded: it is not connected."
                raise ServerError(msg)
            return portal.call(self._start_recording, self._recorder_for(path))

    def record_so_far(self, path: str | Path) -> list[str]:
        """Write all messages that the session has had until now to the file *path*, as a recording.

        Return sentences about missing messages; the list is empty if the recording is complete. If
        messages are missing and the session is connected, the tools are listed again, so that the
        recording can be replayed. You can call this even after the session was disconnected.

        Raises:
            ServerError: If the session has no messages, is already being recorded, or is a replay.
                Also if the file cannot be written, or exists and is not a recording.
        """
        with self._beginning:
            if not len(self.traffic):
                msg = f"Server {self.name!r} cannot be recorded: it has no traffic yet."
                raise ServerError(msg)
            own = ServerRecorder(self._recorder_for(path), self.name, hide=self.tools.hide)
            try:
                losses = write_kept(own, self._inbox)
                if not self.is_connected:
                    own.ended(None)
                elif losses:
                    self._inbox.recorder = own
                    # A list that the server refuses now is then missing
                    with suppress(ServerError):
                        self.refresh()
            finally:
                self._inbox.recorder = None
                own.leave()
            return losses

    def _recorder_for(self, path: str | Path) -> Recorder:
        """Return the recorder for *path*; raise if the session is recorded or replayed already."""
        if self.recording is not None:
            why = f"it is recorded in, or replayed from, {str(self.recording)!r}"
            msg = f"Server {self.name!r} cannot be recorded: {why}."
            raise ServerError(msg)
        return open_recorders.enter(path)

    async def _start_recording(self, recorder: Recorder) -> Path:
        own = ServerRecorder(recorder, self.name, hide=self.tools.hide)
        self._inbox.opening.write(own, self._inbox.redactor)
        self._inbox.recorder = own
        await self._refresh()
        return recorder.path

    def stop_recording(self) -> Path | None:
        """End the recording and return its file, or None if there was no recording.

        If a tool call is still running, it is recorded as failed. It will therefore fail in a
        replay.
        """
        return portal.call(self._stop_recording)

    async def _stop_recording(self) -> Path | None:
        recorder, self._inbox.recorder = self._inbox.recorder, None
        if recorder is None:
            return None
        for call in self._inbox.calls:
            if call.tool is not None:
                recorder.failed(call.token, CUT_OFF, (), self._inbox.redactor)
        recorder.leave()
        return recorder.path

    @property
    def recording(self) -> Path | None:
        """The file that the session is recorded in or replayed from; None if neither."""
        if self.entry.transport == "replay":
            return Path(self.entry.url)
        recorder = self._inbox.recorder
        if recorder is None:
            return None
        return recorder.path

    async def _greet(self, connection: Connection) -> None:
        """Read the server's description and its lists from a new connection."""
        described = connection.described()
        self.server_info = dict(described.get("serverInfo", {}))
        self.capabilities = dict(described.get("capabilities", {}))
        self.instructions = str(described.get("instructions") or "")
        self.protocol_version = connection.protocol_version
        self.era = "modern" if connection.is_modern else "legacy"
        await self._list_anew(connection, used=self.connection.seconds_used)
        await self._subscriptions.follow(connection)
        level = self._inbox.log_level
        if level is not None and self._has_log and not connection.is_modern:
            call = Call(seconds=self._seconds, used=self.connection.seconds_used)
            await connection.request("logging/setLevel", {"level": level}, call)
        connected.add(self)
        if (client := self.client) is not None:
            client.note_connected(self)

    @property
    def _has_log(self) -> bool:
        return "logging" in self.capabilities

    async def _set_log_level(self, level: str) -> None:
        """Ask the server for log messages of *level* and above, now and after each reconnect.

        In the newer protocol (MCP 2026-07-28), the level is sent with each request, and a server
        should send no log messages to a client that sends no level. Source: MCP specification,
        logging.

        Raises:
            ToolbenchError: If *level* is not one of MCP's levels.
            ServerError: If the server does not support logging, refuses, or cannot be reached.
        """
        if level not in LEVELS:
            msg = f"{level!r} is not a log level.{did_you_mean(level, LEVELS)} There are: "
            raise ToolbenchError(msg + ", ".join(LEVELS) + ".")
        connection = await self.connection.live()
        if not self._has_log:
            msg = f"Server {self.name!r} does not declare `logging`, so no log level can be set."
            raise ServerError(msg)
        if not connection.is_modern:
            verb, call = "take the level of its log", Call(seconds=self._seconds)
            await self.connection.request("logging/setLevel", {"level": level}, call, verb=verb)
        self._inbox.log_level = level

    # --- its lists ----------------------------------------------------------------

    def refresh(self) -> None:
        """Request the list of tools again now; the other lists are requested again when next used.

        Raises:
            ServerError: If the server cannot be reached.
        """
        portal.call(self._refresh)

    async def _refresh(self) -> None:
        await self.connection.use(self._list_anew, repeats=True)

    async def _list_anew(self, connection: Connection, *, used: float = 0.0) -> None:
        """Request the tools again over *connection*, and the other lists when they are next used.

        *used* is the number of seconds that have passed already; they count towards the time limit.
        """
        for each in (self.resources, self.prompts, self.skills):
            each.forget()
        await self._list_tools(connection, used=used)

    async def _list_tools(self, connection: Connection, *, used: float = 0.0) -> None:
        before = self.tools.last_change
        await self.tools.list_anew(connection, self._seconds, used=used)
        self._compare_with_approved()
        if self.tools.last_change is not before:
            hooks.listings.changed()
        self._inbox.changes.note("tools")

    def list_changed(self, name: str) -> None:
        """Handle the server's notification that its list *name* has changed."""
        self._inbox.changes.note(name)
        for each in (self.resources, self.prompts, self.skills):
            if each.key == name:
                each.forget()
        if name == "tools":
            self.connection.schedule(self._follow_tools)

    def renew_tools(self) -> None:
        """Request the tools again soon, as their `ttlMs` is over; any thread may call this."""
        self.connection.schedule_renewal(self._follow_tools)

    async def _follow_tools(self) -> None:
        """List the tools again, if the session is still connected."""
        if self.connection.status == "connected":
            await self.connection.use(self._list_tools)

    def report_new_tools(self, names: Collection[str]) -> None:
        """Tell the client that the server has added the tools *names* to its list."""
        if (client := self.client) is not None:
            client.report_new_tools(self, names)

    def _compare_with_approved(self) -> None:
        """Compare the tools and instructions of the server with those that were approved."""
        offer = {"tools": self.tools.raw, "instructions": self.instructions}
        if self.trust is not None:
            self.trust.look(self._inbox.entry_redactor.value(offer))
        if self.development is not None:
            offer |= {"server": self.server_info, "capabilities": self.capabilities}
            self.development.look(self._inbox.entry_redactor.value(offer))

    def _require_approval(self) -> None:
        """If the server needs approval, begin to compare its tools with the approved ones."""
        if self.trust is not None or self.development is not None or self._approvals is None:
            return
        if key := server_key(self.entry):
            self.trust = Trust(self.name, key, self._approvals, self._when_approved)

    def _when_approved(self) -> None:
        """After an approval, keep the user's consent to calls valid, and use the new tools."""
        policy.renew(*self.tools)
        hooks.listings.changed()
        self._inbox.changes.note("status")

    def snapshot(self) -> Snapshot:
        """Return a snapshot of what the server offers, without secrets, to save or compare."""
        offered = {
            "server": self.server_info,
            "protocolVersion": self.protocol_version,
            "capabilities": self.capabilities,
            "instructions": self.instructions,
            "tools": self.tools.raw,
            "disabled": {tool.name: tool.reason for tool in self.tools.disabled},
            "resources": {item.uri: dict(item.raw) for item in self.resources},
            "templates": {t.uri_template: dict(t.raw) for t in self.resources.templates},
            "prompts": {prompt.name: dict(prompt.raw) for prompt in self.prompts},
        }
        return Snapshot.of(self._inbox.redactor.value(offered))

    # --- using it -----------------------------------------------------------------

    def tool(self, name: str) -> MCPToolDefinition:
        """Return the tool that the server calls *name*; the same as `tools[name]`.

        Raises:
            ToolNotFoundError: If there is no such tool, or it is disabled.
        """
        return self.tools[name]

    def call(self, name: str, arguments: dict[str, Any] | None = None) -> MCPToolObservation:
        """Call the tool *name*, even if it is not listed; *arguments* are sent unchecked."""
        action = MCPToolAction(data=arguments or {})
        observation = MCPToolExecutor(name, self)(action)
        hide_in_views(observation, self._inbox.redactor)
        return observation

    def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request, and return its result as the server sent it.

        `session.request("tasks/get", {"taskId": "7"})["status"]`

        Use this for requests for which the session has no method. The server must answer within the
        session's `timeout`. If the server asks a question first, the function set by `answering`
        answers it. Without such a function, the handler of the session answers, and without a
        handler, the user answers. The time for answering does not count towards the timeout. If the
        connection breaks, the request is not repeated.

        Args:
            method: The method of the request. Tool calls, handshakes and subscriptions are refused.
            params: The parameters of the request, ready for JSON; they are not checked.

        Raises:
            ToolbenchError: If the method is refused; the message says what to use instead.
            ServerError: If the server refuses, takes too long or cannot be reached.
        """
        if method in ELSEWHERE:
            msg = f"{method!r} cannot be sent as it is. {ELSEWHERE[method]}"
            raise ToolbenchError(msg)
        self.keep_secret(Secrecy({}).secrets_in(dict(params)))

        async def sent(*, answerer: Answerer | None) -> dict[str, Any]:
            call = Call(seconds=self._seconds, answerer=answerer)
            verb = f"answer {method!r}"
            return await self.connection.request(method, params, call, verb=verb)

        return wait_answering(sent, answerer=self.answerer)

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        on_progress: OnProgress | None = None,
        answerer: Answerer | None = None,
    ) -> dict[str, Any]:
        """Call a tool, and return the result as the server sent it.

        Await this in the background loop.

        Raises:
            CallFailedError: If there is no result, for any reason.
        """
        if secrets := self.tools.secrets_in(name, arguments):
            self.keep_secret(secrets)
        check = partial(self._check, name, self.tools.present(name))
        if not self.is_connected:
            # A lost server is not restarted for a call that would be refused
            await check()
        call = Call(
            seconds=self.call_seconds,
            tool=name,
            on_progress=on_progress,
            answerer=answerer,
            # A server whose connection was lost may come back with other tools
            before_sending=check,
        )
        params = {"name": name, "arguments": arguments}
        try:
            raw = await self.connection.request("tools/call", params, call)
        except CallFailedError:
            raise
        except Exception as error:
            # It may come from the SDK, the server or the network
            raise await self._failure(error, call) from error
        if raw.get("resultType") == "task":
            raw = await task_result(raw, call, self.connection, self.tasks)
        if raw.get("isError") is True:
            await self._inbox.stderr.settled()
            self._inbox.remarks += asides_of(call, self._inbox)
        elif call.noise:
            self._inbox.remarks.append(
                f"{about_noise(call.noise)}. It was left out, but other clients may fail at it: a "
                "server has to write its log to stderr."
            )
        return raw

    async def _failure(self, error: Exception, call: Call) -> CallFailedError:
        """Return the error to raise after *error* ended *call*, and keep it for recordings."""
        await self._inbox.stderr.settled()
        failed = call_failed(error, call, self._inbox)
        details = call.token, str(failed), failed.asides
        self._inbox.failures.append(details)
        if self._inbox.recorder is not None:
            self._inbox.recorder.failed(*details, self._inbox.redactor)
        return failed

    async def _check(self, name: str, judged: MCPToolDefinition | None) -> None:
        """Check that the tool *name* may be called, just before the call is sent.

        *judged* is the definition of the tool when the call began; it is None if the tool was not
        listed then. The tool may not be called if it has changed since, or if the server has
        changes that are not approved.

        Raises:
            CallFailedError: If the call must not be sent.
        """
        if self.trust is not None and self.trust.has_changed:
            try:
                # It may take seconds, in which other servers answer
                await to_thread(self.trust.check)
            except ServerError as error:
                raise CallFailedError(str(error)) from None
        if judged is not None and (has_changed(judged) or not judged.is_listed):
            msg = f"Server {self.name!r} changed {name!r} before the call, which was not sent: call it again."
            raise CallFailedError(msg)
        if self.era == "legacy" and "execution" in self.tools.described(name):
            refuse_older_task(self.tools.described(name), self.name)

    def keep_secret(self, secrets: Iterable[str]) -> Redactor:
        """Hide *secrets* in everything that the session stores; return the session's redactor."""
        self._inbox.keep_secret(secrets)
        return self._inbox.redactor

    def read_resource(self, uri: str) -> MCPResourceObservation:
        """Read the resource *uri*; the same as `resources.read`."""
        return self.resources.read(uri)

    def get_prompt(self, name: str, /, **arguments: str) -> MCPPromptObservation:
        """Get the prompt *name* from the server; the same as `prompts.get`."""
        return self.prompts.get(name, **arguments)

    def complete(
        self,
        target: Prompt | ResourceTemplate | str,
        argument: str,
        value: str = "",
        /,
        **others: str,
    ) -> Completions:
        """Return the server's suggestions for completing *value*, the beginning of an argument.

        Args:
            target: A prompt or its name, or a resource template or its URI template.
            argument: The name of the prompt's argument, or of the template's variable.
            value: The characters that the user has typed.
            **others: The values of the other arguments.

        The result is empty if the server does not complete arguments. `has_more` and `total` of the
        result tell whether there are more suggestions.
        """
        place = self.connection, self._seconds
        return portal.call(complete, *place, target, argument, value, others)
