"""The view of a call that a person opened: all details of the call, and a panel to repeat it."""

from collections.abc import Callable
from typing import Any

from toolbench.display.escape import Html
from toolbench.runs.record import RunRecord
from toolbench.serving.call import ServedCall
from toolbench.serving.served_view import call_whole
from toolbench.widgets.kit.notebook_variables import Variables
from toolbench.widgets.kit.parts import Parts, put
from toolbench.widgets.transcript.opened_call import CallButton, OpenedCall

# Characters of each view of the result, and of the printed output
_LIMIT = 20_000


class ArrivedCall:
    """The details of one call, with buttons to open the call in a panel and to close this view."""

    def __init__(self, call: ServedCall, variables: Variables, close: Callable[[], object]) -> None:
        """Show *call*. A person can keep the result of the call in *variables*.

        The button `Close` calls *close*.
        """
        self.call, self._variables = call, variables
        self._parts = parts = Parts()
        self._whole = parts.html()
        self._panel = CallButton(
            lambda label, tip: parts.button(label, tip=tip),
            ("Open in panel", "Close panel"),
            call.tool,
            self._opened,
            self._arrange,
        )
        leave = parts.button("Close", tip=f"Close call {call.id}")
        leave.on_click(lambda _: close())
        self._place = parts.column()
        head = parts.html(Html(f'<div class="toolbench-head"><strong>#{call.id}</strong></div>'))
        self.widget: Any = parts.column(
            parts.row(head, self._panel.button, leave), self._whole, self._place
        )
        self.refresh()

    def refresh(self) -> None:
        """Show the present state of the call."""
        put(self._whole, call_whole(self.call, limit=_LIMIT))

    def _opened(self) -> OpenedCall:
        run, result = self.call.run, self.call.observation
        arguments = RunRecord.of(run).known_arguments
        return OpenedCall(run.tool.latest(), arguments, result, self._variables)

    def _arrange(self) -> None:
        opened = self._panel.opened
        self._place.children = () if opened is None else (opened.widget,)

    def close(self) -> None:
        """Close all widgets of this view."""
        self._panel.close()
        self._parts.close()
