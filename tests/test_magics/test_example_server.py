"""%mcp connect example: the server that toolbench brings along."""

import json
import re

import pytest
from fastmcp import FastMCP
from patience import eventually

from toolbench import answering
from toolbench.errors import ToolFailedError
from toolbench.mcp.servers import connected


@pytest.fixture
def run(shell):
    """Runs a line of %tool."""
    return lambda line: shell.run_line_magic("tool", line)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_works_and_breaks_on_demand(mcp, run, mode):
    """Nobody is asked for consent; each failure says what happened at the server."""
    mcp(f"connect example --mode {mode}")
    assert run("find title=emma").data[0]["year"] == 1815
    with answering({"until": "2026-12-31"}):
        assert run("lend title=Emma").text == "Emma is yours until 2026-12-31."
    with pytest.raises(ToolFailedError, match="exit code 3"):
        run("exit_in_call --yes")
    assert "was started again" in run("count_shelves shelves=1").warnings[0]
    assert "'DEBUG: counting again'" in run("print_to_stdout --yes").warnings[0]
    assert "books: should be an integer" in run("break_schema --yes").warnings[0]

    def cause():
        with pytest.raises(ToolFailedError) as failed:
            run("raise_error --yes")
        return "ValueError: there is no shelf 13" in str(failed.value)

    eventually(cause)
    session = connected.session("example")
    assert session.log.total == 1
    assert session.read_resource("library://rules").text.startswith("# Rules")


@pytest.mark.slow
def test_is_saved_as_a_command_that_starts_it(shell, mcp, tmp_path):
    """Also for other clients."""
    mcp("connect example")
    mcp(f"connect example --record {tmp_path}/example.jsonl")
    assert (tmp_path / "example.jsonl").is_file()
    mcp(f"save {tmp_path}/mcp.json")
    mcp("disconnect example --forget")
    mcp(f"connect --config {tmp_path}/mcp.json --approve")
    assert shell.run_line_magic("tool", "find --yes").data
    entry = json.loads((tmp_path / "mcp.json").read_text())["mcpServers"]["example"]
    assert entry["args"] == ["-m", "toolbench.mcp.example"]


def test_is_named_where_there_is_no_server(mcp):
    """In the table, in the explorer and in the error."""
    from toolbench.widgets.explorer.explorer import _NONE

    for text in (repr(mcp("list")), _NONE):
        assert "Start one to try with %mcp connect example" in " ".join(text.split())


def test_is_an_ordinary_name_with_a_target(shell, mcp):
    """Also of a server that is known already."""
    shell.user_ns["server"] = FastMCP("mine")
    shell.user_ns["server"].tool(lambda: "mine", name="whose")
    mcp("connect example server")
    mcp("disconnect example")
    assert [row[0] for row in mcp("connect example").rows] == ["whose"]


class TestPrompts:
    @pytest.fixture
    def lib(self, shell, mcp):
        server = FastMCP("lib")

        @server.prompt
        def recommend(mood: str, pages: str = "100") -> str:
            return f"A book of {pages} pages for the {mood}."

        shell.user_ns["server"] = server
        mcp("connect lib server")
        yield mcp
        mcp("disconnect lib")

    def test_are_filled_in_by_a_line(self, shell, lib):
        """A number is text, and a variable may stand for a value."""
        shell.user_ns["feeling"] = "sad"
        observation = lib("prompt lib recommend mood=${feeling} pages=7")
        assert observation.text == "A book of 7 pages for the sad."
        assert observation.messages[0]["role"] == "user"

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("prompt lib recommend", r"Prompt 'recommend' needs mood\."),
            ("prompt lib recommend modo=sad", "has no argument 'modo'. Did you mean 'mood'"),
            ("prompt lib recomend mood=sad", "no prompt 'recomend'. Did you mean 'recommend'"),
            ("prompt lib recommend sad", "Expected key=value, not 'sad'"),
            (
                "prompts lib recommend mood=sad",
                r"%mcp prompt lib recommend mood=sad gets one\. Usage: %mcp prompts \[-h\] NAME$",
            ),
        ],
    )
    def test_that_cannot_be_filled_in_say_why(self, lib, line, message):
        """In one sentence, with what to write."""
        with pytest.raises(Exception, match=message) as error:
            lib(line)
        assert re.match("UsageError|BodyError|ToolNotFoundError", type(error.value).__name__)
