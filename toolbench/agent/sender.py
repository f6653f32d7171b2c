"""Send requests to the model, and turn its answers into events."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from toolbench.agent.agent_state import AgentState
from toolbench.agent.call_round import Round
from toolbench.agent.condenser import LLMSummarizingCondenser
from toolbench.agent.events import (
    ActionEvent,
    AgentErrorEvent,
    Condensation,
    Event,
    MessageEvent,
    NoticeEvent,
)
from toolbench.agent.masking import Masking
from toolbench.agent.sent_requests import SentRequest, SentRequests
from toolbench.agent.toolset import Toolset
from toolbench.core.content import Content, ImageContent, TextContent
from toolbench.errors import ModelStoppedError
from toolbench.jsonschema.types import Json
from toolbench.llm.calls import ToolCall, parse_tool_calls
from toolbench.llm.calls.unread_calls import without_unread
from toolbench.llm.calls.written_calls import unread_call
from toolbench.llm.message import Message
from toolbench.llm.models import Answer, CancelToken, Usage
from toolbench.llm.models.model import Chunk, OnChunk, as_answer, with_message, writes_calls
from toolbench.llm.wire import WIRES
from toolbench.redaction.redactor import Redactor
from toolbench.runs.exception_text import sentence_of
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.agent.agent import Agent


REFUSALS = frozenset({400, 413, 415, 422})
"""The HTTP statuses of a request that fails each time it is sent."""
IMAGE_WORDS = re.compile(r"\b(?:images?|image_url|vision|multi-?modal)\b", re.IGNORECASE)
"""Words in the errors of providers that take no images, with any status: llama.cpp sends 500,
OpenRouter 404."""
# Growth of the conversation before a failed condensation is tried again
_GROWTH = 1.1


class Sender:
    """Sends the requests of one conversation to the model, and logs what comes back."""

    def __init__(
        self,
        agent: "Agent",
        toolset: Toolset,
        agent_state: AgentState,
        redactor: Redactor,
        spend: Callable[[Usage | None], object],
    ) -> None:
        """Send the messages of *agent_state* to the model of *agent*, and add the answers to *agent_state*.

        *spend* is called with the tokens and cost of each answer.
        """
        self.agent = agent
        self.model = agent.llm
        self.sent = SentRequests()
        """The requests that were sent."""
        self.on_chunk: OnChunk | None = None
        """Called with each piece of an answer when it arrives."""
        self._toolset = toolset
        self._agent_state = agent_state
        self._log = agent_state.log
        self._context = agent_state.context
        self._redactor = redactor
        self._masking = Masking(redactor)
        self._spend = spend
        self._token: CancelToken | None = None
        self._is_cost_unknown = False
        self._failed_at = 0
        """The number of tokens when condensing failed the last time."""

    def interrupt(self) -> None:
        """Stop the running request, if there is one."""
        if (token := self._token) is not None:
            token.cancel("the conversation was interrupted")

    @property
    def offered(self) -> list[Json]:
        """The tools of the next request, in the provider's format."""
        rated = getattr(self.agent.security_analyzer, "asks_the_agent", False)
        offered = self._toolset.offered(self.model.provider, security_risk=rated)
        return [self._masking.offered(tool) for tool in offered]

    def send(self) -> list[Event]:
        """Ask the model for the next message, and add it to the state: calls to run, or an answer.

        If the request fails, an error event is added, and the work stops. No request is sent if
        a stop is wanted already.

        Returns:
            The new events. The caller then passes them to the listeners.
        """
        agent_state = self._agent_state
        self._token = token = CancelToken()
        try:
            # Set before there was a token to cancel
            if agent_state.stopping.is_set():
                return []
            self._condense(token)
            tools = self.offered
            self.sent.add(self._context.growing, self._of(tools))
            answer = self.model.complete(
                self._context.messages, tools, on_chunk=self._pass_piece, cancel=token
            )
            self.sent.answered(answer.usage)
            if answer.parsed.provider != self.model.provider:
                # A message with text only does not show its provider
                answer = as_answer(answer, self.model.provider)
            return self._take(answer)
        except Exception as error:  # noqa: BLE001 - a model may be a user's code
            if isinstance(error, ModelStoppedError) and token.cancelled:
                agent_state.end("paused", f"the request was interrupted{error.after}")
                return []
            return self._failed(sentence_of(error)) + self._without_images(error)
        finally:
            self._token = None

    def _without_images(self, error: Exception) -> list[Event]:
        """Remove the new images from the context, if the model refused the request because of images."""
        is_refused = getattr(error, "status", None) in REFUSALS
        if not (is_refused or IMAGE_WORDS.search(sentence_of(error))):
            return []
        ids = self._context.new_event_ids
        count = self._context.leave_out_images(ids)
        if not count:
            return []
        text = (
            f"Further requests leave out {counted(count, 'image')} that the model did not accept. "
            "The conversation can go on."
        )
        return [self._log.append(NoticeEvent(text, left_out=ids))]

    def _pass_piece(self, chunk: Chunk) -> None:
        """Pass *chunk*, a piece of the answer, to `on_chunk`. Add an event if it announces a retry."""
        if chunk.kind == "retry":
            self._log.add(NoticeEvent(self._redactor.text(chunk.text)))
        if self.on_chunk is not None:
            self.on_chunk(chunk)

    def _of(self, tools: list[Json]) -> SentRequest:
        return SentRequest((), tools, self.model.name, self.model.provider)

    def next(self, unread: Sequence[Message], masking: Masking) -> SentRequest:
        """Return the request that would be sent now, with the unread messages.

        Args:
            unread: The messages that were not sent to the model yet.
            masking: Hides the secrets in the messages.
        """
        provider = self.model.provider
        messages = [masking.written(message, provider) for message in self._context.messages]
        for message in unread:
            messages += WIRES[provider].write(masking.message(message))
        return replace(self._of(self.offered), messages=messages)

    def _failed(self, sentence: str) -> list[Event]:
        """Add an error event for a request without an answer; the conversation can go on."""
        text = self._redactor.text(sentence)
        event = self._log.append(AgentErrorEvent(None, text))
        self._agent_state.end("error", text)
        return [event]

    def _condense(self, token: CancelToken) -> None:
        condenser, turns = self.agent.condenser, self._context.turns
        is_wanted = self._agent_state.wants_condensing
        if condenser is None and not is_wanted:
            return
        tokens = self._context.tokens
        if not is_wanted and tokens <= _GROWTH * self._failed_at:
            return
        chosen = condenser or LLMSummarizingCondenser(keep_tokens=0)
        try:
            if not (is_wanted or chosen.wants(turns, tokens)):
                return
            self._agent_state.wants_condensing = False
            summary = chosen.condense(turns, self.model, token)
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
        self._spend(summary.usage)
        if not summary.forgotten:
            return
        forgotten = tuple(id_ for turn in summary.forgotten for id_ in turn.event_ids)
        text = self._redactor.text(summary.text)
        event = self._log.append(Condensation(text, forgotten))
        self._context.condense(frozenset(forgotten), text)
        self._log.tell(event)

    def _take(self, answer: Answer) -> list[Event]:
        """Add *answer* to the state, as waiting calls or as a message; return the new events."""
        self._spend(answer.usage)
        tools, is_writing = self._toolset.tools, writes_calls(self.model)
        unread = unread_call(answer.text)
        kept = without_unread(answer.parsed, tools.values(), are_written_calls_read=is_writing)
        calls = parse_tool_calls(
            answer.parsed, tools, provider=self.model.provider, written_calls=is_writing
        )
        if kept is not answer.parsed:
            answer = with_message(answer, kept)
            calls = [replace(call, thought=call.thought and kept.thought) for call in calls]
        if calls:
            events = self._take_calls(answer, calls)
        else:
            events = self._take_message(answer, unread)
        return events + self._notice(self._unknown_cost(answer.usage))

    def _unknown_cost(self, usage: Usage | None) -> str | None:
        """Return a notice if there is a limit, but *usage* has no cost; None later and in other cases."""
        limit, cost = self.agent.max_cost, usage and usage.checked().cost
        if limit is None or cost is not None or self._is_cost_unknown:
            return None
        self._is_cost_unknown = True
        return (
            f"{self.model.name} does not say what its answers cost: max_cost={limit:g} "
            "dollars cannot stop it. max_steps does."
        )

    def _take_message(self, answer: Answer, unread: str | None) -> list[Event]:
        problem, text, images = answer.problem, answer.text, answer.images
        if not text.strip() and not images:
            return self._failed(problem or "The model answered nothing.")
        content: list[Content] = []
        if text.strip():
            content.append(TextContent(text=text))
        if images:
            content.append(ImageContent(image_urls=images))
        event = self._log.append(
            MessageEvent(
                self._masking.content(content),
                source="agent",
                message=self._masking.written(answer.message, self.model.provider),
                response_id=answer.response_id,
            )
        )
        self._agent_state.add_answer(event, answer.parsed)
        return [event, *self._notice(problem), *self._notice(unread)]

    def _notice(self, text: str | None) -> list[Event]:
        if text is None:
            return []
        return [self._log.append(NoticeEvent(self._redactor.text(text)))]

    def _take_calls(self, answer: Answer, calls: list[ToolCall]) -> list[Event]:
        provider = self.model.provider
        # Gemini identifies calls by their order
        if provider != "gemini":
            calls = [replace(call, id=self._agent_state.new_call_id(call.id)) for call in calls]
        said = answer.parsed
        # The calls that are written as text have ids too
        if provider != "gemini" and said.calls:
            said = said.with_ids(lambda number, _: calls[number].id)
        said = self._masking.message(said)
        [message] = WIRES[provider].write(said)
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
        self._agent_state.round = Round(said, events)
        if answer.finish_reason != "length":
            return [*events]
        return [*events, *self._notice(answer.problem or None)]
