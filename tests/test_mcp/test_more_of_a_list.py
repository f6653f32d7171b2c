"""What a server did not send at once: more completions, and the resources that a result links to."""

import json

import pytest

from test_mcp.peers import scripted

INFO = {
    "protocolVersion": "2025-11-25",
    "serverInfo": {"name": "s", "version": "1"},
    "capabilities": {"tools": {}, "resources": {}, "completions": {}},
}


@pytest.fixture
def server(client, tmp_path):
    """A function: the session with a server that answers *method* with *result*."""

    def connect(method, result):
        answer = {"result": result}
        if "error" in result:
            answer = result
        script = {"initialize": [{"result": INFO}], method: [answer]}
        return client.connect("s", scripted(tmp_path / "script", script))

    return connect


class TestCompletions:
    @pytest.mark.parametrize(
        ("sent", "total", "more"),
        [
            ({"values": ["a", "b"], "total": 50, "hasMore": True}, 50, True),
            ({"values": ["a", "b"], "total": 50}, 50, True),
            ({"values": ["a", "b"], "hasMore": True}, None, True),
            ({"values": ["a", "b"], "total": 2, "hasMore": False}, 2, False),
            ({"values": ["a", "b"]}, None, False),
            ({"values": ["a", "b"], "total": True, "hasMore": 1}, None, False),
            ({"values": ["a", "b"], "total": 1}, None, False),
            ({"values": ["a", "b"], "total": "50"}, None, False),
        ],
    )
    def test_say_whether_there_are_more(self, server, sent, total, more):
        """The number is the server's if it can be right; the list is a list as before."""
        completions = server("completion/complete", {"completion": sent}).complete("p", "a")
        assert completions == ["a", "b"]
        assert (completions.total, completions.has_more) == (total, more)

    @pytest.mark.parametrize(
        "result",
        [{}, {"completion": 3}, {"completion": {}}, {"error": {"code": -32603, "message": "no"}}],
    )
    def test_that_are_none_have_no_more(self, server, result):
        """An answer without completions, or an error in its place, is an empty list."""
        completions = server("completion/complete", result).complete("p", "a")
        assert (completions, completions.has_more) == ([], False)

    def test_are_of_a_prompt_or_a_template(self, server):
        """A text with variables is a template."""
        session = server("completion/complete", {"completion": {"values": ["a"]}})
        for target in ("p", "x://{a}"):
            assert session.complete(target, "a") == ["a"]
        sent = session.traffic.find(method="completion/complete", kind="request")
        assert [json.loads(message.text)["params"]["ref"] for message in sent] == [
            {"type": "ref/prompt", "name": "p"},
            {"type": "ref/resource", "uri": "x://{a}"},
        ]


class TestLinks:
    LINKS = ({"type": "resource_link", "uri": "a://1", "name": "one"},
             {"type": "resource_link", "name": "nowhere"},
             {"type": "text", "text": "a://2"},
             {"type": "resource_link", "uri": "a://3", "name": "three"})  # fmt: skip

    def test_of_a_result_are_addresses_to_read(self, server):
        """Links without an address and addresses in a text are none."""
        session = server("tools/call", {"content": list(self.LINKS)})
        assert session.call("t").links == ["a://1", "a://3"]
