"""The base class of provider formats: what messages, calls and answers look like.

A `Wire` reads the messages that its provider sends, whole or in chunks, and writes messages that
the provider accepts. Reading never fails, whatever a server sends. Parts that a later request must
not contain are repaired or left out. If a message is read and then written without a change, the
result is the same as the original.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from math import isinf
from typing import Any, ClassVar, NoReturn

from toolbench.core.tool import ToolDefinition
from toolbench.jsonschema.types import Json
from toolbench.llm.formats.arguments import Changes, names_in
from toolbench.llm.message import (
    Chunk,
    ImagePart,
    Message,
    Part,
    Provider,
    Response,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    Usage,
    whole_number,
)
from toolbench.llm.names import NameRule
from toolbench.values import clip

AnyTool = ToolDefinition[Any, Any]
IMAGE = "[an image]"
"""The text that replaces an image if a provider takes only text."""
IMAGES_OF_THE_MODEL = "The images of your answer:"
"""The text before images of the model that are sent in a message of the user."""

UNREADABLE = "unreadable_arguments"
"""The key under which arguments that are not an object are put, if only objects are accepted."""
# Characters of the arguments of a call in one chunk
LONGEST_ARGUMENTS = 1_000_000


class Stream(ABC):
    """Joins the chunks of one streamed answer."""

    @abstractmethod
    def add(self, chunk: Mapping[str, Any]) -> list[Chunk]:
        """Add the provider's next chunk or event; return the `Chunk` objects for listeners."""

    @property
    @abstractmethod
    def response(self) -> Json:
        """The response so far, in the format of a response that is not streamed."""

    @property
    @abstractmethod
    def has_end(self) -> bool:
        """Whether the provider has said why the answer ended."""


class Wire(ABC):
    """The format of one provider: how to recognize it, read it and write it.

    To add a provider, write a subclass in a file of this folder and add it to `WIRES`.
    """

    provider: ClassVar[Provider]
    title: ClassVar[str]
    """The name of the format, as users see it."""
    maker: ClassVar[str]
    """The company that made the format, for messages."""
    stream: ClassVar[type[Stream]]
    """The class that joins the chunks of one answer."""

    # How to recognize it
    parts_key: ClassVar[str]
    """The field with the parts of the model's messages."""
    response_keys: ClassVar[Set[str]] = frozenset()
    """Fields that only a response, or a message of the model, of this provider has."""
    part_types: ClassVar[Set[str]] = frozenset()
    """The values of `type` in the parts of this provider's messages."""
    part_keys: ClassVar[Set[str]] = frozenset()
    """Fields that only the parts of this provider's messages have, if they have no `type`."""

    # Calls and their results
    reasons: ClassVar[Mapping[str, str]] = {}
    """Maps the provider's word for why an answer ended to the word in `Answer.finish_reason`.

    Words that are the same in both are left out.
    """
    call_prefix: ClassVar[str | None] = None
    """The beginning of a call's id; None if a call needs no id, because its name identifies it."""
    remembers_calls: ClassVar[bool] = False
    """Whether a result may answer a call of any earlier message, not only of the last one."""

    # Tools
    is_for_models: ClassVar[bool] = True
    """Whether the format is for models: it then refuses tools that only a server's app may call."""
    tool_names: ClassVar[NameRule | None] = None
    """The rule for the name of a tool; None if every name is accepted."""
    argument_names: ClassVar[NameRule | None] = None
    """The rule for the name of an argument; None if every name is accepted."""
    checks_inner_names: ClassVar[bool] = True
    """Whether `argument_names` also applies to the names of properties inside an argument."""

    # Where requests are sent
    package: ClassVar[str | None] = None
    """The Python package whose clients send the requests; None if there is no such package."""
    method: ClassVar[str] = ""
    """The client's method that sends a request and returns a stream, such as "messages.create"."""
    secrets: ClassVar[Sequence[str]] = (
        "api_key",
        "auth_token",
        "admin_api_key",
        "webhook_secret",
        "webhook_key",
        # Of Bedrock and Vertex
        "aws_secret_key",
        "aws_session_token",
        "access_token",
    )
    """The attributes of a client whose values are secrets."""
    path: ClassVar[str | None] = None
    """The path of requests below a server's base URL; None if the provider needs a client."""

    @property
    def needs_ids(self) -> bool:
        """Whether each call needs an id; otherwise the provider identifies a call by its name."""
        return self.call_prefix is not None

    # --- recognizing the format -----------------------------------------------------------

    def is_response(self, data: Mapping[str, Any]) -> bool:
        """Tell whether only this provider sends such a response or message."""
        if self.response_keys.isdisjoint(data):
            return False
        return any(data.get(key) is not None for key in self.response_keys)

    def is_message(self, data: Mapping[str, Any]) -> bool:
        """Tell whether *data* looks like a response or message of this provider."""
        return self.is_response(data)

    def is_part(self, part: Mapping[str, Any]) -> bool:
        """Tell whether *part* looks like a part of this provider's messages."""
        return string(part.get("type")) in self.part_types or not self.part_keys.isdisjoint(part)

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        """Tell whether *chunk* begins a stream of this provider."""
        return not self.response_keys.isdisjoint(chunk)

    def is_whole(self, chunk: Mapping[str, Any]) -> bool:
        """Tell whether *chunk* is a whole response from a server that does not stream."""
        return False

    def is_client(self, x: Any) -> bool:
        """Tell whether *x* is an instance of a client class of the provider's package."""
        for kind in type(x).__mro__:
            if self.package and f"{kind.__module__}.".startswith(f"{self.package}."):
                return hasattr(x, self.method.partition(".")[0])
        return False

    # --- reading ------------------------------------------------------------------------

    @abstractmethod
    def read(self, data: Mapping[str, Any]) -> Message:
        """Read a message in the provider's format.

        The attribute `raw` of the result and its parts keeps the original data. So `write` returns
        an unchanged message exactly as it came. Each provider's module documents how it treats
        malformed parts.
        """

    def read_parts(self, parts: Sequence[Any]) -> Message:
        """Read *parts*, the parts of a message of the model, as a message."""
        return self.read({"role": "assistant", self.parts_key: list(parts)})

    @abstractmethod
    def read_response(self, data: Mapping[str, Any]) -> Response:
        """Read a whole response, or a message without the response around it."""

    def reread(self, part: TextPart | ThinkingPart) -> TextPart | ThinkingPart:
        """Return *part* with the text that its `raw` contains now, after `raw` was changed."""
        return part

    # --- writing ------------------------------------------------------------------------

    @abstractmethod
    def write(self, message: Message) -> list[Json]:
        """Return *message* as one or more messages in the provider's format.

        Several messages are needed if the provider requires one message for each result, or
        separate messages for images.

        An implementation first calls `message.sent_to(self.provider)`, which removes data that only
        other providers understand. If a part has `raw`, the implementation writes a copy of `raw`
        with the part's current text, arguments and id.
        """

    @abstractmethod
    def write_call(self, call: ToolCallPart) -> Json:
        """Write *call* as a part of the model's message."""

    def arguments(self, values: Json) -> Any:
        """Return *values*, the arguments of a call, as the provider sends them."""
        return values

    def accepted(self, messages: Iterable[Message]) -> list[Message]:
        """Return *messages* with the parts that this provider refuses moved or rewritten."""
        return list(self._with_images_shown(self.with_written_results(messages)))

    def with_written_results(self, messages: Iterable[Message]) -> Iterator[Message]:
        """Yield *messages*, with the results of some calls moved to messages of the user.

        These are the results of calls that the model wrote as text. The provider did not recognize
        such a call, and would refuse a result for it. So the model gets the result as text too.
        """
        sent: set[Any] = set()
        for message in messages:
            if message.role == "assistant":
                if not self.remembers_calls:
                    sent = set()
                sent.update(map(self._known_as, message.calls))
            if not message.results:
                yield message
                continue
            kept: list[Part] = []
            told: list[Message] = []
            for part in message.parts:
                if isinstance(part, ToolResultPart) and self._known_as(part) not in sent:
                    told.append(Message("user", (TextPart(_written(part)), *part.images)))
                else:
                    kept.append(part)
            if not told:
                yield message
            elif kept:
                yield replace(message, parts=tuple(kept))
            yield from told

    def _known_as(self, part: ToolCallPart | ToolResultPart) -> Any:
        if self.needs_ids:
            return part.id
        return part.name

    def _with_images_shown(self, messages: Iterable[Message]) -> Iterator[Message]:
        """Yield *messages*, with images in the model's messages moved to messages of the user.

        Most providers refuse images in a message of the model, so the model would not see the
        images that were generated. If the message has calls, the images come after the results of
        these calls, because providers require the results first.
        """
        images: list[Part] = []
        for message in messages:
            if images and not message.results:
                yield Message("user", (TextPart(IMAGES_OF_THE_MODEL), *images))
                images = []
            if message.role != "assistant":
                yield message
                continue
            kept: list[Part] = []
            for part in message.parts:
                if not isinstance(part, ImagePart) or self.takes(part):
                    kept.append(part)
                    continue
                if not images and not message.text.strip():
                    # A message without text or calls is refused
                    kept.append(TextPart(IMAGE))
                images.append(replace(part, raw=None))
            yield replace(message, parts=tuple(kept))
        if images:
            yield Message("user", (TextPart(IMAGES_OF_THE_MODEL), *images))

    def takes(self, image: ImagePart) -> bool:
        """Tell whether the provider accepts *image* in a message of the model."""
        return False

    @abstractmethod
    def request(
        self,
        model: str,
        messages: Sequence[Message],
        tools: Sequence[Json],
        options: Mapping[str, Any],
    ) -> Json:
        """Return the body of a request for the next message, which arrives in chunks.

        Args:
            model: The provider's name for the model.
            messages: The conversation. Messages with the role "system" are instructions. An
                implementation first passes the messages through `accepted`.
            tools: The tools in the provider's format.
            options: Further fields of the body, such as `temperature`. They cannot replace fields
                that this method sets.
        """

    def holder_of_secrets(self, client: Any) -> Any:
        """Return the object that has the `secrets` of *client*."""
        return client

    def for_client(self, body: Json) -> Json:
        """Return the request *body* as keyword arguments of the client method that sends it."""
        return body

    # --- tools --------------------------------------------------------------------------

    @abstractmethod
    def write_tool(
        self, tool: AnyTool, changes: Changes, *, security_risk: bool = False, summary: bool = False
    ) -> Json:
        """Write *tool*, changed so that the provider accepts it; add each change to *changes*.

        For *security_risk* and *summary* see `to_openai`.
        """

    def tool_name(self, name: str) -> str:
        """Return the name under which the provider knows the tool called *name*."""
        if self.tool_names is None:
            return name
        return self.tool_names.rename(name)

    def sent_names(self, tool: AnyTool) -> Mapping[str, str]:
        """Return the argument names that the provider refuses, each with the name that is sent."""
        if self.argument_names is None:
            return {}
        names = names_in(tool.parameters(), are_inner_wanted=self.checks_inner_names)
        return self.argument_names.renamed(names)

    def to_provider(self, arguments: Any, tool: AnyTool) -> Any:
        """Return *arguments* under the names that the provider accepts."""
        return self._renamed(arguments, self.sent_names(tool))

    def from_provider(self, arguments: Any, tool: AnyTool) -> Any:
        """Return *arguments* under the tool's own names: the reverse of `to_provider`."""
        if not self._may_be_renamed(arguments):
            # Nearly always, and then the schema need not be read
            return arguments
        own = {sent: name for name, sent in self.sent_names(tool).items()}
        return self._renamed(arguments, own)

    def _may_be_renamed(self, arguments: Any) -> bool:
        """Tell whether a key in *arguments* may be a name that was sent in place of another."""
        if self.argument_names is None or not isinstance(arguments, dict | list):
            return False
        inner: Iterable[Any] = arguments
        if isinstance(arguments, dict):
            for key in arguments:
                if isinstance(key, str) and self.argument_names.may_be_new(key):
                    return True
            if not self.checks_inner_names:
                return False
            inner = arguments.values()
        for value in inner:
            # Most are strings and numbers: not worth a call
            if isinstance(value, dict | list) and self._may_be_renamed(value):
                return True
        return False

    def _renamed(self, arguments: Any, names: Mapping[str, str]) -> Any:
        """Return a copy of *arguments*, with each key in *names* replaced."""
        if not names:
            return arguments
        if isinstance(arguments, list):
            return [self._renamed(value, names) for value in arguments]
        if not isinstance(arguments, Mapping):
            return arguments
        copy: Json = {}
        for key, value in arguments.items():
            if self.checks_inner_names:
                value = self._renamed(value, names)
            copy[names.get(key, key)] = value
        return copy


def _written(result: ToolResultPart) -> str:
    lines: list[str] = []
    for part in result.content:
        if isinstance(part, TextPart):
            lines.append(part.text)
        else:
            lines.append(IMAGE)
    text = "\n".join(lines)
    return f"<tool_response>\n{text}\n</tool_response>"


# --- reading whatever a server sends ------------------------------------------------


def plain(value: Any) -> Any:
    """Return *value* as dicts and lists; convert objects of an SDK, which are pydantic models."""
    if isinstance(value, dict | str):
        return value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return dict(value)
    dump = None
    if not isinstance(value, type):
        dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json", warnings=False)
    return value


def items_of(value: Any) -> list[Any]:
    """Return *value*, the parts of a message, as a list of plain values; wrap a single part."""
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return [value]


def first_of(data: Any, *names: str) -> Any:
    """Return the first value of *data* under one of *names* that is not None."""
    # Dicts first: to ask the abstract class takes longer than the rest
    if data is not None and isinstance(data, dict | Mapping):
        for name in names:
            value = data.get(name)
            if value is not None:
                return value
    return None


def string(value: Any) -> str:
    """Return *value* if it is a string, else an empty one."""
    if isinstance(value, str):
        return value
    return ""


def string_or_none(value: Any) -> str | None:
    """Return *value* if it is a string, else None."""
    if isinstance(value, str):
        return value
    return None


def role_of(data: Mapping[str, Any]) -> str:
    """Return the role of the message *data*; OpenAI's "developer" is returned as "system"."""
    role = string(data.get("role")) or "assistant"
    if role == "developer":
        return "system"
    return role


def call_id(value: Any) -> str | None:
    """Return *value*, the id of a call, as a string; None if the call needs a new id."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return string(value) or None


def json_text(arguments: Any) -> str:
    """Return *arguments* as JSON text; a string is taken to be JSON text already."""
    if isinstance(arguments, str):
        return arguments
    if arguments is None:
        return ""
    return json.dumps(arguments, ensure_ascii=False)


def compact_json(value: Any) -> str:
    """Return *value* as JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def as_sent_first(arguments: Any) -> Any:
    """Return *arguments* as the model sent them: the value under `UNREADABLE`, if there is one."""
    if isinstance(arguments, Mapping) and arguments.keys() == {UNREADABLE}:
        return arguments[UNREADABLE]
    return arguments


def json_value(text: str) -> Any:
    """Parse the arguments of a call. If *text* is not valid JSON, return *text* itself.

    Numbers that Python reads as NaN or infinity, such as `1e999`, are not valid, because a request
    cannot contain them.
    """
    try:
        return json.loads(text or "{}", parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return text


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


def _finite(word: str) -> float:
    number = float(word)
    if isinf(number):
        _refuse(word)
    return number


def as_object(arguments: Any) -> Json:
    """Return *arguments* as an object; put a value that is not an object under `UNREADABLE`."""
    value = arguments
    if isinstance(value, str):
        value = json_value(value)
    if isinstance(value, Mapping):
        return dict(value)
    if value is None:
        return {}
    return {UNREADABLE: json_text(arguments)}


def shown_arguments(arguments: Any) -> str:
    """Return *arguments* as text for a listener."""
    if isinstance(arguments, str):
        return arguments
    return clip(arguments, LONGEST_ARGUMENTS)


def without_none(part: Any) -> Any:
    """Return *part* without the fields that are None, because no provider accepts them."""
    if not isinstance(part, Mapping):
        return part
    return {key: value for key, value in part.items() if value is not None}


def head_of(message: Message, role: str) -> Json:
    """Return the fields of *message* in their order; add *role* if they have none."""
    head = dict(message.raw or {})
    if "role" in head:
        return head
    return {"role": role, **head}


def parts_of(content: Any, part: Callable[[Json], Iterable[Part]]) -> Iterator[Part]:
    """Yield the parts of *content*: a string, or a list of blocks that *part* reads one by one."""
    if isinstance(content, str):
        if content:
            yield TextPart(content)
        return
    for block in items_of(content):
        if isinstance(block, Mapping):
            yield from part(dict(block))


def content_of(parts: Sequence[Part], before: Any, block: Callable[[Any], Json]) -> Any:
    """Return *parts* as the `content` of a message to OpenAI, which is a string or a list.

    Args:
        parts: The parts of the message.
        before: The `content` of the message when it was read; None for a new message. If it was a
            list, the result is a list. If it was a string, and all parts are text, the result is
            a string.
        block: A function that writes one part as an item of a list.
    """
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    is_text = isinstance(before, str) or (before is None and len(parts) <= 1)
    if is_text and len(texts) == len(parts):
        return "".join(texts)
    return [block(part) for part in parts]


def joined_turns(
    messages: Iterable[Json], key: str, parts_of: Callable[[Json], list[Any]]
) -> list[Json]:
    """Join successive messages that have the same role. Messages without parts are left out.

    Args:
        messages: The messages in the provider's format.
        key: The field of a message that contains its parts.
        parts_of: A function that returns the parts of a message that a request may contain.
    """
    turns: list[Json] = []
    for message in messages:
        parts = parts_of(message)
        if not parts:
            continue
        if turns and turns[-1]["role"] == message["role"]:
            turns[-1][key] += parts
        else:
            turns.append({"role": message["role"], key: parts})
    return turns


def usage_of(data: Any, into: Iterable[str], out: Iterable[str]) -> Usage | None:
    """Return the tokens and the cost that a provider reported; None if it reported nothing.

    Args:
        data: The part of the response that reports the usage.
        into: The names of the fields that count input tokens. Their sum is used.
        out: The names of the fields that count output tokens. Their sum is used.
    """
    # Most often it is None, and the abstract class takes longer to say no
    if data is None or not isinstance(data, Mapping):
        return None
    # OpenRouter sends the cost
    usage = Usage(_sum(data, into), _sum(data, out), data.get("cost"))
    if usage == Usage():
        return None
    return usage


def _sum(data: Mapping[str, Any], keys: Iterable[str]) -> int | None:
    tokens: int | None = None
    for key in keys:
        number = whole_number(data.get(key))
        if number is not None:
            tokens = (tokens or 0) + number
    return tokens


def failure_of(data: Mapping[str, Any], otherwise: str) -> str:
    """Return the failure that *data* reports as a sentence; *otherwise* if it reports none."""
    error = data.get("error")
    message = error
    if isinstance(error, Mapping):
        message = error.get("message")
    if not message:
        return otherwise
    return f"The model's provider failed: {message}"


# --- joining chunks -------------------------------------------------------------------


class GrowingText:
    """A string that arrives in pieces, which are joined only when it is read."""

    def __init__(self, text: str = "") -> None:
        """Begin with *text*."""
        self._pieces = [text]

    def add(self, piece: Any) -> None:
        """Add *piece*, if it is a string."""
        if isinstance(piece, str) and piece:
            self._pieces.append(piece)

    def __str__(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0]


def as_strings(value: Any) -> Any:
    """Return *value* with each `GrowingText` in it as a string."""
    if isinstance(value, GrowingText):
        return str(value)
    if isinstance(value, dict):
        return {key: as_strings(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_strings(item) for item in value]
    return value


_GROWING = frozenset(
    [
        "arguments",
        "content",
        "data",
        "reasoning",
        "reasoning_content",
        "refusal",
        "signature",
        "summary",
        "text",
        "thinking",
        "transcript",
    ]
)
"""Keys whose strings arrive in pieces. All other values arrive whole, perhaps repeatedly."""


def grow(into: Json, piece: Mapping[str, Any]) -> None:
    """Merge the next piece of a streamed object into *into*, the object so far.

    Unknown keys are kept, because the next request may need them, such as the signature of a
    thought.
    """
    for key, value in piece.items():
        before = into.get(key)
        if isinstance(value, str) and key in _GROWING:
            if not isinstance(before, GrowingText):
                into[key] = before = GrowingText(string(before))
            before.add(value)
        elif isinstance(value, Mapping):
            if not isinstance(before, dict):
                into[key] = before = {}
            grow(before, value)
        elif isinstance(value, list):
            if not isinstance(before, list):
                into[key] = before = []
            _extend(before, value)
        elif value is not None:
            into[key] = value


def _extend(items: list[Any], more: list[Any]) -> None:
    """Add *more* to *items*; merge an object into the item with the same type and index."""
    for item in more:
        if not isinstance(item, Mapping):
            items.append(item)
            continue
        continued = [one for one in items if _is_continued(one, item)]
        if not continued:
            continued.append({})
            items += continued
        grow(continued[0], item)


def _is_continued(one: Any, item: Mapping[str, Any]) -> bool:
    """Tell whether *item* continues *one*: both have the same index and type."""
    if item.get("index") is None or not isinstance(one, dict):
        return False
    return bool(item["index"] == one.get("index") and item.get("type") == one.get("type"))
