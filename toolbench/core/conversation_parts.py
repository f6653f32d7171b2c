"""Protocols of the parts of a conversation with an agent; `toolbench.agent` implements them."""

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
        """The time of the event."""

    @property
    def visualize(self) -> RenderableType:
        """The view of the event for people."""


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
        """The checked arguments; None if they do not fit the tool."""

    @property
    def thought(self) -> str:
        """The text that the model wrote in addition to its calls."""

    @property
    def shown_arguments(self) -> dict[str, Any]:
        """The arguments, secrets hidden."""


class PendingCalls(Protocol):
    """The calls that wait for a person; see the methods of `Conversation`."""

    @property
    def calls(self) -> Sequence[CallEvent]:
        """The calls without an answer."""

    def edit(self, chosen: Any, arguments: Any) -> None:
        """Change the arguments of a call."""

    def answer(self, chosen: Any, result: Any) -> None:
        """Answer a call with *result*, without running the tool."""

    def refuse(self, chosen: Any, reason: str) -> None:
        """Answer calls with the reason why they do not run."""


class ModelRequest(Protocol):
    """A request to a model."""

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
        """The provider whose format the messages have."""

    @property
    def message_tokens(self) -> Sequence[int]:
        """The approximate number of tokens of each message."""

    @property
    def tool_tokens(self) -> Mapping[str, int]:
        """The approximate number of tokens of each tool's definition, by the name of the tool."""

    @property
    def tokens(self) -> int:
        """The approximate number of tokens of the whole request."""

    @property
    def cost(self) -> float | None:
        """The cost of the answer, in dollars; None if it is unknown."""

    @property
    def summary(self) -> str:
        """The size of the request, in a few words."""

    def to_dict(self) -> dict[str, Any]:
        """Return the request, JSON-ready."""

    def to_html(self, *, exact: bool = True) -> str:
        """Return tables of the messages and tools, with the *exact* request if wanted."""


class ConversationLoop(Protocol):
    """The object that does the work of a `Conversation`; both have methods of the same names."""

    @property
    def events(self) -> Sequence[ConversationEvent]:
        """All events so far."""

    @property
    def final_text(self) -> str:
        """The last text of the model."""

    @property
    def known_secrets(self) -> Redactor:
        """The redactor of the secrets of the conversation and its calls."""

    @property
    def money_left(self) -> float | None:
        """The dollars that the conversation may still cost; None if there is no limit."""

    @property
    def usage(self) -> Any:
        """The tokens and cost of all models that work for the conversation."""

    def spend(self, usage: Any) -> None:
        """Add the usage of a model to the usage of the conversation."""

    def written(self) -> list[dict[str, Any]]:
        """Return the events, JSON-ready, secrets hidden."""

    def send_message(self, message: Any) -> None:
        """Add a message of the user."""

    def step(self) -> Sequence[ConversationEvent]:
        """Take one step."""

    def run(self) -> str:
        """Take steps until there is a reason to stop."""

    def pause(self) -> None:
        """Stop before the next request or the next calls."""

    def interrupt(self) -> None:
        """Stop the request and the tools at once."""

    def ask(self) -> Sequence[ConversationEvent]:
        """Ask the model, without running its calls."""

    @property
    def pending(self) -> PendingCalls:
        """The calls that wait."""

    def changing(self) -> AbstractContextManager[PendingCalls]:
        """Return a context manager; its `with` block may change the waiting calls."""

    def run_pending(self, chosen: Any = None) -> Sequence[ConversationEvent]:
        """Run the calls that wait."""

    def begin_like(self, other: Any, last: Any) -> None:
        """Copy the events of *other* up to *last*."""

    def result(self, name: str | None) -> Any:
        """Return the last observation of a tool."""

    @property
    def sent(self) -> Sequence[ModelRequest]:
        """All requests sent to the model."""

    @property
    def next_request(self) -> ModelRequest:
        """The request that the model would get now."""

    def condense(self) -> None:
        """Summarise before the next request."""

    def undo(self) -> Sequence[ConversationEvent]:
        """Undo the edits of the last step that made edits."""

    def to_html(self) -> str:
        """Return the transcript as a page."""

    def bundle(self) -> Mapping[str, Any]:
        """Return the transcript for a cell's output."""

    def save(self, path: str | Path) -> None:
        """Save the conversation to *path*."""

    def read(self, path: str | Path) -> None:
        """Load the conversation saved at *path*."""

    def close(self) -> None:
        """Close the tools that were made for the conversation."""
