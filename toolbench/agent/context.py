"""The conversation as messages for the model, in the format (dialect) of the model's provider."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolbench.core.coercion import contents_of
from toolbench.core.content import Content, TextContent
from toolbench.core.tool import ToolDefinition
from toolbench.errors import ToolbenchError
from toolbench.jsonschema.types import Json
from toolbench.llm.calls.tool_call import ToolCall
from toolbench.llm.compose import call_part, model_message, system_message, user_message
from toolbench.llm.message import Message, ToolCallPart
from toolbench.llm.providers import Provider
from toolbench.llm.wire import WIRES
from toolbench.wording import estimate_tokens

LEFT_OUT = "[an image was left out: the model did not take it]"
_TEXTS: Mapping[Provider, Json] = {
    "openai": {"type": "text", "text": LEFT_OUT},
    "responses": {"type": "input_text", "text": LEFT_OUT},
    "anthropic": {"type": "text", "text": LEFT_OUT},
    "gemini": {"text": LEFT_OUT},
}
_TYPES = frozenset({"image_url", "input_image", "image"})
_KEYS = frozenset({"inlineData", "inline_data", "fileData", "file_data"})


def without_images(message: Json, provider: Provider) -> tuple[Json, int]:
    """Replace the images of *message* by notes; return the new message and the number of images."""
    count = 0

    def part(value: Any) -> Any:
        nonlocal count
        if isinstance(value, list | tuple):
            return [part(item) for item in value]
        if not isinstance(value, Mapping):
            return value
        if value.get("type") in _TYPES or _KEYS & value.keys():
            count += 1
            return dict(_TEXTS.get(provider, _TEXTS["openai"]))
        if "functionResponse" in value:
            return {**value, "functionResponse": result(value["functionResponse"])}
        return {key: part(item) for key, item in value.items()}

    def result(value: Json) -> Json:
        """Return the Gemini response *value* without its images; add their number to `count`."""
        nonlocal count
        images = value.get("parts") or ()
        count += len(images)
        left = {key: item for key, item in value.items() if key != "parts"}
        if images:
            left["response"] = {**left["response"], "images": LEFT_OUT}
        return left

    return part(message), count


_IMAGE = "[image]"
# An estimate for each image, however many bytes it has
_IMAGE_TOKENS = 1_000
_KINDS = frozenset({"media_type", "mimeType", "mime_type"})
"""Keys with the media type of an image, in the same object as the `data` of the image."""
Hide = Callable[[Json], Json]


@dataclass(frozen=True)
class Turn:
    """Messages that are kept or condensed together: one message, or calls with all their answers."""

    messages: tuple[Json, ...]
    event_ids: tuple[int, ...] = ()
    """The numbers of the events of the turn."""

    @cached_property
    def tokens(self) -> int:
        """The estimated number of tokens of the turn."""
        return sum(map(tokens_of, self.messages))

    @property
    def is_users(self) -> bool:
        """Whether the first message of the turn is not from the model."""
        return self.messages[0].get("role") not in ("assistant", "model")

    @property
    def is_open(self) -> bool:
        """Whether a model can answer the turn: its last message is not from the model."""
        return self.messages[-1].get("role") not in ("assistant", "model")


class Context:
    """All turns of a conversation so far, as messages for the model. Secrets are hidden."""

    def __init__(self, provider: Provider, system_prompt: str | None, hide: Hide) -> None:
        """Make a context without turns. Its only message is *system_prompt*, if there is one.

        Args:
            provider: The provider in whose format the messages are written.
            system_prompt: The instructions for the model.
            hide: Returns a message with its secrets hidden.
        """
        self.provider = provider
        self._hide = hide
        self._head: list[Json] = []
        if system_prompt:
            self._head.append(hide(system_message(system_prompt, provider)))
        self._messages = list(self._head)
        self.turns: list[Turn] = []
        """The turns, oldest first. A new turn is appended; any other change makes a new list."""
        self._counted, self._tokens = 0, 0
        self._counted_of: list[Turn] | None = None

    @property
    def messages(self) -> list[Json]:
        """The messages of the next request."""
        return list(self._messages)

    @property
    def growing(self) -> list[Json]:
        """The list behind `messages`, not a copy.

        New messages are appended; other changes make a new list.
        """
        return self._messages

    @property
    def tokens(self) -> int:
        """The estimated number of tokens of the messages; each turn is counted once."""
        if self._counted_of is not self.turns:
            self._counted, self._counted_of = 0, self.turns
            self._tokens = sum(map(tokens_of, self._head))
        for turn in self.turns[self._counted :]:
            self._tokens += turn.tokens
        self._counted = len(self.turns)
        return self._tokens

    def add(self, messages: Iterable[Json], event_ids: Iterable[int] = ()) -> None:
        """Add *messages* as one turn; *event_ids* are the numbers of the turn's events."""
        turn = Turn(tuple(self._hide(message) for message in messages), tuple(event_ids))
        self.turns.append(turn)
        self._messages += turn.messages

    @property
    def is_answered(self) -> bool:
        """Whether the last message is from the model, so that nothing waits for an answer."""
        return bool(self.turns) and not self.turns[-1].is_open

    def mend(self) -> None:
        """Make the messages from the turns again, if an interrupt left too many or too few messages."""
        messages = [*self._head, *_messages(self.turns)]
        if len(messages) != len(self._messages):
            self._messages = messages

    def condense(self, forgotten: frozenset[int], summary: str) -> None:
        """Replace turns by *summary*; *forgotten* has the numbers of the events in these turns.

        The summary is a message of the user, in the place of the first replaced turn.
        """
        recent: list[Turn] = []
        note = Turn((self._hide(user_message(summary, self.provider)),), (min(forgotten),))
        for turn in self.turns:
            if not forgotten.intersection(turn.event_ids):
                recent.append(turn)
            elif note not in recent:
                recent.append(note)
        self.turns = recent
        self._messages = [*self._head, *_messages(recent)]

    @property
    def new_event_ids(self) -> tuple[int, ...]:
        """The numbers of the events of the model's last answer, and of all events after it."""
        turns = self.turns
        places = (p for p in reversed(range(len(turns))) if not turns[p].is_users)
        new = turns[next(places, 0) :]
        return tuple(id_ for turn in new for id_ in turn.event_ids)

    def leave_out_images(self, event_ids: Iterable[int]) -> int:
        """Put a note in place of each image of the events *event_ids*; return the number of images.

        Images in a message of the model stay.
        """
        ids, turns, total = frozenset(event_ids), list(self.turns), 0
        for place, turn in enumerate(turns):
            if ids.isdisjoint(turn.event_ids):
                continue
            messages: list[Json] = []
            for message in turn.messages:
                # The model's own message stays
                if not (messages or turn.is_users):
                    messages.append(message)
                    continue
                changed, count = without_images(message, self.provider)
                messages.append(changed)
                total += count
            turns[place] = Turn(tuple(messages), turn.event_ids)
        if total:
            self.turns = turns
            self._messages = [*self._head, *_messages(turns)]
        return total


def _messages(turns: Sequence[Turn]) -> Iterator[Json]:
    for turn in turns:
        yield from turn.messages


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
    """Return *message*, which the user wrote, as content blocks.

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


def assistant_message(text: str, calls: Sequence[ToolCall], provider: Provider) -> Json:
    """Make the message, in *provider*'s format, with which a model gives *text* and *calls*.

    With it, a conversation can go on with a model of another provider.
    """
    return model_message(text, [_call(call, provider) for call in calls], provider)


def _call(call: ToolCall, provider: Provider) -> ToolCallPart:
    tool = call.tool
    if tool is None:
        tool = ToolDefinition(name=call.metadata.sent_name or call.name or "unknown")
    return call_part(tool, call.arguments, provider, id=call.id)


def with_ids(message: Message, ids: Sequence[str], provider: Provider) -> Json:
    """Return *message* in *provider*'s format, but its calls have the ids *ids*, in order.

    This is needed because some servers send no ids, or count the calls of each message from 0.
    """
    numbered = message
    if len(ids) == len(message.calls):
        numbered = message.with_ids(lambda number, _: ids[number])
    return WIRES[provider].write(numbered)[0]
