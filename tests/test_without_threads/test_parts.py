"""The rest of the workbench in a page: lines, models, evals, secrets, and what says that it cannot."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

from toolbench import Conversation, tool
from toolbench.agent import Agent
from toolbench.errors import ModelError, ToolbenchError
from toolbench.evals import Case, evaluate, sweep
from toolbench.llm import ScriptedModel
from toolbench.llm.models import LocalModel
from toolbench.mcp import create_mcp_tools
from toolbench.redaction.matcher import Matcher, merged
from toolbench.tools.browser import BrowserTool
from toolbench.tools.terminal import TerminalTool


@pytest.fixture
def shell():
    """A shell with the lines of toolbench."""
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "toolbench")
    yield shell
    InteractiveShell.clear_instance()


@tool(read_only=True)
def halve(total: float) -> str:
    """Halve a number."""
    return f"{total / 2:g}"


def test_conversation_of_a_model():
    """The model's call runs, and its answer ends the conversation."""
    call = {"name": "halve", "arguments": '{"total": 8}'}
    calls = [{"id": "1", "type": "function", "function": call}]
    first = {"role": "assistant", "content": None, "tool_calls": calls}
    agent = Agent(llm=ScriptedModel([first, "4"]), tools=[halve])
    conversation = Conversation(agent=agent)
    conversation.send_message("Halve 8")
    assert conversation.run() == "answered"
    assert "4" in conversation.to_html()


def test_function_is_a_model():
    """A plain function answers in the thread that asks."""
    report = evaluate(lambda messages, tools: "no call", [halve], [Case("Hello")])
    assert not report.failures


def test_sweep():
    """The calls go one by one."""
    report = sweep(halve, {"total": [2, 4]})
    assert "2 calls, 0 errors" in repr(report)


@pytest.mark.parametrize("kind", [BrowserTool, TerminalTool])
def test_tool_that_cannot_work_says_why(kind):
    """A tool that needs processes or threads is not usable, with the reason."""
    usable = kind.is_usable()
    assert not usable
    assert "page" in str(usable) or "Pyodide" in str(usable)


def test_servers_say_that_they_cannot_be_connected():
    """One sentence, before anything is loaded or started."""
    with pytest.raises(ToolbenchError, match="cannot be connected"):
        create_mcp_tools({"mcpServers": {"a": {"url": "http://localhost:1/"}}})


def test_doctor_says_that_it_cannot_look(shell):
    """The same sentence as that of a connection, not the name of a module that is missing."""
    with pytest.raises(
        ToolbenchError, match="No server can be checked: this Python runs in a page"
    ):
        shell.run_line_magic("mcp", "doctor -- python server.py")


def test_secrets_are_found_without_rust():
    """The search in Python gives the same spans as the automaton, also of overlapping secrets."""
    data = b"the abcabc secret and the ecre"
    assert merged(Matcher([b"abca", b"cabc", b"secret"]).spans(data)) == [(4, 10), (11, 17)]
    assert Matcher([b"abca", b"cabc", b"secret"]).may_occur_in(data)
    assert Matcher([b"secret"]).begun(b"so secr") == 4
    assert not Matcher([b"x"]).may_occur_in(data)


def test_local_model_is_refused():
    """A page has no package to install that would help."""
    with pytest.raises(ModelError, match="RecordedModel"):
        LocalModel()
