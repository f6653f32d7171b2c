"""One server in three panes: its lists, the picked item, and details of the server."""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from toolbench.mcp.session import MCPServerSession
from toolbench.runs.record import RunRecord
from toolbench.widgets.explorer.panes.pane import ListPane, Lock
from toolbench.widgets.explorer.panes.prompts import PromptsPane
from toolbench.widgets.explorer.panes.resources import ResourcesPane
from toolbench.widgets.explorer.panes.skills_pane import SkillsPane, has_skills
from toolbench.widgets.explorer.panes.tools import ToolsPane
from toolbench.widgets.explorer.server_details import ServerDetails
from toolbench.widgets.explorer.tab_set import TabSet
from toolbench.widgets.kit.parts import Parts

_MARKED = frozenset({"tools", "resources", "prompts"})


class ServerPage:
    """The widgets of one server for the explorer's three panes: `lists`, `main` and `details`."""

    def __init__(
        self,
        session: MCPServerSession,
        lock: Lock,
        when_run: Callable[[RunRecord], object],
    ) -> None:
        """Show the tools of *session* and open the first tool.

        The other tabs are made when they are opened. After each run of a tool call *when_run* with
        its record.
        """
        self.session = session
        self._parts = parts = Parts()
        self._last_change = session.tools.last_change
        self.lists = TabSet(
            session,
            lock,
            {
                ToolsPane: partial(ToolsPane, when_run=when_run),
                ResourcesPane: ResourcesPane,
                PromptsPane: PromptsPane,
            },
            when_turned=self._place,
        )
        """The tabs with the lists of tools, resources, prompts, and skills if there are any."""
        self.details = ServerDetails(session, lock, self._use_tool)
        """The tabs about the server, with its log and traffic."""
        self._offer_skills()
        self.main = parts.column()
        """The box that shows the picked item of the visible list."""
        self._place()

    def hear(self, names: frozenset[str]) -> None:
        """Show the changes *names* in the visible panes; mark other tabs that have changed."""
        marked = names & _MARKED
        # Not before it is heard of: the word of something else may overtake it
        if "tools" in names:
            change, self._last_change = self._last_change, self.session.tools.last_change
            if change is self._last_change:
                marked -= {"tools"}
        self._offer_skills()
        self.lists.hear(names, marked)
        self.details.hear(names)

    def _offer_skills(self) -> None:
        """Add the tab of skills if the server has skills. Few servers have them."""
        if has_skills(self.session):
            self.lists.add(SkillsPane, SkillsPane)

    @property
    def pane(self) -> ListPane:
        """The visible list."""
        return cast("ListPane", self.lists.pane)

    def _use_tool(self, name: str, arguments: dict[str, Any], *, is_run: bool) -> bool:
        """Open the tool *name* with *arguments*, and run it if *is_run* is true.

        Return False if the server lists no such tool.
        """
        pane = self.lists.show(ToolsPane)
        return isinstance(pane, ToolsPane) and pane.use(name, arguments, is_run=is_run)

    @property
    def is_busy(self) -> bool:
        """Whether a tool of the server runs."""
        return self.lists.is_busy

    def _place(self) -> None:
        """Show the picked item of the visible list."""
        if self.main.children != (self.pane.detail,):
            self.main.children = (self.pane.detail,)

    def close(self) -> None:
        """Close every pane that was opened."""
        self.lists.close()
        self.details.close()
        self._parts.close()
