"""The transcript in the cell that runs the conversation. New events and text are added to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock, current_thread, main_thread
from time import monotonic
from typing import Any
from uuid import uuid4

from toolbench.agent.conversation import Conversation
from toolbench.agent.events import Event, MessageEvent
from toolbench.agent.transcript import bundle
from toolbench.core.content import TextContent
from toolbench.llm.models.model import Chunk
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.transcript.coming_text import EVERY, ComingText

# Events; while the cell runs, only the last are drawn, and at the end all
_LAST = 20


class LiveTranscript:
    """Draws a conversation in the running cell, and updates the drawing while the cell runs."""

    def __init__(self, conversation: Conversation, shell: Any) -> None:
        """Prepare to draw *conversation*, which has an agent, in *shell*.

        Without a kernel the conversation is drawn only once, at the end, because a terminal cannot
        update its text.
        """
        self._conversation = conversation
        self._log = conversation.agent_state.log
        self._publisher = publisher = shell.display_pub
        self._is_live = hasattr(shell, "kernel")
        self._cell = dict(getattr(publisher, "parent_header", None) or {})
        self._lock = RLock()
        self._is_stale = self._is_over = False
        self._display = uuid4().hex
        self._is_shown = False
        self._begun = len(self._log)
        self._coming = ComingText()
        self._due = 0.0
        self._asking = frozenset[int]()

    @contextmanager
    def drawn(self) -> Iterator[None]:
        """Draw new events during the `with` block, and the remaining events at its end."""
        forget = self._log.listen(self._happened)
        self._conversation.sender.on_chunk = self._add_chunk
        if self._is_live:
            ticker.watch(self._tick)
        try:
            yield
        finally:
            forget()
            self._conversation.sender.on_chunk = None
            with self._lock:
                self._is_over = True
                self._show(self._log[self._begun :], is_running=False)

    def _happened(self, event: Event) -> None:
        with self._lock:
            self._coming.clear()
            self._is_stale = True
            if self._is_live and not self._is_shown:
                self._draw()

    def _add_chunk(self, chunk: Chunk) -> None:
        with self._lock:
            self._coming.add(chunk)
            self._is_stale = True

    def _tick(self) -> bool:
        """Draw new events. Return whether the cell still runs and this must be called again."""
        with self._lock:
            if self._asking != (asking := self._conversation.calls.asking):
                self._asking, self._is_stale = asking, True
            is_due = self._is_shown and self._is_stale and monotonic() >= self._due
            if is_due and not self._is_over:
                self._draw()
            return not self._is_over

    def _draw(self) -> None:
        self._is_stale = False
        events = self._log[self._begun :][-_LAST:]
        if text := self._coming.visible_text(self._conversation):
            coming = (TextContent(text=text),)
            events = [*events, MessageEvent(coming, source="agent")]
        self._show(events, is_running=True)
        self._due = monotonic() + EVERY

    def _show(self, events: list[Event], *, is_running: bool) -> None:
        data = bundle(self._conversation, events, is_running=is_running)
        transient = {"display_id": self._display}
        publisher = self._publisher
        if current_thread() is main_thread() or not hasattr(publisher, "pub_socket"):
            publisher.publish(data, transient=transient, update=self._is_shown)
        else:
            # On this thread the publisher would use another cell
            publisher.session.send(
                publisher.pub_socket,
                "update_display_data",
                {"data": data, "metadata": {}, "transient": transient},
                parent=self._cell,
                ident=publisher.topic,
            )
        self._is_shown = True
