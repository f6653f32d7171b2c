"""%mcp and a server that fails: what the person reads, and what stays."""

import shlex
import sys
from json import dumps

import pytest
from test_mcp.peers import light
from test_widgets.front import labels, listing

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
    listing = mcp(f"connect --config {config} --approve")
    assert [row[:2] for row in listing.rows] == [
        ("shop", "connected"),
        ("books", "connected"),
    ]
    (note,) = [note for note in listing.notes if "still connected" in note]
    assert "command not found: 'pyhton'" in note


def test_is_in_an_open_explorer(shell, mcp, monkeypatch):
    """The explorer lists it, with its state, as soon as the cell has failed."""
    mcp(connecting("shop", light("shop", "price")))
    monkeypatch.setattr(shell, "kernel", object(), raising=False)
    explorer = mcp("explore")
    with pytest.raises(ServerError):
        shell.run_cell("%mcp connect books -- pyhton books.py").raise_error()
    servers = labels(listing(explorer, "Servers"))
    assert servers == ["shop — connected", "books — did not connect"]


OLD = """
import sys
print("starting", file=sys.stderr)
from mcp.server.fastmcp import FastMCP
"""
ADVICE = "start it in its own environment, for example with uvx --with 'mcp<2' SERVER."


@pytest.mark.slow
def test_that_cannot_import_mcp_needs_its_own_environment(mcp, tmp_path):
    """The message says so; the list has the exception, in one line, and where the rest is."""
    # An mcp of this Python without that module; to import the real one takes a second of processor
    # time
    (tmp_path / "mcp" / "server").mkdir(parents=True)
    (tmp_path / "mcp" / "server" / "__init__.py").touch()
    server = tmp_path / "old.py"
    server.write_text("import sys\nprint(*range(999), sep='\\n', file=sys.stderr)\n" + OLD)
    with pytest.raises(ServerError) as caught:
        mcp(connecting("old", {"command": sys.executable, "args": [str(server)]}))
    assert ADVICE in str(caught.value)
    (row,) = mcp("list").rows
    assert row[-1].startswith("ModuleNotFoundError: No module named 'mcp.server.fastmcp'")
    assert row[-1].endswith(" (%mcp log old --stderr shows more)")
    assert "Traceback" not in row[-1]
    assert len(row[-1]) < 300
    assert ADVICE in repr(mcp("list old")).replace("\n", " ")
    listing = mcp("log old --stderr")
    assert any("Traceback" in line for (line,) in listing.rows)
    # The last ones are shown, and how many there are
    assert f"The last 200 of {len(listing.rows):,} lines." in repr(listing)
    assert len(repr(listing).splitlines()) < 220


def test_that_was_not_found_has_a_short_note(mcp):
    """Without stderr the note is the message, without the name that its row begins with."""
    with pytest.raises(ServerError):
        mcp("connect shop -- pyhton shop.py")
    (row,) = mcp("list").rows
    assert row[-1] == "command not found: 'pyhton'. Is it installed and on PATH?"


CHAIN = """
def start():
    try:
        import email.nowhere
    except ImportError:
        try:
            raise KeyError("SHOP_API_TOKEN")
        except KeyError:
            raise ImportError("The server half is not installed.")
def main():
    try:
        start()
    except ImportError as error:
        raise SystemExit("Install it.\\nInstall it, or set SHOP_API_TOKEN.") from error
try:
    main()
except SystemExit as error:
    raise RuntimeError("no server") from error
"""


def test_that_ends_in_a_chain_of_errors_has_the_first(mcp, tmp_path):
    """What it raised last is often wrong advice; a variable that it asks for has its option."""
    server = tmp_path / "chain.py"
    server.write_text(CHAIN)
    entry = {"command": sys.executable, "args": [str(server)]}
    with pytest.raises(ServerError) as error:
        mcp(connecting("shop", entry))
    text = str(error.value)
    assert "Its first error was ModuleNotFoundError: No module named 'email.nowhere'" in text
    assert "asks for the environment variable SHOP_API_TOKEN." in text
    assert "--env SHOP_API_TOKEN" in text
    assert text.endswith("RuntimeError: no server\n%mcp doctor shop checks each step.")


def test_that_is_slow_has_the_option_and_no_tools_to_disconnect(mcp, tmp_path, capsys):
    """It was never connected: the line says no more than that."""
    server = tmp_path / "slow.py"
    server.write_text("import sys; sys.stdin.read()")
    entry = {"command": sys.executable, "args": [str(server)]}
    line = connecting("slow", entry).replace("slow --", "slow --timeout 0.5 --")
    with pytest.raises(
        ServerError, match=r"no answer within 0.5 s\. If it is only .*--timeout 120"
    ):
        mcp(line)
    mcp("disconnect --all")
    assert capsys.readouterr().out == (
        "slow was not connected. %mcp reconnect slow tries it again.\n"
    )
