"""The explorer: a widget with the lists of a server, the picked item, and the server's details."""

from collections.abc import Callable, Mapping
from functools import partial
from shlex import quote
from threading import RLock
from typing import Any, cast
from weakref import WeakSet

from toolbench.core.tool_names import ToolAddress
from toolbench.display.escape import Html, escape
from toolbench.display.images import icon_source
from toolbench.display.page import badge, notice
from toolbench.mcp.client import MCPClient
from toolbench.mcp.server_html import (
    client_bundle,
    server_bundle,
    status_badge,
    status_words,
)
from toolbench.mcp.server_session import MCPServerSession
from toolbench.runs.kernel import has_kernel
from toolbench.runs.record import RunRecord
from toolbench.widgets.explorer.prompts import PromptsPane
from toolbench.widgets.explorer.requests import PendingUpdates
from toolbench.widgets.explorer.resources import ResourcesPane, SkillsPane, has_skills
from toolbench.widgets.explorer.server import ServerView
from toolbench.widgets.explorer.tabs import ListPane, Lock, MakePane, Pane, TabSet
from toolbench.widgets.explorer.tools import ToolsPane
from toolbench.widgets.kit.parts import PANEL, Panes, Parts, put, show_if
from toolbench.widgets.kit.search_list import Item, PickList
from toolbench.widgets.live_view import LiveView

_NONE = (
    "No servers yet. Start one to try with %mcp connect example, start yours with %mcp connect NAME "
    "-- COMMAND, or connect with %mcp connect NAME URL."
)
_AWAY = "{0} is not connected now. %mcp connect {1} ... brings it back, and it is shown here again."

# Tools; the last run of each is in the saved notebook
_SAVED_RUNS = 20
_MARKED = frozenset({"tools", "resources", "prompts"})


class ServerPage:
    """The widgets of one server for the explorer's three panes: `lists`, `main` and `details`."""

    def __init__(
        self,
        session: MCPServerSession,
        lock: Lock,
        when_run: Callable[[RunRecord], object],
        search: str,
    ) -> None:
        """Show the tools of *session*. The other tabs are made when they are first opened.

        After each run of a tool, *when_run* is called with the record of the run. *search* is the
        text in the search field of the tools.
        """
        self.session = session
        self._parts = parts = Parts()
        self._last_change = session.tools.last_change
        kinds: dict[type[Pane], MakePane] = {
            ToolsPane: partial(ToolsPane, when_run=when_run, search=search),
            ResourcesPane: ResourcesPane,
            PromptsPane: PromptsPane,
        }
        self.lists = TabSet(session, lock, kinds, when_turned=self._place)
        """The tabs with the lists of tools, resources, prompts and, if there are any, skills."""
        self._lock = lock
        self._details: ServerView | None = None
        self._offer_skills()
        self.main = parts.column()
        """The box that shows the picked item of the visible list."""
        self._place()

    def hear(self, names: frozenset[str]) -> None:
        """Update the page after the server has changed.

        The visible panes are updated, and the tabs of other changed parts are marked. *names*
        contains the names of the changed parts, such as "tools" or "status".
        """
        marked = names & _MARKED
        # Read only after this notification: one about something else may arrive first
        if "tools" in names:
            change, self._last_change = self._last_change, self.session.tools.last_change
            if change is self._last_change:
                marked -= {"tools"}
        self._offer_skills()
        self.lists.hear(names, marked)

    def _offer_skills(self) -> None:
        """Add the tab Skills if the server has skills. Most servers have none."""
        if has_skills(self.session):
            self.lists.add(SkillsPane, SkillsPane)

    @property
    def details(self) -> ServerView:
        """The tabs about the server, with its log and traffic; made when they are first needed."""
        if self._details is None:
            self._details = ServerView(self.session, self._lock, self._use_tool)
        return self._details

    @property
    def pane(self) -> ListPane:
        """The visible list."""
        return cast("ListPane", self.lists.pane)

    @property
    def searched(self) -> str:
        """The text in the search field of the tools."""
        return cast("ToolsPane", self.lists.made(ToolsPane)).searched

    def _use_tool(self, name: str, arguments: dict[str, Any], *, is_run: bool) -> bool:
        """Open the tool *name* with *arguments*, and run it if *is_run* is true.

        Return False if the server does not list the tool.
        """
        pane = self.lists.show(ToolsPane)
        return isinstance(pane, ToolsPane) and pane.use(name, arguments, is_run=is_run)

    @property
    def is_busy(self) -> bool:
        """Whether a tool of the server is running."""
        return self.lists.is_busy

    def _place(self) -> None:
        """Show the picked item of the visible list."""
        self.main.children = [self.pane.detail]

    def close(self) -> None:
        """Close every pane that was opened."""
        self.lists.close()
        if self._details is not None:
            self._details.close()
        self._parts.close()


open_explorers: "WeakSet[Explorer]" = WeakSet()


class Explorer(LiveView):
    """A widget that lists the servers of a client, and shows the tools and messages of one server.

    Servers may report changes on any thread. Closing the explorer does not disconnect the servers.

    Examples:
        >>> from toolbench.mcp import create_mcp_tools
        >>> from toolbench.testing import FakeMCPServer
        >>> from toolbench.widgets.explorer import Explorer
        >>> server = FakeMCPServer("shop")
        >>> server.answer("price", {"eur": 3})
        >>> with create_mcp_tools(server) as client:
        ...     explorer = Explorer(client)
        ...     explorer.server, list(explorer.servers)
        ('shop', ['shop'])
    """

    def __init__(
        self,
        client: MCPClient | Mapping[str, MCPServerSession],
        server: str | None = None,
    ) -> None:
        """Show the servers of *client*.

        Args:
            client: A client, or servers by name. Servers that are added later appear after a call
                of `look`.
            server: The name of the server to show, by default the first one. If the client forgets
                this server, no other server is shown in its place.
        """
        self._lock = RLock()
        self._client = client
        self._sessions: dict[str, MCPServerSession] = {}
        self._updates: dict[str, PendingUpdates] = {}
        self._pages: dict[str, ServerPage] = {}
        # Of servers that were replaced, such as by a changed one under the same name
        self._searches: dict[str, str] = {}
        self._last_runs: dict[ToolAddress | None, RunRecord] = {}
        self._parts = parts = Parts()
        self._list = PickList(
            parts, "Servers", self._picked, self._lock, rows=8, search="Find a server"
        )
        self._head = parts.html()
        tip = "The server's state, log, traffic, recordings and changes"
        self._about = parts.button("", self._turn_details, tip=tip, kind="toolbench-about")
        self._shows_details = False
        self._heading = parts.row(self._head, self._about, kind="toolbench-server")
        self._text = parts.html()
        self._empty = parts.column(self._text, kind="toolbench-page")
        self._panes = Panes(parts)
        super().__init__(
            parts,
            self._lock,
            [parts.html(PANEL), self._panes.widget],
            "toolbench-workbench",
            "toolbench-explorer",
            use="the explorer",
        )
        self._name = server
        # A chosen server is not replaced by another one
        self._is_chosen = server is not None
        self.look()
        open_explorers.add(self)

    @property
    def servers(self) -> Mapping[str, MCPServerSession]:
        """The servers by name. Those of a client include its disconnected servers."""
        client = self._client
        if isinstance(client, MCPClient):
            return client.known
        return client

    @property
    def server(self) -> str | None:
        """The name of the shown server; None if there is no server.

        The name does not change if the client forgets the server.
        """
        return self._name

    @property
    def page(self) -> ServerPage | None:
        """The page of the shown server; None if no page is shown."""
        return self._pages.get(self._name or "")

    def choose(self, server: str) -> None:
        """Show the server with the name *server*."""
        with self._lock:
            self._name, self._is_chosen = server, True
            self.look()

    def look(self) -> None:
        """Update the list of servers: some may be new, removed or replaced."""
        with self._lock:
            before, self._sessions = self._sessions, dict(self.servers)
            for name, session in before.items():
                if self._sessions.get(name) is not session:
                    self._updates.pop(name).close()
                    if name in self._pages:
                        self._panes.fill(lists=(), main=(), aside=())
                        page = self._pages.pop(name)
                        self._searches[name] = page.searched
                        page.close()
            for name, session in self._sessions.items():
                if name not in self._updates:
                    self._updates[name] = PendingUpdates(session, partial(self._hear, name))
            if self._name not in self._sessions and not self._is_chosen:
                self._name = next(iter(self._sessions), None)
            self._show_list()
            self._show_server()

    def _picked(self, name: str) -> None:
        self._name, self._is_chosen = name, True
        self._show_server()

    def _show_list(self) -> None:
        items = []
        for name, session in self._sessions.items():
            status, icon = session.status, icon_source(session.server_info.get("icons"))
            items.append(Item(name, name[:60], status_words(status), mark=status, icon=icon))
        self._list.offer(items, "")
        self._list.show_picked(self._name)
        show_if(self._list.widget, is_shown=bool(set(self._sessions) - {self._name}))
        self._show_head()

    def _show_head(self) -> None:
        """Show the name and the state of the shown server."""
        if self._name in self._sessions:
            session = self._sessions[self._name]
            name = f"<strong>{escape(session.name[:60])}</strong>"
            state, line = status_badge(session.status), ""
            if session.is_connected and not session.tools.is_approved:
                state = badge("waits for your approval", "warning")
                line = f"<code>%mcp approve {escape(quote(session.name))}</code>"
            put(self._head, Html(f'<div class="toolbench-head">{name} {state} {line}</div>'))

    def _show_server(self) -> None:
        name = self._name
        if name is None or name not in self._sessions:
            text = _NONE
            if name is not None:
                text = _AWAY.format(name, quote(name))
            put(self._text, notice(text, "neutral"))
            self._panes.fill(lists=[self._list.widget], main=[self._empty], aside=[])
            return
        self._show_head()
        if name not in self._pages:
            search = self._searches.pop(name, "")
            self._pages[name] = ServerPage(self._sessions[name], self._lock, self._add_run, search)
            self._open_details_if_lost()
        page = self._pages[name]
        self._panes.fill(
            lists=[self._list.widget, self._heading, page.lists.widget], main=[page.main]
        )
        self._show_details()

    def _turn_details(self) -> None:
        """Show the tabs about the server, or hide them."""
        with self._lock:
            self._shows_details = not self._shows_details
            self._show_details()

    def _open_details_if_lost(self) -> None:
        """If the shown server is not connected, show its tabs, such as Server and Log.

        The tabs say why the server is not connected, and have a button to connect it.
        """
        page = self.page
        if page is not None and page.session.status not in ("connected", "connecting"):
            self._shows_details = True

    def _show_details(self) -> None:
        page, aside, word = self.page, list[Any](), "Server and traffic"
        if self._shows_details and page is not None:
            aside, word = [page.details.widget], "Hide the server"
        self._about.description = word
        self._panes.fill(aside=aside)

    def _hear(self, name: str, names: frozenset[str]) -> None:
        with self._lock:
            if name not in self._updates:
                return
            if names & {"status", "tools"}:
                self._show_list()
            if name in self._pages:
                self._pages[name].hear(names)
            if name == self._name and "status" in names:
                self._open_details_if_lost()
                self._show_details()

    def _add_run(self, record: RunRecord) -> None:
        """Add *record* to the saved notebook, in place of the previous run of the same tool."""
        # The newest is the last
        self._last_runs.pop(record.address, None)
        self._last_runs[record.address] = record
        for old in list(self._last_runs)[:-_SAVED_RUNS]:
            del self._last_runs[old]
        still = Html(client_bundle(self).get("text/html", ""))
        self._saved_output.keep(still, list(self._last_runs.values()))

    def _views(self) -> list[ServerPage]:
        with self._lock:
            return list(self._pages.values())

    def _release(self) -> None:
        open_explorers.discard(self)
        with self._lock:
            for updates in self._updates.values():
                updates.close()
            self._updates.clear()
            self._sessions.clear()

    def _static(self) -> dict[str, Any]:
        return client_bundle(self)


def client_view(client: MCPClient, **options: Any) -> Any:
    """Return the mime bundle of a client: its explorer, and HTML that works without a kernel."""
    if not has_kernel():
        return client_bundle(client)
    return Explorer(client)._repr_mimebundle_(**options)


def server_view(session: Any, **options: Any) -> Any:
    """Return the mime bundle of one server: its explorer, and HTML that works without a kernel."""
    if not has_kernel():
        return server_bundle(session)
    bundle = Explorer({session.name: session})._repr_mimebundle_(**options)
    return {**bundle, **server_bundle(session)}
