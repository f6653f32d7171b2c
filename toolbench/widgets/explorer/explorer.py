"""The explorer: a widget with the lists of a server, the picked item, and the server's details."""

from collections.abc import Mapping
from functools import partial
from threading import RLock
from typing import Any
from weakref import WeakSet

from toolbench.core.tool_names import ToolAddress
from toolbench.display.escape import Html, escape
from toolbench.display.images import icon_source
from toolbench.display.page import notice
from toolbench.mcp.client import MCPClient
from toolbench.mcp.server_html import (
    client_bundle,
    server_bundle,
    status_badge,
    status_words,
)
from toolbench.mcp.session import MCPServerSession
from toolbench.runs.kernel import has_kernel
from toolbench.runs.record import RunRecord
from toolbench.widgets.explorer.server_page import ServerPage
from toolbench.widgets.explorer.updates import PendingUpdates
from toolbench.widgets.kit.parts import Parts, put, show_if
from toolbench.widgets.kit.plain_style import PANEL
from toolbench.widgets.kit.search_list import Item, PickList
from toolbench.widgets.kit.three_panes import Panes
from toolbench.widgets.live_view import LiveView

_NONE = "No server yet. %mcp connect NAME -- COMMAND starts one, %mcp connect NAME URL reaches one."
_AWAY = "{0} is not connected now. %mcp connect {0} ... brings it back, and it is shown here again."

# Tools; the last run of each is in the saved notebook
_SAVED_RUNS = 20

open_explorers: "WeakSet[Explorer]" = WeakSet()


class Explorer(LiveView):
    """A widget that lists the servers of a client, and shows the tools and messages of one server.

    A server may report a change on any thread. The servers stay connected when it is closed.
    """

    def __init__(
        self,
        client: MCPClient | Mapping[str, MCPServerSession],
        server: str | None = None,
    ) -> None:
        """Show the servers of *client*.

        Args:
            client: A client, or servers by name. Servers added later are shown after `look`.
            server: The name of the server to show, also after it was forgotten and connected
                again. By default, the first server of *client*.
        """
        self._lock = RLock()
        self._client = client
        self._updates: dict[str, tuple[MCPServerSession, PendingUpdates]] = {}
        self._pages: dict[str, ServerPage] = {}
        self._last_runs: dict[ToolAddress | None, RunRecord] = {}
        self._parts = parts = Parts()
        self._list = PickList(
            parts, "Servers", self._picked, self._lock, rows=8, search="Find a server"
        )
        self._head = parts.html()
        self._text = parts.html()
        self._empty = parts.column(self._text, kind="toolbench-page")
        self._panes = Panes(parts)
        super().__init__(
            parts,
            self._lock,
            [parts.html(PANEL), self._panes.widget],
            *("toolbench-workbench", "toolbench-explorer"),
            use="the explorer",
        )
        self._name = server
        # Then no other server takes its place
        self._is_chosen = server is not None
        self.look()
        open_explorers.add(self)

    @property
    def servers(self) -> Mapping[str, MCPServerSession]:
        """The servers by name: of a client, also those that were disconnected."""
        client = self._client
        if isinstance(client, MCPClient):
            return client.known
        return client

    @property
    def server(self) -> str | None:
        """The name of the shown server; None if there is no server.

        A server that was chosen and forgotten is still the shown one.
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
        """Update the list of servers, because servers may be new, removed or replaced."""
        with self._lock:
            servers = dict(self.servers)
            for name, (session, updates) in list(self._updates.items()):
                if servers.get(name) is not session:
                    updates.close()
                    del self._updates[name]
                    if name in self._pages:
                        self._leave(name)
            for name, session in servers.items():
                if name not in self._updates:
                    self._updates[name] = (
                        session,
                        PendingUpdates(session, partial(self._hear, name)),
                    )
            if self._name not in servers and not self._is_chosen:
                self._name = next(iter(servers), None)
            self._show_list()
            self._show_server()

    def _leave(self, name: str) -> None:
        self._panes.fill(lists=(), main=(), aside=())
        self._pages.pop(name).close()

    def _picked(self, name: str) -> None:
        self._name, self._is_chosen = name, True
        self._show_server()

    def _show_list(self) -> None:
        sessions = {name: self._updates[name][0] for name in self.servers if name in self._updates}
        self._list.offer(
            [
                Item(
                    name,
                    name[:60],
                    status_words(session.status),
                    mark=session.status,
                    icon=icon_source(session.server_info.get("icons")),
                )
                for name, session in sessions.items()
            ],
            "",
        )
        self._list.show_picked(self._name)
        show_if(self._list.widget, is_shown=bool(set(sessions) - {self._name}))
        if self._name in sessions:
            put(self._head, _head_html(sessions[self._name]))

    def _show_server(self) -> None:
        name = self._name
        if name is None or name not in self._updates:
            text = _NONE
            if name is not None:
                text = _AWAY.format(name)
            put(self._text, notice(text, "neutral"))
            self._panes.fill(lists=(self._list.widget,), main=(self._empty,), aside=())
            return
        session = self._updates[name][0]
        put(self._head, _head_html(session))
        if name not in self._pages:
            self._pages[name] = ServerPage(session, self._lock, self._add_run)
        page = self._pages[name]
        lists = (self._list.widget, self._head, page.lists.widget)
        self._panes.fill(lists=lists, main=(page.main,), aside=(page.details.widget,))

    def _hear(self, name: str, names: frozenset[str]) -> None:
        with self._lock:
            if name not in self._updates:
                return
            if names & {"status", "tools"}:
                self._show_list()
            if name in self._pages:
                self._pages[name].hear(names)

    def _add_run(self, record: RunRecord) -> None:
        """Keep *record*, the last run of its tool, in the saved notebook."""
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
            for _, updates in self._updates.values():
                updates.close()
            self._updates.clear()

    def _static(self) -> dict[str, Any]:
        return client_bundle(self)


def client_view(client: MCPClient, **options: Any) -> Any:
    """Return the mime bundle of a client: its explorer, and HTML that needs no kernel."""
    if not has_kernel():
        return client_bundle(client)
    return Explorer(client)._repr_mimebundle_(**options)


def server_view(session: Any, **options: Any) -> Any:
    """Return the mime bundle of one server: its explorer, and HTML that needs no kernel."""
    if not has_kernel():
        return server_bundle(session)
    bundle = Explorer({session.name: session})._repr_mimebundle_(**options)
    return {**bundle, **server_bundle(session)}


def _head_html(session: MCPServerSession) -> Html:
    """Return the name and the state of the shown server."""
    state = status_badge(session.status)
    return Html(
        f'<div class="toolbench-head"><strong>{escape(session.name[:60])}</strong> {state}</div>'
    )
