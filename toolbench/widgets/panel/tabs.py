"""The tabs of a panel: the form, its JSON, and views that are made when their tab is first opened.

These views show the tool in providers' formats, the call as code, and the earlier runs.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from toolbench.core.tool import ToolDefinition
from toolbench.display.css import REMARK
from toolbench.display.escape import Html, escape
from toolbench.display.json_tree import json_html
from toolbench.display.page import Card, cards_html, notice, short
from toolbench.errors import Problem, ToolbenchError, ended
from toolbench.llm.formats import format_report, to_format
from toolbench.llm.message import Provider
from toolbench.llm.tokens import tool_tokens
from toolbench.llm.wire import titles
from toolbench.runs.history import history
from toolbench.runs.secret_question import place_of_secret
from toolbench.values import as_sent
from toolbench.widgets.form.form import SchemaForm
from toolbench.widgets.kit.parts import Parts, put, show_if
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.panel.run_list import RunList
from toolbench.widgets.panel.snippets import SNIPPETS, as_pytest
from toolbench.wording import listed

# A panel makes its tabs
if TYPE_CHECKING:
    from toolbench.widgets.panel.panel import ToolPanel

# Fields named in a sentence
_FIELDS = 5


class PanelTabs:
    """The tabs in the panel of one tool."""

    def __init__(self, panel: "ToolPanel", parts: Parts) -> None:
        """Make the tabs of *panel*. The content of a tab other than Form is made on first use."""
        self._panel = panel
        self._parts = parts
        self._secrets: Any = None
        self._views: dict[str, View] = {}
        self._stop_following: Callable[[], object] = lambda: None
        boxes = [self._form(), *(parts.column() for _ in TABS[1:])]
        state = {"children": boxes, "titles": self._titles()}
        self.widget = parts.make(w.Tab, "toolbench-tabs", **state)
        self.widget.observe(lambda _: self._open(), "selected_index")

    def renew(self) -> None:
        """Show the panel's new form. The other tabs are made again when they are next opened."""
        self.close()
        earlier, *others = self.widget.children
        secrets, self._secrets = self._secrets, None
        for tab in others:
            tab.children = ()
        self.widget.children = [self._form(), *others]
        # Drop the box around the earlier form, if it had secrets; the form has its own parts
        self._parts.drop([earlier, secrets])
        self.update_titles()
        self.to_form()

    def _form(self) -> Any:
        """Return the content of the first tab: the form, and the source of each secret."""
        if not self._panel.tool.secrets:
            return self._panel.form.widget
        self._secrets = self._parts.html()
        self.update_secrets()
        return self._parts.column(self._panel.form.widget, self._secrets)

    def update_secrets(self) -> None:
        """Update the lines that say where each secret comes from, after a run has asked for one."""
        if self._secrets is not None:
            self._secrets.value = secrets_html(self._panel.tool)

    def to_form(self) -> None:
        """Open the tab with the form."""
        self.widget.selected_index = 0

    @property
    def _title(self) -> str:
        """The title of the open tab."""
        return TABS[self.widget.selected_index or 0]

    @property
    def is_at_call(self) -> bool:
        """Whether the open tab shows the arguments of the call, as a form or as JSON."""
        return self._title in _CALL

    def _titles(self) -> tuple[str, ...]:
        """Return the titles of the tabs. The title of History has the number of runs."""
        runs = len(history().of(self._panel.tool))
        if not runs:
            return TABS
        return (*TABS[:-1], f"{TABS[-1]} ({runs:,})")

    def update_titles(self) -> None:
        """Update the number of runs in the title of History."""
        titles = self._titles()
        if self.widget.titles != titles:
            self.widget.titles = titles

    def _open(self) -> None:
        """Make the content of the open tab, or update it."""
        title, box = self._title, self.widget.children[self.widget.selected_index or 0]
        with self._panel.lock:
            self._stop_following()
            show_if(self._panel.runs.report.widget, is_shown=self.is_at_call)
            self._panel.examples.arrange()
            if title == "JSON" and not box.children:
                box.children = [self._panel.form.json_widget]
            elif title in self._views:
                self._views[title].refresh()
            elif title in VIEWS:
                view = self._views[title] = VIEWS[title](self._panel)
                box.children = [view.widget]
            if title == "History":
                # Runs of other panels are also in the list
                self.update_titles()
                # At the next tick: a run may end in any thread, while it holds locks
                follow = partial(ticker.watch, self._show_runs)
                self._stop_following = history().observe(self._panel.tool, follow)

    def _show_runs(self) -> bool:
        """Update the tab History, if it is open.

        Return False, so that the ticker stops calling this method.
        """
        with self._panel.lock:
            view = self._views.get(self._title)
            if isinstance(view, HistoryView):
                view.runs.follow()
                self.update_titles()
        return False

    def close(self) -> None:
        """Close the views in the tabs that were opened, such as History."""
        self._stop_following()
        for view in self._views.values():
            view.close()
        self._views.clear()


def secrets_html(tool: ToolDefinition[Any, Any]) -> Html:
    """Return a line for each secret of *tool* that says where it comes from, never its value."""
    lines = ""
    for name, secret in tool.secrets.items():
        line = f"<code>{escape(name)}</code>: {escape(place_of_secret(secret))}"
        lines += f'<div style="{REMARK}">{line}</div>'
    return Html(lines)


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
    """The tool in the format of a provider, and the changes that this format requires."""

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
    """A view of the call with the form's arguments as text to copy, for example as Python code.

    Secrets are hidden. The user chooses the kind of text. The button *Copy call* then copies the
    same kind of text.
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
        """Write the call as the chosen kind of text, and show whether the tool would refuse it."""
        put(self._problems, _refused_html(self._panel.form))
        try:
            self._text.value = _written_as(self._kind.value, self._panel)
        except Exception as error:  # noqa: BLE001 - a tool may override how it is exported
            self._text.value = f"This kind failed: {type(error).__name__}: {error}"


def _written_as(kind: str, panel: "ToolPanel") -> str:
    """Return the call in the form of *panel* as this *kind* of text, a key of `SNIPPETS`."""
    arguments, record = _arguments(panel.form), None
    if panel.runs.report.is_of(panel.form.value):
        record = panel.runs.shown_record
    if kind != "pytest" or record is None or record.state not in ("ok", "error"):
        return SNIPPETS[kind](panel.tool, arguments)
    return as_pytest(panel.tool, arguments, record)


def _arguments(form: SchemaForm) -> dict[str, Any]:
    """Return the form's values as JSON data, because the program may have set Python objects."""
    arguments: dict[str, Any] = as_sent(form.masked)
    return arguments


def _refused_html(form: SchemaForm) -> Html:
    """Return a sentence that names the fields that the tool would refuse; empty if none."""
    problems = [Problem(path, message) for path, message in form.errors]
    if not problems:
        return Html("")
    fields = list(dict.fromkeys(problem.where for problem in problems if problem.path))
    fix = form.to_fix(len(fields))
    if fields:
        fix = f"{fix}: {listed(fields, _FIELDS)}"
    text = f"As it stands, the tool refuses this call. {ended(fix)}"
    return Html(f'<span class="toolbench-wrong">{short(text)}</span>')


class CopyButton:
    """A button that copies a call of the tool with the form's values. Secrets are hidden.

    After a click, the kernel sends the text of the call to the page, and our JavaScript module
    copies the text. Without the module, the button is hidden.

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
        """Make the button copy this *kind* of text, which is a key of `SNIPPETS`."""
        self.kind = kind
        self.button.tooltip = _copy_tip(kind)

    def _send(self) -> None:
        """Send the call to the page, whose JavaScript module copies it."""
        try:
            call = _written_as(self.kind, self._panel)
        except Exception as error:  # noqa: BLE001 - a tool may override how it is exported
            call = f"# This call cannot be written: {type(error).__name__}: {error}"
        self.button.send({"copy": call})


def _copy_tip(kind: str) -> str:
    return f"Copy the call as {kind}; choose another kind in the tab Code"


# --- History --------------------------------------------------------------------------


class HistoryView(View):
    """The earlier runs of the tool, which the user can repeat or load into the form."""

    def __init__(self, panel: "ToolPanel") -> None:
        """Make the view. It first shows the newest run."""
        super().__init__(panel)
        self.runs = RunList(
            self._parts,
            panel.lock,
            lambda: history().of(panel.tool),
            load=panel.put_back_run,
            run_again=panel.run_again,
            save=panel.examples.offer_run,
            check=panel.checks.offer_run,
        )
        self.widget = self.runs.widget
        self.refresh()

    def refresh(self) -> None:
        """Read the history again, and open the newest run."""
        self.runs.refresh()


VIEWS: dict[str, type[View]] = {
    "Schema": SchemaView,
    "Code": CodeView,
    "History": HistoryView,
}
"""The class of each view by the title of its tab."""
TABS = ("Form", "JSON", *VIEWS)
# Tabs that show the call and its result
_CALL = ("Form", "JSON")
