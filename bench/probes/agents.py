"""The same conversation in ours and in another agent library, in one process: a scripted model calls a tool."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from serving import serve  # isort: skip - makes its parent's modules known

# The OpenHands SDK has no ours beside
sys.path.insert(1, str(Path(__file__).parents[2]))


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


def crowd(conversations: int, steps: int) -> Callable[[], object]:
    """So many of ours at once, each in its own thread."""
    from concurrent.futures import ThreadPoolExecutor

    talks = [ours(steps) for _ in range(conversations)]

    def talk() -> None:
        with ThreadPoolExecutor(conversations) as pool:
            for future in [pool.submit(one) for one in talks]:
                future.result()

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


def openhands(steps: int) -> Callable[[], object]:
    """The same with `TestLLM`, which is made for such tests; nothing of it is kept on disk."""
    from openhands.sdk import Action, Agent, Conversation, Observation, Tool
    from openhands.sdk.event import ActionEvent, ObservationEvent
    from openhands.sdk.llm import Message, MessageToolCall, TextContent
    from openhands.sdk.testing import TestLLM
    from openhands.sdk.tool import ToolDefinition, ToolExecutor, register_tool

    class AddAction(Action):
        a: int
        b: int = 1

    class AddObservation(Observation):
        pass

    class Executor(ToolExecutor[AddAction, AddObservation]):
        def __call__(self, action, conversation=None):
            return AddObservation.from_text(str(action.a + action.b))

    class AddTool(ToolDefinition[AddAction, AddObservation]):
        @classmethod
        def create(cls, conv_state=None, **params):
            made = cls(
                description="Add two numbers.",
                action_type=AddAction,
                observation_type=AddObservation,
                executor=Executor(),
            )
            return [made]

    register_tool("add", AddTool)

    def scripted(step: int) -> Message:
        if step > steps:
            return Message(role="assistant", content=[TextContent(text="Done.")])
        text = json.dumps({"a": step})
        call = MessageToolCall(id=f"c{step}", name="add", arguments=text, origin="completion")
        return Message(role="assistant", content=[], tool_calls=[call])

    def talk() -> None:
        llm = TestLLM.from_messages([*map(scripted, range(1, steps + 2))])
        agent = Agent(llm=llm, tools=[Tool(name="add")], include_default_tools=[])
        with TemporaryDirectory() as folder:
            conversation = Conversation(agent, workspace=folder, visualizer=None)
            conversation.send_message("Count.")
            conversation.run()
            events = conversation.state.events
            for kind in (ActionEvent, ObservationEvent):
                assert sum(isinstance(event, kind) for event in events) == steps
            conversation.close()

    return talk


WORKS = {"toolbench": ours, "pydantic-ai": pydantic_ai, "openhands": openhands}
serve({"talk": lambda by, steps: WORKS[by](steps), "crowd": crowd}, {})
