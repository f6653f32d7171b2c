"""The views that a notebook shows for a cell's last value: a panel, an explorer, a report."""

from collections.abc import Callable
from functools import partial
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_advice import class_advice

_KIND = type(ToolDefinition)
"""The metaclass of tool classes."""


class CellViews:
    """Makes one IPython shell show toolbench's views."""

    def __init__(self, shell: Any) -> None:
        """Prepare views for *shell*. Nothing changes until `load` is called."""
        self._shell = shell
        self._displaced_text: Any = None
        # By name: `%load_ext` must not import these modules
        self._formats: dict[tuple[str, str], Callable[..., Any]] = {
            ("toolbench.core.tool", "ToolDefinition"): self._in_a_page(_panel),
            ("toolbench.agent.conversation", "Conversation"): self._in_a_page(_conversation),
            ("toolbench.evals.report", "EvalReport"): self._in_a_page(_report),
            ("toolbench.evals.sweep_report", "SweepReport"): self._in_a_page(_sweep),
            ("toolbench.checks.report", "CheckReport"): self._in_a_page(_checks),
            ("toolbench.runs.history", "RunHistory"): self._in_a_page(_history),
            ("toolbench.runs.history", "ListedRuns"): self._in_a_page(_runs),
            ("toolbench.display.timeline", "Timeline"): self._in_a_page(_timeline),
            ("toolbench.serving.served_tools", "Served"): self._in_a_page(_served),
            ("toolbench.export.package", "PackageFolder"): self._in_a_page(_package),
            ("toolbench.mcp.server_session", "MCPServerSession"): _server,
            ("toolbench.mcp.client", "MCPClient"): _client,
        }

    def load(self) -> None:
        """Make the shell use these views from now on."""
        for place, show in self._formats.items():
            self._formatter.for_type_by_name(*place, show)
        plain_view = self._plain_formatter.lookup_by_type(_KIND)
        self._displaced_text = self._plain_formatter.type_printers.get(_KIND)
        self._plain_formatter.for_type(_KIND, partial(_print_class, plain_view))

    def unload(self) -> None:
        """Remove the views that `load` added, and restore the printer that it replaced."""
        for place in self._formats:
            self._formatter.pop(".".join(place), None)
        self._plain_formatter.pop(_KIND, None)
        if self._displaced_text is not None:
            self._plain_formatter.for_type(_KIND, self._displaced_text)

    @property
    def _formatter(self) -> Any:
        return self._shell.display_formatter.mimebundle_formatter

    @property
    def _plain_formatter(self) -> Any:
        return self._shell.display_formatter.formatters["text/plain"]

    def _in_a_page(self, view_of: Callable[[Any], Any]) -> Callable[..., Any]:
        """Return a formatter that shows `view_of(value)`, or *value* itself without widgets."""

        def show(value: Any, **options: Any) -> Any:
            if hasattr(self._shell, "kernel"):
                value = view_of(value)
            return value._repr_mimebundle_(**options)

        return show


def _print_class(print_as_before: Any, kind: type, printer: Any, cycle: Any) -> None:
    """Print the class *kind* as IPython does without toolbench.

    If the class is a tool class, and the whole output, add how to make its tool.
    """
    print_as_before(kind, printer, cycle)
    if len(printer.stack) == 1 and issubclass(kind, ToolDefinition):
        printer.text(f"\n{class_advice(kind)}")


def _panel(tool: ToolDefinition[Any, Any]) -> Any:
    from toolbench.widgets.panel.panel import ToolPanel  # noqa: PLC0415 - at its first use

    return ToolPanel(tool)


def _conversation(conversation: Any) -> Any:
    """Return the panel of a conversation, or the conversation itself if it has no agent."""
    if conversation.agent is None:
        return conversation
    from toolbench.widgets.transcript.conversation_panel import (  # noqa: PLC0415 - as above
        ConversationPanel,
    )

    return ConversationPanel(conversation)


def _report(report: Any) -> Any:
    """Return the panel of an evaluation's report, in which a click on a row opens its answer."""
    from toolbench.widgets.report_panel import ReportPanel  # noqa: PLC0415 - as above

    return ReportPanel(report)


def _sweep(report: Any) -> Any:
    """Return the panel of a sweep's report, in which a click on a row opens its call."""
    from toolbench.widgets.report_panel import SweepPanel  # noqa: PLC0415 - as above

    return SweepPanel(report)


def _checks(report: Any) -> Any:
    """Return the panel of a report of checks, in which a click on a row opens its call."""
    from toolbench.widgets.report_panel import CheckPanel  # noqa: PLC0415 - as above

    return CheckPanel(report)


def _history(runs: Any) -> Any:
    """Return the list of all runs, or *runs* itself if it is not the history of this session."""
    from toolbench.runs.history import ListedRuns, history  # noqa: PLC0415 - as above

    if runs is not history():
        return runs
    return _runs(ListedRuns(runs))


def _runs(listed: Any) -> Any:
    """Return the list of runs, in which the user can open, repeat and compare runs."""
    from toolbench.widgets.history_panel import HistoryPanel  # noqa: PLC0415 - as above

    return HistoryPanel(listed)


def _timeline(timeline: Any) -> Any:
    """Return the timeline, in which a click on a span opens its run or message."""
    from toolbench.widgets.timeline import TimelineView  # noqa: PLC0415 - as above

    return TimelineView(timeline)


def _served(served: Any) -> Any:
    """Return a panel of the calls that agents make, or *served* itself if it is closed."""
    if served.is_closed:
        return served
    from toolbench.widgets.served_panel import ServedPanel  # noqa: PLC0415 - as above

    return ServedPanel(served)


def _package(package: Any) -> Any:
    """Return the card of an exported package, with a button that runs its tests."""
    from toolbench.widgets.export_card import ExportCard  # noqa: PLC0415 - as above

    return ExportCard(package)


def _client(client: Any, **options: Any) -> Any:
    """Show the servers of a client in the explorer."""
    from toolbench.widgets.explorer import client_view  # noqa: PLC0415 - as above

    return client_view(client, **options)


def _server(session: Any, **options: Any) -> Any:
    """Show one server in the explorer."""
    from toolbench.widgets.explorer import server_view  # noqa: PLC0415 - as above

    return server_view(session, **options)
