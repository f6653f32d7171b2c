"""What scripted models say: messages with calls, in the dialect of each provider."""

import json

from toolbench import Conversation, ToolDefinition, tool
from toolbench.agent import Agent
from toolbench.core.builtins import FinishTool
from toolbench.llm.compose import as_call
from toolbench.llm.models import ScriptedModel

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
        as_call(ToolDefinition(name=name), arguments, provider, id=f"c{n}")
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
