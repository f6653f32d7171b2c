"""What an answer by hand agrees to, and who is asked about the calls of a served agent."""

import pytest
from patience import PATIENCE
from test_agent.scripts import call, calls

from test_serving.calling import Caller
from test_serving.test_calls import erase, waiting
from toolbench import history, tool
from toolbench.agent import Agent
from toolbench.llm.models import ScriptedModel
from toolbench.mcp import create_mcp_tools
from toolbench.serving import serve
from toolbench.testing import FakeMCPServer


def delegate(tool, arguments):
    """A tool whose agent calls *tool* once."""
    script = [calls(call(tool.name, arguments)), "Done."]
    return Agent(ScriptedModel(script), [tool]).as_tool()


def test_an_answer_by_hand_agrees_to_no_call_of_the_agent():
    """It ends the served call."""
    by_agent = delegate(erase, {"what": "disk"})
    with serve([by_agent], name="delegated", answer_within=PATIENCE) as served:
        caller = Caller(served, by_agent.name, {"task": "Erase it."})
        waiting(served).answer("I did it.")
        assert caller.result().content[0].text == "I did it."
    assert [run.state for run in history() if run.tool == "erase"] == ["cancelled"]


@pytest.fixture
def buy():
    """A server's tool that does not declare what it changes."""
    server = FakeMCPServer("shop")

    @server.tool
    @tool
    def buy(what: str) -> str:
        """Buy it."""
        return f"{what} is yours"

    with create_mcp_tools(server) as client:
        yield client["buy"]


def test_nobody_there_is_a_no_to_an_undeclared_call_of_the_agent(buy):
    """As to one that the agent outside makes itself."""
    by_agent = delegate(buy, {"what": "disk"})
    with serve([by_agent], name="delegated", answer_within=0.05) as served:
        assert not Caller(served, by_agent.name, {"task": "Buy it."}).result().is_error
    assert [run.state for run in history() if run.tool == "buy"] == ["denied"]


def test_an_answer_by_hand_agrees_to_no_later_call(buy):
    """A yes to an undeclared tool is for the session; this is none."""
    with serve([buy], name="delegated", answer_within=PATIENCE) as served:
        caller = Caller(served, "buy", {"what": "disk"})
        waiting(served).answer("I bought it.")
        assert caller.result().content[0].text == "I bought it."
        caller = Caller(served, "buy", {"what": "house"})
        waiting(served).refuse("Too dear.")
        assert "Too dear." in caller.result().content[0].text
