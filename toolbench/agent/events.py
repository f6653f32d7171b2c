"""The events of a conversation; each can be shown and saved.

Source of the names: OpenHands SDK, `openhands.sdk.event`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, ClassVar, Literal, Self

from rich.console import RenderableType
from rich.text import Text

from toolbench.core.builtins import FinishAction
from toolbench.core.content import Content, TextContent
from toolbench.core.schema import Action, Observation, redactor_of
from toolbench.display.escape import visible
from toolbench.display.observations import visualized, without_secrets
from toolbench.errors import ended
from toolbench.llm.calls.tool_call import CallMetadata, ToolCall
from toolbench.llm.message import Provider
from toolbench.redaction.detect import Secrecy, hide
from toolbench.redaction.known import remembered
from toolbench.redaction.redactor import NO_SECRETS, Redactor
from toolbench.runs.record import STATE_WORDS
from toolbench.runs.unfinished_observation import UnfinishedObservation
from toolbench.values import clip
from toolbench.wording import CROSS, counted

Speaker = Literal["user", "agent", "environment"]
"""The sender of a message; "environment" is the workbench itself."""

StopReason = Literal["answered", "finished", "max_steps", "repeated", "max_cost", "paused", "error"]
"""Why `run` stopped; `Conversation.run` explains each reason."""

_STOPS: Mapping[StopReason, str] = {
    "answered": "The model has answered",
    "finished": "The conversation is finished",
    "max_steps": "Stopped at the limit of steps",
    "repeated": "Stopped, because the model made the same call three times in a row",
    "max_cost": "Stopped at the limit of cost",
    "paused": "Paused",
    "error": "Stopped by an error",
}
# Characters of a call's arguments in a line
_MAX_ARGUMENTS_TEXT = 500
_SPEAKERS: Mapping[Speaker, str] = {
    "user": "User: ",
    "agent": "Model: ",
    "environment": "Workbench: ",
}


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True, repr=False)
class Event:
    """Something that happened in a conversation, such as a message, a call or its answer.

    Examples:
        >>> from toolbench import Conversation
        >>> from toolbench.agent import Agent
        >>> from toolbench.llm import ScriptedModel
        >>> with Conversation(agent=Agent(ScriptedModel(["Good morning."]))) as conversation:
        ...     conversation.send_message("Hello")
        ...     reason = conversation.run()
        >>> [(event.id, type(event).__name__) for event in conversation.events]
        [(1, 'MessageEvent'), (2, 'MessageEvent'), (3, 'StopEvent')]
    """

    id: int = 0
    """The number of the event in the conversation, from 1."""
    at: datetime = field(default_factory=_now, compare=False)

    @property
    def visualize(self) -> RenderableType:
        """The event as the user sees it; any Rich renderable."""
        return Text(type(self).__name__)

    # Hides the secrets of the conversation
    _redactor: ClassVar[Redactor] = NO_SECRETS

    def _hiding(self, redactor: Redactor) -> Self:
        """Return this event; from now on, its views also mask the secrets of *redactor*."""
        object.__setattr__(self, "_redactor", redactor)
        return self

    @property
    def _known(self) -> Redactor:
        """The redactor for secrets of the conversation and of all runs, which models may repeat."""
        return self._redactor.joined(remembered.redactor)

    def _hidden(self, text: str) -> str:
        return self._known.text(text)

    def _safe_text(self, text: str) -> str:
        """Return *text* for the user, with secrets masked and control characters made visible."""
        return visible(self._hidden(text))

    def _brief(self, arguments: Any) -> str:
        """Return the start of *arguments*, with secrets masked first: a cut may split them."""
        return visible(clip(self._known.value(arguments), _MAX_ARGUMENTS_TEXT))

    def __repr__(self) -> str:
        pairs = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
        return self._hidden(f"{type(self).__name__}({', '.join(pairs)})")


@dataclass(frozen=True, repr=False)
class MessageEvent(Event):
    """A message from the user, from the model (text without calls), or from toolbench itself.

    Examples:
        >>> from toolbench import Conversation
        >>> from toolbench.agent import Agent, MessageEvent
        >>> from toolbench.llm import ScriptedModel
        >>> with Conversation(agent=Agent(ScriptedModel(["Berlin."]))) as conversation:
        ...     conversation.send_message("The capital of Germany?")
        ...     reason = conversation.run()
        >>> messages = [event for event in conversation.events if isinstance(event, MessageEvent)]
        >>> [(message.source, message.text) for message in messages]
        [('user', 'The capital of Germany?'), ('agent', 'Berlin.')]
    """

    content: Sequence[Content]
    source: Speaker = field(default="user", kw_only=True)
    message: Mapping[str, Any] | None = field(default=None, repr=False, kw_only=True)
    """For a message of the model: the message in its provider's format."""
    provider: Provider | None = field(default=None, kw_only=True)
    """The provider of `message`. In old files it is None: the format then shows the provider."""
    response_id: str | None = field(default=None, kw_only=True)
    seconds: float | None = field(default=None, kw_only=True, compare=False)
    """For a message of the model: how many seconds the model took; None if unknown."""
    undone: tuple[int, ...] = field(default=(), kw_only=True)
    """For a message of the workbench: the numbers of the calls whose edits were undone."""

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return "".join(c.text for c in self.content if isinstance(c, TextContent))

    @property
    def is_exit(self) -> bool:
        """Whether the message is `/exit`, which ends the conversation."""
        return self.text.strip() == "/exit"

    @property
    def visualize(self) -> RenderableType:
        """The sender and the text."""
        images = sum(len(c.image_urls) for c in self.content if c.type == "image")
        text = Text.assemble((_SPEAKERS[self.source], "bold"), self._safe_text(self.text))
        if images:
            text.append(f" [{counted(images, 'image')}]", style="dim")
        return text


@dataclass(frozen=True, repr=False)
class ActionEvent(Event):
    """A tool call of the model. Exactly one `AnswerEvent` for this call follows.

    Examples:
        >>> from toolbench import Conversation, tool
        >>> from toolbench.agent import Agent
        >>> from toolbench.llm import ScriptedModel, as_openai_call
        >>> @tool
        ... def roll(sides: int = 6) -> int:
        ...     "Roll a die."
        ...     return sides
        >>> message = {"role": "assistant", "tool_calls": [as_openai_call(roll, {"sides": 20})]}
        >>> with Conversation(agent=Agent(ScriptedModel([message]), [roll])) as conversation:
        ...     conversation.send_message("Roll a die with 20 sides.")
        ...     event = conversation.ask()[-1]
        ...     event.tool_name, event.shown_arguments
        ('roll', {'sides': 20})
    """

    tool_call: ToolCall
    action: Action | None = None
    """The action that runs; None if the call is not valid."""
    thought: str = ""
    """The text that the model wrote before its calls; only the event of the first call has it."""
    metadata: CallMetadata | None = None
    """The id of the response, its number of calls, and the index of this call."""
    message: Mapping[str, Any] | None = field(default=None, repr=False, kw_only=True)
    """The model's message in its provider's format; only the event of the first call has it."""
    seconds: float | None = field(default=None, kw_only=True, compare=False)
    """The seconds that the model took to answer; only the event of the first call has them."""

    @property
    def tool_call_id(self) -> str:
        """The id that the provider gave the call, or else one made from the event's number."""
        return self.tool_call.id or f"call-{self.id}"

    @property
    def tool_name(self) -> str:
        """The name of the called tool."""
        return self.tool_call.name

    @property
    def visualize(self) -> RenderableType:
        """The thought and the call."""
        text = Text()
        if self.thought:
            text.append(f"{self._safe_text(self.thought)}\n")
        action: Any = self._known.value(self.action)
        if isinstance(action, Action):
            renderable = visualized(action)
            if isinstance(renderable, Text):
                text.append(f"{self.tool_name}: ", style="bold magenta")
                return text.append_text(renderable)
            if not isinstance(renderable, str):
                return renderable
        return text.append(visible(self.tool_name), style="bold magenta").append(
            f" {self._brief(self.shown_arguments)}"
        )

    @property
    def shown_arguments(self) -> dict[str, Any]:
        """The arguments with the tool's secrets masked."""
        return arguments_without_secrets(self.tool_call)


@dataclass(frozen=True, repr=False)
class CallEdit(Event):
    """A change by the user to the arguments of a pending call; the model's message is unchanged."""

    tool_call: ToolCall
    """The call with the new arguments."""
    action_id: int = field(default=0, kw_only=True)
    """The number of the `ActionEvent` whose arguments are changed."""

    @property
    def shown_arguments(self) -> dict[str, Any]:
        """The new arguments with the tool's secrets masked."""
        return arguments_without_secrets(self.tool_call)

    @property
    def visualize(self) -> RenderableType:
        """The new arguments."""
        return Text.assemble(
            ("edited: ", "bold yellow"),
            f"{visible(self.tool_call.name)} {self._brief(self.shown_arguments)}",
        )


def arguments_without_secrets(call: ToolCall) -> dict[str, Any]:
    """Return the arguments of *call* with its tool's secrets masked."""
    schema = call.tool.input_schema if call.tool else {}
    masked: dict[str, Any] = hide(call.arguments, schema)
    return masked


@dataclass(frozen=True, repr=False)
class AnswerEvent(Event):
    """The base class of events that answer a call; each call gets exactly one."""

    tool_call_id: str | None

    action_id: int | None = field(default=None, kw_only=True)
    """The number of the `ActionEvent` that this event answers; None if it answers no call."""
    tool_name: str = field(default="", kw_only=True)

    @property
    def answer(self) -> Observation:
        """The observation for the model."""
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class ObservationEvent(AnswerEvent):
    """The result of a call, which came from the tool or was written by the user.

    Examples:
        >>> from toolbench import Conversation, tool
        >>> from toolbench.agent import Agent
        >>> from toolbench.llm import ScriptedModel, as_openai_call
        >>> @tool
        ... def stock(sku: int) -> int:
        ...     "Count the items of a product in stock."
        ...     return 7
        >>> message = {"role": "assistant", "tool_calls": [as_openai_call(stock, {"sku": 12})]}
        >>> with Conversation(agent=Agent(ScriptedModel([message]), [stock])) as conversation:
        ...     conversation.send_message("How many of product 12 are left?")
        ...     event = conversation.step()[-1]
        ...     event.tool_name, event.observation.text, event.by_hand
        ('stock', '7', False)
    """

    observation: Observation = field(default_factory=Observation)
    run_id: int | None = field(default=None, kw_only=True)
    """The number of the run in `history()`."""
    seconds: float = field(default=0.0, kw_only=True, compare=False)
    """The seconds that the tool worked, without `waited`."""
    waited: float = field(default=0.0, kw_only=True, compare=False)
    """The seconds for which the call waited for the user."""
    stopped: str = field(default="", kw_only=True)
    """Why the call was stopped early, such as `interrupted`; empty if it was not."""
    version: str = field(default="", kw_only=True)
    """The version label of the tool, or of its server, if there is one."""
    by_hand: bool = field(default=False, kw_only=True)
    """Whether the user answered instead of the tool, which did not run."""

    @property
    def answer(self) -> Observation:
        """The observation."""
        return self.observation

    @property
    def visualize(self) -> RenderableType:
        """The observation as its class shows it, with secrets masked."""
        return visualized(without_secrets(self.observation))


@dataclass(frozen=True, repr=False)
class AgentErrorEvent(AnswerEvent):
    """An error, because a call could not run or a request to the model got no answer.

    Examples:
        >>> from toolbench import Conversation, tool
        >>> from toolbench.agent import Agent
        >>> from toolbench.llm import ScriptedModel, as_openai_call
        >>> @tool
        ... def stock(sku: int) -> int:
        ...     "Count the items of a product in stock."
        ...     return 7
        >>> call = as_openai_call(stock, {"sku": "twelve"})
        >>> model = ScriptedModel([{"role": "assistant", "tool_calls": [call]}])
        >>> with Conversation(agent=Agent(model, [stock])) as conversation:
        ...     conversation.send_message("How many of product 12 are left?")
        ...     print(conversation.step()[-1].error)
        The call of 'stock' was not run, 1 problem with its arguments:
        - sku: should be an integer, not "twelve"
        Correct this and send the whole call again.
    """

    error: str = ""

    @property
    def answer(self) -> Observation:
        """The error as an observation for the model."""
        return Observation.from_text(self.error, is_error=True)

    @property
    def visualize(self) -> RenderableType:
        """The error sentence."""
        return Text.assemble((f"{CROSS} ", "bold red"), self._safe_text(self.error))


@dataclass(frozen=True, repr=False)
class UserRejectObservation(AnswerEvent):
    """The answer to a call that was interrupted, or that the user or the policy refused.

    Examples:
        >>> from toolbench import Conversation, tool
        >>> from toolbench.agent import Agent
        >>> from toolbench.llm import ScriptedModel, as_openai_call
        >>> @tool(destructive=True)
        ... def drop_table(name: str) -> str:
        ...     "Drop a table."
        ...     return "dropped"
        >>> call = as_openai_call(drop_table, {"name": "users"})
        >>> model = ScriptedModel([{"role": "assistant", "tool_calls": [call]}])
        >>> with Conversation(agent=Agent(model, [drop_table])) as conversation:
        ...     conversation.send_message("Drop the old table.")
        ...     events = conversation.ask()
        ...     conversation.reject_pending("Not that one.")
        >>> conversation.events[-1].reason
        'Not that one.'
    """

    reason: str = ""
    rejection_source: Literal["user", "interrupt"] = "user"

    @property
    def answer(self) -> Observation:
        """The reason as an observation for the model."""
        return UnfinishedObservation.from_text(self.reason)

    @property
    def visualize(self) -> RenderableType:
        """The reason."""
        return Text.assemble((f"{self.state_words}: ", "bold yellow"), self._safe_text(self.reason))

    @property
    def state_words(self) -> str:
        """How the call ended, in words."""
        if self.rejection_source == "user":
            return STATE_WORDS["denied"]
        return STATE_WORDS["cancelled"]


@dataclass(frozen=True, repr=False)
class Condensation(Event):
    """A summary that the model gets instead of older events. The user still sees the events.

    Examples:
        >>> from toolbench.agent import Condensation
        >>> from rich import print
        >>> event = Condensation("The user said hello.", forgotten=(1, 2))
        >>> print(event.visualize)
        Condensed 2 events: The user said hello.
    """

    summary: str
    forgotten: tuple[int, ...] = ()
    """The numbers of the replaced events, which are no longer sent to the model."""

    @property
    def visualize(self) -> RenderableType:
        """The number of replaced events, and the summary."""
        head = f"Condensed {counted(len(self.forgotten), 'event')}: "
        return Text.assemble((head, "bold dim"), (self._safe_text(self.summary), "dim"))


@dataclass(frozen=True, repr=False)
class NoticeEvent(Event):
    """A note for the user about something that was done automatically, such as retrying a call.

    Examples:
        >>> from rich import print
        >>> from toolbench.agent import NoticeEvent
        >>> print(NoticeEvent("fetch failed (network); it is tried again after 0.5 s.").visualize)
        fetch failed (network); it is tried again after 0.5 s.
    """

    text: str
    left_out: tuple[int, ...] = field(default=(), kw_only=True)
    """The numbers of the events whose images are no longer sent to the model."""

    @property
    def visualize(self) -> RenderableType:
        """The text of the note."""
        return Text(self._safe_text(self.text), style="dim")


@dataclass(frozen=True, repr=False)
class StopEvent(Event):
    """The reason why `run` stopped.

    Examples:
        >>> from toolbench import Conversation
        >>> from toolbench.agent import Agent
        >>> from toolbench.llm import ScriptedModel
        >>> with Conversation(agent=Agent(ScriptedModel(["Done."]))) as conversation:
        ...     conversation.send_message("Clean up.")
        ...     reason = conversation.run()
        >>> conversation.events[-1].reason
        'answered'
    """

    reason: StopReason
    detail: str = ""

    @property
    def visualize(self) -> RenderableType:
        """The reason and its details."""
        words = _STOPS.get(self.reason, "Stopped")
        if self.detail:
            words += f": {self._safe_text(self.detail)}"
        return Text(ended(words), style="dim")


def begins_answer(event: Event) -> bool:
    """Tell whether *event* is the first event of an answer of the model."""
    if isinstance(event, MessageEvent):
        return event.source == "agent"
    if not isinstance(event, ActionEvent):
        return False
    return event.metadata is None or event.metadata.index == 0


def final_text_of(events: Sequence[Event]) -> str:
    """Return the model's last text, or the message of its finish call; "" if there is neither."""
    for event in reversed(events):
        if isinstance(event, MessageEvent) and event.source == "agent":
            return event.text
        if isinstance(event, ActionEvent) and isinstance(event.action, FinishAction):
            return event.action.message
    return ""


def result_of(events: Sequence[Event], name: str | None) -> Observation:
    """Return the last observation of the tool *name*, or of any tool if *name* is None.

    Raises:
        LookupError: If there is no such observation.
    """
    for event in reversed(events):
        if isinstance(event, ObservationEvent) and name in (None, event.tool_name):
            return event.observation
    what = "No tool"
    if name is not None:
        what = f"No tool called {name!r}"
    msg = f"{what} has answered in this conversation yet."
    raise LookupError(msg)


def secrets_in(events: Sequence[Event]) -> set[str]:
    """Return the secrets in the calls of *events*, and the secrets that are masked in results."""
    secrets: set[str] = set()
    for event in events:
        if isinstance(event, ActionEvent | CallEdit):
            tool = event.tool_call.tool
            secrecy = tool.secrecy if tool else Secrecy({})
            secrets.update(secrecy.secrets_in(event.tool_call.arguments))
        elif isinstance(event, ObservationEvent):
            # And the secrets of delegated tasks
            secrets.update(redactor_of(event.observation).secrets)
    return secrets
