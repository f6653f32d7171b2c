"""A server's tool written down, and found again among the servers that are connected."""

import json

import pytest
from pydantic import BaseModel, ValidationError

from test_mcp.peers import children, light
from toolbench.core.tool import ToolDefinition
from toolbench.errors import KindError, ToolNotFoundError
from toolbench.mcp import MCPClient, MCPToolDefinition
from toolbench.testing import FakeMCPServer

SECRET = "s3cret-token-value"


def written(tool):
    """What is left of *tool* after a journey through a file."""
    return json.loads(json.dumps(tool.to_dict()))


@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.parametrize("family", [ToolDefinition, MCPToolDefinition])
def test_comes_back_as_the_tool_of_the_connected_server(client, era, family):
    """What comes back can be called, in both eras, whichever class is asked."""
    server = FakeMCPServer("shop", era=era)
    server.answer("price", "3 euros")
    tool = client.connect("shop", server).tool("price")
    again = family.from_dict(written(tool))
    assert again.to_dict() == tool.to_dict()
    assert again({}).text == "3 euros"


def test_comes_back_in_a_pydantic_model(client):
    """A model that has tools as fields loads a server's tool too."""

    class Kit(BaseModel):
        tools: list[ToolDefinition]

    server = FakeMCPServer("shop")
    server.answer("price", "3 euros")
    kit = Kit(tools=[client.connect("shop", server).tool("price")])
    again = Kit.model_validate_json(kit.model_dump_json())
    assert again.tools[0]({}).text == "3 euros"


def test_keeps_the_name_it_has_here(client):
    """A tool that was renamed, as two servers use its name, is the one it was."""
    for name in ("a", "b"):
        server = FakeMCPServer(name)
        server.answer("same", name)
        client.connect(name, server)
    again = ToolDefinition.from_dict(written(client["b_same"]))
    assert (again.name, again({}).text) == ("b_same", "b")


def test_belongs_to_the_server_that_was_connected_last():
    """Of two clients with a server of one name, the later one's is meant; of one left, that."""
    with MCPClient() as first, MCPClient() as second:
        for client, text in ((first, "old"), (second, "new")):
            server = FakeMCPServer("shop")
            server.answer("t", text)
            client.connect("shop", server)
        data = written(first["t"])
        assert ToolDefinition.from_dict(data)({}).text == "new"
        second.sync_close()
        assert ToolDefinition.from_dict(data)({}).text == "old"


def test_starts_no_server_and_says_what_to_do(client):
    """Without its server the tool does not come back: one sentence, and no process."""
    session = client.connect("once", light("once", "t"))
    data = written(session.tool("t"))
    session.close()
    before = children()
    with pytest.raises(ToolNotFoundError, match=r"'once', which is not connected.*%mcp connect"):
        ToolDefinition.from_dict(data)
    assert session.status == "closed"
    assert children() <= before


def test_says_the_same_sentence_in_a_pydantic_model(client):
    """A field that cannot be loaded says what `from_dict` says, and nothing around it."""

    class Kit(BaseModel):
        tool: ToolDefinition

    session = client.connect("once", light("once", "t"))
    data = written(session.tool("t"))
    session.close()
    incomplete = {k: v for k, v in data.items() if k not in ("server", "remote_name")}
    for lost, kind in ((data, ToolNotFoundError), (incomplete, KindError)):
        with pytest.raises(kind) as direct:
            ToolDefinition.from_dict(lost)
        with pytest.raises(ValidationError) as wrapped:
            Kit.model_validate({"tool": lost})
        (problem,) = wrapped.value.errors()
        assert problem["msg"] == f"Value error, {direct.value}"
    assert "'server' and no 'remote_name'" in str(direct.value)


def test_carries_no_configuration(client):
    """Neither the command nor the environment of the server is written down."""
    entry = {**light("once", "t"), "env": {"API_TOKEN": SECRET}}
    text = json.dumps(client.connect("once", entry).tool("t").to_dict())
    assert SECRET not in text
    assert entry["command"] not in text
    assert "light.py" not in text
