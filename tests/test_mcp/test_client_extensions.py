"""Extensions of the protocol that a connection is given: declared, heard and used."""

from typing import Literal

import pytest
from fastmcp import FastMCP
from fastmcp.server.extensions import MethodBinding, ServerExtension
from mcp.client.extension import ClientExtension, ResultClaim, advertise
from mcp_types import CallToolResult, RequestParams, Result, TextContent
from pydantic import Field

from test_mcp.peers import scripted
from toolbench.errors import ToolbenchError
from toolbench.mcp import create_mcp_tools

NAME = "com.example/receipts"
TOOLS = [{"name": "t", "inputSchema": {"type": "object"}}]


class Receipt(Result):
    result_type: Literal["receipt"] = Field(alias="resultType")
    number: int


class Receipts(ClientExtension):
    """Turns the receipt of a call into its result."""

    identifier = NAME

    def claims(self):
        return [ResultClaim(result_type="receipt", model=Receipt, resolve=self.read)]

    async def read(self, receipt, context):
        text = f"{context.tool_name} has the number {receipt.number}"
        return CallToolResult(content=[TextContent(type="text", text=text)])


def modern(path):
    """A server of the newer protocol that answers a call with a receipt."""
    complete = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    discovered = {
        "supportedVersions": ["2026-07-28"],
        "serverInfo": {"name": "s", "version": "1"},
        "capabilities": {"tools": {}},
        **complete,
    }
    return {
        **scripted(
            path,
            {
                "server/discover": [{"result": discovered}],
                "tools/list": [{"result": {"tools": TOOLS, **complete}}],
                "tools/call": [{"result": {"resultType": "receipt", "number": 7}}],
            },
        ),
        "mode": "auto",
    }


def declared(session):
    """The texts of the requests in which extensions are declared."""
    return [m.text for m in session.traffic.find(direction="sent") if NAME in m.text]


def test_a_claimed_result_is_what_the_extension_makes_of_it(client, tmp_path):
    """The server is told of the extension; its own kind of result is read by it."""
    entry = modern(tmp_path / "script")
    session = client.connect("s", entry, extensions=[Receipts()])
    assert session.era == "modern"
    assert session.call("t").text == "t has the number 7"
    assert declared(session)
    plain = client.connect("plain", entry)
    assert "t has the number" not in plain.call("t").text
    assert declared(plain) == []


def test_all_connections_of_a_client_have_its_extensions():
    """A server can look whether a request declares one; a method of it is answered."""

    class Params(RequestParams):
        pass

    class Server(ServerExtension):
        identifier = NAME

        def methods(self):
            return [MethodBinding("receipts/count", Params, self.count)]

        async def count(self, context, params):
            return {"count": 3}

    server = FastMCP("shop")
    server.add_extension(Server())
    with create_mcp_tools(server, extensions=[advertise(NAME)]) as client:
        session = client.servers["shop"]
        assert NAME in session.capabilities["extensions"]
        assert declared(session)
        session.reconnect()
        assert len(declared(session)) > 1


@pytest.mark.parametrize(
    ("extensions", "message"),
    [
        ([object()], "is not an extension of MCP"),
        ([Receipts(), Receipts()], f"'{NAME}' is there twice"),
    ],
    ids=["an object", "two of a name"],
)
def test_a_wrong_extension_is_refused_before_anything_is_started(client, extensions, message):
    """The sentence says what was given; there is no failed session."""
    with pytest.raises(ToolbenchError, match=message):
        client.connect("s", FastMCP("x"), extensions=extensions)
    assert not client.servers
