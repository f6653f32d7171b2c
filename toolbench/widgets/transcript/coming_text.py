"""The text of an answer while it arrives from the model."""

from toolbench.agent.conversation import Conversation
from toolbench.llm.models.model import Chunk
from toolbench.redaction.known import remembered

# Seconds from one drawing to the next
EVERY = 0.5
# Characters that are shown
_TAIL = 2_000
# Characters; the end of a longer secret could be visible
_SEARCH_LENGTH = 20_000


class ComingText:
    """The part of the model's next message that has arrived already; only its end is kept."""

    def __init__(self) -> None:
        """Make an empty text."""
        self._text = ""

    def add(self, chunk: Chunk) -> None:
        """Add the text of *chunk*. If *chunk* says that the request is sent again, remove the text."""
        if chunk.kind == "text":
            self._text = (self._text + chunk.text)[-_SEARCH_LENGTH:]
        elif chunk.kind == "retry":
            self._text = ""

    def clear(self) -> None:
        """Remove the text, because the whole message is an event now."""
        self._text = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not self._text

    def visible_text(self, conversation: Conversation) -> str:
        """Return the end of the text. The secrets that *conversation* and this session know are hidden."""
        hidden = remembered.redactor.text(conversation.redactor.text(self._text))
        return hidden[-_TAIL:]
