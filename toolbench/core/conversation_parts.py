"""What a conversation with an agent is put together from, as protocols: the agent layer brings it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from toolbench.redaction.redactor import Redactor

if TYPE_CHECKING:
    from toolbench.agent.context.sent_requests import SentRequest
    from toolbench.agent.events import Event
    from toolbench.agent.step.pending_calls import Pending
    from toolbench.core.state import Conversation


class ConversationAgent(Protocol):
    """What takes part in a conversation: it brings the loop."""

    def join(
        self,
        conversation: "Conversation",
        callbacks: "Sequence[Callable[[Event], object]]",
    ) -> "ConversationLoop":
        """Return the loop for *conversation*."""

    def workspace_of(self, path: str | Path) -> str | None:
        """Return the working directory of the conversation that was saved at *path*."""


class ConversationLoop(Protocol):
    """What does the work of a `Conversation`; see its methods of the same names."""

    @property
    def events(self) -> "Sequence[Event]":
        """All that happened."""

    @property
    def final_text(self) -> str:
        """What the model said last."""

    @property
    def known_secrets(self) -> Redactor:
        """Hides the secrets of the conversation and of its calls."""

    @property
    def money_left(self) -> float | None:
        """How many dollars it may still cost; None if there is no limit."""

    @property
    def usage(self) -> Any:
        """What all models took that work for the conversation."""

    def spend(self, usage: Any) -> None:
        """Add what a model took that works for the conversation."""

    def written(self) -> list[dict[str, Any]]:
        """Return the events, JSON-ready, secrets hidden."""

    def send_message(self, message: Any) -> None:
        """Add a message of the user."""

    def step(self) -> "list[Event]":
        """Take one step."""

    def run(self) -> str:
        """Take steps until there is a reason to stop."""

    def pause(self) -> None:
        """Stop soon."""

    def interrupt(self) -> None:
        """Stop at once."""

    def ask(self) -> "list[Event]":
        """Ask, and let the calls wait."""

    @property
    def pending(self) -> "Pending":
        """The calls that wait."""

    def changing(self) -> AbstractContextManager["Pending"]:
        """Change the calls that wait."""

    def run_pending(self, chosen: Any = None) -> "list[Event]":
        """Run the calls that wait."""

    def begin_like(self, other: Any, last: "Event | int | None") -> None:
        """Take over what happened in *other*."""

    def result(self, name: str | None) -> Any:
        """Return the last observation of a tool."""

    @property
    def sent(self) -> "Sequence[SentRequest]":
        """What the model was sent."""

    @property
    def next_request(self) -> "SentRequest":
        """What it would be sent now."""

    def condense(self) -> None:
        """Summarise before the next request."""

    def undo(self) -> "list[Event]":
        """Take back the edits of the last step."""

    def to_html(self) -> str:
        """Return the transcript as a page."""

    def bundle(self) -> Mapping[str, Any]:
        """Return the transcript for a cell's output."""

    def save(self, path: str | Path) -> None:
        """Write the conversation down."""

    def read(self, path: str | Path) -> None:
        """Take over what was written down."""

    def close(self) -> None:
        """Close the tools that were made for it."""
