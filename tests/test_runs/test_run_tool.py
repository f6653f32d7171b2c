"""`run_tool`: validated, run, recorded; what it takes beside the arguments."""

import asyncio
import sys

import pytest

from test_runs import tools
from toolbench import (
    Action,
    Conversation,
    Tool,
    ToolDefinition,
    ToolExecutor,
    history,
    register_tool,
    run_tool,
    run_tools,
)
from toolbench.tools import TerminalTool


class TestRunTool:
    def test_returns_the_observation(self):
        """A tool that works gives its observation, and the Python object in it."""
        assert run_tool(tools.add, {"a": 2}, b=3).result == 5

    def test_says_what_does_not_fit_a_line_each(self):
        """Arguments that do not fit give an error observation with one line per field."""
        observation = run_tool(tools.add, a="many", c=1)
        lines = observation.text.splitlines()
        assert observation.is_error
        assert [line.partition(":")[0] for line in lines[1:]] == ["- a", "- c"]

    def test_keeps_what_went_wrong_from_the_model_but_its_message(self):
        """An executor that raises gives its message; the traceback is for people."""
        observation = run_tool(tools.fail)
        record = history()[-1]
        assert observation.text == "ValueError: the disk is full"
        assert "raise ValueError" in record.traceback
        assert "toolbench/runs" not in record.traceback

    def test_passes_an_interrupt_on(self):
        """Kernel > Interrupt during a cell's run reaches the cell, and is recorded."""

        def interrupted(action):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run_tool(tools.add.set_executor(interrupted), a=1)
        assert history()[-1].state == "cancelled"

    def test_leaves_the_loop_of_its_thread_as_it_was(self):
        """Whenever an interrupt comes while it steps out of the loop and back: else a kernel is dead."""

        async def body():
            loop, task = asyncio.get_running_loop(), asyncio.current_task()
            struck = True
            moment = 0
            while struck:
                moment += 1
                struck = _interrupted_at(moment)
                assert (asyncio.get_running_loop(), asyncio.current_task()) == (loop, task)
            return moment

        assert asyncio.run(body()) > 40

    def test_needs_an_executor(self):
        """A tool that cannot run is wrong use, not a failed run."""
        with pytest.raises(NotImplementedError, match="'add' has no executor"):
            run_tool(tools.add.set_executor(None), a=1)

    def test_takes_a_name_or_a_spec(self, registered):
        """Both stand for the registered tool; a spec with parameters makes one with them."""

        def adders(conv_state=None, first=0):
            return [tools.add.set_executor(lambda action: first + action.a)]

        for name, recipe in {"plus": tools.add, "adder": adders}.items():
            register_tool(name, recipe)
            registered(name)
        spec = Tool(name="plus")
        assert run_tool("plus", a=1, b=2).text == run_tool(spec, a=1, b=2).text == "3"
        assert run_tool(Tool(name="adder", params={"first": 40}), a=2).text == "42"
        assert [o.text for o in run_tools([(spec, {"a": 1})])] == ["2"]

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (tools.add.action_type(a=1), "an action comes second, after its tool"),
            (TerminalTool, r"not a tool but the class TerminalTool: .*\.create\(\)"),
            (len, "make one from the function with @tool"),
            (
                [tools.add],
                r"not a tool but a list: it contains tools, and \[0\] is the first",
            ),
            (7, "not a tool but an int: give the tool itself or its name"),
        ],
    )
    def test_says_what_is_no_tool(self, value, message):
        """One sentence, with what to do; no attribute that somebody would have to look up."""
        with pytest.raises(TypeError, match=message):
            run_tool(value)
        with pytest.raises(TypeError, match=message):
            run_tools([(value, {})])

    def test_takes_a_conversation_by_its_place(self):
        """Its secrets reach the tool, and show neither in what came out nor in the history."""

        class TalkExecutor(ToolExecutor):
            def __call__(self, action, conversation=None):
                key = conversation.state.secrets["KEY"].get_secret_value()
                return f"{key} of {conversation is talk}"

        talk = Conversation(secrets={"KEY": "s3cr3t-value"})
        observation = run_tool(ToolDefinition(name="told", executor=TalkExecutor()), {}, talk)
        assert observation.text == "<secret-hidden> of True"
        assert "s3cr3t-value" not in history().to_json()

    def test_leaves_an_argument_of_that_name_to_the_tool(self):
        """A tool may have an argument that is called `conversation`."""

        class RepeatAction(Action):
            conversation: str

        repeat = ToolDefinition(
            name="repeat",
            action_type=RepeatAction,
            executor=lambda action: action.conversation,
        )
        assert run_tool(repeat, conversation="said").text == "said"
        assert run_tool(repeat, {}, None, conversation="said").text == "said"


def _interrupted_at(moment: int) -> bool:
    """Run a tool with an interrupt before one instruction of those that handle the thread's loop."""
    passed = 0

    def trace(frame, event, arg):
        nonlocal passed
        code = frame.f_code
        if not code.co_filename.endswith("perform.py") or "loop" not in code.co_varnames:
            return None
        frame.f_trace_opcodes = True
        passed += event == "opcode"
        if event == "opcode" and passed == moment:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    # Python 3.12 wants to know of opcodes before settrace
    sys._getframe().f_trace_opcodes = True
    sys.settrace(trace)
    try:
        run_tool(tools.add, a=1)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False
