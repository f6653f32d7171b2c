"""The views of a cell's last value in a notebook: a panel, an explorer, a form, a report."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_advice import class_advice
from toolbench.display.objects import action_bundle, tool_bundle
from toolbench.display.observations import observation_bundle
from toolbench.widgets.frontend import front_end

_KIND = type(ToolDefinition)
"""The class of tool classes."""


class CellViews:
    """Makes one IPython shell show toolbench's views."""

    def __init__(
        self,
        shell: Any,
        tools: Callable[[], Mapping[str, ToolDefinition[Any, Any]]],
        timeout: Callable[[], float | None],
    ) -> None:
        """Prepare views for *shell*, but change nothing yet: see `load`.

        *tools* returns the tools of the notebook, *timeout* the seconds after which a run in the
        panel of a tool is cancelled.
        """
        self._shell = shell
        self._tools = tools
        self._timeout = timeout
        self._displaced: dict[Any, Any] = {}
        self._displaced_text: Any = None
        self._formats: dict[type, Any] = {
            ToolDefinition: self._tool,
            Action: _plain(action_bundle),
            Observation: _plain(observation_bundle),
        }
        # classes of modules that are imported at their first use
        self._named_formats: dict[tuple[str, str], Any] = {
            ("toolbench.agent.conversation", "Conversation"): self._conversation,
            ("toolbench.mcp.session", "MCPServerSession"): _server,
            ("toolbench.mcp.client", "MCPClient"): _client,
            ("toolbench.evals.cases", "Cases"): self._cases,
            ("toolbench.evals.report", "EvalReport"): self._report,
            ("toolbench.evals.sweep_report", "SweepReport"): _sweep,
            ("toolbench.serving.served_tools", "Served"): self._served,
        }

    def load(self) -> None:
        """Let the shell use these views from now on."""
        self._displaced = {
            kind: self._formatter.for_type(kind, show) for kind, show in self._formats.items()
        }
        for place, show in self._named_formats.items():
            self._formatter.for_type_by_name(*place, show)
        plain_view = self._plain_formatter.lookup_by_type(_KIND)
        self._displaced_text = self._plain_formatter.type_printers.get(_KIND)
        self._plain_formatter.for_type(_KIND, partial(_print_class, plain_view))

    def unload(self) -> None:
        """Remove the views that `load` added, and restore the views that it replaced."""
        for place in self._named_formats:
            self._formatter.pop(".".join(place), None)
        for kind, show in self._displaced.items():
            self._formatter.pop(kind, None)
            if show is not None:
                self._formatter.for_type(kind, show)
        self._plain_formatter.pop(_KIND, None)
        if self._displaced_text is not None:
            self._plain_formatter.for_type(_KIND, self._displaced_text)

    @property
    def _formatter(self) -> Any:
        return self._shell.display_formatter.mimebundle_formatter

    @property
    def _plain_formatter(self) -> Any:
        return self._shell.display_formatter.formatters["text/plain"]

    @property
    def _can_show_widgets(self) -> bool:
        return hasattr(self._shell, "kernel")

    def _tool(self, tool: ToolDefinition[Any, Any], **options: Any) -> Any:
        """Show the panel of a tool, or text if there are no widgets."""
        if not self._can_show_widgets:
            return tool_bundle(tool)
        view = _imported("panel.panel", "ToolPanel")
        return view(tool, timeout=self._timeout())._repr_mimebundle_(**options)

    def _conversation(self, conversation: Any, **options: Any) -> Any:
        """Show the panel of a conversation, or its transcript as text."""
        if conversation.agent is None or not self._can_show_widgets:
            return conversation._repr_mimebundle_(**options)
        view = _imported("transcript.conversation_panel", "ConversationPanel")
        return view(conversation)._repr_mimebundle_(**options)

    def _cases(self, cases: Any, **options: Any) -> Any:
        """Show a form for cases of an evaluation, with the tools of the notebook."""
        if not self._can_show_widgets:
            return cases._repr_mimebundle_(**options)
        view = _imported("evaluation_views.case_form", "CaseForm")
        return view(self._tools().values(), cases)._repr_mimebundle_(**options)

    def _report(self, report: Any, **options: Any) -> Any:
        """Show the report of an evaluation; a click on a failure opens its panel."""
        if not self._can_show_widgets:
            return report._repr_mimebundle_(**options)
        view = _imported("evaluation_views.report_panel", "ReportPanel")
        return view(report)._repr_mimebundle_(**options)

    def _served(self, served: Any, **options: Any) -> Any:
        """Show a panel with the calls that agents make of served tools, or text if there are no widgets."""
        if served.is_closed or not self._can_show_widgets:
            return served._repr_mimebundle_(**options)
        view = _imported("agent_calls.served_panel", "ServedPanel")
        return view(served)._repr_mimebundle_(**options)


def _print_class(print_as_before: Any, kind: type, *printing: Any) -> None:
    """Print *kind* as before. If it is a tool class, and all that is shown, say how to make its tool.

    *printing* is IPython's printer, and whether the class is inside of itself.
    """
    print_as_before(kind, *printing)
    printer = printing[0]
    if len(printer.stack) == 1 and issubclass(kind, ToolDefinition):
        printer.text(f"\n{class_advice(kind)}")


def _plain(bundle: Callable[[Any], Any]) -> Any:
    return lambda value, **options: bundle(value)


def _client(client: Any, **options: Any) -> Any:
    """Show the servers of a client in the explorer."""
    return _imported("explorer", "client_view")(client, **options)


def _server(session: Any, **options: Any) -> Any:
    """Show one server in the explorer."""
    return _imported("explorer", "server_view")(session, **options)


def _sweep(report: Any, **options: Any) -> Any:
    """Show the report of a sweep; our JavaScript module in the page sorts and filters the rows."""
    front_end.load()
    return report._repr_mimebundle_(**options)


def _imported(module: str, name: str) -> Any:
    """Return *name* from the module *module* of `toolbench.widgets`.

    The module is imported only now, because `%load_ext` must not load the packages that
    it needs.
    """
    return getattr(import_module(f"toolbench.widgets.{module}"), name)
