"""Tools that a server keeps for its app: a person sees them, no model does (MCP Apps, SEP-1865)."""

from contextlib import closing

import pytest
from fastmcp import FastMCP
from mcp.shared.exceptions import MCPError
from test_serving.clients import call, talk

from toolbench import Conversation, ToolDefinition
from toolbench.agent import Agent, check_tools
from toolbench.errors import ToolbenchError
from toolbench.evals import Case, evaluate
from toolbench.llm.formats import to_format
from toolbench.llm.models import Answer
from toolbench.serving import serve


def app_server():
    """A server with a tool for everybody, one for models alone, and one for its app alone."""
    server = FastMCP("dashboard")
    server.tool(lambda: "open", name="show", meta={"ui": {"resourceUri": "ui://d/b"}})
    server.tool(lambda: "new", name="refresh", meta={"ui": {"visibility": ["app"]}})
    server.tool(lambda: "sum", name="report", meta={"ui": {"visibility": ["model"]}})
    return server


class NotingModel:
    """A model that notes the names of the tools it is offered, and answers a word."""

    name, provider = "noting", "openai"

    def __init__(self):
        self.names = []

    def complete(self, messages, tools, *, on_chunk=None, cancel=None):
        """Note and answer."""
        self.names += [tool["function"]["name"] for tool in tools]
        return Answer({"role": "assistant", "content": "done"})


@pytest.fixture
def tools(client):
    """The client of the server."""
    client.connect("dashboard", app_server())
    return client


@pytest.mark.parametrize(
    ("visibility", "callers"),
    [
        (["app"], {"app"}),
        (["model"], {"model"}),
        (["model", "app"], {"model", "app"}),
        ([], set()),
        (["other", 7, None], set()),
        # No list: it says nothing
        ("app", {"model", "app"}),
        (None, {"model", "app"}),
    ],
)
def test_callers_are_read_from_meta(visibility, callers):
    """Unknown names count for nobody, and what is no list is as if it were left out."""
    tool = ToolDefinition(name="t", meta={"ui": {"visibility": visibility}})
    assert tool.callers == callers
    assert tool.is_for_models == ("model" in callers)


@pytest.mark.parametrize("meta", [None, {}, {"ui": None}, {"ui": {}}, {"ui": "app"}])
def test_without_a_word_a_tool_is_for_both(meta):
    """The default of the specification."""
    assert ToolDefinition(name="t", meta=meta).callers == {"model", "app"}


def test_a_person_sees_all(tools):
    """The tools of the client are those of the server."""
    assert [tool.name for tool in tools] == ["show", "refresh", "report"]
    assert tools["refresh"]({}).text == "new"


def test_a_conversation_offers_them_to_no_model(tools):
    """Nor do they count in what is checked for it."""
    model = NotingModel()
    with closing(Conversation(agent=Agent(model, [tools]))) as conversation:
        conversation.send_message("go")
        conversation.run()
    assert model.names == ["show", "report"]
    assert "refresh" not in [problem.tool for problem in check_tools([tools], model)]


def test_an_evaluation_offers_them_to_no_model(tools):
    """Each answer is asked for without them."""
    model = NotingModel()
    evaluate(model, [tools], [Case("go")])
    assert model.names == ["show", "report"]


def test_they_are_served_to_no_agent(tools):
    """Neither listed nor called, even by their name."""
    with closing(serve(list(tools))) as served:
        offer = talk(served, lambda agent: agent.list_tools())
        assert [tool.name for tool in offer] == ["show", "report"]
        with pytest.raises(MCPError, match="no tool called 'refresh'"):
            call(served, "refresh")


@pytest.mark.parametrize("provider", ["openai", "responses", "anthropic", "gemini"])
def test_formats_for_models_refuse_them(provider, tools):
    """The error says how to leave them out; a list for a server is another thing."""
    with pytest.raises(ToolbenchError, match="refresh is not offered to models"):
        to_format(tools["refresh"], provider)
    assert to_format(tools["refresh"], "mcp")["name"] == "refresh"
    assert to_format(tools["report"], provider)


@pytest.mark.parametrize("export", ["to_openai_tool", "to_responses_tool"])
def test_exports_of_a_tool_refuse_them(export, tools):
    """As the formats do."""
    with pytest.raises(ToolbenchError, match=r"tool\.is_for_models"):
        getattr(tools["refresh"], export)()
    assert getattr(tools["show"], export)()
