"""A message of a conversation with a model of any provider.

A message has parts: text, thinking, images, calls of tools, their results, and parts that only its
provider understands. Extra data that a provider sent with a part (a signature, citations, encrypted
reasoning) stays in `raw`. The same provider gets it back unchanged; other providers get the part
without it. The modules of `toolbench.llm.wire` read and write messages in the format of each
provider.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from toolbench.jsonschema.types import Json

Provider = str
"""The name of a provider's format: a key of `toolbench.llm.wire.WIRES`, such as "openai"."""
DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,(.*)", re.DOTALL)
"""A `data:` URL; its groups are the media type and the base64 text."""


@dataclass(frozen=True)
class TextPart:
    """A piece of text."""

    text: str
    raw: Json | None = None
    """The part as its provider sent it; None if toolbench created it."""


@dataclass(frozen=True)
class ThinkingPart:
    """A piece of the model's thinking, or a summary of it."""

    text: str
    raw: Json | None = None


@dataclass(frozen=True)
class ImagePart:
    """An image."""

    url: str
    """A `data:` or `https:` URL."""
    raw: Json | None = None

    @property
    def words(self) -> str:
        """Text that replaces the image if a tool's result may contain only text."""
        if data := DATA_URL.match(self.url):
            return f"[image: {data[1]}]"
        return f"[image: {self.url}]"


@dataclass(frozen=True)
class ToolCallPart:
    """A call of a tool as the model sent it, not checked yet."""

    name: Any
    """The name that the model used, normally a string."""
    arguments: Any
    """JSON text or an object, as the provider sends them; a faulty server may send anything."""
    id: Any = None
    problem: str | None = None
    """Why the arguments cannot be read, if known."""
    raw: Json | None = None


@dataclass(frozen=True)
class ToolResultPart:
    """The result of a call, as text and images."""

    id: str | None
    """The id of the call."""
    name: str
    """The name that the model used for the tool."""
    content: "tuple[TextPart | ImagePart, ...]"
    is_error: bool = False
    raw: Json | None = None

    @property
    def images(self) -> "list[ImagePart]":
        """The images of the result."""
        return [part for part in self.content if isinstance(part, ImagePart)]

    @property
    def text(self) -> str:
        """The result as text, with each image replaced by words."""
        lines: list[str] = []
        for part in self.content:
            if isinstance(part, TextPart):
                lines.append(part.text)
            else:
                lines.append(part.words)
        return "\n".join(lines)


@dataclass(frozen=True)
class OtherPart:
    """A part that only its provider understands, such as encrypted reasoning or a web search."""

    raw: Json


Part = TextPart | ThinkingPart | ImagePart | ToolCallPart | ToolResultPart | OtherPart


@dataclass(frozen=True)
class Message:
    """One message: who wrote it, and its parts."""

    role: str
    """ "system" (also for OpenAI's "developer"), "user", "assistant", "tool" (results of calls), or
    another role that the provider uses."""
    parts: tuple[Part, ...] = ()
    provider: Provider | None = None
    """The provider in whose format the message was written; None if toolbench created it."""
    raw: Json | None = None
    """The fields of the message as its provider sent them, in their original order."""

    @property
    def text(self) -> str:
        """The text, without thinking."""
        return "".join([part.text for part in self.parts if isinstance(part, TextPart)])

    @property
    def thinking(self) -> str:
        """The thinking that the provider reveals; empty if it reveals none."""
        return "".join([part.text for part in self.parts if isinstance(part, ThinkingPart)])

    @property
    def thought(self) -> str:
        """The thinking, followed by the text."""
        return "\n\n".join(filter(None, (self.thinking, self.text)))

    @property
    def calls(self) -> list[ToolCallPart]:
        """The calls of tools, in their order."""
        return [part for part in self.parts if isinstance(part, ToolCallPart)]

    @property
    def results(self) -> list[ToolResultPart]:
        """The results of calls, in their order."""
        return [part for part in self.parts if isinstance(part, ToolResultPart)]

    @property
    def images(self) -> list[str]:
        """The images as `data:` or `https:` URLs, in their order."""
        return [part.url for part in self.parts if isinstance(part, ImagePart)]

    def sent_to(self, provider: Provider) -> "Message":
        """Return the message for *provider*, without data that only other providers understand."""
        if self.provider == provider:
            return self
        return Message(self.role, tuple(_common(self.parts)), provider)

    def with_ids(self, new_id: Callable[[int, Any], Any]) -> "Message":
        """Return a copy in which each call's id is `new_id(number, id)`; *number* starts at 0."""
        number = -1
        parts: list[Part] = []
        for part in self.parts:
            if isinstance(part, ToolCallPart):
                number += 1
                parts.append(replace(part, id=new_id(number, part.id)))
            else:
                parts.append(part)
        return replace(self, parts=tuple(parts))


def _common(parts: Iterable[Part]) -> Iterator[Any]:
    """Yield *parts*, without the parts and data that only one provider understands."""
    for part in parts:
        if isinstance(part, ToolResultPart):
            yield replace(part, content=tuple(_common(part.content)), raw=None)
        elif not isinstance(part, OtherPart):
            yield replace(part, raw=None)


@dataclass(frozen=True)
class Usage:
    """The number of tokens and the cost of one or more answers. Unknown numbers are None.

    Examples:
        >>> from toolbench.llm import Usage
        >>> Usage(input_tokens=1_200, output_tokens=80, cost=0.004)
        Usage(input_tokens=1200, output_tokens=80, cost=0.004)
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    """The cost in US dollars."""

    def checked(self) -> "Usage":
        """Return a copy with None in place of invalid numbers, which some servers send."""
        return Usage(
            whole_number(self.input_tokens), whole_number(self.output_tokens), dollars(self.cost)
        )

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            _sum(self.cost, other.cost),
        )


def whole_number(value: Any) -> int | None:
    """Return *value* if it is a valid number of tokens, else None."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if is_number and value >= 0:
        return int(value)
    return None


def dollars(value: Any) -> float | None:
    """Return *value* if it is a valid amount of money, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # The comparison is false for NaN
    if 0 <= value < 1e300:
        return float(value)
    return None


def _sum(one: Any, other: Any) -> Any:
    if one is None:
        return other
    if other is None:
        return one
    return one + other


@dataclass(frozen=True)
class Chunk:
    """A piece of an answer that is still arriving, or a note that the request will be retried.

    Examples:
        >>> from toolbench.llm import ScriptedModel, user_message
        >>> def show(chunk):
        ...     print(chunk.kind, chunk.text)
        >>> model = ScriptedModel(["21 euros each."])
        >>> answer = model.complete([user_message("Split 84 by four.")], on_chunk=show)
        text 21 euros each.
    """

    kind: Literal["text", "thinking", "call", "retry"]
    text: str = ""
    """The next piece of the text, the thinking or a call's JSON; for a retry, the reason."""
    name: str | None = None
    """The name of the called tool, in the first piece of a call."""
    index: int = 0
    """The index of the call in its message, from 0."""


@dataclass(frozen=True)
class Response:
    """A whole response of a provider: its message, and the data that came with it."""

    message: Message
    finish: str | None = None
    """Why the model stopped, in the provider's own word, such as "end_turn"."""
    usage: Usage | None = None
    id: str | None = None
    model: str | None = None
    """The provider's name for the model that answered."""
    is_refused: bool = False
    """Whether the model, or its provider, declined to answer."""
    failure: str | None = None
    """The failure, in one sentence, if the provider reported one instead of an answer."""
    repairs: list[str] = field(default_factory=list)
    """The repairs that were needed to read the response, in words."""


def instructions(messages: Sequence[Message]) -> str:
    """Return the joined texts of the messages with the role "system"."""
    texts: list[str] = []
    for message in messages:
        if message.role == "system" and message.text:
            texts.append(message.text)
    return "\n\n".join(texts)


def as_mapping(value: Any) -> Mapping[str, Any]:
    """Return *value* if it is a mapping, else an empty mapping."""
    if isinstance(value, Mapping):
        return value
    return {}


def function_of(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the object in *tool* that contains the tool's name and description.

    In OpenAI's chat format, this is the object under the key `function`. In the formats of other
    providers, it is *tool* itself.
    """
    function = tool.get("function")
    if isinstance(function, Mapping):
        return function
    return tool
