"""The protocol of models: `complete` turns messages and tools into the next message."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, Protocol, runtime_checkable

from toolbench.core.tool import ToolDefinition
from toolbench.errors import ModelStoppedError
from toolbench.jsonschema.types import Json
from toolbench.llm.calls.messages import read_message
from toolbench.llm.formats import FORMATS
from toolbench.llm.models.message_images import images_in
from toolbench.llm.providers import Provider
from toolbench.runs.control import Cancellable
from toolbench.runs.control import CancelToken as CancelToken
from toolbench.values import clip

Messages = Sequence[Mapping[str, Any]]
"""A conversation in the dialect of the model's provider, oldest first. Instructions are a message
with the role "system" in every dialect; the model sends them as its provider requires."""

OfferedTools = Sequence[ToolDefinition[Any, Any] | Mapping[str, Any]]
"""Tools, or dicts in the format of the model's provider, such as the results of `to_openai`."""


@dataclass(frozen=True)
class Usage:
    """The tokens and the cost of one answer, or of several together; what is not known is None."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    """The cost in US dollars."""

    def checked(self) -> "Usage":
        """Return this usage without invalid numbers."""
        cost = self.cost
        is_sum = isinstance(cost, int | float) and isfinite(cost) and cost >= 0
        tokens = (self.input_tokens, self.output_tokens)
        read, written = (n if isinstance(n, int) and n >= 0 else None for n in tokens)
        return Usage(read, written, cost if is_sum else None)

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            _sum(self.cost, other.cost),
        )


def _sum(one: Any, other: Any) -> Any:
    return other if one is None else one if other is None else one + other


@dataclass(frozen=True)
class Chunk:
    """A piece of an answer while it arrives, or a note about the request."""

    kind: Literal["text", "thinking", "call", "retry"]
    text: str = ""
    """The next piece of text, thinking, or a call's arguments (JSON); for a retry, a sentence."""
    name: str | None = None
    """The name of the called tool, in the first piece of a call."""
    index: int = 0
    """The index of the call in its message, from 0."""


OnChunk = Callable[[Chunk], object]


@dataclass(frozen=True)
class Answer:
    """One message of a model, in the dialect of its provider.

    Append `message` to the conversation, unchanged.
    """

    message: dict[str, Any]
    """The message: pass it to `parse_tool_calls`, and append it to the messages of the next request."""
    finish_reason: str | None = None
    """"stop", "tool_calls", "length" (cut off), "refusal", or another word of the provider."""
    usage: Usage | None = None
    response_id: str | None = None
    model: str | None = None
    """The provider's name of the model that answered."""

    @property
    def text(self) -> str:
        """The model's text, without its thinking."""
        return "".join(read_message(self.message).text)

    @property
    def images(self) -> list[str]:
        """The images that the model made, as `data:` or `https:` URLs."""
        return images_in(self.message)

    @property
    def problem(self) -> str | None:
        """A sentence if the answer is cut off, refused or empty; None if it is complete."""
        read = read_message(self.message)
        text = "".join(read.text).strip()
        if self.finish_reason == "length":
            return (
                "The answer was cut off: the model reached its limit of tokens. Ask it to "
                "go on, ask for less, or raise the limit."
            )
        if self.finish_reason == "refusal":
            words = text or str(self.message.get("refusal") or "")
            reason = f": {clip(words, 500)}" if words else "."
            return f"The model, or its provider, refused to answer{reason}"
        if not text and not read.calls and not self.images:
            return "The model answered nothing: neither text nor a call of a tool. Ask again, or in other words."
        return None


@runtime_checkable
class Model(Protocol):
    """A protocol: a model. `as_model` makes a model from a function, a client or an address.

    A model that writes calls into its text has an attribute `written_calls`, which is true.
    """

    @property
    def name(self) -> str:
        """The name of the model, for people."""

    @property
    def provider(self) -> Provider:
        """The dialect of the model's messages."""

    def complete(
        self,
        messages: Messages,
        tools: OfferedTools = (),
        *,
        on_chunk: OnChunk | None = None,
        cancel: Cancellable | None = None,
    ) -> Answer:
        """Return the next message of the conversation; block until it is complete.

        Args:
            messages: The conversation, which is not changed.
            tools: The tools that the model may call.
            on_chunk: Called with each piece when it arrives, in the calling thread.
            cancel: When it is cancelled, the request is closed at once.

        Raises:
            ModelError: If there is no answer; the message says why.
            ModelStoppedError: If *cancel* was cancelled.
        """


def writes_calls(model: Model) -> bool:
    """Tell whether *model* is declared to write calls into its text."""
    return bool(getattr(model, "written_calls", False))


def stopped(model: str) -> ModelStoppedError:
    """Return the error for a request to *model* that the caller cancelled."""
    return ModelStoppedError(f"The request to {model} was stopped.")


def offered(tools: OfferedTools, provider: Provider) -> list[Json]:
    """Return *tools* in the format of *provider*; dicts are copied deeply.

    A tool that is only for the app of its server is left out.
    """
    return [
        FORMATS[provider](tool) if isinstance(tool, ToolDefinition) else copied(tool)
        for tool in tools
        if not isinstance(tool, ToolDefinition) or tool.is_for_models
    ]


def copied(value: Any) -> Any:
    """Return a deep copy of JSON *value*: a model may change the copy."""
    if isinstance(value, Mapping):
        return {key: copied(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [copied(part) for part in value]
    return value
