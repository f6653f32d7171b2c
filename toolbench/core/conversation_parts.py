"""What a conversation with an agent is put together from, as protocols: the agent layer brings it."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from rich.console import RenderableType

from toolbench.core.schema import Action
from toolbench.redaction.redactor import Redactor


class ConversationEvent(Protocol):
    """One thing that happened in a conversation."""

    @property
    def id(self) -> int:
        """Its number in the conversation, from 1."""

    @property
    def at(self) -> datetime:
        """When it happened."""

    @property
    def visualize(self) -> RenderableType:
        """What a person sees of it."""


class CallEvent(ConversationEvent, Protocol):
    """A call of a tool that the model asked for."""

    @property
    def tool_call(self) -> Any:
        """The call, as `toolbench.llm.ToolCall`."""

    @property
    def tool_call_id(self) -> str:
        """The id of the call."""

    @property
    def tool_name(self) -> str:
        """The tool that was called."""

    @property
    def action(self) -> Action | None:
        """What runs; None if the call does not fit."""

    @property
    def thought(self) -> str:
        """What the model wrote around its calls."""

    @property
    def shown_arguments(self) -> dict[str, Any]:
        """The arguments, without what the tool calls secret."""


class PendingCalls(Protocol):
    """The calls that wait for a person; see the methods of `Conversation`."""

    @property
    def calls(self) -> Sequence[CallEvent]:
        """The calls without an answer."""

    def edit(self, chosen: Any, arguments: Any) -> None:
        """Have a call run with other arguments."""

    def answer(self, chosen: Any, result: Any) -> None:
        """Answer a call by hand."""

    def refuse(self, chosen: Any, reason: str) -> None:
        """Answer calls with a reason why they do not run."""


class ModelRequest(Protocol):
    """What a model is sent."""

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        """The messages, as the provider takes them."""

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """The tools, as the provider takes them."""

    @property
    def model(self) -> str:
        """The name of the model."""

    @property
    def provider(self) -> str:
        """The dialect of the messages."""

    @property
    def message_tokens(self) -> Sequence[int]:
        """About how many tokens each message costs."""

    @property
    def tool_tokens(self) -> Mapping[str, int]:
        """About how many tokens the definition of each tool costs, by its name."""

    @property
    def tokens(self) -> int:
        """About how many tokens the whole request costs."""

    @property
    def cost(self) -> float | None:
        """What the answer cost, in dollars; None if that is not known."""

    @property
    def summary(self) -> str:
        """How large it is, in a few words."""

    def to_dict(self) -> dict[str, Any]:
        """Return the request, JSON-ready."""

    def to_html(self, *, exact: bool = True) -> str:
        """Return tables of the messages and tools, and the *exact* request."""


class ConversationLoop(Protocol):
    """What does the work of a `Conversation`; see its methods of the same names."""

    @property
    def events(self) -> Sequence[ConversationEvent]:
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

    def step(self) -> Sequence[ConversationEvent]:
        """Take one step."""

    def run(self) -> str:
        """Take steps until there is a reason to stop."""

    def pause(self) -> None:
        """Stop soon."""

    def interrupt(self) -> None:
        """Stop at once."""

    def ask(self) -> Sequence[ConversationEvent]:
        """Ask, and let the calls wait."""

    @property
    def pending(self) -> PendingCalls:
        """The calls that wait."""

    def changing(self) -> AbstractContextManager[PendingCalls]:
        """Change the calls that wait."""

    def run_pending(self, chosen: Any = None) -> Sequence[ConversationEvent]:
        """Run the calls that wait."""

    def begin_like(self, other: Any, last: Any) -> None:
        """Take over what happened in *other*."""

    def result(self, name: str | None) -> Any:
        """Return the last observation of a tool."""

    @property
    def sent(self) -> Sequence[ModelRequest]:
        """What the model was sent."""

    @property
    def next_request(self) -> ModelRequest:
        """What it would be sent now."""

    def condense(self) -> None:
        """Summarise before the next request."""

    def undo(self) -> Sequence[ConversationEvent]:
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
