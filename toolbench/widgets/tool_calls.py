"""Show the calls of a model's message: for each call, a panel with its arguments and its answer."""

from collections.abc import Callable, Sequence
from threading import RLock
from typing import Any

from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition
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
from toolbench.widgets.kit.parts import Parts
from toolbench.widgets.kit.plain_style import PANEL
from toolbench.widgets.live_view import LiveView
from toolbench.widgets.panel.panel import ToolPanel


class CallPanel(ToolPanel):
    """The panel of a model's call. A person can correct and run the call, and see its answer."""

    def __init__(
        self,
        call: ToolCall,
        tool: ToolDefinition[Any, Any],
        when_over: Callable[[RunRecord], object],
    ) -> None:
        """Open *tool* with the arguments of *call*. Wrong arguments are marked.

        *when_over* is called with the record of each run.
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
    """All calls of one message, in their order."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        """Show *calls*: a panel for each call, or an error if the tool of a call does not exist."""
        parts = Parts()
        self.calls = tuple(calls)
        self._answers = [
            CallPanel(call, call.tool, lambda _: self.keep())
            if call.tool is not None
            else parts.html(call_head(call) + call_answer(call))
            for call in self.calls
        ]
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
        return calls_bundle(self.calls, self._observations)

    @property
    def _records(self) -> list[RunRecord]:
        return [panel.record for panel in self.panels if panel.record is not None]

    @property
    def _observations(self) -> list[Observation | None]:
        return [getattr(part, "result", None) for part in self._answers]
