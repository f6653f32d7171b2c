"""An opened call: the whole call and, after its end, the panel of its tool with its values."""

from collections.abc import Callable
from typing import Any

from toolbench.display.escape import Html
from toolbench.runs.history.record import RunRecord
from toolbench.serving.call import ServedCall
from toolbench.serving.served_view import call_whole
from toolbench.widgets.kit.notebook_variables import Variables
from toolbench.widgets.kit.parts import Parts, put
from toolbench.widgets.transcript.opened_call import OpenedCall

_LIMIT = 20_000  # characters of each side of the result


class ArrivedCall:
    """The view of one call."""

    def __init__(
        self, call: ServedCall, variables: Variables, close: Callable[[], object]
    ) -> None:
        """Show *call*; its result can be kept in *variables*, and a button calls *close*."""
        self.call, self._variables = call, variables
        self._parts = parts = Parts()
        self._opened: OpenedCall | None = None
        self._whole = parts.html()
        self._tips = (
            f"Open {call.tool} in its panel, filled with this call",
            f"Close the panel of {call.tool}",
        )
        self._open = parts.button("Open in panel", tip=self._tips[0])
        self._open.on_click(lambda _: self._open_panel())
        leave = parts.button("Close", tip=f"Close call {call.id}")
        leave.on_click(lambda _: close())
        self._place = parts.column()
        head = parts.html(
            Html(f'<div class="toolbench-head"><strong>#{call.id}</strong></div>')
        )
        self.widget: Any = parts.column(
            parts.row(head, self._open, leave), self._whole, self._place
        )
        self.refresh()

    def refresh(self) -> None:
        """Show the present state of the call."""
        put(self._whole, call_whole(self.call, limit=_LIMIT))

    def _open_panel(self) -> None:
        old, self._opened = self._opened, None
        if old is None:
            run, result = self.call.run, self.call.observation
            arguments = RunRecord.of(run).known_arguments
            tool = run.tool.latest()
            self._opened = OpenedCall(tool, arguments, result, self._variables)
        self._place.children = () if self._opened is None else (self._opened.widget,)
        is_open = self._opened is not None
        self._open.description = "Close panel" if is_open else "Open in panel"
        self._open.tooltip = self._tips[is_open]
        if old is not None:
            old.close()

    def close(self) -> None:
        """Close all its widgets."""
        if self._opened is not None:
            self._opened.close()
        self._parts.close()
