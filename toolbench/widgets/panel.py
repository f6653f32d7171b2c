"""The panel of one tool: its form, its runs, and what came out."""

from collections.abc import Callable, Mapping
from functools import partial
from threading import RLock
from time import monotonic
from typing import Any
from weakref import WeakSet

import ipywidgets as w

from toolbench.core.schema import Observation
from toolbench.core.security import SecurityRisk
from toolbench.core.tool import ToolDefinition
from toolbench.display.objects import tool_bundle, tool_html
from toolbench.display.page import notice
from toolbench.runs.active import active
from toolbench.runs.engine import start
from toolbench.runs.history import history
from toolbench.runs.prompt import somebody_there
from toolbench.runs.questions import Answer, Asker, Question, decline
from toolbench.runs.record import RunRecord
from toolbench.runs.run import Run
from toolbench.widgets.fields import notes
from toolbench.widgets.form import SchemaForm
from toolbench.widgets.keepsake import Keepsake
from toolbench.widgets.parts import STYLE, Parts
from toolbench.widgets.question import QuestionBox
from toolbench.widgets.quiet import QUIET, Quiet
from toolbench.widgets.reload import dropped, dropped_html
from toolbench.widgets.report import RunReport
from toolbench.widgets.ticker import ticker
from toolbench.widgets.views import VIEWS, View

TABS = ("Form", "JSON", *VIEWS)

open_panels: "WeakSet[ToolPanel]" = WeakSet()


class ToolPanel(w.VBox):
    """A tool to fill in, run, stop and read. Callbacks may come on any thread."""

    def __init__(
        self,
        tool: ToolDefinition[Any, Any],
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        risk: SecurityRisk | None = None,
    ) -> None:
        """Open *tool*, the form filled with *arguments*.

        Args:
            tool: The tool.
            arguments: What the form holds at first.
            timeout: Seconds after which a run is cancelled.
            risk: How the call was rated, if it was; HIGH asks before it runs.
        """
        self._lock = RLock()
        self._parts = parts = Parts()
        self._timeout = timeout
        self._risk = risk
        self._run: Run | None = None
        self._record: RunRecord | None = None
        self._begun = -QUIET
        self._quiet = Quiet()
        self._keepsake = Keepsake()
        self.when_over: Callable[[], object] = self._keep
        """Is called when a run is over and shown."""
        self._head = parts.html()
        self._stale = parts.row()
        self._run_button = parts.button("Run", look="primary")
        self._cancel_button = parts.button("Cancel")
        self._anyway_button = parts.button(
            "Send anyway", tip="Send it as it is: the server will judge it"
        )
        self._report = RunReport(parts)
        self._question = QuestionBox(parts)
        self._notice = parts.row()
        boxes = [parts.column() for _ in TABS]
        self._tabs = parts.make(w.Tab, "toolbench-tabs", children=boxes, titles=TABS)
        self._views: dict[str, View] = {}
        self._run_button.on_click(lambda _: self._clicked())
        self._cancel_button.on_click(lambda _: self.cancel())
        self._anyway_button.on_click(lambda _: self._clicked(unchecked=True))
        self._tabs.observe(lambda _: self._open_tab(), "selected_index")
        buttons = parts.row(self._run_button, self._cancel_button, *self._report.status)
        super().__init__(
            [
                *(self._head, self._stale, self._tabs, self._notice, buttons),
                *(self._question.widget, self._report.widget),
            ],
            _dom_classes=("toolbench-box",),
        )
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

    @property
    def record(self) -> RunRecord | None:
        """What is recorded of the last run that ended."""
        run, record = self._run, self._record
        if run is None or not run.done.is_set():
            return record
        return record if record and record.id == run.id else _record_of(run)

    @property
    def is_busy(self) -> bool:
        """Whether a run goes on."""
        return self._run is not None and not self._run.done.is_set()

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
        self._head.value = STYLE + tool_html(tool, self._risk)
        for view in self._views.values():
            view.close()
        self._views.clear()
        for tab in self._tabs.children[1:]:
            tab.children = ()
        self._tabs.children[0].children = [self._form.widget]
        self._tabs.selected_index = 0
        self._notice.children = ()
        self._settle()

    def _open_tab(self) -> None:
        """Build a tab when it is first looked at; read again what may have changed."""
        index = self._tabs.selected_index or 0
        name, box = TABS[index], self._tabs.children[index]
        with self._lock:
            if name == "JSON" and not box.children:
                box.children = [self._form.json_widget]
            elif name in VIEWS and name not in self._views:
                view = self._views[name] = VIEWS[name](self)
                box.children = [view.widget]
            elif name in self._views:
                self._views[name].refresh()

    def put_back(self, arguments: Mapping[str, Any]) -> None:
        """Fill the form with *arguments* and show it."""
        self._form.value = dict(arguments)
        self._tabs.selected_index = 0

    def _edited(self) -> None:
        """Take back the notice of what is wrong as soon as nothing is."""
        self._quiet.edited()
        if self._notice.children and not self._form.errors:
            self._notice.children = ()

    # --- running ----------------------------------------------------------------------

    def run(
        self,
        *,
        confirm: bool = True,
        unchecked: bool = False,
        timeout: float | None = None,
    ) -> Run | None:
        """Start a run with what the form holds; nothing happens while one goes on.

        Under nbconvert, nbval and papermill nobody can answer: questions are declined, unless
        they were answered in advance.

        Args:
            confirm: Ask first where the policy wants it.
            unchecked: Send what does not fit the schema too, for a server to judge.
            timeout: Seconds after which it is cancelled; the panel's own if left out.
        """
        asker = self._ask if somebody_there() else decline
        with self._lock:
            run = self._new_run(asker, unchecked=unchecked)
            if run is not None:
                self._start(run, timeout or self._timeout, confirm=confirm)
        return run

    def _clicked(self, *, unchecked: bool = False) -> None:
        self.when_quiet(partial(self._run_by_click, unchecked=unchecked))

    def _run_by_click(self, *, unchecked: bool) -> None:
        with self._lock:
            if monotonic() - self._begun < QUIET:
                return  # the second half of a double click, after a quick run
            run = self._new_run(self._ask, unchecked=unchecked)
            if run is not None:
                self._begun = monotonic()
                self._start(run, self._timeout)

    def when_quiet(self, act: Callable[[], object]) -> None:
        """Do what a click asks for, once the last keys are here."""
        self._quiet.then(act)

    def _new_run(self, asker: Asker, *, unchecked: bool) -> Run | None:
        if self.is_busy:
            return None
        self._refresh()  # the last tick may be to come
        if not self._ready(unchecked=unchecked):
            return None
        arguments = self._form.value
        run = Run(self._tool, arguments, source="button", asker=asker, risk=self._risk)
        run.unchecked = unchecked
        return run

    def _start(self, run: Run, timeout: float | None, *, confirm: bool = True) -> None:
        self._run = run
        self._run_button.disabled, self._cancel_button.disabled = True, False
        self._report.begin(run)
        start(run, timeout=timeout, confirm=confirm, then=self._report.render)
        ticker.watch(self._refresh)

    def cancel(self) -> None:
        """Have the run stop, if one goes on."""
        if self._run is not None:
            active.stop(self._run)

    def _ready(self, *, unchecked: bool) -> bool:
        if self._tool.executor is None:
            self._say("This tool has no executor: nothing to run.")
            return False
        errors = self._form.errors
        if self._form.blocked or (errors and not unchecked):
            self._form.reveal_errors()
            earlier = "again" if self._run is not None else "yet"
            self._say(f"Not run {earlier}. {notes.attention(len(errors))}.")
            return False
        self._notice.children = ()
        return True

    def _say(self, sentence: str) -> None:
        judged_elsewhere = self._tool.source != "native" and not self._form.blocked
        buttons = [self._anyway_button] if judged_elsewhere else []
        said = self._parts.html(notice(sentence, "warning"))
        self._parts.drop([c for c in self._notice.children if isinstance(c, w.HTML)])
        self._notice.children = [said, *buttons]

    def _ask(self, question: Question) -> Answer:
        run = self._run
        answer = self._question.ask(question, lambda: run is None or run.cancelled)
        if run is self._run and run is not None and not run.cancelled:
            self._begun = -QUIET  # who has answered did not click twice in a row
        return answer

    def _refresh(self) -> bool:
        """Show what is new of the run; tell whether to come back."""
        with self._lock:
            run = self._run
            if run is None or self.comm is None:
                return False
            over = self._report.show(run)
            if over and (self._record is None or self._record.id != run.id):
                self._finish(run)
            return not over

    def _finish(self, run: Run) -> None:
        self._settle()
        if run.problems:
            self._form.show_problems(list(run.problems))
        if "History" in self._views:
            self._views["History"].refresh()
        self._record = _record_of(run)
        self.when_over()

    def _keep(self) -> None:
        if self._record is not None:
            still = tool_bundle(self._tool)["text/html"]
            self._keepsake.keep(still, [self._record])

    def _settle(self) -> None:
        self._run_button.disabled = self.is_busy or self._tool.executor is None
        self._cancel_button.disabled = not self.is_busy

    # --- when the tool was defined again ------------------------------------------------

    def look_for_news(self) -> None:
        """Say so if the tool was defined again, and offer to take the new one."""
        with self._lock:
            if self._stale.children or self._tool.latest() is self._tool:
                return
            reload_button = self._parts.button("Reload", look="info")
            reload_button.on_click(lambda _: self.when_quiet(self.reload))
            said = "This tool was defined again: the panel shows the old one."
            self._stale.children = [
                self._parts.html(notice(said, "warning")),
                reload_button,
            ]

    def reload(self) -> None:
        """Take the tool as it was defined last, and keep what was entered.

        Arguments it has no longer are left out, and shown above the form.
        """
        with self._lock:
            entered, old, new = self._form.value, self._form, self._tool.latest()
            gone = dropped(self._tool, new, entered)
            left_out = dropped_html(gone, old.masked)
            self._parts.drop(self._stale.children)
            self._stale.children = ()
            self._show(new, {k: v for k, v in entered.items() if k not in gone})
            self._head.value += left_out
            self._report.outdate()
            old.close()

    def close(self) -> None:
        """Close the panel and all its widgets; a run is cancelled."""
        if self in open_panels:  # also called when it is garbage
            open_panels.discard(self)
            self.cancel()
            with self._lock:
                for view in self._views.values():
                    view.close()
                self._form.close()
                self._parts.close()
            self.layout.close()
        super().close()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        static = tool_bundle(self._tool, self._form.masked)
        records = [record] if (record := self.record) else []
        static["text/html"] += "".join(record.to_html() for record in records)
        self._keepsake.show(static["text/html"], records)
        return {**(super()._repr_mimebundle_(**options) or {}), **static}


def _record_of(run: Run) -> RunRecord:
    return history().find(run.id) or RunRecord.of(run)
