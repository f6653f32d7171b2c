"""Protocols for the parts of a conversation with an agent; `toolbench.agent` implements them."""

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
        """The number of the event in the conversation, from 1."""

    @property
    def at(self) -> datetime:
        """The time of the event."""

    @property
    def visualize(self) -> RenderableType:
        """The view of the event for people."""


class CallEvent(ConversationEvent, Protocol):
    """The event in which a model asks for one call of a tool."""

    @property
    def tool_call(self) -> Any:
        """The call, as `toolbench.llm.ToolCall`."""

    @property
    def tool_call_id(self) -> str:
        """The id of the call."""

    @property
    def tool_name(self) -> str:
        """The name of the tool that is called."""

    @property
    def action(self) -> Action | None:
        """The checked arguments of the call; None if the arguments do not fit the tool."""

    @property
    def thought(self) -> str:
        """The text that the model wrote in the same answer, beside its calls."""

    @property
    def shown_arguments(self) -> dict[str, Any]:
        """The arguments of the call, with a mark in place of each secret."""


class PendingCalls(Protocol):
    """The calls that wait for a person. For *chosen*, see the methods `..._pending` of `Conversation`."""

    @property
    def calls(self) -> Sequence[CallEvent]:
        """The calls without an answer."""

    def edit(self, chosen: Any, arguments: Any) -> None:
        """Replace the arguments of the waiting call *chosen*."""

    def answer(self, chosen: Any, result: Any) -> None:
        """Give *result* to the model as the answer to the waiting call *chosen*; the tool does not run."""

    def refuse(self, chosen: Any, reason: str) -> None:
        """Answer the waiting call *chosen* with *reason*, or all calls if it is None; no tool runs."""


class ModelRequest(Protocol):
    """One request to a model, as it is or would be sent."""

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        """The messages of the request, in the provider's format."""

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """The tools of the request, in the provider's format."""

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
        """The cost of the model's answer, in dollars; None if it is unknown."""

    @property
    def summary(self) -> str:
        """The size of the request, in a few words."""

    def to_dict(self) -> dict[str, Any]:
        """Return the request, JSON-ready."""

    def to_html(self, *, exact: bool = True) -> str:
        """Return HTML with a table of the messages and one of the tools; *exact* adds the exact request."""


class ConversationLoop(Protocol):
    """The object that does the work of a `Conversation` with an agent; see the methods there."""

    @property
    def events(self) -> Sequence[ConversationEvent]:
        """All events so far."""

    @property
    def final_text(self) -> str:
        """The last text that the model wrote."""

    @property
    def known_secrets(self) -> Redactor:
        """The redactor that replaces the secrets of the conversation and of its calls."""

    @property
    def money_left(self) -> float | None:
        """The dollars that the conversation may still cost; None if there is no limit."""

    @property
    def usage(self) -> Any:
        """The tokens and cost of all models that work for the conversation."""

    def spend(self, usage: Any) -> None:
        """Add *usage*, the tokens and cost of one answer of a model, to the usage of the conversation."""

    def written(self) -> list[dict[str, Any]]:
        """Return the events as JSON objects, with a mark in place of each secret."""

    def send_message(self, message: Any) -> None:
        """Add a message of the user."""

    def step(self) -> Sequence[ConversationEvent]:
        """Ask the model once and run its calls; return the new events."""

    def run(self) -> str:
        """Take steps until there is a reason to stop, and return this reason."""

    def pause(self) -> None:
        """Stop `run` before the next request to the model, or before the calls of its last answer."""

    def interrupt(self) -> None:
        """Stop the request to the model and the running tools at once."""

    def ask(self) -> Sequence[ConversationEvent]:
        """Ask the model once, without running its calls; return the new events."""

    @property
    def pending(self) -> PendingCalls:
        """The calls that wait for a person."""

    def changing(self) -> AbstractContextManager[PendingCalls]:
        """Return a context manager; the code in its `with` block may change the waiting calls."""

    def run_pending(self, chosen: Any = None) -> Sequence[ConversationEvent]:
        """Run the waiting call *chosen*, or all waiting calls if it is None; return the new events."""

    def begin_like(self, other: Any, last: Any) -> None:
        """Copy the events of the loop *other* up to the event *last*; all events if *last* is None."""

    def result(self, name: str | None) -> Any:
        """Return the last observation of the tool *name*; if *name* is None, of any tool."""

    @property
    def sent(self) -> Sequence[ModelRequest]:
        """All requests sent to the model."""

    @property
    def next_request(self) -> ModelRequest:
        """The request that the model would get now."""

    def condense(self) -> None:
        """Summarise the older part of the conversation before the next request to the model."""

    def undo(self) -> Sequence[ConversationEvent]:
        """Undo the edits of the last step that made edits; return the new events."""

    def to_html(self) -> str:
        """Return the transcript as an HTML page."""

    def bundle(self) -> Mapping[str, Any]:
        """Return the mime bundle of the transcript, for the output of a cell."""

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Save the conversation to *path*."""

    def read(self, path: str | Path) -> None:
        """Load the conversation that was saved at *path*."""

    def close(self) -> None:
        """Close the tools that were made for the conversation."""
