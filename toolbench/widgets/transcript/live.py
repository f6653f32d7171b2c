"""The output of a cell that talks with a model: the growing transcript and a stop button."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import RLock
from time import monotonic
from typing import Any

from toolbench.agent.conversation import Conversation
from toolbench.agent.events import Event, MessageEvent
from toolbench.agent.transcript import bundle
from toolbench.core.content import TextContent
from toolbench.display.css import REMARK
from toolbench.llm.models.model import Chunk
from toolbench.redaction.known import remembered
from toolbench.runs.input_prompt import can_ask_in_cell
from toolbench.widgets.kit.parts import PANEL, Parts
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.live_view import CellOutput

EVERY = 0.5
"""Seconds between two drawings of arriving text."""
# Characters of arriving text that are shown
_TAIL = 2_000
# Characters that are searched for secrets; the end of a longer secret could be visible
_SEARCH_LENGTH = 20_000
# The number of last events that are drawn while the cell runs; at the end, all are
_LAST = 20


class StreamedText:
    """The part of the model's next message that has already arrived. Only its end is kept."""

    def __init__(self) -> None:
        """Start with no text."""
        self._text = ""

    def add(self, chunk: Chunk) -> None:
        """Add the text of *chunk*. If *chunk* announces a retry of the request, remove the text."""
        if chunk.kind == "text":
            self._text = (self._text + chunk.text)[-_SEARCH_LENGTH:]
        elif chunk.kind == "retry":
            self._text = ""

    def clear(self) -> None:
        """Remove the text, because the whole message is now an event."""
        self._text = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not self._text

    def visible_text(self, conversation: Conversation) -> str:
        """Return the end of the text, with secrets of *conversation* and of the session hidden."""
        hidden = remembered.redactor.text(conversation.redactor.text(self._text))
        return hidden[-_TAIL:]


class LiveTranscript:
    """A drawing of a conversation in the running cell, which is updated while the cell runs."""

    def __init__(self, conversation: Conversation, shell: Any) -> None:
        """Prepare to draw *conversation*, which must have an agent, in the running cell of *shell*.

        In a terminal, which cannot update its text, the conversation is drawn once, at the end.
        """
        self._conversation = conversation
        self._log = conversation.agent_state.log
        self._begun = len(self._log)
        self._output = CellOutput(shell.display_pub)
        self._is_live = hasattr(shell, "kernel")
        self._lock = RLock()
        self._is_shown = self._is_stale = self._is_over = False
        self._streamed, self._due = StreamedText(), 0.0
        self._asking = frozenset[int]()

    @contextmanager
    def drawn(self) -> Iterator[None]:
        """Draw new events during the `with` block, and the remaining events when it ends."""
        remove = self._log.listen(self._note_event)
        self._conversation.sender.on_chunk = self._add_chunk
        if self._is_live:
            ticker.watch(self._tick)
        try:
            yield
        finally:
            remove()
            self._conversation.sender.on_chunk = None
            with self._lock:
                self._is_over = True
                self._show(self._log[self._begun :], is_running=False)

    def _note_event(self, event: Event) -> None:
        with self._lock:
            self._streamed.clear()
            self._is_stale = True
            if self._is_live and not self._is_shown:
                self._draw()

    def _add_chunk(self, chunk: Chunk) -> None:
        with self._lock:
            self._streamed.add(chunk)
            self._is_stale = True

    def _tick(self) -> bool:
        """Draw new events.

        Return whether the cell is still running, so that this is called again.
        """
        with self._lock:
            asking = self._conversation.calls.asking
            if asking != self._asking:
                self._asking, self._is_stale = asking, True
            is_due = self._is_shown and self._is_stale and monotonic() >= self._due
            if is_due and not self._is_over:
                self._draw()
            return not self._is_over

    def _draw(self) -> None:
        self._is_stale = False
        events = self._log[self._begun :][-_LAST:]
        text = self._streamed.visible_text(self._conversation)
        if text:
            events.append(MessageEvent((TextContent(text=text),), source="agent"))
        self._show(events, is_running=True)
        self._due = monotonic() + EVERY

    def _show(self, events: list[Event], *, is_running: bool) -> None:
        data = bundle(self._conversation, events, is_running=is_running)
        if self._is_shown:
            self._output.replace(data)
        else:
            self._output.show(data)
        self._is_shown = True


_FEATURE = "kernel subshells"
"""The name of the kernel's feature (JEP 91) that lets a click arrive while a cell runs."""
_TIP = "Stop the request, the running tools and an open question"
_STOPPING = "Stopping. If the cell keeps running, choose Kernel &gt; Interrupt."


class StopButton:
    """A button that stops the work of a cell. It disappears when the cell ends.

    The button is shown only if the kernel can receive a click while the cell runs. This requires a
    user at the front end, and a kernel that supports subshells. Without the button, the user can
    stop the work with Kernel > Interrupt.
    """

    def __init__(self, shell: Any, stop: Callable[[], object]) -> None:
        """Make a button for *shell*. A click calls *stop* in the thread of a subshell."""
        self._publisher = shell.display_pub
        self._stop = stop
        features = getattr(getattr(shell, "kernel", None), "kernel_info", {})
        self._has_subshells = _FEATURE in features.get("supported_features", ())
        self.is_pressed = False

    @contextmanager
    def display(self) -> Iterator[None]:
        """Show the button during the `with` block."""
        if not (self._has_subshells and can_ask_in_cell()):
            yield
            return
        parts, output = Parts(), CellOutput(self._publisher)
        button, remark = parts.button("Stop", tip=_TIP, is_urgent=True), parts.html()
        button.on_click(lambda button: self._pressed(button, remark))
        output.show(parts.row(parts.html(PANEL), button, remark)._repr_mimebundle_())
        _take_clicks_while_busy(button)
        try:
            yield
        finally:
            output.replace({"text/plain": "", "text/html": ""})
            parts.close()

    def _pressed(self, button: Any, remark: Any) -> None:
        self.is_pressed = button.disabled = True
        self._stop()
        remark.value = f'<span style="{REMARK}">{_STOPPING}</span>'


def _take_clicks_while_busy(button: Any) -> None:
    """Let the front end choose the thread that handles a click on *button*.

    Since ipykernel 7.4, the thread that made the button handles the click. Here this thread is
    busy. In ipykernel 7.0 to 7.3, the front end always chooses.
    """
    with suppress(AttributeError):
        del button.comm._reply_subshell_id
