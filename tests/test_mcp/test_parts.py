"""The parts of a session: what a server offers, as sequences that can do what is done with them."""

import json
from math import nan

import pytest
from IPython.lib.pretty import pretty
from patience import eventually

from test_mcp.peers import scripted
from toolbench.errors import ServerError, ToolNotFoundError
from toolbench.testing import FakeMCPServer


@pytest.fixture(params=["modern", "legacy"])
def server(request):
    """A server with two of each thing, in each era."""
    server = FakeMCPServer("shop", era=request.param)
    for name in ("pear", "plum"):
        server.answer(name, f"a {name}")
        server.resource(f"shop://{name}", {"is": name})
        server.prompt(f"about_{name}", f"Praise the {name} in {{style}}.", arguments=["style"])
    return server


@pytest.fixture
def session(client, server):
    return client.connect("shop", server)


class TestAll:
    def test_are_sequences(self, session):
        """Position, slice, length, iteration, membership and equality are those of a list."""
        for part in (session.tools, session.resources, session.prompts):
            first, second = part
            assert len(part) == 2
            assert (part[0], part[-1], part[1:]) == (first, second, [second])
            assert first in part
            assert part == [first, second]
            assert part != [second, first]
        assert session.resources.templates == []
        assert not session.resources.templates

    def test_follow_the_server(self, session, server):
        """A list that was looked at before a change shows what there is after it."""
        tools, resources, prompts = session.tools, session.resources, session.prompts
        assert (len(resources), len(prompts)) == (2, 2)
        server.answer("fig", "a fig")
        server.resource("shop://fig", "a fig")
        server.prompt("about_fig", "Praise it.")
        eventually(lambda: (len(tools), len(resources), len(prompts)) == (3, 3, 3))

    def test_a_change_during_a_look_is_seen_at_the_next(self, client, tmp_path):
        """What the server lists and then calls changed, before it is read, is not kept."""
        method = "notifications/resources/list_changed"
        changed = json.dumps({"jsonrpc": "2.0", "method": method})
        path = tmp_path / "script"

        def listing(name, *before):
            answer = {"result": {"resources": [{"uri": f"x://{name}"}]}}
            return scripted(path, {"resources/list": [*before, answer]})

        session = client.connect("s", listing("old", changed))
        assert [resource.uri for resource in session.resources] == ["x://old"]
        listing("new")
        assert [resource.uri for resource in session.resources] == ["x://new"]

    def test_a_repr_never_asks_the_server(self, session):
        """What a debugger or a traceback does costs no request; print and a cell's last value ask."""
        sent = len(session.traffic)
        assert repr(session.resources) == "ResourceList(not listed yet)"
        assert "'plum'" in repr(session.tools)
        assert len(session.traffic) == sent
        assert "shop://plum" in pretty(session.resources)
        assert "about_plum" in str(session.prompts)
        assert "shop://plum" in repr(session.resources)


class TestEach:
    def test_tools_go_by_position_or_by_name(self, session):
        """`tools[name]` is the tool the server calls so."""
        assert session.tools["plum"] is session.tool("plum") is session.tools[1]
        with pytest.raises(ToolNotFoundError, match="Did you mean 'plum'"):
            _ = session.tools["plumm"]

    def test_resources_are_read(self, session):
        """`resources.read` and `read_resource` are one."""
        assert session.resources.read("shop://plum").data == {"is": "plum"}
        assert session.read_resource("shop://plum").data == {"is": "plum"}

    def test_prompts_are_written(self, session):
        """`prompts.get` and `get_prompt` are one."""
        written = session.prompts.get("about_plum", style="verse")
        assert written.text == "Praise the plum in verse."
        assert session.get_prompt("about_plum", style="verse") == written
        with pytest.raises(ServerError, match="'style' of a prompt must be a str, not float"):
            session.prompts.get("about_plum", style=nan)
