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

    A tool has the name that its server gives it. If servers of one configuration use the same
    name, the names of the servers are put in front: `git_status`, `hub_status`. A server that is
    connected later gets only its own tools renamed. A tool keeps its name until its server is
    forgotten, or comes with a configuration again. The address of a tool, `git.status`, finds it
    at any time. Source: OpenHands SDK.

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
        """Make a client without servers; `connect` adds them.

        Args:
            timeout: Seconds for connecting to a server.
            elicitation_handler: See `create_mcp_tools`.
            sampling_handler: See `create_mcp_tools`.
            roots: Folders, or file URLs, that servers may ask for.
            extensions: See `create_mcp_tools`.
            approvals: The approved servers. A server that changed later is not called until
                `session.trust.approve(session.trust.offer)`. None: no approval is needed.
            on_tools_changed: See `create_mcp_tools`.
            answerer: An older parameter: one handler for both kinds of questions.
        """
        self.approvals = approvals
        self.timeout = timeout
        self.answerer = handler_of(elicitation_handler, sampling_handler, answerer)
        """Answers questions of servers if a call names no other handler."""
        self.roots = tuple(root_url(root) for root in roots)
        self.extensions = ClientFeatures(extensions=extensions).extensions
        self.on_tools_changed = on_tools_changed
        """Called with the new tools of a connected server."""
        self._servers = Servers()
        self._names: dict[ToolAddress, str] = {}
        """The name that each tool got, also of a server that is not connected now."""
        # Several threads may ask for names; each new tool must get one name
        self._naming = Lock()
        weakref.finalize(self, _close_all, self._servers).atexit = False

    # --- the collection -----------------------------------------------------------

    @property
    def servers(self) -> Mapping[str, MCPServerSession]:
        """The present sessions by name, including failed ones; the mapping itself never changes."""
        return self._servers.present

    @property
    def former(self) -> Mapping[str, MCPServerSession]:
        """The sessions that `disconnect` removed, by name; `reconnect` puts one back."""
        return self._servers.former

    @property
    def known(self) -> Mapping[str, MCPServerSession]:
        """The sessions of `servers` and, after them, those of `former`."""
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
        """Connect the server *name*, and close and replace an older session of the same name.

        A connected session with another *entry* stays until the new session is connected.

        Args:
            name: The name of the server in this client.
            entry: A mapping as in a configuration, a URL, a FastMCP object, `module:name`, or a file's path.
            mode: `auto`, `legacy`, or a version of the protocol.
            record: A file for all messages of the session; with `TOOLBENCH_REPLAY=1` in the
                environment this file is replayed instead.
            replay: A recording that gives the answers: *entry* is ignored, nothing is started.
            timeout: Seconds for connecting, instead of the client's timeout.
            roots: Folders, or file URLs, that the server may ask for, instead of the client's roots.
            extensions: Extensions to declare to this server, in addition to those of the client.
            approve: See `create_mcp_tools`; for an entry that `discover` found in a file.
            dev: Whether you develop the server, which a command starts. If its source files have changed,
                the next call starts it again, and a note in the result says what has changed. Changes
                need no approval, and your own calls no consent; calls of models and agents ask as
                always. This holds until the server is disconnected, or connected without it.
                Watched are the files that the command names, and source files in their folders and
                below; if it names none, those of the folder in which it starts. Left out are hidden
                folders, environments and builds, and all beyond 2,000 files or 500 folders.
            watch: With *dev*: start the server again as soon as a file has changed.

        Raises:
            ConsentError: If *entry* was found in a file and is not approved.
            ServerError: If the server cannot be reached, or *dev* does not fit it. The failed session is then in `servers`,
                unless an earlier session of its name, connected or not, keeps its place.
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
        """Connect the servers of *config* at the same time, or only the servers named in *only*.

        If a server fails, the other servers are still connected; the failed session has the `error`.
        A connected session of the same name stays as in `connect`. For *record*, *replay* and
        *approve* see `create_mcp_tools`, for *timeout* see `connect`.

        Raises:
            ConsentError: If the servers of a file are not approved.
            ServerError: If the configuration cannot be used, no server answers, or a server
                of *only* is disabled.
            ToolNotFoundError: If a server of *only* is not in the configuration.
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
        """Disconnect the server *name* and remove it.

        Raises:
            ToolNotFoundError: If there is no such server.
        """
        # Taken out first: a connect of the same name in another thread has its own session
        self._servers.take_out(name).close()

    def forget(self, name: str) -> None:
        """Disconnect the server *name* if it is connected, and forget how to connect it again.

        Raises:
            ToolNotFoundError: If there is no such server.
        """
        self._servers.forget(name).close()
        with self._naming:
            # Longer names are chosen anew: they may have been longer because of this server
            self._names = {
                address: given
                for address, given in self._names.items()
                if address.server != name and given == address.name
            }

    def reconnect(self, name: str, mode: str | None = None) -> MCPServerSession:
        """Connect the server *name* again, even after `disconnect`; None keeps the present *mode*.

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
        """Add *session*, which has just connected, to the servers again."""
        self._servers.note_connected(session)

    def report_new_tools(self, session: MCPServerSession, names: Collection[str]) -> None:
        """Call `on_tools_changed` with the tools *names* of *session*.

        This is done in a new thread, because the listener may call the tools.
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
        """End the recordings of *names* in the file *record*: a cell that runs again begins a new one."""
        if record is not None:
            path = Path(record).expanduser().absolute()
            servers = self.servers
            for name in names:
                if name in servers and servers[name].recording == path:
                    servers[name].stop_recording()

    def _open(self, sessions: list[MCPServerSession]) -> dict[str, str]:
        """Connect *sessions*; return why some are not connected, by name."""
        # Not in the loop: there it would go on after an interrupt, beside a cell that imports FastMCP
        _load()
        with connecting_stages(sessions):
            failed = portal.call(self._servers.connect, sessions)
        self._name_together([session.name for session in sessions])
        return failed

    def _name_together(self, names: Collection[str]) -> None:
        """Name the tools of the servers *names*, which one `connect` or `add` connected."""
        with self._naming:
            new: list[MCPToolDefinition] = []
            with_tools = set()
            for name, session in self.servers.items():
                tools = list(session.tools)
                if name in names and tools:
                    with_tools.add(name)
                    new += tools
            # A configuration may name tools that had a name before
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
        config: FastMCP's format (`{"mcpServers": {...}}`), the path of a file in this format or
            in that of Claude, Cursor, VS Code, Windsurf or Codex, a `server.json` of the MCP
            registry, one URL, a FastMCP object, or a `toolbench.testing.FakeMCPServer`.
        record: A file for all messages of the sessions, without secrets. With
            `TOOLBENCH_REPLAY=1` in the environment this file is replayed instead.
        replay: A recording that gives the answers: no process is started, no network is used,
            and a request that was not recorded is an error. *config* is ignored.
        timeout: Seconds for connecting to a server; all connect at the same time.
        elicitation_handler: Answers the questions of servers to the user: a function, plain or
            `async`, that takes the question and returns a dict or an `Answer`; None declines.
            Without it, the user is asked; if nobody can answer, the question is declined.
        sampling_handler: Writes the messages that servers want from a model, in the same way. The
            question has `messages`, `params` and, if the model may call tools, `tools`. The handler
            returns a string, a message, or calls: `{"tool": "weather", "arguments": {...}}`
            or a list of these.
        roots: Folders, or file URLs, that servers may ask for.
        extensions: Extensions of the protocol to declare to servers, objects of the SDK's
            `ClientExtension` (SEP-2133).
        on_tools_changed: Called with the new tools of a server when its list has changed, in a
            thread of its own, where it may call tools. Source: OpenHands SDK.
        answerer: An older parameter, for one more release: one handler for both kinds of questions.
        approve: Whether the servers of a file are approved as the file has them now. Otherwise they
            are shown, and the user is asked about them once for each content: programs,
            arguments, folders, the environment (with an `envFile`), addresses and the names of
            variables. A mapping or a URL in code is your own, and nothing is asked.

    Raises:
        ConsentError: If the servers of a file are not approved.
        ServerError: If the configuration cannot be used, or no server answers. If only some
            servers fail, see `client.servers[name].error`.

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
        # Interrupted too: no server is left running
        client.sync_close()
        raise
    return client


def handler_of(
    elicitation_handler: Answerer | None,
    sampling_handler: Answerer | None,
    answerer: Answerer | None = None,
) -> Answerer | None:
    """Return one answerer that gives each question to the handler for questions of its kind.

    Questions without a handler go to the user. Return None if there is no handler at all.

    Args:
        elicitation_handler: Answers forms and requests to visit a page.
        sampling_handler: Writes messages in place of a model.
        answerer: An older parameter, for one more release; it answers all questions.
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
    """Disconnect, in a thread, the servers of a client that was garbage-collected."""
    if any(session.status not in ("new", "closed") for session in servers.all):
        Thread(target=portal.call, args=(servers.close,), daemon=True).start()


def warm() -> Thread:
    """Load FastMCP in a background thread, because this takes seconds; return the thread.

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
