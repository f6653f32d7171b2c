"""Send requests to the model, turn its answers into events, and count their tokens and cost."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from threading import Event as Flag
from threading import Lock
from typing import TYPE_CHECKING, Any

from toolbench.agent.call_round import Round
from toolbench.agent.condenser import LLMSummarizingCondenser
from toolbench.agent.context import Context, with_ids
from toolbench.agent.event_log import EventLog
from toolbench.agent.events import (
    ActionEvent,
    AgentErrorEvent,
    Condensation,
    Event,
    MessageEvent,
    NoticeEvent,
    StopReason,
)
from toolbench.agent.masking import Masking
from toolbench.agent.sent_requests import SentRequest, SentRequests
from toolbench.agent.toolset import Toolset
from toolbench.core.content import Content, ImageContent, TextContent
from toolbench.errors import ModelStoppedError
from toolbench.jsonschema.types import Json
from toolbench.llm.calls import ToolCall, parse_tool_calls
from toolbench.llm.calls.messages import read_message
from toolbench.llm.calls.unread_calls import without_unread
from toolbench.llm.calls.written_calls import unread_call
from toolbench.llm.models import Answer, CancelToken, Usage
from toolbench.llm.models.protocol import Chunk, OnChunk, writes_calls
from toolbench.redaction.redactor import Redactor
from toolbench.runs.exception_text import sentence_of
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.agent.agent import Agent


Row = tuple[int, int | None, int | None, float | None]


class Spending:
    """The tokens and cost of each answer, and their sum.

    Each answer is kept with the number of the event before the answer.
    """

    def __init__(self) -> None:
        """Make a record without answers; the sum is zero."""
        self._entries: list[tuple[int, Usage]] = []
        self._lock = Lock()
        self.total = Usage()
        """The sum of all answers, as far as the models report it."""

    def add(self, usage: Usage, after: int) -> None:
        """Add *usage*, which was spent after the event number *after*."""
        with self._lock:
            self._entries.append((after, usage))
            self.total += usage

    def before(self, event: int) -> "Spending":
        """Return the part of the spending that came before the event with the number *event*."""
        past = Spending()
        for after, usage in tuple(self._entries):
            if after < event:
                past.add(usage, after)
        return past

    def rows(self) -> list[Row]:
        """Return a row for each answer: the number of the event before, tokens in and out, dollars."""
        entries = tuple(self._entries)
        return [(n, u.input_tokens, u.output_tokens, u.cost) for n, u in entries]

    @classmethod
    def of(cls, rows: Iterable[Any]) -> "Spending":
        """Return the spending in *rows*, which the method `rows` made.

        Raises:
            TypeError: If an item is not a row.
            ValueError: If a row does not have four parts.
        """
        spending = cls()
        for after, read, written, cost in rows:
            spending.add(Usage(read, written, cost).checked(), int(after))
        return spending


# --- one request and its answer --------------------------------------------------

REFUSALS = frozenset({400, 413, 415, 422})
"""The HTTP statuses of a request that fails each time it is sent."""
IMAGE_WORDS = re.compile(r"\b(?:images?|image_url|vision|multi-?modal)\b", re.IGNORECASE)
"""Words in the errors of providers that take no images, with any status: llama.cpp sends 500,
OpenRouter 404."""
# Growth of the conversation before a failed condensation is tried again
_GROWTH = 1.1


@dataclass(frozen=True)
class Outcome:
    """The outcome of a request: calls to run, or a reason to stop."""

    calls: Round | None = None
    over: StopReason | None = None
    detail: str = ""
    news: tuple[Event, ...] = ()
    """The new events. Listeners get them after the loop has processed the outcome."""


class Requests:
    """Sends the requests of one conversation to the model, and logs what comes back."""

    def __init__(
        self,
        agent: "Agent",
        toolset: Toolset,
        context: Context,
        log: EventLog,
        redactor: Redactor,
        pass_on: Callable[[Usage], object],
    ) -> None:
        """Send *context* to the model of *agent*, and add events to *log*.

        *pass_on* is called with the tokens and cost of each answer.
        """
        self._pass_on = pass_on
        self._agent = agent
        self._model = agent.llm
        self._toolset = toolset
        self._context = context
        self._log = log
        self._redactor = redactor
        self._masking = Masking(redactor)
        self.spending = Spending()
        self.sent = SentRequests()
        """The requests that were sent."""
        self.on_chunk: OnChunk | None = None
        """Called with each piece of an answer when it arrives."""
        self.wants_condensing = False
        """Whether to summarise the older turns before the next request."""
        self._ids: dict[str, int] = {}
        """The ids of calls, each with the number of calls that had this id so far."""
        self._token: CancelToken | None = None
        self._is_cost_unknown = False
        self._failed_at = 0
        """The number of tokens when condensing failed the last time."""

    def spend(self, usage: Usage | None) -> None:
        """Add the *usage* of any model that works for the conversation."""
        if usage is not None:
            self.spending.add(usage.checked(), self._log.last_id)
            self._pass_on(usage)

    @property
    def usage(self) -> Usage:
        """The tokens and cost of all answers so far, as far as models report them."""
        return self.spending.total

    def interrupt(self) -> None:
        """Stop the running request, if there is one."""
        if (token := self._token) is not None:
            token.cancel("the conversation was interrupted")

    @property
    def offered(self) -> list[Json]:
        """The tools of the next request, in the provider's format."""
        rated = getattr(self._agent.security_analyzer, "asks_the_agent", False)
        offered = self._toolset.offered(self._model.provider, security_risk=rated)
        return [self._masking.offered(tool) for tool in offered]

    def send(self, stopping: Flag) -> Outcome:
        """Ask the model for the next message, and return the outcome.

        If the request fails, an error event is added, and the outcome is a reason to stop.

        Args:
            stopping: If this flag is already set, no request is sent.
        """
        self._token = token = CancelToken()
        try:
            # Set before there was a token to cancel
            if stopping.is_set():
                return Outcome()
            self._condense(token)
            tools = self.offered
            self.sent.add(self._context.growing, self._of(tools))
            answer = self._model.complete(
                self._context.messages, tools, on_chunk=self._pass_piece, cancel=token
            )
            self.sent.answered(answer.usage)
            return self._outcome_of(answer)
        except Exception as error:  # noqa: BLE001 - a model may be a user's code
            if isinstance(error, ModelStoppedError) and token.cancelled:
                return Outcome(over="paused", detail="the request was interrupted")
            return self._without_images(self._failed(sentence_of(error)), error)
        finally:
            self._token = None

    def _without_images(self, outcome: Outcome, error: Exception) -> Outcome:
        """Remove the new images from the context, if the model refused the request because of images."""
        is_refused = getattr(error, "status", None) in REFUSALS
        if not (is_refused or IMAGE_WORDS.search(sentence_of(error))):
            return outcome
        ids = self._context.new_event_ids
        if not (count := self._context.leave_out_images(ids)):
            return outcome
        text = (
            f"Further requests leave out {counted(count, 'image')} that the model did not accept. "
            "The conversation can go on."
        )
        notice = self._log.append(NoticeEvent(text, left_out=ids))
        return replace(outcome, news=(*outcome.news, notice))

    def _pass_piece(self, chunk: Chunk) -> None:
        """Pass *chunk*, a piece of the answer, to `on_chunk`. Add an event if it announces a retry."""
        if chunk.kind == "retry":
            self._log.add(NoticeEvent(self._redactor.text(chunk.text)))
        if self.on_chunk is not None:
            self.on_chunk(chunk)

    def _of(self, tools: list[Json]) -> SentRequest:
        return SentRequest((), tools, self._model.name, self._model.provider)

    def next(self, unread: Sequence[Json], masking: Masking) -> SentRequest:
        """Return the request that would be sent now, with the unread messages.

        Args:
            unread: The messages that were not sent to the model yet.
            masking: Hides the secrets in the messages.
        """
        messages = [*map(masking.message, [*self._context.messages, *unread])]
        return replace(self._of(self.offered), messages=messages)

    def _failed(self, sentence: str) -> Outcome:
        """Add an error event for a request without an answer; the conversation can go on."""
        text = self._redactor.text(sentence)
        event = self._log.append(AgentErrorEvent(None, text))
        return Outcome(over="error", detail=text, news=(event,))

    def _condense(self, token: CancelToken) -> None:
        condenser, turns = self._agent.condenser, self._context.turns
        is_wanted = self.wants_condensing
        if condenser is None and not is_wanted:
            return
        tokens = self._context.tokens
        if not is_wanted and tokens <= _GROWTH * self._failed_at:
            return
        chosen = condenser or LLMSummarizingCondenser(keep_tokens=0)
        try:
            if not (is_wanted or chosen.wants(turns, tokens)):
                return
            self.wants_condensing = False
            summary = chosen.condense(turns, self._model, token)
        except Exception as error:
            # A model and a condenser may be a user's code
            if token.cancelled or is_wanted:
                raise
            self._failed_at = tokens
            text = f"The older part could not be condensed: {sentence_of(error)}"
            self._log.add(NoticeEvent(self._redactor.text(text)))
            return
        if summary is None:
            return
        self._failed_at = 0
        self.spend(summary.usage)
        if not summary.forgotten:
            return
        forgotten = tuple(id_ for turn in summary.forgotten for id_ in turn.event_ids)
        text = self._redactor.text(summary.text)
        event = self._log.append(Condensation(text, forgotten))
        self._context.condense(frozenset(forgotten), text)
        self._log.tell(event)

    def _outcome_of(self, answer: Answer) -> Outcome:
        """Turn *answer* into events: waiting calls, or a message."""
        self.spend(answer.usage)
        tools, is_writing = self._toolset.tools, writes_calls(self._model)
        calls = parse_tool_calls(
            answer.message, tools, provider=self._model.provider, written_calls=is_writing
        )
        unread = unread_call(answer.text)
        kept = without_unread(answer.message, tools.values(), are_written_calls_read=is_writing)
        if kept is not answer.message:
            answer = replace(answer, message=kept)
            calls = [
                replace(call, thought=call.thought and read_message(kept).thought) for call in calls
            ]
        if calls:
            outcome = self._called(answer, calls)
        else:
            outcome = self._message_outcome(answer, unread)
        unknown = self._notice(self._unknown_cost(answer.usage))
        return replace(outcome, news=(*outcome.news, *unknown))

    def _unknown_cost(self, usage: Usage | None) -> str | None:
        """Return a notice if there is a limit, but *usage* has no cost; None later and in other cases."""
        limit, cost = self._agent.max_cost, usage and usage.checked().cost
        if limit is None or cost is not None or self._is_cost_unknown:
            return None
        self._is_cost_unknown = True
        return (
            f"{self._model.name} does not say what its answers cost: max_cost={limit:g} "
            "dollars cannot stop it. max_steps does."
        )

    def _message_outcome(self, answer: Answer, unread: str | None) -> Outcome:
        problem, text, images = answer.problem, answer.text, answer.images
        if not text.strip() and not images:
            return self._failed(problem or "The model answered nothing.")
        content: list[Content] = [TextContent(text=text)] if text.strip() else []
        content += [ImageContent(image_urls=images)] if images else []
        event = self._log.append(
            MessageEvent(
                self._masking.content(content),
                source="agent",
                message=self._masking.message(answer.message),
                response_id=answer.response_id,
            )
        )
        self._context.add([answer.message], [event.id])
        notices = self._notice(problem) + self._notice(unread)
        return Outcome(over="answered", news=(event, *notices))

    def _notice(self, text: str | None) -> list[Event]:
        notice = None if text is None else NoticeEvent(self._redactor.text(text))
        return [] if notice is None else [self._log.append(notice)]

    def _called(self, answer: Answer, calls: list[ToolCall]) -> Outcome:
        provider = self._model.provider
        calls = self._with_unique_ids(calls)
        numbered = with_ids(answer.message, [call.id or "" for call in calls], provider)
        message = self._masking.message(numbered)
        # All of them, or none after an interrupt
        events = self._log.append_all(
            ActionEvent(
                call,
                call.action,
                self._redactor.text(call.thought),
                replace(call.metadata, response_id=answer.response_id),
                message=message if place == 0 else None,
            )
            for place, call in enumerate(calls)
        )
        is_cut = answer.finish_reason == "length"
        notices = self._notice((answer.problem or None) if is_cut else None)
        return Outcome(calls=Round(message, events), news=(*events, *notices))

    def _with_unique_ids(self, calls: list[ToolCall]) -> list[ToolCall]:
        """Return *calls* with ids that are unique in the conversation.

        Gemini identifies calls by their order, so its calls get no new ids.
        """
        if self._model.provider == "gemini":
            return calls
        return [replace(call, id=self._new(call.id or "call")) for call in calls]

    def _new(self, id_: str) -> str:
        number = self._ids.get(id_, 0) + 1
        new = id_ if number == 1 else f"{id_}-{number}"
        while new in self._ids:
            number += 1
            new = f"{id_}-{number}"
        self._ids[id_] = number
        self._ids.setdefault(new, 1)
        return new

    def take(self, id_: str) -> None:
        """Reserve *id_* for a call of the conversation, so that no other call gets this id."""
        self._ids.setdefault(id_, 1)
