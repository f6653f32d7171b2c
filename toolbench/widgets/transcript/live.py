"""The transcript in the cell that runs the conversation: it grows as events and text come."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any
from uuid import uuid4

from toolbench.agent.events import Event, MessageEvent
from toolbench.agent.loop import Loop
from toolbench.agent.transcript import bundle
from toolbench.core.content import TextContent
from toolbench.core.state import Conversation
from toolbench.llm.models.protocol import Chunk
from toolbench.redaction.remembered import remembered

EVERY = 0.5  # seconds from one drawing to the next
_LAST = 20  # events that are drawn again and again; the whole comes at the end
_TAIL = 2_000  # characters of a text that is still coming


class LiveTranscript:
    """Draws a conversation in the cell that *shell* runs, by the thread of that."""

    def __init__(self, conversation: Conversation, shell: Any) -> None:
        """Draw *conversation*, which has an agent, in *shell*.

        Without a kernel it is drawn once, at the end: a terminal cannot take back what it showed.
        """
        loop: Any = conversation.loop  # the agent's own
        self._loop: Loop = loop
        self._publish = shell.display_pub.publish
        self._is_live = hasattr(shell, "kernel")
        self._display = uuid4().hex
        self._is_shown = False
        self._begun = len(self._loop.log)
        self._text: list[str] = []
        self._due = 0.0

    @contextmanager
    def drawn(self) -> Iterator[None]:
        """Draw during the `with` block, and the whole of what is new at its end."""
        forget = self._loop.log.listen(self._happened)
        self._loop.requests.on_chunk = self._came
        try:
            yield
        finally:
            forget()
            self._loop.requests.on_chunk = None
            self._text.clear()
            self._show(self._loop.log[self._begun :])

    def _happened(self, event: Event) -> None:
        self._text.clear()
        self._draw()

    def _came(self, chunk: Chunk) -> None:
        if chunk.kind == "text":
            self._text.append(chunk.text)
        elif chunk.kind == "retry":
            self._text = [f"{chunk.text}\n"]
        self._draw()

    def _draw(self) -> None:
        if not self._is_live or monotonic() < self._due:
            return
        events = self._loop.log[self._begun :][-_LAST:]
        if text := "".join(self._text)[-_TAIL:]:
            hidden = remembered.redactor.text(self._loop.redactor.text(text))
            coming = (TextContent(text=hidden),)
            events = [*events, MessageEvent(coming, source="agent")]
        self._show(events)
        self._due = monotonic() + EVERY

    def _show(self, events: list[Event]) -> None:
        data = bundle(self._loop, events)
        transient = {"display_id": self._display}
        self._publish(data, transient=transient, update=self._is_shown)
        self._is_shown = True
