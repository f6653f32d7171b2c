"""Several MCP servers as one collection of tools."""

import logging
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from inspect import iscoroutinefunction
from pathlib import Path
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Self
from warnings import warn

from toolbench.core.background_loop import portal
from toolbench.core.tool_names import ToolAddress, tool_at
from toolbench.errors import ServerError, ToolNotFoundError, did_you_mean
from toolbench.mcp.client_features import ClientFeatures, root_url
from toolbench.mcp.config.reader import read_config, read_entry
from toolbench.mcp.config.server_entry import ServerEntry, UnapprovedEntry
from toolbench.mcp.development import Development, development_of
from toolbench.mcp.elicitation import (
    Answer,
    Answerer,
    Question,
    SamplingQuestion,
    answer_of,
    ask_here,
)
from toolbench.mcp.recording.player import recorded_answerer
from toolbench.mcp.recording.recorder import open_recorders
from toolbench.mcp.recording.recording import (
    Recording,
    is_replaying,
    replay_config,
    replay_entry,
)
from toolbench.mcp.server_session import MCPServerSession
from toolbench.mcp.servers import Servers, connected, way_to_tool
from toolbench.mcp.tool import MCPToolDefinition, give_names, named
from toolbench.mcp.trust.approvals import Approvals
from toolbench.mcp.trust.configurations import approved
from toolbench.runs.progress import connecting_stages
from toolbench.threads import NO_THREADS, daemon_thread, have_threads

ToolsChanged = Callable[[Sequence[MCPToolDefinition]], object]
"""A function that takes the new tools of a server."""

_log = logging.getLogger(__name__)


class MCPClient(Sequence[MCPToolDefinition]):
    """A sequence of the tools of all connected servers. Use it in `with`, or call `sync_close()`.

    A tool usually has the same name as on its server. If several servers of one configuration have
    a tool of the same name, each of these tools gets the server's name as a prefix: `git_status`,
    `hub_status`. If a server that you connect later has a tool whose name is taken, only the new
    tool gets the prefix. A tool keeps its name until you `forget` its server, or `add` a
    configuration that contains the server. You can always find a tool by its address, such as
    `git.status`. Source: OpenHands SDK.

    Examples:
        >>> from toolbench.mcp import MCPClient
        >>> from toolbench.testing import FakeMCPServer
        >>> server = FakeMCPServer("shop")
        >>> server.answer("price", {"eur": 3})
        >>> with MCPClient() as client:
        ...     session = client.connect("shop", server)
        ...     client.tool("shop.price")(sku=12).data
        ...     [tool.name for tool in client]
        {'eur': 3}
        ['price']
    """

    def __init__(
        self,
        *,
        timeout: float = 30.0,
        elicitation_handler: Answerer | None = None,
        sampling_handler: Answerer | None = None,
        roots: Sequence[str | Path] = (),
        extensions: Sequence[Any] = (),
        on_tools_changed: ToolsChanged | None = None,
        approvals: Approvals | None = None,
        answerer: Answerer | None = None,
    ) -> None:
        """Create a client without servers; `connect` and `add` connect them.

        Args:
            timeout: The time limit for connecting to a server, in seconds.
            elicitation_handler: See `create_mcp_tools`.
            sampling_handler: See `create_mcp_tools`.
            roots: See `create_mcp_tools`.
            extensions: See `create_mcp_tools`.
            approvals: The tools and instructions that you have approved, by server. The tools of a
                server that has changed since then cannot be called until you run
                `session.trust.approve(session.trust.offer)`. If None, no approval is needed.
            on_tools_changed: See `create_mcp_tools`.
            answerer: Deprecated; will be removed in the next release. See `create_mcp_tools`.
        """
        self.approvals = approvals
        self.timeout = timeout
        self.answerer = handler_of(elicitation_handler, sampling_handler, answerer)
        """A function that answers servers' questions, unless a call has another handler."""
        self.roots = tuple(root_url(root) for root in roots)
        self.extensions = ClientFeatures(extensions=extensions).extensions
        self.on_tools_changed = on_tools_changed
        """A function that is called with the new tools of a connected server, or None."""
        self._servers = Servers()
        self._names: dict[ToolAddress, str] = {}
        """The names given to the tools by address, including tools of disconnected servers."""
        # Several threads may ask for names; each new tool must get one name
        self._naming = Lock()
        weakref.finalize(self, _close_all, self._servers).atexit = False

    # --- the collection -----------------------------------------------------------

    @property
    def servers(self) -> Mapping[str, MCPServerSession]:
        """The current sessions by name, with failed ones; later changes create a new mapping."""
        return self._servers.present

    @property
    def former(self) -> Mapping[str, MCPServerSession]:
        """The sessions that `disconnect` removed, by name; `reconnect` connects them again."""
        return self._servers.former

    @property
    def known(self) -> Mapping[str, MCPServerSession]:
        """The sessions in `servers`, followed by those in `former`."""
        return self._servers.known

    @property
    def tools(self) -> list[MCPToolDefinition]:
        """The tools of all servers."""
        tools: list[MCPToolDefinition] = []
        with self._naming:
            for session in self.servers.values():
                tools += session.tools
            give_names(tools, self._names)
            return [named(tool, self._names[ToolAddress.of(tool)]) for tool in tools]

    def __iter__(self) -> Iterator[MCPToolDefinition]:
        return iter(self.tools)

    def __len__(self) -> int:
        return sum(len(session.tools) for session in self.servers.values())

    def __getitem__(self, index: Any) -> Any:
        """Return a tool by its position or its name.

        Raises:
            ToolNotFoundError: If no tool has that name.
        """
        if isinstance(index, str):
            return self.tool(index)
        return self.tools[index]

    def tool(self, name: str) -> MCPToolDefinition:
        """Return the tool called *name*, or else the tool with the address *name*: `server.tool`.

        Raises:
            ToolNotFoundError: If there is no such tool.
        """
        tools = {tool.name: tool for tool in self.tools}
        tool = tools.get(name) or tool_at(name, tools.values())
        if tool is None:
            way = way_to_tool(self.former, name, tools.values()) or did_you_mean(name, tools)
            session = self.servers.get(name.partition(".")[0])
            if session is not None and session.error:
                way = f" {session.error}"
            msg = f"No connected server has a tool {name!r}.{way}"
            raise ToolNotFoundError(msg)
        return tool

    def server(self, name: str) -> MCPServerSession:
        """Return the session called *name*.

        Raises:
            ToolNotFoundError: If there is no such session.
        """
        return self._servers.session(name)

    def __repr__(self) -> str:
        sessions = ", ".join(map(repr, self.servers.values()))
        return f"MCPClient({sessions or 'no servers'})"

    # --- servers ------------------------------------------------------------------

    def connect(
        self,
        name: str,
        entry: Any = None,
        *,
        mode: str | None = None,
        record: str | Path | None = None,
        replay: str | Path | None = None,
        timeout: float | None = None,
        roots: Sequence[str | Path] = (),
        extensions: Sequence[Any] = (),
        approve: bool = False,
        dev: bool = False,
        watch: bool = False,
    ) -> MCPServerSession:
        """Connect a server under the name *name*, and replace an existing session with this name.

        The existing session is closed first. However, if it is connected with a different *entry*,
        it is closed only after the new session is connected.

        Args:
            name: The name of the server in this client.
            entry: How to reach the server: a mapping as in a configuration file, a URL, a FastMCP
                object, `module:name`, or the path of a file.
            mode: The protocol to use: `auto` tries the newer protocol first, `legacy` uses the
                older one (MCP 2025-11-25 and before), or a version such as `2026-07-28`.
            record: The file to which all messages of the session are written. If the environment
                variable `TOOLBENCH_REPLAY` is `1`, the file is replayed instead.
            replay: The file of a recording, which answers the requests in place of the server.
                *entry* is ignored, and no server is started.
            timeout: The time limit for connecting, in seconds. If None, the client's timeout is
                used.
            roots: The roots for this server. If empty, the roots of the client are used.
            extensions: Extensions to declare to this server, in addition to the client's
                extensions.
            approve: Whether to approve *entry* without asking the user. This matters only if
                `discover` found *entry* in a file; see `create_mcp_tools`.
            dev: Whether you are developing the server. It must be started by a command. If its
                source files have changed, the next call restarts the server, and the result has a
                note that names the changed tools. You do not have to approve these changes. Your
                own calls need no consent, but calls by models and agents still need it. This lasts
                until you disconnect the server or connect it without *dev*. The files named by the
                command are watched, together with all source files in and below their folders. If
                the command names no file, the folder in which it starts is watched. Hidden folders,
                environments and build folders are skipped. At most 2,000 files and 500 folders are
                watched.
            watch: Whether to restart the server as soon as a file changes, instead of at the next
                call. This requires *dev*.

        Raises:
            ConsentError: If *entry* was found in a file and is not approved.
            ServerError: If the server cannot be reached, or *dev* cannot be used with it. `servers`
                then contains the failed session, unless an existing session has kept the name.
        """
        if replay is None and record is not None and is_replaying():
            replay = record
        if replay is not None:
            entry, record = replay_entry(Recording.read(replay), name), None
        entry = read_entry(entry)
        if isinstance(entry, UnapprovedEntry):
            entry = approved({name: entry}, approve=approve)[name]
        features = self._features(roots, extensions)
        development = development_of(entry, dev=dev, watch=watch)
        self._end_recordings([name], record)
        session = self._session(name, entry, mode, record, timeout, features, development)
        if development is not None:
            # A line finds its tools when its source is mended
            connected.add(session)
        if failed := self._open([session]):
            raise ServerError(failed[name])
        return session

    def add(
        self,
        config: Any,
        *,
        only: Sequence[str] | None = None,
        record: str | Path | None = None,
        replay: str | Path | None = None,
        timeout: float | None = None,
        approve: bool = False,
    ) -> list[MCPServerSession]:
        """Connect all servers of *config*, or only the servers named in *only*, at the same time.

        If a server fails, the other servers are still connected, and the `error` of the failed
        session has the reason. An existing session with the same name is replaced, as `connect`
        describes. For *record*, *replay* and *approve*, see `create_mcp_tools`. For *timeout*, see
        `connect`.

        Raises:
            ConsentError: If the servers of a file are not approved.
            ServerError: If the configuration is invalid, no server answers, or a server named in
                *only* is disabled.
            ToolNotFoundError: If a server named in *only* is not in the configuration.
        """
        if replay is None and record is not None and is_replaying():
            replay = record
        if replay is not None:
            config, record = replay_config(Recording.read(replay)), None
        entries = read_config(config)
        for name in only or ():
            if name not in entries:
                msg = f"The configuration has no server {name!r}.{did_you_mean(name, entries)}"
                raise ToolNotFoundError(msg)
        enabled, disabled = {}, []
        for name, entry in entries.items():
            if only is not None and name not in only:
                continue
            if entry.enabled:
                enabled[name] = entry
            else:
                disabled.append(repr(name))
        if disabled and (only or not enabled):
            msg = f"Disabled in the configuration: {', '.join(disabled)}."
            raise ServerError(msg)
        enabled = approved(enabled, approve=approve)
        self._end_recordings(enabled, record)
        sessions = [self._session(n, e, None, record, timeout) for n, e in enabled.items()]
        failed = self._open(sessions)
        if failed and len(failed) == len(sessions):
            raise ServerError("\n".join(failed.values()))
        return sessions

    def disconnect(self, name: str) -> None:
        """Disconnect the server *name* and move its session from `servers` to `former`.

        Raises:
            ToolNotFoundError: If there is no such server.
        """
        # Taken out first: if another thread connects the same name now, that is a new session
        self._servers.take_out(name).close()

    def forget(self, name: str) -> None:
        """Disconnect the server *name* if it is connected, and remove its session from this client.

        Raises:
            ToolNotFoundError: If there is no such server.
        """
        self._servers.forget(name).close()
        with self._naming:
            # Choose prefixed names again: this server may have been the reason for the prefix
            self._names = {
                address: given
                for address, given in self._names.items()
                if address.server != name and given == address.name
            }

    def reconnect(self, name: str, mode: str | None = None) -> MCPServerSession:
        """Connect the server *name* again. This also works after `disconnect`.

        *mode* is the protocol, as in `connect`. If it is None, the mode of the last connection is
        used.

        Raises:
            ToolNotFoundError: If there is no such server.
            ServerError: If the server cannot be reached.
        """
        session = self._servers.put_back(name)
        session.reconnect(mode=mode)
        return session

    def sync_close(self) -> None:
        """Disconnect every server. A second call does nothing."""
        # Else none was connected
        if have_threads():
            portal.call(self._servers.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.sync_close()

    def _features(
        self, roots: Sequence[str | Path] = (), extensions: Sequence[Any] = ()
    ) -> ClientFeatures:
        return ClientFeatures(roots or self.roots, [*self.extensions, *extensions])

    def _session(
        self,
        name: str,
        entry: ServerEntry,
        mode: str | None,
        record: str | Path | None,
        timeout: float | None = None,
        features: ClientFeatures | None = None,
        development: Development | None = None,
    ) -> MCPServerSession:
        if not have_threads():
            msg = (
                f"MCP servers cannot be connected: {NO_THREADS}. Start the notebook in "
                "JupyterLab on a computer or on Binder."
            )
            raise ServerError(msg)
        if mode is None:
            mode = "auto"
            before = self.servers.get(name)
            if before is not None and before.entry == entry:
                # The same server again: the mode that worked
                mode = before.connection.mode
        answerer = self.answerer
        if answerer is None and entry.transport == "replay":
            answerer = recorded_answerer(entry)
        return MCPServerSession(
            name,
            entry,
            timeout=timeout or self.timeout,
            mode=mode,
            answerer=answerer,
            features=features or self._features(),
            approvals=self.approvals,
            development=development,
            recorder=None if record is None else open_recorders.enter(record),
            client=self,
        )

    def note_connected(self, session: MCPServerSession) -> None:
        """Put *session*, which has just connected, back into `servers`."""
        self._servers.note_connected(session)

    def report_new_tools(self, session: MCPServerSession, names: Collection[str]) -> None:
        """Call `on_tools_changed` with the tools in *names*, which are new in *session*.

        The call is made in a new thread, because the function may call the tools and wait for
        results.
        """
        if self.on_tools_changed is not None:
            Thread(target=self._report, args=(session.name, names), daemon=True).start()

    def _report(self, server: str, names: Collection[str]) -> None:
        listener = self.on_tools_changed
        added = [t for t in self.tools if t.server == server and t.remote_name in names]
        if listener is None or not added:
            return
        try:
            listener(added)
        except Exception:  # noqa: BLE001 - the user's own function: the tools work anyway
            _log.exception("on_tools_changed failed for %d new tools", len(added))

    def _end_recordings(self, names: Iterable[str], record: str | Path | None) -> None:
        """End the recordings of the sessions *names* in the file *record*, before a new one."""
        if record is not None:
            path = Path(record).expanduser().absolute()
            servers = self.servers
            for name in names:
                if name in servers and servers[name].recording == path:
                    servers[name].stop_recording()

    def _open(self, sessions: list[MCPServerSession]) -> dict[str, str]:
        """Connect *sessions*; return the errors of those that failed, by name."""
        # Not in the loop: there the import would continue after an interrupt, while a cell imports
        # FastMCP
        _load()
        with connecting_stages(sessions):
            failed = portal.call(self._servers.connect, sessions)
        self._name_together([session.name for session in sessions])
        return failed

    def _name_together(self, names: Collection[str]) -> None:
        """Give names to the tools of the servers *names*, which were connected by one call."""
        with self._naming:
            new: list[MCPToolDefinition] = []
            with_tools = set()
            for name, session in self.servers.items():
                tools = list(session.tools)
                if name in names and tools:
                    with_tools.add(name)
                    new += tools
            # Tools of a configuration may have got a name before
            if len(with_tools) > 1:
                self._names = {a: n for a, n in self._names.items() if a.server not in with_tools}
            give_names(new, self._names)


def create_mcp_tools(
    config: Any = None,
    *,
    record: str | Path | None = None,
    replay: str | Path | None = None,
    timeout: float = 30.0,
    elicitation_handler: Answerer | None = None,
    sampling_handler: Answerer | None = None,
    roots: Sequence[str | Path] = (),
    extensions: Sequence[Any] = (),
    on_tools_changed: ToolsChanged | None = None,
    answerer: Answerer | None = None,
    approve: bool = False,
) -> MCPClient:
    """Connect the servers of *config* and return their tools.

    Args:
        config: The servers. A mapping in FastMCP's format (`{"mcpServers": {...}}`), or the path of
            a configuration file of FastMCP, Claude, Cursor, VS Code, Windsurf or Codex. It may also
            be a `server.json` of the MCP registry, a URL, a FastMCP object, or a
            `toolbench.testing.FakeMCPServer`.
        record: The file to which all messages of the sessions are written, without secrets. If the
            environment variable `TOOLBENCH_REPLAY` is `1`, the file is replayed instead of written.
        replay: The file of a recording, which answers the requests in place of the servers. No
            process is started, the network is not used, and *config* is ignored. A request that was
            not recorded is an error.
        timeout: Seconds for connecting to each server; all servers are connected at the same time.
        elicitation_handler: A function that answers the questions that servers ask the user. It is
            called with the question, and returns a dict, an `Answer`, or None to decline; it may be
            `async`. Without it, the user is asked. If there is no user to ask, the question is
            declined.
        sampling_handler: A function that answers in place of a model when a server asks for a
            message from one (sampling); it may be `async`. It is called with a question that has
            `messages`, `params` and, if the model may call tools, `tools`. It returns a string, a
            message, a tool call such as `{"tool": "weather", "arguments": {...}}`, or a list of
            tool calls.
        roots: The folders, as paths or file URLs, that servers get when they ask for the roots of
            the client.
        extensions: Protocol extensions to declare to servers, as `ClientExtension` objects of the
            SDK (SEP-2133).
        on_tools_changed: A function that is called with a list of the new tools when a server has
            added tools. The function runs in a separate thread, so it may call tools. Source:
            OpenHands SDK.
        answerer: Deprecated; will be removed in the next release. One handler for both kinds of
            questions.
        approve: Whether to approve the servers of a file without asking the user. Otherwise the
            user is shown what the file says about each server, and must approve it. The user is
            asked again if programs, arguments, folders, the environment (including an `envFile`),
            addresses or names of variables change in the file. A mapping or a URL in your code
            needs no approval.

    Raises:
        ConsentError: If the servers of a file are not approved.
        ServerError: If the configuration is invalid, or no server answers. If only some servers
            fail, `client.servers[name].error` has the reason.

    Examples:
        >>> from toolbench.mcp import create_mcp_tools
        >>> from toolbench.testing import FakeMCPServer
        >>> server = FakeMCPServer("library")
        >>> server.answer("search", [{"title": "Emma"}])
        >>> with create_mcp_tools({"mcpServers": {"library": server}}) as client:
        ...     client["search"](author="Austen").data
        [{'title': 'Emma'}]
    """
    if config is None and replay is None:
        msg = "Give a configuration of servers, or replay= and a recording."
        raise ServerError(msg)
    handler = handler_of(elicitation_handler, sampling_handler, answerer)
    client = MCPClient(
        timeout=timeout,
        elicitation_handler=handler,
        sampling_handler=handler,
        roots=roots,
        extensions=extensions,
        on_tools_changed=on_tools_changed,
    )
    try:
        client.add(config, record=record, replay=replay, approve=approve)
    except BaseException:
        # No server is left running, even after an interrupt
        client.sync_close()
        raise
    return client


def handler_of(
    elicitation_handler: Answerer | None,
    sampling_handler: Answerer | None,
    answerer: Answerer | None = None,
) -> Answerer | None:
    """Combine the handlers into one function that passes each question to the right handler.

    If there is only one handler, the user answers the questions that it does not handle. Return
    None if there is no handler at all.

    Args:
        elicitation_handler: A function that answers forms, and requests to visit a web page.
        sampling_handler: A function that writes messages in place of a model.
        answerer: Deprecated; will be removed in the next release. A function that answers all
            questions.
    """
    if answerer is not None:
        warn(
            "answerer= ends with the next version: pass elicitation_handler= for questions, "
            "sampling_handler= for messages.",
            DeprecationWarning,
            # The caller of the function with the parameter
            stacklevel=3,
        )
        elicitation_handler = elicitation_handler or answerer
        sampling_handler = sampling_handler or answerer
    if elicitation_handler is sampling_handler:
        return elicitation_handler
    forms, samples = elicitation_handler or ask_here, sampling_handler or ask_here

    def chosen(question: Question) -> Answerer:
        if isinstance(question, SamplingQuestion):
            return samples
        return forms

    async def answer(question: Question) -> Answer:
        return await answer_of(chosen(question), question)

    if iscoroutinefunction(forms) or iscoroutinefunction(samples):
        return answer
    return lambda question: chosen(question)(question)


def _close_all(servers: Servers) -> None:
    """Disconnect the servers of a garbage-collected client, in a separate thread."""
    if any(session.status not in ("new", "closed") for session in servers.all):
        Thread(target=portal.call, args=(servers.close,), daemon=True).start()


def warm() -> Thread:
    """Import FastMCP in a background thread, because the import takes seconds. Return the thread.

    Examples:
        >>> from toolbench.mcp import warm
        >>> loading = warm()
        >>> loading.join()
    """
    thread = daemon_thread(_load, name="toolbench-warm")
    # Else no server can be connected
    if have_threads():
        thread.start()
    return thread


def _load() -> None:
    from toolbench.mcp.wire import transports  # noqa: F401, PLC0415 - loading it is the point
