"""The requests to the model, and the events that its answers become."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic, time
from typing import Any

from toolbench.agent.agent import Agent
from toolbench.agent.condenser import LLMSummarizingCondenser
from toolbench.agent.context import text_of, tokens_of
from toolbench.agent.events import (
    ActionEvent,
    AgentErrorEvent,
    Condensation,
    Event,
    MessageEvent,
    NoticeEvent,
)
from toolbench.agent.masking import Masking
from toolbench.agent.state import AgentState, message_of
from toolbench.agent.toolset import Toolset
from toolbench.core.content import Content, ImageContent, TextContent
from toolbench.display.css import CELL, REMARK, TABLE, TEXT_COLOR, TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.page import fold, notice, short
from toolbench.errors import ModelStoppedError
from toolbench.jsonschema.types import Json
from toolbench.llm.calls import ToolCall, parse_tool_calls
from toolbench.llm.calls.written_calls import named_schema, unread_call, without_unread
from toolbench.llm.message import Provider, function_of
from toolbench.llm.models import Answer, CancelToken, Usage
from toolbench.llm.models.model import Chunk, OnChunk, as_answer, with_message, writes_calls
from toolbench.llm.models.tracing import answer_of
from toolbench.llm.tokens import definition_tokens
from toolbench.llm.wire import WIRES
from toolbench.redaction.redactor import Redactor
from toolbench.runs.exception_text import sentence_of
from toolbench.wording import counted

REFUSALS = frozenset({400, 413, 415, 422})
"""The HTTP statuses of requests that would fail again if they were repeated."""
IMAGE_WORDS = re.compile(r"\b(?:images?|image_url|vision|multi-?modal)\b", re.IGNORECASE)
"""Words in the errors of providers that do not accept images. Such errors may have any status:
llama.cpp sends 500, OpenRouter 404."""
# Growth of the conversation before a failed condensation is tried again
_GROWTH = 1.1
# Messages, or tools, in a table
_ROWS = 200
# Characters of a message in a row
_BRIEF = 160
# Characters of the exact request that a cell shows
_EXACT = 40_000


# --- what was sent ------------------------------------------------------------------


@dataclass(frozen=True)
class SentRequest:
    """One request as it was sent to the model, with secrets masked."""

    messages: Sequence[Json] = field(repr=False)
    """The messages of the conversation in the provider's format, oldest first."""
    tools: Sequence[Json] = field(repr=False)
    """The tools in the provider's format."""
    model: str = ""
    provider: Provider = "openai"
    usage: Usage | None = None
    """The tokens and cost of the answer, if the model reports them; else None."""

    @property
    def message_tokens(self) -> list[int]:
        """The estimated number of tokens of each message."""
        return [tokens_of(message) for message in self.messages]

    @property
    def tool_tokens(self) -> dict[str, int]:
        """The estimated number of tokens of each tool's definition, by the tool's name.

        The number can differ from the number in a tool's panel, because some providers get another
        name or schema.
        """
        tokens = {}
        for tool in self.tools:
            name = name_of(tool)
            described = str(function_of(tool).get("description", ""))
            _, schema = named_schema(tool)
            tokens[name] = definition_tokens(name, described, schema).tokens
        return tokens

    @property
    def tokens(self) -> int:
        """The estimated number of tokens of the whole request."""
        return sum(self.message_tokens) + sum(self.tool_tokens.values())

    @property
    def cost(self) -> float | None:
        """The cost of the answer in dollars, as the model reports it; None if not known."""
        if self.usage is None:
            return None
        return self.usage.cost

    def to_dict(self) -> dict[str, Any]:
        """Return the request as JSON data."""
        return {
            "model": self.model,
            "provider": self.provider,
            "messages": list(self.messages),
            "tools": list(self.tools),
        }

    @property
    def summary(self) -> str:
        """The size of the request, in a few words."""
        parts = (
            counted(len(self.messages), "message"),
            counted(len(self.tools), "tool"),
            f"about {counted(self.tokens, 'token')}",
        )
        return ", ".join(parts)

    def to_html(self, *, exact: bool = True) -> Html:
        """Return an HTML table of the messages and an HTML table of the tools.

        Args:
            exact: Whether to add the exact request below the tables. It is long.
        """
        rows = []
        for message, tokens in zip(self.messages, self.message_tokens, strict=True):
            rows.append((str(message.get("role", "?")), text_of(message), tokens))
        html = Html(_table("Message", rows) + self.tools_html())
        if exact:
            html = Html(html + self.exact_html())
        return Html(f'<div {NO_MATHS} style="{TEXT_FONT};{TEXT_COLOR}">{html}</div>')

    def tools_html(self) -> Html:
        """Return a table of the tools."""
        rows = []
        for (name, tokens), tool in zip(self.tool_tokens.items(), self.tools, strict=False):
            rows.append((name, str(function_of(tool).get("description", "")), tokens))
        return _table("Tool", rows)

    def exact_html(self) -> Html:
        """Return the exact request, which is long, collapsed."""
        return fold("The exact request", self._exact_html())

    def _exact_html(self) -> Html:
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=1, default=str)
        html = (
            f'<pre {NO_MATHS} tabindex="0" style="max-height:30em;overflow:auto;'
            f'white-space:pre-wrap;overflow-wrap:anywhere">{escape(text[:_EXACT])}</pre>'
        )
        left_out = len(text) - _EXACT
        if left_out > 0:
            note = f"The last {left_out:,} characters are left out: .messages and .tools have them."
            html += notice(note, "neutral")
        return Html(html)

    def __repr__(self) -> str:
        return f"<Request to {self.model}: {self.summary}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.to_html()}


class SentRequests(Sequence[SentRequest]):
    """The requests of one conversation, oldest first, with secrets masked when they are read."""

    def __init__(self, requests: Sequence[SentRequest], masking: Masking) -> None:
        """Wrap *requests*, and use *masking* to mask the secrets in them."""
        self._requests, self._masking = requests, masking

    def __len__(self) -> int:
        return len(self._requests)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        request = self._requests[index]
        hidden = [self._masking.written(m, request.provider) for m in request.messages]
        return replace(request, messages=hidden)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'request')}>"


def name_of(tool: Mapping[str, Any]) -> str:
    """Return the name of *tool*, in any provider's format."""
    return str(function_of(tool).get("name", "?"))


def _table(title: str, rows: Sequence[tuple[str, str, int]]) -> Html:
    if not rows:
        return Html("")
    head = lines = rest = ""
    for word in (title, "Text", "Tokens"):
        head += f'<th scope="col" style="{CELL}">{word}</th>'
    for name, text, tokens in rows[:_ROWS]:
        lines += (
            f'<tr><th scope="row" style="{CELL};font-weight:600;white-space:nowrap">{short(name)}'
            f'</th><td style="{CELL};width:100%">{short(text, _BRIEF)}</td>'
            f'<td style="{CELL};text-align:right">{tokens:,}</td></tr>'
        )
    more = len(rows) - _ROWS
    if more > 0:
        rest = f'<div style="{REMARK}">{more:,} more are left out.</div>'
    return Html(
        f'<table {NO_MATHS} style="{TABLE};width:100%;margin-bottom:8px"><thead><tr>{head}</tr>'
        f"</thead><tbody>{lines}</tbody></table>{rest}"
    )


# --- sending ------------------------------------------------------------------------


class Sender:
    """Sends the requests of one conversation to the model, and logs the answers."""

    def __init__(
        self,
        agent: Agent,
        toolset: Toolset,
        agent_state: AgentState,
        redactor: Redactor,
        spend: Callable[[Usage | None], object],
    ) -> None:
        """Send the messages of *agent_state* to the model of *agent*, and add its answers there.

        *spend* is called with the tokens and cost of each answer.
        """
        self.agent = agent
        self.model = agent.llm
        self.sent: list[SentRequest] = []
        """The requests that were sent, oldest first."""
        self.asked: float | None = None
        """The epoch seconds when the running request was sent; None if no request is running."""
        self.on_chunk: OnChunk | None = None
        """Called with each piece of an answer as it arrives."""
        self._toolset = toolset
        self._agent_state = agent_state
        self._context = agent_state.context
        self._redactor = redactor
        self._masking = Masking(redactor)
        self._spend = spend
        self._token: CancelToken | None = None
        self._is_cost_unknown = False
        self._has_answered = False
        """Whether the model answered in this conversation; copied answers do not count."""
        self._failed_at = 0
        """The number of tokens when condensing last failed."""

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
        """Ask the model for its next message, and add the message or its calls to the state.

        If the request fails, an error event is added, and the work stops. If the user has already
        requested a stop, no request is sent.

        Returns:
            The new events. The caller must pass them to the listeners.
        """
        agent_state = self._agent_state
        self._token = token = CancelToken()
        try:
            # Set before there was a token to cancel
            if agent_state.stopping.is_set():
                return []
            self._condense(token)
            messages, tools = self._context.take_messages(), self.offered
            self._note_sent(messages, tools)
            began, self.asked = monotonic(), time()
            answer = answer_of(
                self.model,
                list(messages),
                tools,
                on_chunk=self._pass_piece,
                cancel=token,
                redactor=self._redactor,
            )
            seconds = monotonic() - began
            self._has_answered = True
            self.sent[-1] = replace(self.sent[-1], usage=answer.usage)
            if answer.parsed.provider != self.model.provider:
                # A message with text only does not show its provider
                answer = as_answer(answer, self.model.provider)
            return self._take(answer, seconds)
        except Exception as error:  # noqa: BLE001 - a model may be a user's code
            if isinstance(error, ModelStoppedError) and token.cancelled:
                agent_state.end("paused", f"the request was interrupted{error.after}")
                return []
            return self._failed(sentence_of(error)) + self._without_images(error)
        finally:
            self._token = self.asked = None

    def _without_images(self, error: Exception) -> list[Event]:
        """Remove images from the context if they may be why the model refused the request.

        Normally, only the new images are removed. All images are removed if the error mentions
        images and this model has not answered yet: perhaps only an earlier model accepted the older
        images.
        """
        is_refused = getattr(error, "status", None) in REFUSALS
        names_images = IMAGE_WORDS.search(sentence_of(error)) is not None
        if not (is_refused or names_images):
            return []
        ids = self._context.new_event_ids
        if names_images and not self._has_answered:
            ids = self._context.event_ids
        count = self._context.leave_out_images(ids)
        if not count:
            return []
        text = (
            f"Further requests leave out {counted(count, 'image')} that the model did not accept. "
            "The conversation can continue."
        )
        return [*self._agent_state.append(NoticeEvent(text, left_out=ids))]

    def _pass_piece(self, chunk: Chunk) -> None:
        """Pass *chunk*, a piece of the answer, to `on_chunk`; add an event for a retry."""
        if chunk.kind == "retry":
            self._agent_state.add(NoticeEvent(self._redactor.text(chunk.text)))
        if self.on_chunk is not None:
            self.on_chunk(chunk)

    def _request(self, messages: Sequence[Json], tools: Sequence[Json]) -> SentRequest:
        return SentRequest(messages, tools, self.model.name, self.model.provider)

    def _note_sent(self, messages: Sequence[Json], tools: Sequence[Json]) -> None:
        # One list of tools for all requests, if they are the same: it may be long
        if self.sent and self.sent[-1].tools == tools:
            tools = self.sent[-1].tools
        else:
            tools = list(tools)
        self.sent.append(self._request(messages, tools))

    def next(self, masking: Masking) -> SentRequest:
        """Return the request that would be sent now, including unread messages.

        Its secrets are masked.
        """
        provider = self.model.provider
        messages = [masking.written(message, provider) for message in self._context.messages]
        for event in tuple(self._agent_state.inbox):
            messages += WIRES[provider].write(masking.message(message_of(event)))
        return self._request(messages, self.offered)

    def _failed(self, sentence: str) -> list[Event]:
        """Add an error event for a request without an answer; the conversation can continue."""
        text = self._redactor.text(sentence)
        events: list[Event] = [*self._agent_state.append(AgentErrorEvent(None, text))]
        self._agent_state.end("error", text)
        return events

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
            self._agent_state.add(NoticeEvent(self._redactor.text(text)))
            return
        if summary is None:
            return
        self._failed_at = 0
        self._spend(summary.usage)
        if not summary.forgotten:
            return
        forgotten = tuple(id_ for turn in summary.forgotten for id_ in turn.event_ids)
        text = self._redactor.text(summary.text)
        self._agent_state.add(Condensation(text, forgotten))

    def _take(self, answer: Answer, seconds: float) -> list[Event]:
        """Add *answer* to the state, as pending calls or as a message; return the new events.

        *seconds* is how long the model took.
        """
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
            events = self._take_calls(answer, calls, seconds)
        else:
            events = self._take_message(answer, unread, seconds)
        return [*events, *self._notice(self._unknown_cost(answer.usage))]

    def _unknown_cost(self, usage: Usage | None) -> str | None:
        """Return a notice that `max_cost` has no effect, if *usage* has no cost; else None.

        The notice is returned only once.
        """
        limit, cost = self.agent.max_cost, usage and usage.checked().cost
        if limit is None or cost is not None or self._is_cost_unknown:
            return None
        self._is_cost_unknown = True
        return (
            f"{self.model.name} does not say what its answers cost: max_cost={limit:g} "
            "dollars cannot stop it. max_steps does."
        )

    def _take_message(self, answer: Answer, unread: str | None, seconds: float) -> list[Event]:
        problem, said = answer.problem, answer.parsed
        if not said.text.strip() and not said.images:
            return self._failed(problem or "The model answered nothing.")
        # A short secret is hidden as a whole word only, and where parts are joined it is none
        said = self._masking.message(said)
        content: list[Content] = []
        if said.text.strip():
            content.append(TextContent(text=said.text))
        if said.images:
            content.append(ImageContent(image_urls=said.images))
        [message] = WIRES[self.model.provider].write(said)
        event = MessageEvent(
            self._masking.content(content),
            source="agent",
            message=message,
            provider=self.model.provider,
            response_id=answer.response_id,
            seconds=seconds,
        )
        events = self._agent_state.append(event, message=said)
        return [*events, *self._notice(problem), *self._notice(unread)]

    def _notice(self, text: str | None) -> list[NoticeEvent]:
        if text is None:
            return []
        return self._agent_state.append(NoticeEvent(self._redactor.text(text)))

    def _take_calls(self, answer: Answer, calls: list[ToolCall], seconds: float) -> list[Event]:
        wire, said = WIRES[self.model.provider], answer.parsed
        if wire.needs_ids:
            calls = [replace(call, id=self._agent_state.new_call_id(call.id)) for call in calls]
            # The calls that are written as text have ids too
            if said.calls:
                said = said.with_ids(lambda number, _: calls[number].id)
        said = self._masking.message(said)
        [message] = wire.write(said)
        actions: list[ActionEvent] = []
        for call in calls:
            thought = call.thought
            if thought and said.calls:
                thought = said.thought
            thought = self._redactor.text(thought)
            metadata = replace(call.metadata, response_id=answer.response_id)
            actions.append(ActionEvent(call, call.action, thought, metadata))
        actions[0] = replace(actions[0], message=message, seconds=seconds)
        events = self._agent_state.append(*actions, message=said)
        if answer.finish_reason != "length":
            return [*events]
        return [*events, *self._notice(answer.problem or None)]
