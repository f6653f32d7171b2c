"""The answers of a model, and the calls of a conversation, as spans of a timeline."""

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
    ObservationEvent,
    begins_answer,
)
from toolbench.core.tool_names import ToolAddress
from toolbench.display.timeline import MODEL, RUNS, Span, State
from toolbench.llm.models import Usage

if TYPE_CHECKING:
    from toolbench.agent.conversation import Conversation

_LONGEST = 200


def answers_of(conversation: "Conversation") -> Iterator[Span]:
    """Yield the spans of the model's answers in *conversation*, with their tokens and cost."""
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


def calls_of(conversation: "Conversation") -> Iterator[Span]:
    """Yield the spans of the calls of *conversation*, as it keeps them; those of `history()` know more."""
    log = conversation.agent_state.log.after(0)
    addresses = dict[int, ToolAddress]()
    for event in log:
        if isinstance(event, ActionEvent) and event.tool_call.tool is not None:
            addresses[event.id] = ToolAddress.of(event.tool_call.tool)
        if not isinstance(event, ObservationEvent) or event.by_hand:
            continue
        end, key = event.at.timestamp(), f"event:{event.id}"
        if event.run_id is not None:
            key = f"run:{event.run_id}"
        state: State = "ok"
        if event.observation.is_error or event.stopped:
            state = "failed"
        address = addresses.get(event.action_id or 0, ToolAddress("", event.tool_name))
        yield Span(
            RUNS,
            "run",
            event.tool_name,
            end - event.seconds - event.waited,
            end,
            state,
            text=event.stopped,
            key=key,
            tool=address.name,
            server=address.server,
            waited=event.waited,
        )


def _words(event: Event) -> str:
    """Return what the model did with its answer, without secrets."""
    if isinstance(event, ActionEvent):
        return f"calls {event.tool_name}"
    shown = event.visualize
    if isinstance(event, MessageEvent | AgentErrorEvent) and isinstance(shown, Text):
        return shown.plain[:_LONGEST]
    return ""
