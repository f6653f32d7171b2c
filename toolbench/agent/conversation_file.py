"""Save a conversation as a JSONL file, load it, and fork it.

The first line of a file is a header; each other line is an event. Loading and forking work in
the same way: events are copied one by one, and the state applies each event.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, fields, replace
from datetime import datetime
from functools import cache
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter

from toolbench.agent.calls import NOT_ANSWERED, refusal_of, understood, without_lost_secret
from toolbench.agent.context import assistant_message
from toolbench.agent.events import (
    ActionEvent,
    AgentErrorEvent,
    AnswerEvent,
    CallEdit,
    Condensation,
    Event,
    MessageEvent,
    NoticeEvent,
    ObservationEvent,
    StopEvent,
    UserRejectObservation,
    begins_answer,
)
from toolbench.agent.masking import Masking
from toolbench.agent.state import AgentState, Spending
from toolbench.agent.toolset import SearchToolsObservation, Toolset
from toolbench.core.content import Content
from toolbench.core.schema import Observation
from toolbench.core.security import SecurityRisk
from toolbench.errors import KindError, Problem, ToolbenchError
from toolbench.files import write_named
from toolbench.llm.calls import FunctionCallValidationError, ToolCall
from toolbench.llm.calls.tool_call import CallMetadata
from toolbench.llm.message import Message, Provider
from toolbench.llm.models import Model, Usage
from toolbench.llm.read import read_message
from toolbench.llm.wire import WIRES
from toolbench.runs.exception_text import sentence_of
from toolbench.runs.record import kept_of
from toolbench.values import plain

VERSION = 1
_KINDS: Mapping[str, type[Event]] = {
    kind.__name__: kind
    for kind in (
        ActionEvent,
        AgentErrorEvent,
        CallEdit,
        Condensation,
        MessageEvent,
        NoticeEvent,
        ObservationEvent,
        StopEvent,
        UserRejectObservation,
    )
}
_DAMAGE = (
    AttributeError,
    LookupError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
)
"""The exceptions that these functions raise for damaged data."""
_text_or_none: TypeAdapter[str | None] = TypeAdapter(str | None)
_whole_or_none: TypeAdapter[int | None] = TypeAdapter(int | None)
# Beside the fields of an observation
_LIMIT = "max_result_tokens"
_contents: TypeAdapter[list[Content]] = TypeAdapter(list[Content])


# --- writing --------------------------------------------------------------------------


def save(
    agent_state: AgentState,
    path: Path,
    *,
    model: Model,
    working_dir: str,
    masking: Masking,
    overwrite: bool,
) -> None:
    """Write *agent_state* to *path*, completely or not at all. *masking* hides the secrets.

    An earlier save of the same conversation is always replaced, because the new file contains it.

    Raises:
        FileError: If the file has other content and *overwrite* is false, or cannot be written.
    """
    # First the events: a message that is read meanwhile is not saved as unread beside its answer
    events = all_written(agent_state.log.after(0), masking)
    head = {
        "toolbench": "conversation",
        "version": VERSION,
        "model": model.name,
        "provider": model.provider,
        "working_dir": working_dir,
        "usage": asdict(agent_state.spending.total),
        "spent": agent_state.spending.rows(),
        "unread": agent_state.unread,
    }
    lines = [head, *events]
    texts = [json.dumps(_finite(line)) for line in lines]
    overwrite = overwrite or _is_earlier_state(path, texts)
    write_named(path, "".join(f"{text}\n" for text in texts), overwrite=overwrite, is_private=True)


def _is_earlier_state(path: Path, lines: list[str]) -> bool:
    """Tell whether the file at *path* contains the first events of *lines*, and nothing else."""
    try:
        path = path.expanduser()
        # A pipe would wait for somebody who writes
        if not path.is_file():
            return False
        events = path.read_text("utf-8").splitlines()[1:]
    except (OSError, ValueError, RuntimeError):
        # It is no text, or cannot be read; `write_named` says what is wrong
        return False
    return bool(events) and events == lines[1 : len(events) + 1]


def _finite(value: Any) -> Any:
    """Replace numbers that JSON cannot express, such as NaN, with None in *value*."""
    if isinstance(value, float):
        if not isfinite(value):
            return None
    elif isinstance(value, Mapping):
        return {key: _finite(part) for key, part in value.items()}
    elif isinstance(value, list | tuple):
        return [*map(_finite, value)]
    return value


def all_written(events: Iterable[Event], masking: Masking) -> list[dict[str, Any]]:
    """Return *events* as JSON data; *masking* hides their secrets."""
    return [masking.event(written(event)) for event in events]


def written(event: Event) -> dict[str, Any]:
    """Return *event* as JSON data; its `kind` is the name of its class."""
    data: dict[str, Any] = {"kind": type(event).__name__}
    for field in fields(event):
        value = getattr(event, field.name)
        if value not in (None, "", ()) and field.name != "action":
            data[field.name] = _plain(value)
    return data


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return value.isoformat()
        case ToolCall():
            return {
                "id": value.id,
                "name": value.name,
                "arguments": plain(value.arguments),
                "error": None if value.error is None else str(value.error),
                "security_risk": value.security_risk,
                "summary": value.summary,
            }
        case CallMetadata():
            return asdict(value)
        case Observation():
            data = plain(kept_of(value).to_dict())
            if value._max_tokens is not None:
                data[_LIMIT] = value._max_tokens
            return data
        case tuple() | list():
            return [_plain(item) for item in value]
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        value = dump(mode="json")
    return plain(value)


# --- reading --------------------------------------------------------------------------


def workspace_of(path: Path) -> str | None:
    """Return the working directory of the conversation at *path*; None if it no longer exists.

    Raises:
        ToolbenchError: If the file at *path* is not a conversation.
    """
    head = next(_lines(path))
    directory = head.get("working_dir")
    if isinstance(directory, str) and Path(directory).is_dir():
        return directory
    return None


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(chain([file.readline()], file), 1):
                data = _read(line)
                if data is None or (number == 1 and not _is_ours(data)):
                    msg = (
                        f"Line {number} of {str(path)!r} was not written by Conversation.save: "
                        "give the file of a conversation."
                    )
                    raise ToolbenchError(msg)
                yield data
    except (OSError, UnicodeDecodeError) as error:
        msg = f"No conversation can be read from {str(path)!r}: {error}."
        raise ToolbenchError(msg) from error


def _is_ours(head: Mapping[str, Any]) -> bool:
    return head.get("toolbench") == "conversation" and head.get("version") == VERSION


def _read(line: str) -> dict[str, Any] | None:
    with suppress(ValueError, RecursionError):
        data = json.loads(line)
        if isinstance(data, dict):
            return data
    return None


def restore(agent_state: AgentState, toolset: Toolset, path: Path) -> None:
    """Load the conversation at *path* into *agent_state*, so that it can continue.

    The calls are parsed again with the tools of *toolset*, so that pending calls can run.

    Raises:
        ToolbenchError: If the file at *path* is not a conversation, or has a damaged line.
    """
    head, *lines = _lines(path)
    number = 1
    try:
        with suppress(TypeError, ValueError):
            agent_state.spending = _spending(head)
        unread = head.get("unread", ())
        copy = Copy(agent_state, toolset, unread=unread)
        for number, line in enumerate(lines, 2):  # noqa: B007 - the message says where
            copy.add(replace(event_of(line), id=int(line.get("id", 0))))
        copy.end()
        _refuse_lost_secrets(agent_state)
    except _DAMAGE as error:
        msg = (
            f"Line {number} of {str(path)!r} is damaged: {sentence_of(error)} Take the line "
            "out, or give another file."
        )
        raise ToolbenchError(msg) from error


def _spending(head: Mapping[str, Any]) -> Spending:
    """Return the spending in *head*, the first line of a file; old files have only the total."""
    if "spent" in head:
        return Spending.of(head["spent"])
    usage = Usage(**head.get("usage", {}))
    return Spending.of([(0, usage.input_tokens, usage.output_tokens, usage.cost)])


def readable_event_of(data: Any) -> Event:
    """Return the event in *data*, or a notice if the event is damaged."""
    try:
        return event_of(data)
    except _DAMAGE as error:
        return NoticeEvent(f"A damaged event was left out: {sentence_of(error)}")


def event_of(data: Mapping[str, Any]) -> Event:
    """Return the event in *data*, which `written` made; its tool call is not parsed again.

    If the kind is unknown, return a notice.
    """
    kind = _KINDS.get(str(data.get("kind")))
    if kind is None:
        return NoticeEvent(f"An event of kind {data.get('kind')!r} was left out.")
    readers: dict[str, Callable[[Any], Any]] = {
        "at": datetime.fromisoformat,
        "content": _contents.validate_python,
        "observation": _observation,
        "tool_call": lambda call: _tool_call(call, data),
        "metadata": lambda metadata: CallMetadata(**metadata),
        "forgotten": tuple,
        "undone": lambda calls: tuple(map(int, calls)),
        "left_out": lambda events: tuple(map(int, events)),
    }
    values: dict[str, Any] = {}
    for field in fields(kind):
        if field.name in data:
            reader = readers.get(field.name) or _validator(kind.__name__, field.name)
            values[field.name] = reader(data[field.name])
    if issubclass(kind, AnswerEvent):
        values.setdefault("tool_call_id", None)
    return kind(**values)


@cache
def _validator(kind: str, name: str) -> Callable[[Any], Any]:
    """Return a function that validates values for the field *name* of the event class *kind*."""
    adapter: TypeAdapter[Any] = TypeAdapter(get_type_hints(_KINDS[kind])[name])
    return adapter.validate_python


class _SavedCallError(FunctionCallValidationError):
    """The error of a saved call; its only problem contains the whole error message."""

    def __str__(self) -> str:
        return self.problems[0].message


def _tool_call(call: Mapping[str, Any], data: Mapping[str, Any]) -> ToolCall:
    name = str(call.get("name", ""))
    error = None
    if call.get("error"):
        error = _SavedCallError(name, [Problem((), str(call["error"]))])
    risk = None
    if call.get("security_risk") is not None:
        risk = SecurityRisk(call["security_risk"])
    metadata = data.get("metadata") or {"provider": "openai", "sent_name": name}
    return ToolCall(
        id=_text_or_none.validate_python(call.get("id")),
        name=name,
        arguments=dict(call.get("arguments") or {}),
        error=error,
        thought=str(data.get("thought", "")),
        security_risk=risk,
        summary=_text_or_none.validate_python(call.get("summary")),
        metadata=CallMetadata(**metadata),
    )


def _observation(data: Mapping[str, Any]) -> Observation:
    """Return the observation in *data*; a plain `Observation` if its class cannot be loaded."""
    own = {key: value for key, value in data.items() if key != _LIMIT}
    try:
        observation = Observation.from_dict(own)
    except (KindError, ValueError, TypeError):
        bare = {key: data[key] for key in ("content", "is_error") if key in data}
        observation = Observation.model_validate(bare)
    observation._max_tokens = _whole_or_none.validate_python(data.get(_LIMIT))
    return observation


# --- copies of events ---------------------------------------------------------------------


class Copy:
    """Copies events into the state of an agent, one by one.

    Each call is parsed again with the agent's current tools, so that a pending call can run.
    """

    def __init__(
        self,
        agent_state: AgentState,
        toolset: Toolset,
        *,
        unread: Iterable[int] = (),
    ) -> None:
        """Prepare to copy events into *agent_state*: call `add` for each event, then `end`.

        Args:
            agent_state: A state without events.
            toolset: The present tools.
            unread: The event numbers of the messages that were not sent to the model yet.
        """
        self._agent_state, self._toolset = agent_state, toolset
        self._provider = agent_state.context.provider
        self._unread = frozenset(unread)
        self._calls: list[ActionEvent] = []
        """The calls of the message that is being copied, until an event of another kind follows."""
        self._answered: set[int | None] = set()
        self._missing: list[AnswerEvent] = []
        """Answers for calls that had no answer when the next message of the model came."""

    def add(self, event: Event) -> None:
        """Add a copy of *event* to the state; it keeps its number."""
        if isinstance(event, AnswerEvent):
            self._answered.add(event.action_id)
        if begins_answer(event):
            self._close_earlier()
        [event] = self._agent_state.log.append([self._with_id(self._read_again(event))])
        if isinstance(event, ActionEvent):
            self._calls.append(event)
            return
        self._take_calls()
        message = None
        if isinstance(event, MessageEvent) and event.source == "agent":
            message = self._message_of(event, event.text, [])
        elif isinstance(event, AnswerEvent) and isinstance(event.answer, SearchToolsObservation):
            self._toolset.reveal(event.answer.names)
        self._agent_state.apply(event, message)
        self._read()

    def end(self) -> None:
        """Complete the log; calls in the last message that have no answer are then pending."""
        self._take_calls()
        self._read()
        missing = [event for event in self._missing if event.action_id not in self._answered]
        self._agent_state.log.append(missing)

    def _take_calls(self) -> None:
        calls, self._calls = self._calls, []
        if calls:
            called = [call.tool_call for call in calls]
            message = self._message_of(calls[0], calls[0].thought, called)
            for call in calls:
                self._agent_state.apply(call, message)

    def _close_earlier(self) -> None:
        """Answer the calls in the previous message that have no answer, as interrupted."""
        self._take_calls()
        if (current := self._agent_state.round) is not None:
            for call in current.waiting:
                answer = refusal_of(call, NOT_ANSWERED)
                self._missing.append(replace(answer, rejection_source="interrupt"))
                self._agent_state.apply(self._missing[-1])
            self._read()

    def _read(self) -> None:
        """Move messages that the model has already read from the inbox to the context.

        While a call has no answer, do nothing, because messages follow the answers.
        """
        agent_state = self._agent_state
        if agent_state.round is None:
            messages = [*agent_state.inbox]
            agent_state.inbox.clear()
            for event in messages:
                if event.id in self._unread:
                    agent_state.inbox.append(event)
                else:
                    agent_state.read(event)

    def _with_id(self, event: Event) -> Event:
        """Return *event*; a call without an id gets one if the present provider needs ids."""
        if not WIRES[self._provider].needs_ids:
            return event
        if not isinstance(event, ActionEvent) or event.tool_call.id is not None:
            return event
        id_ = self._agent_state.new_call_id(event.tool_call_id)
        return replace(event, tool_call=replace(event.tool_call, id=id_))

    def _message_of(
        self, event: MessageEvent | ActionEvent, text: str, calls: list[ToolCall]
    ) -> Message:
        images: list[str] = []
        if event.message is not None:
            provider = _provider_of(event, event.message)
            if provider == self._provider:
                return WIRES[provider].read(event.message)
            if provider in WIRES:
                images = WIRES[provider].read(event.message).images
        return assistant_message(text, calls, self._provider, images)

    def _read_again(self, event: Event) -> Event:
        if not isinstance(event, ActionEvent | CallEdit):
            return event
        call = event.tool_call
        if call.error is None:
            call = understood(call, self._toolset.tools, self._provider)
        if isinstance(event, ActionEvent):
            return replace(event, tool_call=call, action=call.action)
        return replace(event, tool_call=call)


def _provider_of(event: MessageEvent | ActionEvent, message: Mapping[str, Any]) -> Provider | None:
    """Return the provider in whose format the *message* of *event* was written."""
    provider = None
    if isinstance(event, MessageEvent):
        provider = event.provider
    elif event.metadata is not None:
        provider = event.metadata.provider
    if provider is None:
        return read_message(message).message.provider
    return provider


def _refuse_lost_secrets(agent_state: AgentState) -> None:
    """Set an error on pending calls whose arguments contain the mark for a masked secret."""
    current = agent_state.round
    if current is not None:
        for place, event in enumerate(current.calls):
            if event.id not in current.answers:
                call = without_lost_secret(event.tool_call)
                current.calls[place] = replace(event, tool_call=call, action=call.action)


# --- forks --------------------------------------------------------------------------


def fork(
    agent_state: AgentState, toolset: Toolset, other: AgentState, last: Event | int | None
) -> None:
    """Copy events of the conversation *other* into *agent_state*.

    The last copied event is *last*; if *last* is None, all events are copied. If *last* is one of
    several calls in a message, the other calls of this message are copied too. Calls whose answers
    are not copied are pending.

    Raises:
        ToolbenchError: If *other* has no such event.
    """
    events = other.log.after(0)
    copied = events[: _end_of(events, last)]
    unread = set(other.unread)
    if copied and isinstance(copied[-1], MessageEvent) and copied[-1].source == "user":
        # The model of the fork has not read it
        unread.add(copied[-1].id)
    copy = Copy(agent_state, toolset, unread=unread)
    for event in copied:
        copy.add(event)
    copy.end()
    agent_state.spending = other.spending.before(agent_state.log.last_id)


def _end_of(events: Sequence[Event], last: Event | int | None) -> int:
    """Return how many *events* to copy, up to *last*: an event, or the number of an event."""
    if last is None:
        return len(events)
    number = last.id if isinstance(last, Event) else last
    place = next((n for n, event in enumerate(events) if event.id == number), None)
    if place is None:
        msg = f"There is no event {number!r} in this conversation of {len(events)} events."
        raise ToolbenchError(msg)
    end = place + 1
    if isinstance(events[place], ActionEvent):
        while end < len(events) and isinstance(events[end], ActionEvent):
            if begins_answer(events[end]):
                break
            end += 1
    return end
