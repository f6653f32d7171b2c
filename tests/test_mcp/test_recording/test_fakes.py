"""A fake that is made of a recording offers and answers what the server did."""

import json

import pytest

from test_mcp.test_recording.recorded_shop import recorded
from toolbench.errors import ServerError
from toolbench.mcp import create_mcp_tools
from toolbench.testing import FakeMCPServer


def _written(path, exchanges):
    """A recording of requests and what they were answered."""
    start = {"format": "toolbench-recording", "version": 1}
    frames = [("start", start), ("connect", {"transport": "stdio", "mode": "auto"})]
    for number, (method, params, answer) in enumerate(exchanges):
        head = {"jsonrpc": "2.0", "id": number}
        frames.append(("sent", {**head, "method": method, "params": params}))
        frames.append(("received", {**head, **answer}))
    path.write_text(
        "".join(
            json.dumps({"at": 1, "direction": d, "server": "n", "message": m}) + "\n"
            for d, m in frames
        )
    )
    return path


FRAMES = [
    (
        "server/discover",
        {},
        {"result": {"supportedVersions": ["2026-07-28"], "capabilities": {}}},
    ),
    ("tools/list", {}, {"result": {"tools": []}}),
    ("resources/list", {}, {"result": {"resources": [{"uri": "x://a", "name": "a"}]}}),
    (
        "resources/templates/list",
        {},
        {"result": {"resourceTemplates": [{"uriTemplate": "x://{n}", "name": "n"}]}},
    ),
    ("prompts/list", {}, {"result": {"prompts": [{"name": "greet"}]}}),
    (
        "resources/read",
        {"uri": "x://7"},
        {"result": {"contents": [{"uri": "x://7", "text": text} for text in ("one", "two")]}},
    ),
    (
        "prompts/get",
        {"name": "greet", "arguments": {"who": "Ada"}},
        {
            "result": {
                "messages": [{"role": "user", "content": {"type": "text", "text": "Hello Ada"}}]
            }
        },
    ),
    (
        "prompts/get",
        {"name": "greet", "arguments": {"who": "Bob"}},
        {"error": {"code": -32602, "message": "no such Bob"}},
    ),
]


def test_they_answer_as_recorded(path):
    """A fake made of a recording offers the same tools, and answers the recorded calls."""
    recorded(path)
    server = FakeMCPServer.from_recording(path)
    with create_mcp_tools(server) as client:
        assert client["price"]({"of": "jam"}).text == "4"
        assert client["pay"]({"amount": 5}).text == "paid"
        assert client["fail"]({}).is_error
        assert "Not recorded" in client["price"]({"of": "milk"}).text
        assert client.servers["shop"].read_resource("shop://hours").text == "9 to 5"
    assert [call.tool for call in server.calls][:2] == ["price", "pay"]


def test_they_read_and_write_as_recorded(path):
    """Its resources, templates and prompts are those of then, all of their contents."""
    live = FakeMCPServer.from_recording(_written(path, FRAMES))
    with create_mcp_tools(live) as client:
        session = client.servers["n"]
        assert [item.uri for item in session.resources] == ["x://a"]
        assert [t.uri_template for t in session.resources.templates] == ["x://{n}"]
        assert [prompt.name for prompt in session.prompts] == ["greet"]
        assert session.read_resource("x://7").text == "one\ntwo"
        assert session.get_prompt("greet", who="Ada").text == "Hello Ada"
        with pytest.raises(ServerError, match="nearest recorded one differs in uri"):
            session.read_resource("x://8")
        with pytest.raises(ServerError, match="no such Bob"):
            session.get_prompt("greet", who="Bob")
