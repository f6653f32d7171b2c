"""Chat messages with one call, and how to read them."""

import json

from test_llm.samples import GREP, WRITE
from toolbench.llm.calls import parse_tool_calls

TOOLS = [GREP, WRITE]


def chat(arguments, name="grep", **call):
    """A chat message with one call."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": name, "arguments": text}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": function, **call}],
    }


def one(message, tools=TOOLS, **options):
    """The only call of *message*."""
    (call,) = parse_tool_calls(message, tools, **options)
    return call


def repair_texts(call):
    """The repairs of *call*, as a person reads them."""
    return [str(repair) for repair in call.repairs]
