"""The panel of one tool: its form, its runs, and what came out."""

from collections.abc import Mapping
from threading import RLock
from time import monotonic
from typing import Any
from weakref import WeakSet

import ipywidgets as w

from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition
from toolbench.display.objects import tool_bundle, tool_html
from toolbench.display.page import notice
from toolbench.runs.active import active
from toolbench.runs.engine import start
from toolbench.runs.questions import Answer, Question
from toolbench.runs.run import ENDED, Run
from toolbench.widgets.form import SchemaForm
from toolbench.widgets.parts import STYLE, Parts
from toolbench.widgets.question import QuestionBox
from toolbench.widgets.report import RunReport
from toolbench.widgets.ticker import ticker
from toolbench.widgets.views import CodeView, HistoryView, SchemaView

QUIET = 0.3  # seconds without an edit before a click counts
TABS = ("Form", "JSON", "Schema", "Code", "History")

open_panels: "WeakSet[ToolPanel]" = WeakSet()


class ToolPanel(w.VBox):
    """A tool to fill in, run, stop and read. Callbacks may come on any thread."""

    def __init__(
        self,
        tool: ToolDefinition[Any, Any],
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
    ) -> None:
        """Open *tool*, the form filled with *arguments*.

        Args:
            tool: The tool.
            arguments: What the form holds at first.
            timeout: Seconds after which a run is cancelled.
        """
        self._lock = RLock()
        self._parts = parts = Parts()
        self._timeout = timeout
        self._run: Run | None = None
        self._last_edit = 0.0
        self._head = parts.html()
        self._stale = parts.row()
        self._run_button = parts.button("Run", look="primary")
        self._cancel_button = parts.button("Cancel")
        self._anyway_button = parts.button(
            "Send anyway", tip="Send it as it is: the server will judge it"
        )
        self._report = RunReport(parts)
        self._question = QuestionBox(parts)
        self._notice = parts.html()
        boxes = [parts.column() for _ in TABS]
        self._tabs = parts.make(w.Tab, "toolbench-tabs", children=boxes, titles=TABS)
        self._views: dict[str, Any] = {}
        self._run_button.on_click(lambda _: self._clicked(unchecked=False))
        self._cancel_button.on_click(lambda _: self.cancel())
        self._anyway_button.on_click(lambda _: self._clicked(unchecked=True))
        self._tabs.observe(lambda _: self._open_tab(), "selected_index")
        super().__init__(_dom_classes=("toolbench-box",))
        self._show(tool, arguments)
        open_panels.add(self)

    # --- what it shows ----------------------------------------------------------------

    @property
    def tool(self) -> ToolDefinition[Any, Any]:
        """The tool."""
        return self._tool

    @property
    def form(self) -> SchemaForm:
        """The form; `form.value` is what would be sent."""
        return self._form

    @property
    def result(self) -> Observation | None:
        """What the last run observed, once it ended."""
        return self._run.observation if self._run is not None else None

    def _show(
        self, tool: ToolDefinition[Any, Any], arguments: Mapping[str, Any] | None
    ) -> None:
        self._tool = tool
        self._form = SchemaForm(
            tool.input_schema,
            dict(arguments) if arguments is not None else None,
            validate=tool.problems,
        )
        self._form.observe(lambda _: self._edited())
        self._views.clear()
        self._head.value = STYLE + tool_html(tool)
        for tab in self._tabs.children[1:]:
            tab.children = ()
        self._tabs.children[0].children = [self._form.widget]
        self._tabs.selected_index = 0
        self._settle()
        buttons = [self._run_button, self._cancel_button]
        if tool.source != "native":
            buttons.append(self._anyway_button)
        self.children = [
            self._head,
            self._stale,
            self._tabs,
            self._parts.row(*buttons, *self._report.status),
            self._notice,
            self._question.widget,
            self._report.widget,
        ]

    def _open_tab(self) -> None:
        """Build a tab when it is first looked at; read again what may have changed."""
        index = self._tabs.selected_index or 0
        name, box = TABS[index], self._tabs.children[index]
        if name == "JSON" and not box.children:
            box.children = [self._form.json_widget]
        elif name in _VIEWS and name not in self._views:
            view = self._views[name] = _VIEWS[name](self)
            box.children = [view.widget]
        elif hasattr(self._views.get(name), "refresh"):
            self._views[name].refresh()

    def put_back(self, arguments: dict[str, Any]) -> None:
        """Fill the form with *arguments* and show it."""
        self._form.value = arguments
        self._tabs.selected_index = 0

    def _edited(self) -> None:
        self._last_edit = monotonic()

    # --- running ----------------------------------------------------------------------

    def run(self, *, confirm: bool = True, unchecked: bool = False) -> Run | None:
        """Start a run with what the form holds; nothing happens while one goes on.

        Args:
            confirm: Ask first where the policy wants it.
            unchecked: Send what does not fit the schema too, for a server to judge.
        """
        with self._lock:
            if self._run is not None and self._run.state not in ENDED:
                return None
            if not self._ready(unchecked=unchecked):
                return None
            self._run = run = Run(
                self._tool, self._form.value, source="button", asker=self._ask
            )
            run.unchecked = unchecked
            self._run_button.disabled, self._cancel_button.disabled = True, False
            self._report.begin(run)
            start(run, timeout=self._timeout, confirm=confirm)
            ticker.watch(self._refresh)
        return run

    def _clicked(self, *, unchecked: bool) -> None:
        """Run, once the last keys are here.

        ipywidgets holds a field's news back until the kernel has answered the one before,
        but not a click: a quick person's click comes before the end of what they typed.
        """

        def wait() -> bool:
            if monotonic() - self._last_edit < QUIET:
                return True
            self.run(unchecked=unchecked)
            return False

        if wait():
            ticker.watch(wait)

    def cancel(self) -> None:
        """Have the run stop, if one goes on."""
        if self._run is not None:
            active.stop(self._run)

    def _ready(self, *, unchecked: bool) -> bool:
        if self._tool.executor is None:
            self._notice.value = notice(
                "This tool has no executor: nothing to run.", "danger"
            )
            return False
        errors = self._form.errors
        if self._form.blocked or (errors and not unchecked):
            self._form.reveal_errors()
            count = len(errors)
            what = "One field needs" if count == 1 else f"{count} fields need"
            self._notice.value = notice(f"Not run yet. {what} attention.", "warning")
            return False
        self._notice.value = ""
        return True

    def _ask(self, question: Question) -> Answer:
        run = self._run
        return self._question.ask(question, lambda: run is None or run.cancelled)

    def _refresh(self) -> bool:
        """Show what is new of the run; tell whether to come back."""
        with self._lock:
            run = self._run
            if run is None:
                return False
            over = run.done.is_set()
            self._report.show(run)
            if over:
                self._settle()
                if run.problems:
                    self._form.show_problems(list(run.problems))
            return not over

    def _settle(self) -> None:
        self._run_button.disabled = self._tool.executor is None
        self._cancel_button.disabled = True

    # --- when the tool was defined again ------------------------------------------------

    def look_for_news(self) -> None:
        """Say so if the tool was defined again, and offer to take the new one."""
        if self._tool.latest() is self._tool or self._stale.children:
            return
        reload_button = self._parts.button("Reload", look="info")
        reload_button.on_click(lambda _: self.reload())
        said = notice(
            "This tool was defined again: the panel shows the old one.", "warning"
        )
        self._stale.children = [self._parts.html(said), reload_button]

    def reload(self) -> None:
        """Take the tool as it was defined last, and keep what was entered."""
        with self._lock:
            entered, old = self._form.value, self._form
            self._stale.children = ()
            self._show(self._tool.latest(), entered)
            old.close()

    def close(self) -> None:
        """Close the panel and all its widgets; a run is cancelled."""
        if self in open_panels:  # also called when it is garbage
            open_panels.discard(self)
            self.cancel()
            self._form.close()
            self._parts.close()
        super().close()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        shown = super()._repr_mimebundle_(**options)
        return {**(shown or {}), **tool_bundle(self._tool)}


_VIEWS: dict[str, Any] = {
    "Schema": lambda panel: SchemaView(panel.tool, panel._parts),
    "Code": lambda panel: CodeView(panel.tool, lambda: panel.form.masked, panel._parts),
    "History": lambda panel: HistoryView(panel.tool, panel.put_back, panel._parts),
}
