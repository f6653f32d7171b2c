"""What scripted models say: messages with calls, in the dialect of each provider."""

import json

from toolbench import Conversation, ToolDefinition, tool
from toolbench.agent import (
    ActionEvent,
    Agent,
    AgentErrorEvent,
    ObservationEvent,
    UserRejectObservation,
)
from toolbench.core.builtins import FinishTool
from toolbench.llm.models import ScriptedModel
from toolbench.llm.payloads import PAYLOADS

ANSWERS = (ObservationEvent, AgentErrorEvent, UserRejectObservation)
PROVIDERS = ("openai", "responses", "anthropic", "gemini")


def call(name, arguments=None, *, id="c1"):
    """A call of an OpenAI message; *arguments* may be text that is no JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return {"id": id, "type": "function", "function": {"name": name, "arguments": text}}


def calls(*calls, text=None):
    """An OpenAI message with *calls*."""
    return {"role": "assistant", "content": text, "tool_calls": list(calls)}


def calls_of(provider, *pairs, text=None):
    """A message with calls, pairs of a name and arguments, in the dialect of *provider*."""
    sent = [
        PAYLOADS[provider](ToolDefinition(name=name), arguments, id=f"c{n}")
        for n, (name, arguments) in enumerate(pairs)
    ]
    match provider:
        case "anthropic":
            parts = [{"type": "text", "text": text}] if text else []
            return {"role": "assistant", "content": [*parts, *sent]}
        case "gemini":
            return {
                "role": "model",
                "parts": [*([{"text": text}] if text else []), *sent],
            }
        case "responses":
            return {"role": "assistant", "output": sent}
    return calls(*sent, text=text)


def of(conversation, kind):
    """The events of *kind*, or one of several kinds."""
    return [event for event in conversation.events if isinstance(event, kind)]


def check_answered(conversation, *, waiting=0):
    """Every call has exactly one answer, but for those that wait; and no answer lacks its call."""
    called = [event.id for event in of(conversation, ActionEvent)]
    answered = [e.action_id for e in of(conversation, ANSWERS) if e.action_id]
    assert len(answered) == len(set(answered))
    assert set(answered) <= set(called)
    assert len(called) - len(answered) == waiting
    ids = {event.id: event.tool_call_id for event in of(conversation, ActionEvent)}
    if conversation.agent.llm.provider != "gemini":  # it sends and gets no ids
        assert len(set(ids.values())) == len(ids)
    for event in of(conversation, ANSWERS):
        if event.action_id:
            assert event.tool_call_id == ids[event.action_id]


def check_sent(messages):
    """Each call in what a model is sent (OpenAI) is followed by its answer, before anything else."""
    open_ids = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == open_ids.pop(0)
        else:
            assert not open_ids
            open_ids = [sent["id"] for sent in message.get("tool_calls", ())]
    assert not open_ids


@tool(read_only=True)
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool(read_only=True)
def fail() -> str:
    """Fail."""
    raise ValueError("the disk is full")


@tool(destructive=True)
def wipe(path: str) -> str:
    """Delete a file."""
    return f"{path} is gone"


def talk(script, tools=(add, fail, wipe, FinishTool), **options):
    """A conversation with a scripted model, in which the user has asked something."""
    model = script if hasattr(script, "complete") else ScriptedModel(script)
    conversation = Conversation(agent=Agent(model, tools, **options))
    conversation.send_message("Do it.")
    return conversation


def sent(conversation, place=-1):
    return conversation.agent.llm.requests[place][0]
