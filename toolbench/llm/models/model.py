"""The protocol of models, and functions that turn the result of a model into an `Answer`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

from toolbench.core.tool import ToolDefinition
from toolbench.errors import ModelError, ModelStoppedError
from toolbench.jsonschema.types import Json
from toolbench.llm.formats import to_format
from toolbench.llm.message import Chunk as Chunk
from toolbench.llm.message import Message, Provider, TextPart
from toolbench.llm.message import Usage as Usage
from toolbench.llm.read import read_message
from toolbench.llm.wire import WIRES, wires_from
from toolbench.llm.wire.wire import plain, shown_arguments
from toolbench.runs.control import Cancellable
from toolbench.runs.control import CancelToken as CancelToken
from toolbench.runs.current_run import current_run
from toolbench.values import clip, copied

Messages = Sequence[Mapping[str, Any]]
"""A conversation in the format of the model's provider, oldest first. Instructions are a message
with the role "system" in every format; the model sends them as its provider requires."""

OfferedTools = Sequence[ToolDefinition[Any, Any] | Mapping[str, Any]]
"""Tools, or dicts in the format of the model's provider, such as the results of `to_openai`."""


OnChunk = Callable[[Chunk], object]


@dataclass(frozen=True)
class Answer:
    """One answer of a model.

    `message` is in the format of the provider. Append it unchanged to the list of messages to
    continue the conversation.

    Examples:
        >>> from toolbench.llm import ScriptedModel, user_message
        >>> answer = ScriptedModel(["Four."]).complete([user_message("Two and two?")])
        >>> answer.text, answer.message
        ('Four.', {'role': 'assistant', 'content': 'Four.'})
    """

    message: dict[str, Any]
    """The message: pass it to `parse_tool_calls`, and append it to the next request's messages."""
    finish_reason: str | None = None
    """"stop", "tool_calls", "length" (cut off), "refusal", or another word of the provider."""
    usage: Usage | None = None
    response_id: str | None = None
    model: str | None = None
    """The provider's name for the model that answered."""

    @cached_property
    def parsed(self) -> Message:
        """The message, parsed into its parts."""
        return read_message(self.message).message

    @property
    def text(self) -> str:
        """The model's text, without its thinking."""
        return self.parsed.text

    @property
    def images(self) -> list[str]:
        """The images that the model made, as `data:` or `https:` URLs."""
        return self.parsed.images

    @property
    def problem(self) -> str | None:
        """A sentence if the answer is cut off, refused or empty; None if it is complete."""
        text = self.text.strip()
        if self.finish_reason == "length":
            return (
                "The answer was cut off: the model reached its limit of tokens. Ask it to "
                "continue, ask for less, or raise the limit."
            )
        if self.finish_reason == "refusal":
            words = text or str(self.message.get("refusal") or "")
            reason = "."
            if words:
                reason = f": {clip(words, 500)}"
            return f"The model, or its provider, refused to answer{reason}"
        if not text and not self.parsed.calls and not self.images:
            return "The model answered nothing: neither text nor a call of a tool. Ask again, or in other words."
        return None


@dataclass(frozen=True)
class Price:
    """The price of a million tokens in US dollars, for providers that do not report the cost.

    Examples:
        >>> from toolbench.llm import Answer, Price, Usage
        >>> answer = Answer({"role": "assistant", "content": "Hi"}, usage=Usage(2_000, 500))
        >>> Price(input=0.25, output=2.0).priced(answer).usage.cost
        0.0015
    """

    input: float
    output: float

    def priced(self, answer: Answer) -> Answer:
        """Return *answer* with its cost, if the cost can be computed."""
        usage = answer.usage
        if usage is None or usage.cost is not None:
            return answer
        if usage.input_tokens is None or usage.output_tokens is None:
            return answer
        cost = usage.input_tokens * self.input + usage.output_tokens * self.output
        return replace(answer, usage=replace(usage, cost=cost / 1_000_000))


def with_message(answer: Answer, message: Message) -> Answer:
    """Return *answer* with its message replaced by *message*."""
    written = WIRES[message.provider or "openai"].write(message)[0]
    changed = replace(answer, message=written)
    # Set the parsed message, so that it is not read a second time
    vars(changed)["parsed"] = message
    return changed


@runtime_checkable
class Model(Protocol):
    """The protocol of models. `as_model` turns a function, a client or a URL into a model.

    If your model writes its calls as text, give it an attribute `written_calls = True`, so that
    these calls are found.

    Examples:
        >>> from toolbench.llm import Model, ScriptedModel, user_message
        >>> def ask(model: Model, question: str) -> str:
        ...     return model.complete([user_message(question, model.provider)]).text
        >>> ask(ScriptedModel(["Oslo."]), "The capital of Norway?")
        'Oslo.'
    """

    @property
    def name(self) -> str:
        """The display name of the model."""

    @property
    def provider(self) -> Provider:
        """The provider whose message format the model uses."""

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
            messages: The conversation. This list is not changed.
            tools: The tools that the model may call.
            on_chunk: A function that is called with each piece of the answer when it arrives. It
                is called in the thread that called `complete`.
            cancel: A handle with which another thread can cancel the request.

        Raises:
            ModelError: If there is no answer. The error message gives the reason.
            ModelStoppedError: If *cancel* was cancelled.
        """


def writes_calls(model: Model) -> bool:
    """Tell whether *model* is marked as writing calls into its text."""
    return bool(getattr(model, "written_calls", False))


def stopped(model: str, after: str = "") -> ModelStoppedError:
    """Return the error for a cancelled request to *model*; *after* ends the error's sentence."""
    error = ModelStoppedError(f"The request to {model} was stopped{after}.")
    error.after = after
    return error


def offered(tools: OfferedTools, provider: Provider) -> list[Json]:
    """Return *tools* in the format of *provider*; dicts are copied deeply.

    Tools that only their server's app may call are left out.
    """
    offers: list[Json] = []
    for tool in tools:
        if not isinstance(tool, ToolDefinition):
            offers.append(copied(tool))
        elif tool.is_for_models:
            offers.append(to_format(tool, provider))
    return offers


def not_cancelled(cancel: Cancellable | None, model: str) -> Cancellable:
    """Return *cancel*, or the current run if *cancel* is None.

    Raises:
        ModelStoppedError: If the result is already cancelled; the error names *model*.
    """
    if cancel is None:
        cancel = current_run()
    if cancel.cancelled:
        raise stopped(model)
    return cancel


def as_answer(value: Any, provider: Provider) -> Answer:
    """Turn *value* into an `Answer` whose message can be part of the next request.

    Args:
        value: An `Answer`, a string, a message, or a whole response. A message or response may be
            a dict or an SDK object.
        provider: The provider whose format the answer gets. If *value* is a response in another
            provider's format, it keeps that format.

    Raises:
        ModelError: If *value* is anything else, or is a response that reports an error.
    """
    if isinstance(value, Answer):
        return _checked(value, provider)
    if isinstance(value, str):
        said = Message("assistant", (TextPart(value),), provider)
        return with_message(Answer({}, "stop"), said)
    data = plain(value)
    if not isinstance(data, dict):
        msg = (
            f"The model returned {clip(data)}. It should be a message: a dict, an Answer, "
            "a text, or the response of a provider's SDK."
        )
        raise ModelError(msg)
    try:
        return _read(data, provider_of(data, provider))
    except (AttributeError, LookupError, TypeError, ValueError):
        # A server may send anything, so any part may be missing or wrong
        msg = f"The model's answer cannot be read: {clip(data, 200)}"
        raise ModelError(msg) from None


def _checked(answer: Answer, provider: Provider) -> Answer:
    """Return *answer* with a message that the next request can contain, and valid token counts.

    Raises:
        ModelError: If the message of *answer* is not a dict.
    """
    if not isinstance(answer.message, Mapping):
        msg = f"The message of an answer should be a dict, not {clip(answer.message)}."
        raise ModelError(msg)
    usage = answer.usage and answer.usage.checked()
    wire = WIRES[provider_of(answer.message, provider)]
    message = wire.read({**answer.message, "role": "assistant"})
    return with_message(replace(answer, usage=usage), message)


def _read(data: Json, provider: Provider) -> Answer:
    """Return the answer in *data*.

    Raises:
        ModelError: If *data* reports a failure.
    """
    wire = WIRES[provider]
    response = wire.read_response(data)
    if response.failure is not None:
        raise ModelError(response.failure)
    finish = (response.finish or "stop").lower()
    # A server may use the words of another provider
    for other in wires_from(provider):
        if finish in other.reasons:
            finish = other.reasons[finish]
            break
    if response.is_refused:
        finish = "refusal"
    if finish == "stop" and response.message.calls:
        # Gemini and the Responses API have no word for calls
        finish = "tool_calls"
    usage = response.usage and response.usage.checked()
    answer = Answer({}, finish, usage, response.id, response.model)
    return with_message(answer, response.message)


def provider_of(data: Mapping[str, Any], provider: Provider) -> Provider:
    """Return the provider whose format *data*, a response or a message, has.

    If *data* does not show this, return *provider*.
    """
    for wire in wires_from(provider):
        if wire.is_response(data):
            return wire.provider
    return provider


def numbered(answer: Answer, place: int) -> Answer:
    """Return *answer* with an id for each call, if its provider requires ids.

    Ids that the model gave are kept.

    Args:
        answer: The answer of a model.
        place: The number of messages before the answer. It becomes part of each new id, so that
            the ids are unique in the conversation.
    """
    message = answer.parsed
    provider = message.provider
    if provider is None or not WIRES[provider].needs_ids or all(call.id for call in message.calls):
        return answer
    numbered_calls = message.with_ids(lambda number, id_: id_ or f"call_{place}_{number}")
    return with_message(answer, numbered_calls)


def whole_answer(value: Any, provider: Provider, place: int, on_chunk: OnChunk | None) -> Answer:
    """Turn *value*, a complete answer, into an `Answer`, and report it to *on_chunk*.

    *place* is the number of messages before the answer.
    """
    answer = numbered(as_answer(value, provider), place)
    report(answer, on_chunk)
    return answer


def report(answer: Answer, on_chunk: OnChunk | None) -> None:
    """Pass a complete answer to *on_chunk* in a few chunks."""
    if on_chunk is None:
        return
    message = answer.parsed
    if message.thinking:
        on_chunk(Chunk("thinking", message.thinking))
    if message.text:
        on_chunk(Chunk("text", message.text))
    for index, call in enumerate(message.calls):
        on_chunk(Chunk("call", shown_arguments(call.arguments), str(call.name), index))
