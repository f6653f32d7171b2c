"""Turn the result of a provider, its SDK or a function into an `Answer`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolbench.errors import ModelError
from toolbench.jsonschema.types import Json
from toolbench.llm.compose import model_message
from toolbench.llm.models.protocol import Answer, Chunk, OnChunk, with_message
from toolbench.llm.providers import Provider
from toolbench.llm.wire import WIRES
from toolbench.llm.wire.wire import plain, shown_arguments
from toolbench.values import clip

_REASONS: dict[str, str] = {}
"""The values of `Answer.finish_reason`. A server may use the words of another provider."""
for _wire in WIRES.values():
    _REASONS.update(_wire.reasons)


def as_answer(value: Any, provider: Provider) -> Answer:
    """Turn *value* into an `Answer`, whose message can be sent again.

    Args:
        value: An `Answer`, a string, a message, or a whole response, as dict or SDK object.
        provider: The provider whose format the answer has, unless *value* is a response in the format
            of another one.

    Raises:
        ModelError: If *value* is anything else, or a response that reports an error.
    """
    if isinstance(value, Answer):
        return _checked(value, provider)
    if isinstance(value, str):
        return Answer(model_message(value, provider=provider), "stop")
    data = plain(value)
    if not isinstance(data, dict):
        msg = (
            f"The model returned {clip(data)}. It should be a message: a dict, an Answer, "
            "a text, or the response of a provider's SDK."
        )
        raise ModelError(msg)
    try:
        return _read(data, _provider_of(data, provider))
    except (AttributeError, LookupError, TypeError, ValueError):
        # a server may send anything: any part may be missing or wrong
        msg = f"The model's answer cannot be read: {clip(data, 200)}"
        raise ModelError(msg) from None


def _checked(answer: Answer, provider: Provider) -> Answer:
    """Return *answer* with a message that can be sent again, and without invalid numbers.

    Raises:
        ModelError: If the message of *answer* is not a dict.
    """
    if not isinstance(answer.message, Mapping):
        msg = f"The message of an answer should be a dict, not {clip(answer.message)}."
        raise ModelError(msg)
    wire = WIRES[_provider_of(answer.message, provider)]
    usage = answer.usage and answer.usage.checked()
    message = wire.read(wire.of_answer(answer.message))
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
    finish = "stop"
    if response.finish:
        word = response.finish.lower()
        finish = _REASONS.get(word, word)
    if response.is_refused:
        finish = "refusal"
    if finish == "stop" and response.message.calls:
        # Gemini and the Responses API have no word for calls
        finish = "tool_calls"
    usage = response.usage and response.usage.checked()
    answer = Answer({}, finish, usage, response.id, response.model)
    return with_message(answer, response.message)


def _provider_of(data: Mapping[str, Any], provider: Provider) -> Provider:
    """Return the provider in whose format *data*, a response or a message, is.

    If *data* does not show this, return *provider*.
    """
    if data.get("choices") is not None:
        return "openai"
    if "parts" in data or "candidates" in data:
        return "gemini"
    if "promptFeedback" in data or "prompt_feedback" in data:
        return "gemini"
    if "output" in data:
        return "responses"
    return provider


def numbered(answer: Answer, place: int) -> Answer:
    """Return *answer* with an id for each call that has none; Gemini's calls need no id.

    Args:
        answer: The answer of a model.
        place: The number of messages before the answer; it makes the ids unique.
    """
    message = answer.parsed
    provider = message.provider
    if provider is None or provider == "gemini" or all(call.id for call in message.calls):
        return answer
    numbered_calls = message.with_ids(lambda number, id_: id_ or f"call_{place}_{number}")
    return with_message(answer, numbered_calls)


def whole_answer(value: Any, provider: Provider, place: int, on_chunk: OnChunk | None) -> Answer:
    """Turn *value*, a complete answer, into an `Answer`, and pass the `Answer` to *on_chunk*.

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
