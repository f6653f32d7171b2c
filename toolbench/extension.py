"""The IPython extension: `%load_ext toolbench` adds it to a notebook, `%unload_ext` removes it."""

import sys
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any

# Its names are imported with their first use
from toolbench import mcp
from toolbench.core.registry import default_registry
from toolbench.core.tool import hooks
from toolbench.magics.catalog import Catalog
from toolbench.magics.chat_magics import ChatMagics
from toolbench.magics.completion import IDENTIFIER, matcher_for
from toolbench.magics.mcp_magics import MCPMagics, targets
from toolbench.magics.settings import Toolbench
from toolbench.magics.tool_magics import ToolMagics
from toolbench.magics.tools_magics import ToolsMagics
from toolbench.runs.control import INTERRUPTED, Stop, StopCause, active
from toolbench.runs.kernel import running_cell
from toolbench.runs.plain_calls import forget_calls, record_calls
from toolbench.runs.redirect import CellErrors, forget_secrets
from toolbench.runs.screen import flush_descriptors
from toolbench.widgets.cell_views import CellViews
from toolbench.widgets.frontend import front_end
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.live_view import shown_views

if TYPE_CHECKING:
    from toolbench.mcp.client import MCPClient

# In the shell's `meta`, IPython's place for what extensions keep of a shell
_NAME = "toolbench"


class Workbench:
    """All parts of toolbench in one IPython shell: magics, completion, displays, MCP servers."""

    def __init__(self, shell: Any) -> None:
        """Make the parts for *shell*; only `load` changes the shell."""
        self._shell = shell
        self._client: MCPClient | None = None
        self._making_client = Lock()
        self.catalog = Catalog(shell.user_ns, lambda: self._client)
        self.settings = Toolbench(parent=shell)
        self._chats = ChatMagics(shell, self.catalog)
        self._magics = (
            ToolMagics(shell, self.catalog),
            ToolsMagics(shell, self.catalog),
            MCPMagics(
                shell, lambda: self.client, self.catalog, self._chats.model_named, self.settings
            ),
            self._chats,
        )
        self._matcher = matcher_for(
            self.catalog,
            lambda: getattr(self._client, "known", ()),
            lambda: targets(shell.user_ns),
            lambda: self._chats.models,
        )
        self._views = CellViews(shell)
        self._errors = CellErrors(shell)
        self._covered: list[tuple[str, str, Any]] = []
        self._forget_listings: Callable[[], None] = lambda: None

    @property
    def client(self) -> "MCPClient":
        """The MCP client with this notebook's servers, made when it is first needed."""
        from toolbench.mcp.trust.approvals import Approvals  # noqa: PLC0415 - not for %load_ext

        # Of two that two threads make, one would be lost, with its servers
        with self._making_client:
            if self._client is None:
                self._client = mcp.MCPClient(approvals=Approvals())
            return self._client

    def load(self) -> None:
        """Add magics, completion and displays to the shell, and start recording direct calls."""
        known = self._shell.magics_manager.magics
        self._covered = [
            (where, name, known[where].get(name))
            for magics in self._magics
            for where, names in magics.magics.items()
            for name in names
        ]
        self._shell.register_magics(*self._magics)
        self._shell.configurables.append(self.settings)
        self._matchers.append(self._matcher)
        self._views.load()
        self._shell.events.register("pre_run_cell", self._before_cell)
        self._shell.events.register("post_run_cell", self._after_cell)
        # The cell with `%load_ext` may show a view too
        shown_views.begin(running_cell(self._shell))
        record_calls()
        default_registry.find_in_notebook = self.catalog.find
        self._forget_listings = hooks.listings.listen(lambda: ticker.watch(_check_panels))
        self._errors.begin()

    def unload(self) -> None:
        """Undo `load`; stop all runs and close the servers. Panels and the history stay."""
        # First, so that tasks go on at their servers
        if self._client is not None:
            self._client.sync_close()
            self._client = None
        active.stop_all(Stop(StopCause.PROGRAM, "stopped: toolbench was unloaded"))
        forget_calls()
        default_registry.find_in_notebook = None
        self._forget_listings()
        self._errors.end()
        forget_secrets()
        self._shell.events.unregister("pre_run_cell", self._before_cell)
        self._shell.events.unregister("post_run_cell", self._after_cell)
        self._views.unload()
        shown_views.end()
        self._matchers[:] = [m for m in self._matchers if not _is_ours(m)]
        known = self._shell.magics_manager.magics
        for where, name, covered in self._covered:
            known[where].pop(name, None)
            # Restore the user's own magic
            if covered is not None:
                known[where][name] = covered
        self._shell.configurables.remove(self.settings)
        self.settings.reset()
        self._chats.close()
        for served in _served():
            served.close()
        self.catalog.close()
        front_end.close()

    @property
    def _matchers(self) -> list[Any]:
        completer = getattr(self._shell, "Completer", None)
        matchers: list[Any] = getattr(completer, "custom_matchers", [])
        return matchers

    def _before_cell(self, info: Any = None) -> None:
        """Let SIGINT stop background runs from now on, and note which cell shows new panels."""
        active.watch.cell_begins()
        shown_views.begin(getattr(info, "cell_id", None))

    def _after_cell(self, result: Any = None) -> None:
        """Update the views of tools; if the cell was interrupted, stop all runs."""
        # First: no view that fails may keep the runs from it
        if isinstance(getattr(result, "error_in_exec", None), KeyboardInterrupt):
            active.stop_all(INTERRUPTED)
        shown_views.end()
        flush_descriptors()
        _check_panels()
        for served in _served():
            served.look()
        for explorer in _open("open_explorers", "widgets.explorer.explorer"):
            explorer.look()


def _is_ours(matcher: Any) -> bool:
    return getattr(matcher, "matcher_identifier", "") == IDENTIFIER


def _open(name: str, module: str) -> list[Any]:
    """Return the open objects, such as panels, that *module* keeps in its variable *name*.

    The list is empty if *module* was not imported yet.
    """
    return list(getattr(sys.modules.get(f"toolbench.{module}"), name, ()))


def _served() -> list[Any]:
    return _open("open_servers", "serving.served_tools")


def _check_panels() -> bool:
    """Let open panels show whether their tools have changed.

    Return False, so that the ticker does not repeat the check.
    """
    for panel in _open("open_panels", "widgets.panel.panel"):
        panel.look()
    return False


def load_ipython_extension(shell: Any) -> None:
    """Load toolbench into *shell*; IPython calls this for `%load_ext toolbench`.

    Examples:
        >>> from IPython.core.interactiveshell import InteractiveShell
        >>> from toolbench import load_ipython_extension
        >>> shell = InteractiveShell.instance()
        >>> load_ipython_extension(shell)
        >>> "tool" in shell.magics_manager.magics["line"]
        True
    """
    if _NAME not in shell.meta:
        shell.meta[_NAME] = Workbench(shell)
        shell.meta[_NAME].load()


def unload_ipython_extension(shell: Any) -> None:
    """Remove toolbench from *shell*; IPython calls this for `%unload_ext toolbench`.

    Examples:
        >>> from IPython.core.interactiveshell import InteractiveShell
        >>> from toolbench import load_ipython_extension, unload_ipython_extension
        >>> shell = InteractiveShell.instance()
        >>> load_ipython_extension(shell)
        >>> unload_ipython_extension(shell)
        >>> "tool" in shell.magics_manager.magics["line"]
        False
    """
    if _NAME in shell.meta:
        shell.meta.pop(_NAME).unload()
