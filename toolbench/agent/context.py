"""The conversation as messages for the model, in the format of the model's provider."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

from toolbench.core.coercion import contents_of
from toolbench.core.content import Content, TextContent
from toolbench.core.tool import ToolDefinition
from toolbench.errors import ToolbenchError
from toolbench.jsonschema.types import Json
from toolbench.llm.calls.tool_call import ToolCall
from toolbench.llm.compose import call_part
from toolbench.llm.message import (
    ImagePart,
    Message,
    Part,
    Provider,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from toolbench.llm.wire import WIRES
from toolbench.wording import estimate_tokens

LEFT_OUT = "[an image was left out: the model did not take it]"


def without_images(message: Message, takes: Callable[[ImagePart], bool]) -> tuple[Message, int]:
    """Replace the images in *message* with notes.

    In a message of the model, images for which *takes* returns True are kept.

    Returns:
        The new message, and the number of images that were replaced.
    """
    count = 0
    parts: list[Part] = []
    for part in message.parts:
        if message.role == "assistant" and isinstance(part, ImagePart) and takes(part):
            parts.append(part)
        elif isinstance(part, ImagePart):
            count += 1
            parts.append(TextPart(LEFT_OUT))
        elif isinstance(part, ToolResultPart) and part.images:
            count += len(part.images)
            content: list[TextPart | ImagePart] = []
            for block in part.content:
                if isinstance(block, ImagePart):
                    block = TextPart(LEFT_OUT)
                content.append(block)
            parts.append(replace(part, content=tuple(content), raw=None))
        else:
            parts.append(part)
    return replace(message, parts=tuple(parts)), count


_IMAGE = "[image]"
# An estimate for each image, however many bytes it has
_IMAGE_TOKENS = 1_000
_KINDS = frozenset({"media_type", "mimeType", "mime_type"})
"""Keys with the media type of an image, in the same object as the `data` of the image."""
Hide = Callable[[Message], Message]


@dataclass(frozen=True)
class Turn:
    """Messages that are kept or condensed together: one message, or calls and all their answers."""

    messages: tuple[Json, ...]
    """The messages in the provider's format, as they are sent."""
    event_ids: tuple[int, ...] = ()
    """The numbers of the events of the turn."""
    parsed: tuple[Message, ...] = field(default=(), repr=False)
    """The parsed messages, from which `messages` was written."""

    @cached_property
    def tokens(self) -> int:
        """The estimated number of tokens of the turn."""
        return sum(map(tokens_of, self.messages))

    @property
    def is_users(self) -> bool:
        """Whether the first message of the turn is not from the model."""
        return self.parsed[0].role != "assistant"

    @property
    def is_open(self) -> bool:
        """Whether a model can answer the turn, because its last message is not from the model."""
        return self.parsed[-1].role != "assistant"


class FirstMessages(Sequence[Json]):
    """The first messages of a list that grows.

    The requests of a conversation share one list, because a copy for each of thousands of requests
    would take too much memory.
    """

    def __init__(self, messages: list[Json]) -> None:
        """Take all messages that are in the list now."""
        self._messages, self._count = messages, len(messages)

    def followed_by(self, more: list[Json]) -> "FirstMessages":
        """Append *more* to the list, directly after these messages, and return both."""
        self._messages[self._count :] = more
        return FirstMessages(self._messages)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Json]:
        return islice(self._messages, self._count)

    def __getitem__(self, index: Any) -> Any:
        return self._messages[: self._count][index]


class Context:
    """All turns of a conversation so far, as messages for the model, with secrets masked."""

    def __init__(self, provider: Provider, system_prompt: str | None, hide: Hide) -> None:
        """Make a context without turns. Its only message is *system_prompt*, if there is one.

        Args:
            provider: The provider in whose format the messages are written.
            system_prompt: The instructions for the model.
            hide: Returns a message with its secrets masked.
        """
        self.provider = provider
        self._hide = hide
        self._head: list[Json] = []
        if system_prompt:
            head = hide(Message("system", (TextPart(system_prompt),)))
            self._head += WIRES[provider].write(head)
        self.turns: list[Turn] = []
        """The turns, oldest first."""
        # The turns, how many of them were already sent, and the messages of these
        self._sent = self.turns, 0, FirstMessages(list(self._head))

    @property
    def messages(self) -> list[Json]:
        """The messages of the next request; any thread may ask."""
        sent, new, _ = self._since_last_request(self.turns)
        return [*sent, *new]

    def take_messages(self) -> FirstMessages:
        """Return the messages of the request that is sent now; only for the thread at work."""
        turns = self.turns
        sent, new, count = self._since_last_request(turns)
        messages = sent.followed_by(new)
        # In one step: an interrupt may come
        self._sent = turns, count, messages
        return messages

    def _since_last_request(self, turns: list[Turn]) -> tuple[FirstMessages, list[Json], int]:
        """Return the messages of *turns* that were sent, the other messages, and the number of turns."""
        earlier, count, sent = self._sent
        if earlier is not turns:
            count, sent = 0, FirstMessages(list(self._head))
        new = turns[count:]
        messages = [message for turn in new for message in turn.messages]
        return sent, messages, count + len(new)

    @property
    def tokens(self) -> int:
        """The estimated number of tokens of the messages."""
        return sum(map(tokens_of, self._head)) + sum(turn.tokens for turn in self.turns)

    def add(self, messages: Iterable[Message], event_ids: Iterable[int]) -> None:
        """Add *messages* as one turn; *event_ids* are the numbers of the turn's events."""
        self.turns.append(self._turn(map(self._hide, messages), event_ids))

    def _turn(self, messages: Iterable[Message], event_ids: Iterable[int]) -> Turn:
        parsed = tuple(messages)
        written: list[Json] = []
        for message in parsed:
            written += WIRES[self.provider].write(message)
        return Turn(tuple(written), tuple(event_ids), parsed)

    @property
    def is_answered(self) -> bool:
        """Whether the last message is from the model, so that nothing waits for an answer."""
        return bool(self.turns) and not self.turns[-1].is_open

    def condense(self, forgotten: frozenset[int], summary: str) -> None:
        """Replace older turns with *summary*.

        The summary becomes a message of the user at the position of the first replaced turn.

        Args:
            forgotten: The numbers of the events in the turns to replace.
            summary: The summary of these turns.
        """
        recent: list[Turn] = []
        told = self._hide(Message("user", (TextPart(summary),)))
        note = self._turn([told], [min(forgotten)])
        for turn in self.turns:
            if not forgotten.intersection(turn.event_ids):
                recent.append(turn)
            elif note not in recent:
                recent.append(note)
        self.turns = recent

    @property
    def event_ids(self) -> tuple[int, ...]:
        """The numbers of the events of all turns."""
        return tuple(id_ for turn in self.turns for id_ in turn.event_ids)

    @property
    def new_event_ids(self) -> tuple[int, ...]:
        """The numbers of the events of the model's last answer and of all later events."""
        turns = self.turns
        places = (p for p in reversed(range(len(turns))) if not turns[p].is_users)
        new = turns[next(places, 0) :]
        return tuple(id_ for turn in new for id_ in turn.event_ids)

    def leave_out_images(self, event_ids: Iterable[int]) -> int:
        """Replace the images in some events with notes, and return how many images were replaced.

        In messages of the model, images that the provider accepts are kept.

        Args:
            event_ids: The numbers of the events.
        """
        ids, turns, total = frozenset(event_ids), list(self.turns), 0
        for place, turn in enumerate(turns):
            if ids.isdisjoint(turn.event_ids):
                continue
            messages: list[Message] = []
            for message in turn.parsed:
                changed, count = without_images(message, WIRES[self.provider].takes)
                messages.append(changed)
                total += count
            turns[place] = self._turn(messages, turn.event_ids)
        if total:
            self.turns = turns
        return total


def text_of(message: Json) -> str:
    """Return *message* as JSON without images, to estimate how many tokens it has."""
    return json.dumps(_without_images(message), ensure_ascii=False, default=str)


def tokens_of(message: Json) -> int:
    """Return the estimated number of tokens of *message*."""
    text = text_of(message)
    return estimate_tokens(text) + _IMAGE_TOKENS * text.count(_IMAGE)


def _without_images(part: Any) -> Any:
    if isinstance(part, str):
        if part.startswith("data:") and ";base64," in part[:99]:
            return _IMAGE
        return part
    if isinstance(part, list | tuple):
        return [_without_images(item) for item in part]
    if not isinstance(part, Mapping):
        return part
    inside = {key: _without_images(value) for key, value in part.items()}
    if isinstance(part.get("data"), str) and not _KINDS.isdisjoint(part):
        inside["data"] = _IMAGE
    return inside


def message_content(message: Any) -> list[Content]:
    """Return *message*, written by the user, as content blocks.

    Raises:
        ToolbenchError: If the message is empty.
    """
    is_empty = message is None or (isinstance(message, list | tuple) and not message)
    content: list[Content] = []
    if not is_empty:
        content = contents_of(message)
    for block in content:
        if not isinstance(block, TextContent) or block.text.strip():
            return content
    msg = f"There is nothing in the message {message!r}: give a string, or contents."
    raise ToolbenchError(msg)


# --- messages in the format of another provider ---------------------------------------


def assistant_message(
    text: str, calls: Sequence[ToolCall], provider: Provider, images: Iterable[str] = ()
) -> Message:
    """Write a model's message again, in the format of *provider*.

    So a conversation can continue with a model of another provider.

    Args:
        text: The text of the message.
        calls: The calls in the message.
        provider: The provider whose format the new message has.
        images: The URLs of the images in the message.
    """
    parts: list[Part] = [ImagePart(url) for url in images]
    if text or not (calls or parts):
        parts.insert(0, TextPart(text))
    return Message("assistant", (*parts, *(_call(call, provider) for call in calls)))


def _call(call: ToolCall, provider: Provider) -> ToolCallPart:
    tool = call.tool
    if tool is None:
        name = call.metadata.sent_name or call.name
        if not name.strip():
            name = "unknown"
        tool = ToolDefinition(name=name)
    return call_part(tool, call.arguments, provider, id=call.id)
