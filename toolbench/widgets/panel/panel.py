"""The panel of one tool: its form, its runs and its results."""

from collections.abc import Callable, Mapping
from threading import RLock
from typing import Any
from weakref import WeakSet

from toolbench.core.registry import the_tool
from toolbench.core.schema import Action, Observation
from toolbench.core.security import SecurityRisk
from toolbench.core.spec import Tool
from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_advice import misfits
from toolbench.core.tool_names import ToolAddress
from toolbench.display.css import REMARK
from toolbench.display.escape import Html, escape
from toolbench.display.objects import tool_bundle, tool_html
from toolbench.llm.tokens import tool_tokens
from toolbench.redaction import MARK
from toolbench.redaction.detect import SecretsByPath, hidden_in
from toolbench.runs.input_prompt import can_ask_in_cell
from toolbench.runs.policy import policy
from toolbench.runs.questions import Asker, decline
from toolbench.runs.record import SESSION, RunRecord, lost_words
from toolbench.runs.run import Run
from toolbench.runs.secret_question import missing_secrets
from toolbench.threads import NO_THREADS, daemon_thread, have_threads
from toolbench.values import as_sent, is_json, is_readable, plain, same_json
from toolbench.widgets.form.form import SchemaForm
from toolbench.widgets.kit.parts import PANEL, Parts
from toolbench.widgets.live_view import LiveView
from toolbench.widgets.panel.check_form import CheckForm
from toolbench.widgets.panel.examples import ExamplesRow
from toolbench.widgets.panel.on_change import PAUSE, RunOnChange
from toolbench.widgets.panel.reload import Staleness, kept, with_secrets
from toolbench.widgets.panel.run import PanelRuns, RunControls
from toolbench.widgets.panel.run_list import MAX_RUNS
from toolbench.widgets.panel.tabs import CopyButton, PanelTabs

open_panels: "WeakSet[ToolPanel]" = WeakSet()


class ToolPanel(LiveView):
    """The panel of a tool: a form to run the tool, and the result of the last run.

    Any thread may call the callbacks of the panel.

    Attributes:
        runs: The runs of the panel, with their view and their questions. Only one run is active at
            a time.
        controls: The buttons, and the notice that says why no run was started.
        copy_button: The button that copies the call.
        on_change: The switch that runs the tool automatically.
        tabs: The tabs: the form and the other views of the tool.
        checks: The button that saves the displayed run as a check.
        examples: The row of saved examples. A click on an example fills the form.
        staleness: The notice that the tool or its class was redefined, with a button to reload the
            tool.
        lock: A lock that is held while a callback changes the panel.
        sent_secrets: The secrets of earlier runs, by the keys of the runs' records. The records do
            not contain secrets, so `put_back_run` takes them from here.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.widgets.panel import ToolPanel
        >>> @tool
        ... def split_bill(total: float, people: int = 2) -> float:
        ...     "Split a bill evenly."
        ...     return total / people
        >>> panel = ToolPanel(split_bill, {"total": 84, "people": 4})
        >>> run = panel.run()
        >>> run.done.wait(), run.outcome.text
        (True, '21.0')
    """

    tool: ToolDefinition[Any, Any]
    """The tool of the panel."""
    form: SchemaForm
    """The form. The arguments of the next run are `form.value`."""

    def __init__(
        self,
        tool: ToolDefinition[Any, Any] | Tool | str,
        arguments: Mapping[str, Any] | None = None,
        *,
        action: Action | None = None,
        timeout: float | None = None,
        risk: SecurityRisk | None = None,
        when_state: Callable[[str], object] = lambda state: None,
        when_over: Callable[[RunRecord], object] | None = None,
    ) -> None:
        """Open *tool* with *arguments* in the form.

        Args:
            tool: The tool, or a name or spec that `run_tool` would accept.
            arguments: The form's initial values. A Python object, such as a date or a model, is
                shown as JSON if the tool builds the same action from that JSON.
            action: The action, if the caller has already built it from *arguments*. The first run
                uses it, unless the form's values have changed.
            timeout: Seconds after which a run is cancelled.
            risk: The risk rating that a model gave its call. If it is HIGH, the user is asked
                before a run.
            when_state: A function that is called with the run's state whenever it changes. After
                the run has ended, it is called with an empty string.
            when_over: A function that is called with the record of each run, after its end is
                shown. By default, the result is added to the saved notebook.

        Raises:
            ToolNotFoundError: If there is no tool with that name.
            TypeError: If *tool* is not a tool, a name or a spec.
        """
        tool = the_tool(tool)
        self.lock = RLock()
        parts = Parts()
        self._parts = parts
        self._timeout = timeout
        self._risk = risk
        self._when_over = when_over
        # Made once
        self._tool_html: Html | None = None
        # Secrets that the form hid, by the key of their run: in memory only, and never shown
        self.sent_secrets: dict[tuple[str, int], SecretsByPath] = {}
        self.staleness = Staleness(self, parts)
        self.controls = controls = RunControls(parts, self._run_by_click, self.cancel)
        self.runs = runs = PanelRuns(parts, self.lock, controls, self._add, self._over, when_state)
        self.copy_button = CopyButton(self, parts)
        self.on_change = RunOnChange(self, parts)
        self._take(tool, arguments, action)
        self._head = parts.html(self._head_html(), kind="toolbench-title")
        beside_run = [*controls.buttons, controls.notice, *runs.report.status]
        beside_run.append(self.copy_button.button)
        self._bar = parts.row(*beside_run, kind="toolbench-actions")
        self.tabs = PanelTabs(self, parts)
        self.checks = CheckForm(self, parts)
        self.examples = ExamplesRow(self, parts)
        upper = [self._head, self.staleness.notice, self.tabs.widget]
        upper += [self.examples.widget, self._bar]
        children = [parts.column(*upper, kind="toolbench-card")]
        limits = _limits_html(tool)
        if limits:
            children.append(parts.html(limits))
        children += [runs.question.widget, runs.report.widget]
        super().__init__(parts, self.lock, children, "toolbench-panel", use="the form")
        open_panels.add(self)
        self.staleness.check()

    # --- what it shows ----------------------------------------------------------------

    @property
    def result(self) -> Observation | None:
        """The observation of the last run; None if there was no run, or if it has not ended."""
        run = self.runs.latest
        if run is None:
            return None
        return run.observation

    @property
    def record(self) -> RunRecord | None:
        """The record of the last run that ended; None if no run has ended."""
        return self.runs.record

    @property
    def is_busy(self) -> bool:
        """Whether a run is active. A run that ignores its cancellation does not count."""
        return self.runs.is_busy

    def show(
        self, tool: ToolDefinition[Any, Any], arguments: Mapping[str, Any] | None = None
    ) -> None:
        """Show *tool*, with *arguments* in a new form."""
        self._take(tool, arguments)
        self._tool_html = None
        self._head.value = self._head_html()
        self.examples.arrange()
        self.tabs.renew()

    def _take(
        self,
        tool: ToolDefinition[Any, Any],
        arguments: Mapping[str, Any] | None,
        action: Action | None = None,
    ) -> None:
        """Make a form for *tool*, filled with *arguments*, and enable Run if *tool* can run.

        If *action* was already built from *arguments*, the first run uses it.
        """
        value = None
        self._built: tuple[dict[str, Any], Action] | None = None
        if arguments is not None:
            value = _as_json(tool, arguments)
        if action is not None:
            self._built = value or {}, action
        self.tool, self.form = tool, SchemaForm(tool.input_schema, value, validate=tool.problems)
        self.form.frame.pool.borrow(self._parts)
        self.form.observe(lambda change: self._edited(change.new))
        self.controls.accept()
        self.controls.can_run = tool.executor is not None
        self.controls.settle(is_busy=self.is_busy)
        self.on_change.offer()

    def look(self) -> None:
        """Check whether the tool was redefined or its examples file has changed, and show that."""
        self.staleness.check()
        self.examples.refresh()

    def renew_examples(self) -> None:
        """Update the examples in all open panels from their files."""
        for panel in list(open_panels):
            panel.examples.refresh()

    def _edited(self, arguments: dict[str, Any]) -> None:
        """Update the notices and results that depend on the form's *arguments*, after an edit."""
        self.controls.expect_click()
        if self.controls.is_refusing and self.form.errors:
            self._refuse()
        else:
            self.controls.accept()
        self.runs.report.compare(arguments)
        self.on_change.expect(PAUSE)

    def _add(self, widget: Any) -> None:
        """Add *widget* to the row with Run. The style sheet sets its position in the row.

        It is added as the last child. Otherwise the page would redraw the children after it, and
        the focus would be lost.
        """
        self._bar.children = (*self._bar.children, widget)

    def _head_html(self, remark: str = "") -> Html:
        """Return the panel's head, followed by *remark*.

        The head of a tool for models shows how many tokens the tool's definition takes.
        """
        cost = ""
        try:
            if self.tool.is_for_models:
                cost = str(tool_tokens(self.tool))
        except Exception:  # noqa: BLE001 - a tool's own export; the Schema tab shows its error
            cost = ""
        return Html(PANEL + tool_html(self.tool, self._risk, cost=cost) + remark)

    # --- what was typed and sent before -------------------------------------------------

    def go_on(self, tool: ToolDefinition[Any, Any], form: SchemaForm) -> None:
        """Fill the form with the contents of *form*, a form for an earlier definition of the tool.

        *tool* is the earlier definition. If the tool no longer takes some of the arguments, they
        are listed above the form.
        """
        typed, remark = kept(tool, form, self.tool)
        self.form.take_over(typed, form.json_draft)
        self._head.value = self._head_html(remark)
        self.runs.report.compare(self.form.value)

    def resume(self, earlier: Any) -> bool:
        """Take over the contents of the form, and the last result, from the panel *earlier*.

        *earlier* is the view that the cell showed before the cell was run again. Return False and
        take over nothing if *earlier* is not a panel of this tool, if this panel's form has values,
        or if this panel has already started a run.
        """
        if not isinstance(earlier, ToolPanel) or self.runs.latest or not self.form.is_blank:
            return False
        if ToolAddress.of(earlier.tool) != ToolAddress.of(self.tool):
            return False
        with self.lock:
            self.sent_secrets = earlier.sent_secrets
            self.runs.recall(earlier.runs.report, self.tool)
            self.go_on(earlier.tool, earlier.form)
            self.on_change.go_on(earlier.on_change)
        return True

    def put_back(self, arguments: Mapping[str, Any]) -> None:
        """Fill the form with *arguments*, and open the tab with the form."""
        self.form.value = dict(arguments)
        self.tabs.to_form()

    def put_back_run(self, record: RunRecord) -> None:
        """Fill the form with the arguments of *record*, and open the tab with the form.

        The record does not contain secrets. If a secret was sent from this panel, and its field
        hides it, the secret is filled in. Otherwise, the field keeps any secret that the user has
        typed. A notice beside Run lists the arguments that are still missing.
        """
        typed, hidden = self.form.value, self.form.masked
        secrets = self.sent_secrets.get(record.key, {})
        arguments = with_secrets(self.tool, record, secrets)
        for name in record.lost:
            is_secret = MARK in (hidden.get(name), record.arguments[name])
            if is_secret and arguments[name] == hidden.get(name) == record.arguments[name]:
                arguments[name] = typed[name]
        lost = [name for name in record.lost if arguments[name] == record.arguments[name]]
        self.put_back({name: value for name, value in arguments.items() if name not in lost})
        if lost:
            self.form.reveal_errors()
            fields = self.form.wrong_fields()
            words = f"{lost_words(record, [repr(name) for name in lost])} Type them again"
            self.controls.refuse(words, fields, judged_elsewhere=False)

    def run_again(self, record: RunRecord) -> None:
        """Fill the form with the arguments of *record*, and do what a click on Run does."""
        self.put_back_run(record)
        # Otherwise the missing arguments are named beside Run
        if not self.controls.is_refusing:
            self._run_by_click(unchecked=False)

    def edit(self, arguments: Mapping[str, Any]) -> None:
        """Fill the form with *arguments*, and put the cursor in the first field."""
        self.put_back(arguments)
        self.form.focus()

    # --- runs -------------------------------------------------------------------------

    def run(
        self,
        *,
        confirm: bool = True,
        unchecked: bool = False,
        timeout: float | None = None,
    ) -> Run | None:
        """Start a run with the form's values, and return the run.

        Under nbconvert, nbval or papermill, there is no user. Therefore, questions are declined,
        unless they were answered in advance.

        Args:
            confirm: Whether to ask for consent if the policy requires it.
            unchecked: Whether to send the arguments even if they do not fit the schema, so that the
                server checks them.
            timeout: The number of seconds after which the run is cancelled. By default, the limit
                of the panel.

        Returns:
            The run; None if a run is already active, or if the form's values cannot be sent.
        """
        asker: Asker = decline
        if can_ask_in_cell():
            asker = self.runs.ask
        return self._start(asker, timeout, confirm=confirm, unchecked=unchecked)

    def _run_by_click(self, unchecked: bool) -> bool:  # noqa: FBT001 - what the controls call
        with self.lock:
            run = self._start(self.runs.ask, unchecked=unchecked)
            if run is None and not self.is_busy:
                self.form.reveal_errors(focus=True)
        return run is not None

    def _start(
        self,
        asker: Asker,
        timeout: float | None = None,
        *,
        confirm: bool = True,
        unchecked: bool,
    ) -> Run | None:
        with self.lock:
            if self.is_busy:
                return None
            # The last tick may not have come yet
            self.runs.refresh()
            run = self._new_run(asker, unchecked=unchecked)
            if run is None:
                return None
            if not self.tabs.is_at_call:
                self.tabs.to_form()
            self._begin(run, timeout, confirm=confirm)
            return run

    def _begin(self, run: Run, timeout: float | None = None, *, confirm: bool = True) -> None:
        self.controls.accept()
        self._remember_secrets(run)
        self.runs.start(run, timeout or self._timeout, confirm=confirm)

    def run_by_itself(self) -> None:
        """Run the tool with the form's values, although the user did not click Run.

        Do nothing if the values are not valid, or if the result for these values is already shown.
        If the run needs the user's consent or a secret, do not start it. Instead, tell the user to
        click Run.
        """
        with self.lock:
            if self.form.errors or self.runs.report.is_of(self.form.value):
                return
            run = self._new_run(self.runs.ask, unchecked=False)
            if run is None:
                return
            ruling = policy.ruling(run)
            if ruling.verdict != "allow":
                self._refuse(f"Not run automatically: {ruling.words}")
            elif any(missing_secrets(self.tool)):
                self._refuse("Not run automatically: Run asks for its secret")
            else:
                self._begin(run)

    def _new_run(self, asker: Asker, *, unchecked: bool) -> Run | None:
        """Return a run of the form's values. If no run is possible, show why and return None.

        The action is built from the values only here, once for each run.
        """
        if self.tool.executor is None:
            self._refuse("This tool has no executor: nothing to run.")
            return None
        if self.form.blocked:
            self.form.reveal_errors()
            self._refuse()
            if self.tool.is_in_development:
                # The newest source may take it: the panel then shows its form
                daemon_thread(self.tool.catch_up, name="toolbench-catch-up").start()
            return None
        arguments = self.form.value
        built, self._built = self._built, None
        action = None
        if built is not None and same_json(built[0], arguments):
            action = built[1]
        run = Run(
            self.tool,
            arguments,
            source="button",
            action=action,
            asker=asker,
            risk=self._risk,
        )
        run.unchecked = unchecked
        if self.tool.is_in_development:
            # The newest source may take other arguments: the run finds that source, then checks
            # them
            return run
        try:
            run.build()
        except Exception as error:  # noqa: BLE001 - a tool's own validator may raise any error
            self.form.refuse(misfits(self.tool.secrecy, error, arguments))
            self._refuse()
            return None
        return run

    def _refuse(self, reason: str = "") -> None:
        """Show *reason* beside Run or, if it is empty, how many fields the user must fix."""
        fields = self.form.wrong_fields()
        is_foreign = self.tool.source != ToolDefinition.source
        self.controls.refuse(
            reason or f"{self.form.to_fix(len(fields))} to run",
            fields,
            judged_elsewhere=is_foreign and not self.form.blocked,
        )

    def _remember_secrets(self, run: Run) -> None:
        """Keep the secrets of *run* for `put_back_run`."""
        try:
            secrets = hidden_in(run.arguments, self.form.masked)
        except RecursionError:
            # Too deep to be looked through
            return
        if secrets:
            self.sent_secrets[SESSION, run.id] = secrets
            for earliest in [*self.sent_secrets][:-MAX_RUNS]:
                del self.sent_secrets[earliest]

    def cancel(self) -> None:
        """Cancel the active run, if there is one."""
        self.runs.cancel()

    def _over(self, run: Run) -> None:
        """Show the problems of the ended *run* in the form, and add it to the saved notebook."""
        if self.tool.is_in_development:
            # Its server may now run newer source, and then the problems belong to the new form
            self.staleness.check()
        if run.problems:
            self.form.show_problems(list(run.problems))
        self.tabs.update_titles()
        self.tabs.update_secrets()
        if self._when_over is None:
            self.keep()
        elif self.record is not None:
            self._when_over(self.record)

    # --- in a saved notebook ------------------------------------------------------------

    @property
    def still(self) -> Html:
        """The tool as HTML."""
        if self._tool_html is None:
            self._tool_html = Html(tool_bundle(self.tool)["text/html"])
        return self._tool_html

    def _static(self) -> dict[str, Any]:
        static = tool_bundle(self.tool, self.form.masked)
        static["text/html"] += "".join(record.to_html() for record in self._records)
        return static

    @property
    def _records(self) -> list[RunRecord]:
        if self.record is None:
            return []
        return [self.record]

    def _release(self) -> None:
        open_panels.discard(self)
        # Not the run of an earlier panel
        if self.is_busy:
            self.cancel()
        with self.lock:
            self.runs.close()
            self.tabs.close()
            self.form.close()

    def __repr__(self) -> str:
        # ipywidgets would write out every child
        return f"<ToolPanel of {self.tool.name}>"


def _limits_html(tool: ToolDefinition[Any, Any]) -> Html:
    """Return a sentence that says what a run of *tool* cannot do without threads.

    Return an empty string if this Python has threads, or if *tool* is async.
    """
    if have_threads() or tool.is_async:
        return Html("")
    text = (
        "A running tool cannot be cancelled, limited in time, or ask a question: "
        f"{NO_THREADS}. An async tool can."
    )
    return Html(f'<div style="{REMARK}">{escape(text)}</div>')


def _as_json(tool: ToolDefinition[Any, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return *arguments* with Python objects replaced by JSON, which the form can show and edit.

    An object is replaced only if *tool* builds the same action from the JSON.
    """
    values = dict(arguments)
    objects = [name for name, value in values.items() if not is_json(value)]
    # Only the executor reads an iterator
    if not objects or not is_readable(values):
        return values
    action = _action_of(tool, values)
    # Then nothing tells whether a form means the same
    if action is None:
        return values
    for name in objects:
        changed = {**values, name: plain(as_sent(values[name]))}
        if _is_same(_action_of(tool, changed), action):
            values = changed
    return values


def _action_of(tool: ToolDefinition[Any, Any], arguments: dict[str, Any]) -> Action | None:
    try:
        action: Action = tool.action_of(dict(arguments))
    except Exception:  # noqa: BLE001 - the form shows the problems; a validator may raise any error
        return None
    return action


def _is_same(action: Action | None, other: Action | None) -> bool:
    try:
        return bool(action == other)
    except Exception:  # noqa: BLE001 - a table or an array does not compare
        return False
