"""The rows of a transcript: one for each event, and a call opens into its full panel."""

from collections.abc import Container, Sequence
from typing import Any

from toolbench.agent.context.masking import Masking
from toolbench.agent.events import ActionEvent, AnswerEvent, CallEdit, Event
from toolbench.agent.loop import Loop
from toolbench.agent.transcript import call_html, masked, other_html
from toolbench.display.escape import Html
from toolbench.display.page import notice
from toolbench.llm.calls.tool_call import ToolCall
from toolbench.widgets.kit.parts import Parts, put
from toolbench.widgets.panel.panel import ToolPanel
from toolbench.wording import counted

_MOST = 200  # rows; all are in `to_html()`


class Rows:
    """Grows at its end; a row is sent again only when its call is answered."""

    def __init__(self, loop: Loop, parts: Parts) -> None:
        """Show events of *loop*, by widgets of *parts*."""
        self._loop, self._parts = loop, parts
        self.widget, self._note = parts.column(), parts.html()
        self._rows: dict[int, _Row] = {}

    def show(self, events: Sequence[Event], waiting: Container[int]) -> None:
        """Show *events*; those that came last, of many.

        Args:
            events: All that happened.
            waiting: The numbers of the calls that are shown elsewhere: a person decides there.
        """
        masking = Masking(self._loop.known_secrets)
        answers = {e.action_id: e for e in events if isinstance(e, AnswerEvent)}
        edits = {e.action_id: e for e in events if isinstance(e, CallEdit)}
        known = {e.id for e in events if isinstance(e, ActionEvent)}
        own = [
            e
            for e in events
            if getattr(e, "action_id", None) not in known and e.id not in waiting
        ]
        recent = own[-_MOST:]
        for event in recent:
            row = self._rows.setdefault(event.id, _Row(self._parts))
            state = answers.get(event.id), edits.get(event.id)
            if not row.is_new and row.state == state:
                continue
            row.is_new, row.state = False, state
            if isinstance(event, ActionEvent):
                self._show_call(row, event, *state, masking)
            else:
                put(row.html, other_html(masked(event, masking)))
        self._keep(recent, len(own) - len(recent))

    def _show_call(
        self,
        row: "_Row",
        event: ActionEvent,
        answer: AnswerEvent | None,
        edit: CallEdit | None,
        masking: Masking,
    ) -> None:
        parts: list[Any] = [
            None if part is None else masked(part, masking)
            for part in (event, answer, edit)
        ]
        put(row.html, call_html(*parts, is_running=True))
        if answer is not None:
            row.offer(event.tool_call if edit is None else edit.tool_call)

    def _keep(self, recent: Sequence[Event], left_out: int) -> None:
        """Show the rows of *recent*, and close those of events before."""
        ids = [event.id for event in recent]
        old = [self._rows.pop(id_) for id_ in self._rows.keys() - set(ids)]
        note = f"{counted(left_out, 'event')} before these are not shown."
        put(self._note, notice(note, "neutral") if left_out else Html(""))
        rows = (part for id_ in ids for part in self._rows[id_].widgets)
        self.widget.children = [self._note, *rows]
        for row in old:
            row.close()

    def close(self) -> None:
        """Close the panels that were opened."""
        for row in self._rows.values():
            row.close()


class _Row:
    """One event: its HTML and, of a call that is over, a button that opens its panel."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.is_new = True
        self.state: tuple[Any, Any] = (None, None)
        self.html = parts.html()
        self._open: Any = None
        self._place: Any = None

    @property
    def widgets(self) -> list[Any]:
        """What the row is made of."""
        parts = (self.html, self._open, self._place)
        return [part for part in parts if part is not None]

    def offer(self, call: ToolCall) -> None:
        """Offer to open the panel of *call*, which is over."""
        if self._open is None and call.tool is not None:
            tip = f"Open {call.name} in its panel, filled with this call"
            self._open, self._place = (
                self._parts.button("Open", tip=tip),
                self._parts.column(),
            )
            self._open.on_click(lambda _: self._toggle(call))

    def _toggle(self, call: ToolCall) -> None:
        """Open the panel, or close it."""
        panels = self._place.children
        tool: Any = call.tool  # there is one, or there was no button
        is_open = bool(panels)
        self._place.children = () if is_open else (ToolPanel(tool, call.arguments),)
        self._open.description = "Open" if is_open else "Close"
        for panel in panels:
            panel.close()

    def close(self) -> None:
        """Close it all."""
        for panel in () if self._place is None else self._place.children:
            panel.close()
        self._parts.drop(self.widgets)
