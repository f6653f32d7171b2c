"""Text of the model that is still coming, as it is shown meanwhile."""

from toolbench.agent.loop import Loop
from toolbench.llm.models.protocol import Chunk
from toolbench.redaction.remembered import remembered

EVERY = 0.5  # seconds from one drawing to the next
_TAIL = 2_000  # characters that are shown
_SEARCH_LENGTH = 20_000  # characters; of a longer secret the end could show


class ComingText:
    """The end of what the model has said of its next message."""

    def __init__(self) -> None:
        """Nothing came yet."""
        self._text = ""

    def add(self, chunk: Chunk) -> None:
        """Take a piece of the text; after a retry, which is an event, it begins anew."""
        if chunk.kind == "text":
            self._text = (self._text + chunk.text)[-_SEARCH_LENGTH:]
        elif chunk.kind == "retry":
            self._text = ""

    def clear(self) -> None:
        """Forget it: it is an event by now."""
        self._text = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not self._text

    def shown(self, loop: Loop) -> str:
        """Return the end of it; the secrets that *loop* and this session know are hidden first."""
        hidden = remembered.redactor.text(loop.redactor.text(self._text))
        return hidden[-_TAIL:]
