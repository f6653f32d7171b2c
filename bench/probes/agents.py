"""The same conversation in two agent libraries, in one process: a scripted model calls a tool."""

import json
from collections.abc import Callable

from serving import serve  # isort: skip - makes its parent's modules known


def ours(steps: int) -> Callable[[], object]:
    """A step is an answer with one call, as OpenAI's models send it."""
    from toolbench import Conversation, tool
    from toolbench.agent import Agent
    from toolbench.llm.models import Answer

    @tool(read_only=True)
    def add(a: int, b: int = 1) -> int:
        """Add two numbers."""
        return a + b

    class Scripted:
        name, provider = "scripted", "openai"

        def __init__(self) -> None:
            self.step = 0

        def complete(self, messages, tools=(), *, on_chunk=None, cancel=None):
            self.step += 1
            if self.step > steps:
                return Answer({"role": "assistant", "content": "Done."}, "stop")
            function = {"name": "add", "arguments": json.dumps({"a": self.step})}
            call = {"id": f"c{self.step}", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
            return Answer(message, "tool_calls")

    def talk() -> None:
        agent = Agent(Scripted(), [add], max_steps=steps + 1)
        with Conversation(agent=agent) as conversation:
            conversation.send_message("Count.")
            assert conversation.run() == "answered"
            assert len(conversation.events) == 2 * steps + 3

    return talk


def pydantic_ai(steps: int) -> Callable[[], object]:
    """The same with `FunctionModel`, which is made for such tests."""
    from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart, UsageLimits
    from pydantic_ai.models.function import FunctionModel

    def scripted(messages, info):
        step = len(messages) // 2 + 1
        if step > steps:
            return ModelResponse(parts=[TextPart("Done.")])
        return ModelResponse(parts=[ToolCallPart("add", {"a": step}, f"c{step}")])

    def talk() -> None:
        agent = Agent(FunctionModel(scripted))

        @agent.tool_plain
        def add(a: int, b: int = 1) -> int:
            """Add two numbers."""
            return a + b

        limits = UsageLimits(request_limit=steps + 2)
        result = agent.run_sync("Count.", usage_limits=limits)
        assert result.output == "Done."
        assert len(result.all_messages()) == 2 * steps + 2

    return talk


WORKS = {"toolbench": ours, "pydantic-ai": pydantic_ai}
serve({"talk": lambda by, steps: WORKS[by](steps)}, {})
