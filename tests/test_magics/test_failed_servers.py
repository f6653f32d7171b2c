"""%mcp and a server that fails: what the person reads, and what stays."""

import shlex
from json import dumps

import pytest
from test_mcp.peers import light

from toolbench.errors import ServerError


def connecting(name, entry):
    """The line that connects *entry* as the server *name*."""
    return f"connect {name} -- " + shlex.join([entry["command"], *entry["args"]])


def test_that_replaces_a_working_server_leaves_it(shell, mcp, tmp_path):
    """A typo in the second line costs nothing, and the message says so; in a file as well."""
    mcp(connecting("shop", light("shop", "price")))
    with pytest.raises(ServerError, match="'shop' from before is still connected"):
        mcp("connect shop -- pyhton shop.py")
    assert shell.run_line_magic("tool", "price --yes").text == "shop"
    config = tmp_path / "mcp.json"
    servers = {"shop": {"command": "pyhton"}, "books": light("books", "find")}
    config.write_text(dumps({"mcpServers": servers}))
    listing = mcp(f"connect --config {config}")
    assert [row[:2] for row in listing.rows] == [
        ("shop", "connected"),
        ("books", "connected"),
    ]
    (note,) = [note for note in listing.notes if "still connected" in note]
    assert "command not found: 'pyhton'" in note
