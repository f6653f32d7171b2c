"""The tabs of a panel: the form, its JSON, and views that are made when their tab is opened.

The views are the tool in providers' formats, the call as code, and the earlier runs.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import ipywidgets as w
from traitlets import List, Unicode

from toolbench.core.tool import ToolDefinition
from toolbench.display.caps import shorten
from toolbench.display.escape import Html, escape, visible
from toolbench.display.json_tree import json_html
from toolbench.display.objects import call_html
from toolbench.display.page import Card, cards_html, notice, short
from toolbench.errors import Problem, ToolbenchError, ended
from toolbench.llm.formats import format_report, to_format
from toolbench.llm.message import Provider
from toolbench.llm.tokens import tool_tokens
from toolbench.llm.wire import titles
from toolbench.runs.history import history
from toolbench.runs.record import RunRecord, state_tone, state_words
from toolbench.values import as_sent, clip
from toolbench.widgets.form.form import SchemaForm
from toolbench.widgets.kit.parts import Parts, on_pick, put, show_if
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.panel.snippets import SNIPPETS

# A panel makes its tabs
if TYPE_CHECKING:
    from toolbench.widgets.panel.panel import ToolPanel

MAX_RUNS = 50
"""The most runs that the tab History lists."""
# Fields named in a sentence
_FIELDS = 5
# Characters of a run's arguments in the list of runs
_ARGUMENTS = 80
# Characters of one argument
_LONGEST = 60
# Characters of a cell of the table of runs
_CELL = 200


class PanelTabs:
    """The tabs in the panel of one tool."""

    def __init__(self, panel: "ToolPanel", parts: Parts) -> None:
        """Make the tabs of *panel*. At first only the tab of the form has contents.

        The contents of the other tabs are made later, while the lock of *panel* is held.
        """
        self._panel = panel
        self._views: dict[str, View] = {}
        self._stop_following: Callable[[], object] = lambda: None
        self._is_due = False
        boxes = [panel.form.widget, *(parts.column() for _ in TABS[1:])]
        state = {"children": boxes, "titles": self._titles()}
        self.widget = parts.make(w.Tab, "toolbench-tabs", **state)
        self.widget.observe(lambda _: self._open(), "selected_index")

    def renew(self) -> None:
        """Show the panel's new form; the other tabs are made again when they are opened."""
        self.close()
        _, *others = self.widget.children
        for tab in others:
            tab.children = ()
        self.widget.children = [self._panel.form.widget, *others]
        self.update_titles()
        self.to_form()

    def to_form(self) -> None:
        """Open the tab with the form."""
        self.widget.selected_index = 0

    @property
    def _title(self) -> str:
        """The title of the open tab."""
        return TABS[self.widget.selected_index or 0]

    @property
    def is_at_call(self) -> bool:
        """Whether the open tab shows the call, as a form or as JSON."""
        return self._title in _CALL

    def _titles(self) -> tuple[str, ...]:
        """Return the titles, with the number of runs in the title of History."""
        runs = len(history().of(self._panel.tool))
        if not runs:
            return TABS
        return (*TABS[:-1], f"{TABS[-1]} ({runs:,})")

    def update_titles(self) -> None:
        """Count the runs in the title of History again."""
        titles = self._titles()
        if self.widget.titles != titles:
            self.widget.titles = titles

    def _open(self) -> None:
        """Make the content of the open tab, or update it."""
        title, box = self._title, self.widget.children[self.widget.selected_index or 0]
        with self._panel.lock:
            self._stop_following()
            show_if(self._panel.runs.report.widget, is_shown=self.is_at_call)
            if title == "JSON" and not box.children:
                box.children = [self._panel.form.json_widget]
            elif title in self._views:
                self._views[title].refresh()
            elif title in VIEWS:
                view = self._views[title] = VIEWS[title](self._panel)
                box.children = [view.widget]
            if title == "History":
                # Runs of other panels are in the list as well
                self.update_titles()
                self._stop_following = history().observe(self._panel.tool, self._ran)

    def _ran(self) -> None:
        """Show the runs of the tool at the next tick. Any thread may call this, also while it holds locks."""
        if not self._is_due:
            self._is_due = True
            ticker.watch(self._show_runs)

    def _show_runs(self) -> bool:
        """Update the tab History, if it is open. Return False, which ends a watch of the ticker."""
        self._is_due = False
        with self._panel.lock:
            view = self._views.get(self._title)
            if isinstance(view, HistoryView):
                view.follow()
                self.update_titles()
        return False

    def close(self) -> None:
        """Close the views in the tabs that were opened, such as History."""
        self._stop_following()
        for view in self._views.values():
            view.close()
        self._views.clear()


class View(ABC):
    """The base class of a tab's content. A view is made when its tab is first opened."""

    widget: Any

    def __init__(self, panel: "ToolPanel") -> None:
        self._panel = panel
        self._parts = Parts()

    @abstractmethod
    def refresh(self) -> None:
        """Update the content."""

    def close(self) -> None:
        """Close every widget of the view."""
        self._parts.close()


# --- Schema ---------------------------------------------------------------------------


class SchemaView(View):
    """The tool in the format of a provider, and how the tool was changed for this format."""

    def __init__(self, panel: "ToolPanel") -> None:
        """Make the view. It first shows the tool in the first format of its drop-down list."""
        super().__init__(panel)
        parts = self._parts
        self._format = parts.chooser("Format", [*titles().items()])
        self._html = parts.html()
        self._format.observe(lambda _: self.refresh(), "value")
        self.widget = parts.column(self._format, self._html)
        self.refresh()

    def refresh(self) -> None:
        """Show the tool in the chosen format."""
        tool, name = self._panel.tool, self._format.value
        try:
            format_schema, changes = to_format(tool, name), _changes(tool, name)
        except ToolbenchError as error:
            self._html.value = notice(str(error), "neutral")
            return
        except Exception as error:  # noqa: BLE001 - a tool may override how it is exported
            message = f"This format failed: {type(error).__name__}: {error}"
            self._html.value = notice(message, "danger")
            return
        cost = ""
        if tool.is_for_models:
            cost = f"{tool_tokens(tool)}: name, description, arguments as JSON Schema"
        notes = "".join(f"<li>{escape(change)}</li>" for change in changes)
        if notes:
            notes = f'<ul style="margin:0 0 6px;padding-left:1.4em">{notes}</ul>'
        card = Card("What a model gets", json_html(format_schema), cost)
        self._html.value = Html(f"{notes}{cards_html([card])}")


def _changes(tool: ToolDefinition[Any, Any], name: Provider) -> list[str]:
    """Return how *tool* was changed for the provider *name*, and why the format is not strict."""
    report = format_report(tool, name)
    reasons = [f"not strict: {reason}" for reason in report.not_strict]
    return [*map(str, report.changes), *reasons]


# --- Code -----------------------------------------------------------------------------


class CodeView(View):
    """A call of the tool with the form's values, as text to copy. Secrets are hidden.

    The chosen kind of text is also the kind that the button *Copy call* copies.
    """

    def __init__(self, panel: "ToolPanel") -> None:
        """Make the view. It first shows the kind of text that the button copies."""
        super().__init__(panel)
        parts = self._parts
        self._kind = parts.chooser("Copy as", list(SNIPPETS))
        self._kind.value = panel.copy_button.kind
        self._text = parts.make(w.Textarea, "toolbench-code", description="Code")
        self._problems = parts.html()
        self._kind.observe(lambda _: self._chosen(), "value")
        editor = parts.editor_of(self._text)
        self.widget = parts.column(self._kind, self._problems, editor)
        self.refresh()

    def _chosen(self) -> None:
        self._panel.copy_button.choose(self._kind.value)
        self.refresh()

    def refresh(self) -> None:
        """Write the call again, as the chosen kind of text, and say if the tool would refuse it."""
        put(self._problems, _refused_html(self._panel.form))
        write = SNIPPETS[self._kind.value]
        try:
            self._text.value = write(self._panel.tool, _arguments(self._panel.form))
        except Exception as error:  # noqa: BLE001 - a tool may override how it is exported
            self._text.value = f"This kind failed: {type(error).__name__}: {error}"


def _arguments(form: SchemaForm) -> dict[str, Any]:
    """Return the form's values as they are sent: a person's code may have put dates into the form."""
    arguments: dict[str, Any] = as_sent(form.masked)
    return arguments


def _refused_html(form: SchemaForm) -> Html:
    """Return a sentence with the fields that the tool would refuse; empty if there are none."""
    problems = [Problem(path, message) for path, message in form.errors]
    if not problems:
        return Html("")
    fields = list(dict.fromkeys(problem.where for problem in problems if problem.path))
    names = fields[:_FIELDS]
    if len(fields) > _FIELDS:
        names.append(f"and {len(fields) - _FIELDS} more")
    fix = form.to_fix(len(fields))
    if names:
        fix = f"{fix}: {', '.join(names)}"
    text = f"As it stands, the tool refuses this call. {ended(fix)}"
    return Html(f'<span class="toolbench-wrong">{short(text)}</span>')


class CopyButton:
    """A button that copies a call of the tool with the form's values. Secrets are hidden.

    After a click, the kernel sends the call by the button, and our JavaScript module copies it.
    Without the module the button is hidden.

    Attributes:
        button: The button to show.
        kind: The kind of text that the button copies.
    """

    def __init__(self, panel: "ToolPanel", parts: Parts) -> None:
        """Make the button for *panel*."""
        self._panel = panel
        self.kind = next(iter(SNIPPETS))
        tip = _copy_tip(self.kind)
        self.button = parts.button("Copy call", self._send, kind="toolbench-copy-call", tip=tip)

    def choose(self, kind: str) -> None:
        """Let the button copy this *kind* of text, one of `SNIPPETS`; at first it is Python."""
        self.kind = kind
        self.button.tooltip = _copy_tip(kind)

    def _send(self) -> None:
        """Send the call for the module to copy."""
        try:
            call = SNIPPETS[self.kind](self._panel.tool, _arguments(self._panel.form))
        except Exception as error:  # noqa: BLE001 - a tool may override how it is exported
            call = f"# This call cannot be written: {type(error).__name__}: {error}"
        self.button.send({"copy": call})


def _copy_tip(kind: str) -> str:
    return f"Copy the call as {kind}; choose another kind in the tab Code"


# --- History --------------------------------------------------------------------------


class HistoryView(View):
    """The earlier runs of the tool. A person can show a run, or put its arguments into the form.

    With our JavaScript module, a user chooses a run by a click on a row of a table. Without the
    module, a user chooses a run from a list.
    """

    def __init__(self, panel: "ToolPanel") -> None:
        """Make the view. It first shows the newest run."""
        super().__init__(panel)
        parts = self._parts
        self._runs = parts.chooser("Run", [])
        self._back = parts.button("Load into form", self._fill)
        self._table = parts.drawn(Runs, "runs", self._runs)
        self._html = parts.html()
        self._is_filling = False
        self._runs.observe(lambda _: self._chosen(), "value")
        on_pick(self._table, self._choose)
        self.widget = parts.column(
            self._table, parts.row(self._back), self._html, kind="toolbench-runs"
        )
        self.refresh()

    def refresh(self) -> None:
        """Read the history again, and show the newest run, at the top of the list."""
        self._fill_list(None)
        self._show()

    def follow(self) -> None:
        """Read the history again. If a person has chosen an earlier run, it stays chosen."""
        chosen = None
        # Not the newest
        if self._runs.index:
            chosen = self._runs.value
        self._fill_list(chosen)
        self._show()

    def _fill_list(self, chosen: tuple[str, int] | None) -> None:
        """List the runs, and choose the run with the key *chosen*; without it, the newest run."""
        records = history().of(self._panel.tool)[-MAX_RUNS:][::-1]
        options = [(_label(record), record.key) for record in records]
        keys = [record.key for record in records]
        place = None
        if chosen in keys:
            place = keys.index(chosen)
        elif keys:
            place = 0
        if self._runs.options == tuple(options):
            return
        self._table.rows = [run_row(record) for record in records]
        self._is_filling = True
        try:
            # One message
            with self._runs.hold_sync():
                self._runs.options = options
                self._runs.index = place
        finally:
            self._is_filling = False

    def _chosen(self) -> None:
        if not self._is_filling:
            self._show()

    def _choose(self, key: str) -> None:
        """Choose the run of the clicked row, if the list still has it."""
        for record in history().of(self._panel.tool):
            if run_key(record) == key and record.key in [key for _, key in self._runs.options]:
                self._runs.value = record.key

    @property
    def _record(self) -> RunRecord | None:
        key = self._runs.value
        if key is None:
            return None
        session, number = key
        return history().find(number, session)

    def _show(self) -> None:
        record = self._record
        self._back.disabled = record is None
        if record is None:
            self._html.value = notice("No runs yet.", "neutral")
            return
        self._table.picked = run_key(record)
        when = f"{record.started.astimezone():%H:%M:%S}"
        remark = " · ".join(filter(None, (when, record.source, record.decision)))
        self._html.value = call_html(
            record.tool,
            record.arguments,
            record.observation,
            remark=remark,
            answers=record.dialogue,
        )

    def _fill(self) -> None:
        if self._record is not None:
            self._panel.put_back_run(self._record)


class Runs(w.VBox):
    """What the page draws of the runs; it sends the key of the run that is picked."""

    rows: Any = List().tag(sync=True)
    """The rows, the newest run first; see `run_row`."""
    picked = Unicode().tag(sync=True)
    """The key of the run that is open; empty if none is."""


def run_row(record: RunRecord) -> list[str]:
    """Return the row of *record*: key, time, state and its colour, arguments, duration, source."""
    return [
        run_key(record),
        record.started.isoformat(),
        state_words(record.state, record.observation),
        state_tone(record.state, record.observation),
        shorten(visible(arguments_text(record.arguments)), _CELL),
        record.time_taken,
        shorten(visible(record.source), _CELL),
    ]


def run_key(record: RunRecord) -> str:
    """Return the name by which the page tells *record* from all other runs."""
    session, number = record.key
    return f"{session} {number}"


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Return *arguments* on one line: `city = 'Paris', days = 3`."""
    pairs = (f"{name} = {clip(value, _LONGEST)}" for name, value in arguments.items())
    return " ".join(", ".join(pairs).split())


def _label(record: RunRecord) -> str:
    words = state_words(record.state, record.observation)
    arguments = shorten(visible(arguments_text(record.arguments)), _ARGUMENTS)
    return f"{record.id}: {words}, {record.time_taken}, {arguments}".removesuffix(", ")


VIEWS: dict[str, type[View]] = {
    "Schema": SchemaView,
    "Code": CodeView,
    "History": HistoryView,
}
"""The class of each view by the title of its tab."""
TABS = ("Form", "JSON", *VIEWS)
# Tabs that show the call and its result
_CALL = ("Form", "JSON")
