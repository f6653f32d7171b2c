"""The explorer: servers on the left, and on the right all that the chosen one offers and says."""

from collections.abc import Mapping
from functools import partial
from threading import RLock
from typing import Any
from weakref import WeakSet

import ipywidgets as w

from toolbench.display.escape import visible
from toolbench.display.page import notice
from toolbench.display.servers import client_bundle
from toolbench.mcp.client import MCPClient
from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.explorer.card import ServerCard, status_words
from toolbench.widgets.explorer.news import News
from toolbench.widgets.explorer.page import ServerPage
from toolbench.widgets.explorer.style import STYLE
from toolbench.widgets.keepsake import Keepsake
from toolbench.widgets.parts import Parts
from toolbench.widgets.pick import below, on_enter

_NONE = "No server yet. `%mcp connect NAME -- COMMAND` starts one, `%mcp connect NAME URL` reaches one."

open_explorers: "WeakSet[Explorer]" = WeakSet()


class Explorer(w.VBox):
    """The servers of a client. Callbacks may come on any thread."""

    def __init__(
        self,
        client: MCPClient | Mapping[str, MCPServerSession],
        server: str | None = None,
    ) -> None:
        """Show the servers of *client*, or those given by name.

        Args:
            client: Whose servers to show; those that come later too, see `look`.
            server: The one to show first; the first if left out.
        """
        self._lock = RLock()
        self.servers = client.servers if isinstance(client, MCPClient) else client
        self._names: list[str] = []
        self._news: dict[str, tuple[MCPServerSession, News]] = {}
        self._pages: dict[str, ServerPage] = {}
        self._quiet = False
        self._parts = parts = Parts()
        self._list = parts.make(
            w.Select, "toolbench-field", "toolbench-list", description="Servers"
        )
        self._find = parts.make(
            w.Text,
            "toolbench-field",
            description="Find a server",
            placeholder="part of its name; Enter",
        )
        on_enter(self._find, self._found)
        self._card = ServerCard(parts, self._lock)
        self._right = parts.make(w.VBox, "toolbench-right")
        self._left = parts.make(w.VBox, "toolbench-left")
        self._empty = parts.html(notice(_NONE.replace("`", ""), "neutral"))
        self._sides = parts.make(
            w.HBox, "toolbench-sides", children=(self._left, self._right)
        )
        super().__init__(
            [parts.html(STYLE), self._sides],
            _dom_classes=("toolbench-box", "toolbench-explorer"),
        )
        self._list.observe(lambda _: self._chosen(), "index")
        self._name = server
        self.look()
        open_explorers.add(self)

    @property
    def server(self) -> str | None:
        """The name of the server that is shown."""
        return self._name

    @property
    def page(self) -> ServerPage | None:
        """The tabs of the server that is shown."""
        return self._pages.get(self._name or "")

    def choose(self, server: str) -> None:
        """Show *server*."""
        with self._lock:
            self._name = server
            self.look()

    def look(self) -> None:
        """Show the servers there are now: some may have come, gone, or been replaced."""
        with self._lock:
            servers = dict(self.servers)
            for name, (session, news) in list(self._news.items()):
                if servers.get(name) is not session:
                    news.close()
                    del self._news[name]
                    if name in self._pages:
                        self._leave(name)
            for name, session in servers.items():
                if name not in self._news:
                    self._news[name] = session, News(session, partial(self._hear, name))
            self._names = list(servers)
            if self._name not in servers:
                self._name = next(iter(servers), None)
            self._show_list()
            self._show_server()

    def _leave(self, name: str) -> None:
        self._right.children = ()
        self._pages.pop(name).close()

    def _found(self) -> None:
        """Show the next server that is called so: JupyterLab takes a list's arrow keys."""
        with self._lock:
            words = self._find.value.strip().lower()
            found = [name for name in self._names if words in name.lower()]
            if found:
                at = found.index(self._name) if self._name in found else None
                self.choose(found[below(at, len(found))])

    def _show_list(self) -> None:
        labels = [
            visible(f"{name[:60]} — {status_words(session)}")
            for name, (session, _) in sorted(
                self._news.items(), key=lambda item: self._names.index(item[0])
            )
        ]
        self._quiet = True
        try:
            if self._list.options != tuple(labels):
                self._list.options = labels
                self._list.rows = min(8, max(2, len(labels)))
                find = [self._find] if len(labels) > 1 else []
                self._left.children = [*find, self._list, self._card.widget]
            known = self._name in self._names
            self._list.index = self._names.index(self._name or "") if known else None
        finally:
            self._quiet = False

    def _show_server(self) -> None:
        name = self._name
        if name is None:
            self._card.clear()
            self._right.children = [self._empty]
            return
        session = self._news[name][0]
        self._card.show(session)
        if name not in self._pages:
            self._pages[name] = ServerPage(session, self._lock)
        shown = (self._pages[name].widget,)
        if self._right.children != shown:
            self._right.children = shown

    def _chosen(self) -> None:
        with self._lock:
            index = self._list.index
            if not self._quiet and index is not None:
                self._name = self._names[index]
                self._show_server()

    def _hear(self, name: str, names: frozenset[str]) -> None:
        with self._lock:
            if name not in self._news:
                return
            if names & {"status", "tools", "stderr"}:
                self._show_list()
                if name == self._name:
                    self._card.show(self._news[name][0])
            if name in self._pages:
                self._pages[name].hear(names)

    def close(self) -> None:
        """Close the explorer and all its widgets; the servers stay connected."""
        if self in open_explorers:  # also called when it is garbage
            open_explorers.discard(self)
            with self._lock:
                for _, news in self._news.values():
                    news.close()
                self._news.clear()
                for page in self._pages.values():
                    page.close()
                self._pages.clear()
                self._card.close()
                self._parts.close()
            self.layout.close()
        super().close()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        static = client_bundle(self)
        if "text/html" in static:
            Keepsake().show(static["text/html"])
        view = super()._repr_mimebundle_(**options)
        return {**(view or {}), **static}
