"""Calls in the panels of their tools: the calls of a model's message, and calls that have ended."""

from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from typing import Any

import ipywidgets as w

from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import Html, escape
from toolbench.display.page import notice
from toolbench.llm.calls.call_display import (
    NO_CALL,
    call_answer,
    call_head,
    calls_bundle,
)
from toolbench.llm.calls.tool_call import ToolCall
from toolbench.runs.record import RunRecord
from toolbench.runs.run import Run
from toolbench.widgets.kit.notebook_variables import Variables, variable_name
from toolbench.widgets.kit.parts import PANEL, Parts, put
from toolbench.widgets.live_view import LiveView
from toolbench.widgets.panel.panel import ToolPanel


class CallPanel(ToolPanel):
    """The panel of a model's call, in which the user corrects and runs the call.

    Below the result, the panel shows the answer that the model would get.
    """

    def __init__(
        self,
        call: ToolCall,
        tool: ToolDefinition[Any, Any],
        when_over: Callable[[RunRecord], object],
    ) -> None:
        """Open *tool* with the arguments of *call*. Fields with wrong arguments show an error.

        After each run, *when_over* is called with its record.
        """
        super().__init__(
            tool,
            call.arguments,
            action=call.action,
            risk=call.security_risk,
            when_over=when_over,
        )
        self._call = call
        self._answer = self._parts.html(call_answer(call))
        head = self._parts.html(call_head(call))
        self.set_trait("children", (head, *self.children, self._answer))
        if call.error is not None:
            self.form.reveal_errors()

    def _over(self, run: Run) -> None:
        super()._over(run)
        self._answer.value = call_answer(self._call, self.result)


class CallsView(LiveView):
    """All calls of one message, in order."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        """Show *calls*: a panel for each call, or an error if its tool does not exist."""
        parts = Parts()
        self.calls = tuple(calls)
        self._answers: list[Any] = []
        for call in self.calls:
            if call.tool is None:
                self._answers.append(parts.html(call_head(call) + call_answer(call)))
            else:
                panel = CallPanel(call, call.tool, lambda _: self.keep())
                self._answers.append(panel)
        children = [parts.html(PANEL), *self._answers]
        if not self.calls:
            children.append(parts.html(notice(NO_CALL, "neutral")))
        super().__init__(parts, RLock(), children, use="the form")

    @property
    def panels(self) -> list[CallPanel]:
        """The panels of the calls that have a tool."""
        return [part for part in self._answers if isinstance(part, CallPanel)]

    def _views(self) -> list[CallPanel]:
        return self.panels

    def _static(self) -> dict[str, Any]:
        results = [getattr(part, "result", None) for part in self._answers]
        return calls_bundle(self.calls, results)

    @property
    def _records(self) -> list[RunRecord]:
        return [panel.record for panel in self.panels if panel.record is not None]


class OpenedCall:
    """The tool's panel with the arguments of an ended call, and a field to store its result."""

    def __init__(
        self,
        tool: ToolDefinition[Any, Any],
        arguments: Mapping[str, Any],
        result: Observation,
        variables: Variables,
    ) -> None:
        """Show a call of *tool* with its *arguments*.

        The user can store *result* in *variables*.
        """
        self._result = result
        self._variables = variables
        self._parts = parts = Parts()
        self._panel = ToolPanel(tool, arguments)
        self._name = parts.make(
            w.Text,
            "toolbench-field",
            description="Result as variable",
            value=variable_name(f"{tool.name}_result"),
        )
        keep = parts.button("Keep", self._keep, tip="Put the result into a variable")
        self._outcome = parts.html()
        self.widget: Any = parts.column(parts.row(self._name, keep, self._outcome), self._panel)

    def _keep(self) -> None:
        name = self._name.value.strip()
        problem = self._variables.problem_of(name, Observation)
        if problem:
            put(self._outcome, Html(f'<span class="toolbench-wrong">{escape(problem)}</span>'))
            return
        self._variables.put(name, self._result)
        put(self._outcome, Html(f"Kept: <code>{escape(name)}</code>"))

    @property
    def is_busy(self) -> bool:
        """Whether a run is active in the panel."""
        return self._panel.is_busy

    def close(self) -> None:
        """Close the panel and all its widgets."""
        self._panel.close()
        self._parts.close()


class CallButton:
    """A button that opens the panel of an ended call, or closes it again."""

    def __init__(
        self,
        parts: Parts,
        labels: tuple[str, str],
        tool: str,
        open_call: Callable[[], OpenedCall],
        arrange: Callable[[], object],
    ) -> None:
        """Make the button.

        Args:
            parts: The factory of the button.
            labels: The labels of the button while the panel is closed and while it is open.
            tool: The name of the called tool.
            open_call: A function that returns a new panel of the call.
            arrange: A function that is called after a change of `views`, to show them.
        """
        self._labels = labels
        self._tips = (
            f"Open {tool} in its panel, filled with this call",
            f"Close the panel of {tool}",
        )
        self._open_call, self._arrange = open_call, arrange
        self.views: list[OpenedCall] = []
        """The open panel; empty while the panel is closed."""
        self.button = parts.button(labels[0], self._toggle, tip=self._tips[0])

    def _toggle(self) -> None:
        old, self.views = self.views, []
        is_open = not old
        if is_open:
            self.views.append(self._open_call())
        self._arrange()
        self.button.description = self._labels[is_open]
        self.button.tooltip = self._tips[is_open]
        for view in old:
            view.close()

    def close(self) -> None:
        """Close the panel, if it is open. The button can still be used."""
        for view in self.views:
            view.close()
