"""Timeline spans for the answers of a model in a conversation."""

from collections import defaultdict
from collections.abc import Iterator
from time import time
from typing import TYPE_CHECKING

from rich.text import Text

from toolbench.agent.events import (
    ActionEvent,
    AgentErrorEvent,
    Event,
    MessageEvent,
    begins_answer,
)
from toolbench.display.timeline import MODEL, Span, State
from toolbench.llm.models import Usage
from toolbench.runs.history import history

if TYPE_CHECKING:
    from toolbench.agent.conversation import Conversation

_LONGEST = 200


def answers_of(conversation: "Conversation") -> Iterator[Span]:
    """Yield a span for each answer of the model in *conversation*, with its tokens and cost."""
    state, sender = conversation.agent_state, conversation.sender
    usages = defaultdict[int, Usage](Usage)
    for after, read, written, cost in state.spending.rows():
        # An answer is added to the log as soon as it is paid for
        usages[after + 1] += Usage(read, written, cost)
    for event in state.log.after(0):
        is_failure = isinstance(event, AgentErrorEvent) and event.action_id is None
        if not (is_failure or begins_answer(event)):
            continue
        outcome: State = "ok"
        if is_failure:
            outcome = "failed"
        usage, tokens = usages[event.id], None
        if usage.input_tokens is not None or usage.output_tokens is not None:
            tokens = (usage.input_tokens or 0) + (usage.output_tokens or 0)
        end = event.at.timestamp()
        yield Span(
            MODEL,
            "answer",
            sender.model.name,
            end - (getattr(event, "seconds", None) or 0.0),
            end,
            outcome,
            text=_words(event),
            key=f"event:{event.id}",
            tokens=tokens,
            cost=usage.cost,
        )
    if (asked := sender.asked) is not None:
        yield Span(MODEL, "answer", sender.model.name, asked, time(), "open")


def spans_of_conversation(conversation: "Conversation") -> Iterator[Span]:
    """Yield spans for the model's answers, the runs of tools, and the questions in these runs."""
    yield from answers_of(conversation)
    yield from history().spans(conversation)


def _words(event: Event) -> str:
    """Describe in a few words what the model answered in *event*, without secrets."""
    if isinstance(event, ActionEvent):
        return f"calls {event.tool_name}"
    shown = event.visualize
    if isinstance(event, MessageEvent | AgentErrorEvent) and isinstance(shown, Text):
        return shown.plain[:_LONGEST]
    return ""
