"""The tools of a server: a list, the panel of the one that is open, and those that are disabled."""

from typing import Any, ClassVar

from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import Html, escape
from toolbench.display.page import notice
from toolbench.display.sizes import counted
from toolbench.mcp.apps import app_uri
from toolbench.mcp.listing import DisabledTool
from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.explorer.app import AppView
from toolbench.widgets.explorer.differences import changes_html
from toolbench.widgets.explorer.pane import Lock, Pane
from toolbench.widgets.panel import ToolPanel
from toolbench.widgets.pick import Item, PickList

_DISABLED = 50  # shown with their reasons


class ToolsPane(Pane):
    """A tool opens as its normal panel; the panels that were opened keep what they hold."""

    title = "Tools"
    hears: ClassVar[frozenset[str]] = frozenset({"tools", "status"})

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """List the tools; none is open at first."""
        super().__init__(session, lock)
        parts = self._parts
        self._open: dict[str, OpenTool] = {}
        self._notes = parts.html()
        self._list = PickList(parts, "Tools", self._pick, lock)
        self._disabled = parts.html()
        self._place = parts.column()
        self.widget = parts.column(
            self._notes, *self._list.widgets, self._disabled, self._place
        )
        self.refresh()

    def refresh(self) -> None:
        """List the tools as the server listed them last, and say what changed."""
        session = self.session
        problems = "".join(notice(text, "warning") for text in session.problems)
        self._notes.value = problems + changes_html(session.last_change)
        tools = {tool.remote_name: tool for tool in session.tools}
        self._list.offer(
            [Item(name, name, tool.description) for name, tool in tools.items()],
            "No tools." if session.status == "connected" else "Not connected.",
        )
        self._disabled.value = _disabled_html(session.disabled_tools)
        if session.status == "connected":
            for name, opened in self._open.items():
                opened.compare(tools.get(name))

    def _pick(self, name: str) -> None:
        if name not in self._open:
            self._open[name] = OpenTool(
                self.session, self._lock, self.session.tool(name)
            )
        self._place.children = [self._open[name].widget]

    def close(self) -> None:
        """Close the panels too."""
        for opened in self._open.values():
            opened.close()
        self._open.clear()
        super().close()


class OpenTool(Pane):
    """The panel of one tool, a word when the server changes it, and its app if it has one."""

    title = "Tool"
    hears: ClassVar[frozenset[str]] = frozenset()

    def __init__(
        self,
        session: MCPServerSession,
        lock: Lock,
        tool: ToolDefinition[Any, Any],
    ) -> None:
        """Open *tool*."""
        super().__init__(session, lock)
        self.panel = ToolPanel(tool)
        self._app = AppView(session, self.panel) if app_uri(tool) else None
        self._newer: ToolDefinition[Any, Any] | None = None
        self._told = self._parts.html()
        self._take = self._parts.button("Reload", look="info")
        self.on(self._take, self._reload)
        self._news = self._parts.row()
        self.widget = self._parts.column()
        self.refresh()

    def refresh(self) -> None:
        """Put the panel, and the app if there is one, in their places."""
        below = [self._app.widget] if self._app is not None else []
        self.widget.children = [self._news, self.panel, *below]

    def compare(self, listed: ToolDefinition[Any, Any] | None) -> None:
        """Say so if the server lists another tool by this name now, or none."""
        self._newer = None
        if listed is None:
            self._told.value = notice(
                "The server does not list this tool any more.", "warning"
            )
            self._news.children = [self._told]
        elif listed.to_mcp_tool() != self.panel.tool.to_mcp_tool():
            self._newer = listed
            self._told.value = notice(
                "The server changed this tool: the panel shows the old one.", "warning"
            )
            self._news.children = [self._told, self._take]
        else:
            self._news.children = []

    def _reload(self) -> None:
        newer = self._newer
        if newer is None:
            return
        old, app = self.panel, self._app
        self.panel = ToolPanel(newer, old.form.value)
        self._app = AppView(self.session, self.panel) if app_uri(newer) else None
        self._news.children = []
        self.refresh()
        old.close()
        if app is not None:
            app.close()

    def close(self) -> None:
        """Close the panel; a run is cancelled."""
        self.panel.close()
        if self._app is not None:
            self._app.close()
        super().close()


def _disabled_html(tools: list[DisabledTool]) -> Html:
    """Those that cannot be called, each with its reason."""
    if not tools:
        return Html("")
    lines = "".join(
        f"<li><code>{escape(tool.name[:200])}</code>: {escape(tool.reason[:1000])}</li>"
        for tool in tools[:_DISABLED]
    )
    rest = len(tools) - _DISABLED
    more = f"<li>{counted(rest, 'other')}</li>" if rest > 0 else ""
    what = counted(len(tools), "listed tool")
    return Html(
        f'<details class="toolbench-disabled"><summary style="cursor:pointer">{what} cannot be'
        f' called</summary><ul style="margin:2px 0 6px;padding-left:1.4em;overflow-wrap:'
        f'anywhere">{lines}{more}</ul></details>'
    )
