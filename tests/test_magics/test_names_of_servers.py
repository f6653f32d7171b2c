"""The names of tools after a second server with a tool of the same name was connected."""

import pytest

from toolbench.errors import ToolNotFoundError
from toolbench.testing import FakeMCPServer


def test_are_told_when_they_get_longer(shell, mcp):
    """At the server that made them so: its own name, and that of the other server's tool."""
    for name in ("git", "desk"):
        server = shell.user_ns[name] = FakeMCPServer(name)
        server.answer("status", name)
        server.answer(f"only_{name}", name)
    first, second = mcp("connect git git"), mcp("connect desk desk")
    assert not [note for note in first.notes if "status" in note]
    (note,) = [note for note in second.notes if "status" in note]
    assert note == "status is desk_status here; that of git is git_status."
    for name in ("git", "desk"):
        line = f"{name}_status --yes"
        assert shell.run_line_magic("tool", line).text == name


def test_are_told_for_some_tools_only(shell, mcp):
    """A second server of the same kind may share all of them."""
    for name in ("one", "two"):
        server = shell.user_ns[name] = FakeMCPServer(name)
        for number in range(40):
            server.answer(f"t{number}", "")
    mcp("connect one one")
    notes = mcp("connect two two").notes
    assert notes[11] == "t11 is two_t11 here; that of one is one_t11."
    assert notes[12] == "28 more tools got the server's name in front."


def test_are_told_beside_the_tool_of_a_disconnected_server(shell, mcp):
    """The name that a tool of several servers had says what it is called now."""
    for name in ("old", "reports", "parcels"):
        server = shell.user_ns[name] = FakeMCPServer(name)
        server.answer("search", name)
        mcp(f"connect {name} {name}")
    mcp("disconnect parcels")
    names = r"There are 'old_search' and 'reports_search'\..*'parcels'"
    with pytest.raises(ToolNotFoundError, match=names):
        shell.run_line_magic("tool", "search")
