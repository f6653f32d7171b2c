"""Turn an observation into the provider's tool result, the answer to a model's call."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolbench.core.content import Content, ImageContent, TextContent
from toolbench.core.schema import Observation
from toolbench.jsonschema.types import Json
from toolbench.llm.message import ImagePart, Message, TextPart, ToolResultPart
from toolbench.llm.wire import WIRES

if TYPE_CHECKING:
    from toolbench.llm.calls.tool_call import ToolCall

LONGEST_TEXT = 100_000
"""The most characters of text in an answer (about 25,000 tokens); the middle is cut out."""
LARGEST_IMAGE = 5_000_000
"""The most characters of an image's `data:` URL; a note is sent in place of a larger image."""


def respond(
    call: "ToolCall",
    observation: Observation | None = None,
    *,
    limit: int = LONGEST_TEXT,
) -> Json:
    """Return the message that answers *call*, in its provider's format.

    Args:
        call: The call; the answer has its id and the name that the model used.
        observation: The result of the call. A call with an `error` needs no observation: the
            error is the answer.
        limit: The most characters of text; the middle of a longer text is replaced by a note.

    Raises:
        ValueError: If the call has neither an error nor an observation.
    """
    answer = Message("tool", (result_part(call, observation, limit=limit),))
    return WIRES[call.metadata.provider].write(answer)[0]


def respond_all(
    answers: "Sequence[tuple[ToolCall, Observation | None]]",
    *,
    limit: int = LONGEST_TEXT,
) -> list[Json]:
    """Return the messages that answer the calls of one message, in the order of *answers*.

    Anthropic and Gemini require all results in one turn, so there is one message. In OpenAI's
    chat completions an answer cannot hold an image: the images follow in a user message.

    Args:
        answers: Each call with its observation, as for `respond`.
        limit: The most characters of text in each answer.

    Raises:
        ValueError: If a call has neither an error nor an observation.
    """
    if not answers:
        return []
    results = tuple(result_part(call, result, limit=limit) for call, result in answers)
    return WIRES[answers[0][0].metadata.provider].write(Message("tool", results))


def result_part(
    call: "ToolCall", observation: Observation | None = None, *, limit: int = LONGEST_TEXT
) -> ToolResultPart:
    """Return the answer to *call* as a part of a message; see `respond`.

    Raises:
        ValueError: If the call has neither an error nor an observation.
    """
    result = observation
    if result is None:
        result = call.observation
    if result is None:
        msg = f"The call of {call.name!r} has no error: run it and give its observation."
        raise ValueError(msg)
    content = tuple(_parts(result.to_llm_content, limit))
    return ToolResultPart(call.id, call.metadata.sent_name, content, result.is_error)


def _parts(content: Sequence[Content], limit: int) -> list[TextPart | ImagePart]:
    parts: list[TextPart | ImagePart] = []
    left = limit
    for block in content:
        if isinstance(block, TextContent):
            text = _cut(block.text, left)
            left = max(0, left - len(text))
            parts.append(TextPart(text))
        if isinstance(block, ImageContent):
            parts += [_image(url) for url in block.image_urls]
    return parts


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = len(text) - (limit - head)
    note = f"\n[… {tail - head:,} of {len(text):,} characters left out …]\n"
    return text[:head] + note + text[tail:]


def _image(url: str) -> TextPart | ImagePart:
    if len(url) <= LARGEST_IMAGE:
        return ImagePart(url)
    return TextPart(f"[an image of {len(url):,} characters was left out: too large]")
