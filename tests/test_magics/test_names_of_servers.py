"""The names and addresses of servers' tools, where several servers use the same name."""

import json

import pytest
from IPython.core.completer import provisionalcompleter

from toolbench import ToolAnnotations, bench, history, run_tool
from toolbench.agent.toolset import Toolset
from toolbench.core.state import ConversationState
from toolbench.errors import ToolNotFoundError
from toolbench.evals import Case, evaluate
from toolbench.llm.models import ScriptedModel
from toolbench.runs.policy import policy
from toolbench.serving import serve
from toolbench.testing import FakeMCPServer

READ = ToolAnnotations(readOnlyHint=True)


@pytest.fixture
def two(shell, mcp):
    """A notebook with `find` of the server `lib`, and that of `h`, which was connected later."""
    for name in ("lib", "h"):
        server = shell.user_ns[name] = FakeMCPServer(name)
        server.answer("find", name, annotations=READ)
        mcp(f"connect {name} {name}")
    return shell


def texts_completed(shell, line):
    with provisionalcompleter():
        return {c.text for c in shell.Completer.completions(line, len(line)) if c.type == "tool"}


class TestLines:
    def test_of_before_go_on_when_another_server_comes(self, two):
        """The later server gets the longer name, and says so where it is connected."""
        assert two.run_line_magic("tool", "find {}").text == "lib"
        assert two.run_line_magic("tool", "h_find {}").text == "h"
        notes = two.run_line_magic("mcp", "connect h h").notes
        assert "find is h_find here; that of lib is find." in notes

    def test_go_to_no_other_server_while_theirs_is_away(self, two, mcp):
        """The sentence says how it comes back; who forgets the server frees its names."""
        mcp("disconnect lib")
        with pytest.raises(ToolNotFoundError, match=r"'lib', which is disconnected.*reconnect lib"):
            two.run_line_magic("tool", "find {}")
        assert "find is h_find here; another server had it first." in mcp("connect h h").notes
        mcp("disconnect lib --forget")
        assert two.run_line_magic("tool", "find {}").text == "h"

    def test_take_an_address(self, two):
        """Each kind of line, and its completion; the lists show it where a name says too little."""
        for server in ("lib", "h"):
            assert two.run_line_magic("tool", f"{server}.find {{}}").text == server
            assert two.run_cell_magic("tool", f"{server}.find", "{}").text == server
            rows = two.run_line_magic("tools", f"{server}.find").rows
            assert [row[:2] for row in rows] == [(f"{server}.find", f"mcp:{server}")]
        assert [row[0] for row in two.run_line_magic("tools", "h.").rows] == ["h.find"]
        assert texts_completed(two, "%tool h.f") == {"h.find"}
        assert texts_completed(two, "%tools lib.") == {"lib.find"}
        with pytest.raises(ToolNotFoundError, match=r"Did you mean .*'lib\.find'"):
            two.run_line_magic("tool", "lib.fnd {}")
        two.run_line_magic("mcp", "disconnect h")
        with pytest.raises(ToolNotFoundError, match="server 'h', which is disconnected"):
            two.run_line_magic("tool", "h.find {}")

    def test_name_both_addresses_where_a_name_is_of_two(self, shell, mcp, tmp_path):
        """One configuration prefers none of its servers: the clash renames both."""
        for name in ("lib", "h"):
            server = shell.user_ns[name] = FakeMCPServer(name)
            server.answer("find", name)
        shell.run_cell(
            "from toolbench.mcp import create_mcp_tools\n"
            "client = create_mcp_tools({'mcpServers': {'lib': lib, 'h': h}})"
        ).raise_error()
        with pytest.raises(ToolNotFoundError, match=r"There are 'lib\.find' and 'h\.find'\."):
            shell.run_line_magic("tool", "find {}")
        client = shell.user_ns["client"]
        assert [tool.name for tool in client] == ["lib_find", "h_find"]
        with pytest.raises(ToolNotFoundError, match=r"There are 'lib\.find' and 'h\.find'\."):
            client["find"]
        client.sync_close()

    def test_read_no_address_where_a_tool_has_the_name(self, two, mcp):
        """Names have dots too. Of the ways to cut an address, the longest name of a server counts."""
        dotted = two.user_ns["dotted"] = FakeMCPServer("dotted")
        for name in ("k.find", "h.find", "c"):
            dotted.answer(name, f"dotted {name}", annotations=READ)
        for name in ("dotted", "a", "a.b"):
            mcp(f"connect {name} dotted")
        for name in ("a", "a.b"):
            two.run_line_magic("mcp", f"disconnect {name}")
        mcp("connect k h")
        assert two.run_line_magic("tool", "k.find {}").text == "dotted k.find"
        assert [row[:2] for row in two.run_line_magic("tools", "k.find").rows] == [
            ("k.find", "mcp:dotted")
        ]
        # It was an address before, which no later server takes
        assert two.run_line_magic("tool", "h.find {}").text == "h"
        assert two.run_line_magic("tool", "dotted.h.find {}").text == "dotted h.find"
        nested = two.user_ns["nested"] = FakeMCPServer("nested")
        nested.answer("b.c", "nested", annotations=READ)
        mcp("connect a nested")
        assert two.run_line_magic("tool", "a.b.c {}").text == "nested"
        mcp("reconnect a.b")
        assert two.run_line_magic("tool", "a.b.c {}").text == "dotted c"


class TestLookups:
    @pytest.mark.parametrize("server", ["lib", "h"])
    def test_by_address_are_the_same_everywhere(self, two, server):
        """In Python, for an agent, at a bench, served, and in a case of an evaluation."""
        address = f"{server}.find"
        assert run_tool(address).text == server
        tool = run_tool(address) and two.run_line_magic("tool", address).tool
        assert tool.server == server
        assert bench(address).tool is tool
        toolset = Toolset([address], ConversationState(), parts={})
        assert [each.server for each in toolset.tools.values()] == [server]
        with serve([address]) as served:
            assert list(served.tools) == [tool.name]
        call = {"name": tool.name, "arguments": {}}
        message = {"role": "assistant", "content": "", "tool_calls": [_call(call)]}
        report = evaluate(
            ScriptedModel([message]), [address], [Case("Find it.", {"name": address})]
        )
        assert not report.failures

    def test_of_the_policy_take_addresses(self, two):
        """It is the tool itself: no other server's tool of that name is meant."""
        policy.deny("h.find")
        verdicts = [policy.verdict_on(tool)[0] for tool in (_tool(two, "lib"), _tool(two, "h"))]
        assert verdicts == ["allow", "deny"]
        policy.allow("h.find")
        assert policy.ruling_on(_tool(two, "h")).words == "the policy names h_find"


def _call(call):
    function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
    return {"id": "1", "type": "function", "function": function}


def _tool(shell, server):
    return shell.run_line_magic("tool", f"{server}.find").tool


def test_the_history_tells_them_apart(two):
    """By addresses, which can be pasted into a line."""
    for server in ("lib", "h"):
        run_tool(f"{server}.find")
    two.run_line_magic("mcp", "disconnect lib")
    run_tool("h.find")
    cells = repr(two.run_line_magic("tools", "history 3")).split()
    assert [cell for cell in cells if cell in ("find", "h_find")] == ["h_find", "h_find", "find"]
    assert len(history().of(_tool(two, "h"))) == 2


def test_are_told_for_some_tools_only(shell, mcp):
    """A second server of the same kind may share all of them."""
    for name in ("one", "two"):
        server = shell.user_ns[name] = FakeMCPServer(name)
        for number in range(40):
            server.answer(f"t{number}", "")
    mcp("connect one one")
    notes = mcp("connect two two").notes
    assert notes[2] == "t2 is two_t2 here; that of one is t2."
    assert notes[3] == "37 more tools got the server's name in front."
