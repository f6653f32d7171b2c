"""Preset answers are for what their block starts, wherever that goes on, and for nothing else."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from patience import PATIENCE, eventually, join
from test_agent.scripts import call, calls

from toolbench import Conversation, answering, current_run, history, run_tool, tool
from toolbench.agent import Agent
from toolbench.llm.models import ScriptedModel
from toolbench.runs.parallel import run_tools
from toolbench.widgets import ToolPanel
from toolbench.widgets.transcript.conversation_panel import ConversationPanel


@tool
def sign() -> str:
    """Sign it, if somebody agrees."""
    return "signed" if current_run().ask("Sign it?") else "not signed"


@tool
async def sign_later() -> str:
    """Sign it in the background loop."""
    return "signed" if await current_run().ask_async("Sign it?") else "not signed"


@tool
def sign_elsewhere() -> str:
    """Sign it in a thread of its own, and by another tool."""
    run, said = current_run(), []

    def work():
        said.append("signed" if run.ask("Sign it?") else "not signed")

    thread = threading.Thread(target=work)
    thread.start()
    join(thread)
    return said[0]


@tool
def sign_by_another() -> str:
    """Let another tool sign it."""
    return run_tool(sign).text


@tool(destructive=True)
def wipe() -> str:
    """Wipe it."""
    return "wiped"


def talk(*tools, name="sign"):
    agent = Agent(ScriptedModel([calls(call(name)), "Done."]), [*tools])
    conversation = Conversation(agent=agent)
    conversation.send_message("Do it.")
    return conversation


def by_conversation(tool):
    with talk(tool, name=tool.name) as conversation:
        conversation.run()
    return [run for run in history() if run.tool == tool.name][-1].observation.text


def by_delegate(tool):
    inner = Agent(ScriptedModel([calls(call(tool.name)), "Done."]), [tool])
    delegate = inner.as_tool("delegate", "Does it.")
    with Conversation(
        agent=Agent(ScriptedModel([calls(call("delegate", {"task": "Do it."}))]), [delegate])
    ) as c:
        c.send_message("Do it.")
        c.step()
    return history()[0].observation.text


def by_panel(tool):
    panel = ToolPanel(tool)
    run = panel.run()
    assert run.done.wait(PATIENCE)
    panel.close()
    return run.observation.text


def by_conversation_panel(tool):
    panel = ConversationPanel(talk(tool, name=tool.name))
    panel.run()
    eventually(lambda: not panel.is_busy)
    panel.close()
    return history()[0].observation.text


WAYS = {
    "run_tool": lambda tool: run_tool(tool).text,
    "run_tools": lambda tool: run_tools([(tool, {})])[0].text,
    "conversation": by_conversation,
    "delegate": by_delegate,
    "panel": by_panel,
    "conversation panel": by_conversation_panel,
}


@pytest.mark.parametrize(
    "made", [sign, sign_later, sign_elsewhere, sign_by_another], ids=lambda t: t.name
)
@pytest.mark.parametrize("way", WAYS)
def test_are_given_in_each_thread_of_what_the_block_starts(way, made):
    """A run goes on in the loop, in threads, in other runs: its block is the same."""
    with answering(True):
        assert WAYS[way](made) == "signed"


def test_are_not_given_to_what_another_thread_starts():
    """Two conversations, each with the answers of its own block, or with none."""
    with ThreadPoolExecutor(1) as other, answering(True):
        assert other.submit(by_conversation, sign).result(PATIENCE) == "not signed"
        text = other.submit(by_conversation, wipe).result(PATIENCE)
        assert text.startswith("wipe was not run: nobody could be asked")
        assert by_conversation(sign) == "signed"


def slow_signer():
    """Return a tool that signs when told, the event that it has begun, and that which tells it."""
    begun, go_on = threading.Event(), threading.Event()

    @tool
    def sign_slowly() -> str:
        """Sign it, when told."""
        begun.set()
        assert go_on.wait(PATIENCE)
        return sign.function()

    return sign_slowly, begun, go_on


def test_are_not_given_to_a_run_that_began_before():
    """A question that it asks in the block's time is not the block's."""
    sign_slowly, begun, go_on = slow_signer()
    panel = ToolPanel(sign_slowly)
    run = panel.run()
    assert begun.wait(PATIENCE)
    with answering(True):
        go_on.set()
        eventually(lambda: run.state == "waiting")
    panel.close()
    assert run.done.wait(PATIENCE)


def test_go_on_with_a_run_after_the_block():
    """What the block has started keeps its answers."""
    sign_slowly, begun, go_on = slow_signer()
    with answering(True):
        run = ToolPanel(sign_slowly).run()
        assert begun.wait(PATIENCE)
    go_on.set()
    assert run.done.wait(PATIENCE)
    assert run.observation.text == "signed"


def test_of_an_inner_block_come_first():
    """After it, those of the outer block follow."""
    with answering(True, True):
        with answering(False):
            assert [run_tool(sign).text for _ in range(2)] == ["not signed"] * 2
        assert run_tool(sign).text == "signed"


def test_are_taken_once_each():
    """Of two threads in one block, one gets the yes and the other the no."""
    with answering(False, True):
        states = [o.text for o in run_tools([(sign, {})] * 2)]
    assert sorted(states) == ["not signed", "signed"]


def test_end_with_their_block_in_whatever_order():
    """Generators may end their blocks in another order than they began them."""
    yes, no = answering(True, True), answering(False, False)
    yes.__enter__(), no.__enter__()
    yes.__exit__(None, None, None)
    assert run_tool(sign).text == "not signed"
    no.__exit__(None, None, None)
    run_tool(sign)
    assert history()[-1].answers[0].words == "declined: nobody could be asked"
