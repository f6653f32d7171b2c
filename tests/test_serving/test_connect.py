"""`toolbench connect NAME`, and the configurations that start it."""

import asyncio
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport
from patience import PATIENCE

from test_serving.clients import ERAS
from toolbench import current_run, tool
from toolbench.cli.app import connect
from toolbench.errors import ToolbenchError
from toolbench.mcp.config.reader import read_config
from toolbench.serving import serve
from toolbench.serving.access.client_config import CLIENTS
from toolbench.serving.access.connection_file import ConnectionFile

PROGRAM = Path(sys.executable).with_name("toolbench")


@tool(read_only=True)
def shout(text: str) -> dict[str, str]:
    """Say it loud."""
    current_run().progress(1, 1, "loud")
    return {"text": text.upper()}


@tool(read_only=True)
def sure() -> str:
    """Ask."""
    return current_run().ask("Sure?").action


@pytest.fixture
def served():
    with serve([shout, sure], name="bridged") as served:
        yield served


def entry_of(served):
    [entry] = served.client_config("mcp")["mcpServers"].values()
    return entry


class TestBridge:
    @pytest.mark.slow
    @pytest.mark.parametrize("mode", ERAS.values(), ids=ERAS)
    def test_passes_all_on(self, served, mode):
        """The list, a result with structure, progress, a question: in both eras."""
        steps = []

        async def note(value, total, message):
            steps.append(message)

        async def yes(message, response_type, params, context):
            return ElicitResult(action="accept", content={"answer": True})

        async def go():
            entry = entry_of(served)
            transport = StdioTransport(entry["command"], entry["args"], env=dict(os.environ))
            async with Client(transport, mode=mode, elicitation_handler=yes) as client:
                names = [one.name for one in await client.list_tools()]
                loud = await client.call_tool("shout", {"text": "ü"}, progress_handler=note)
                answer = await client.call_tool("sure", {})
                return names, loud.structured_content, answer.content[0].text

        answers = asyncio.run(go())
        assert answers == (["shout", "sure"], {"text": "Ü"}, "accept")
        assert steps == ["loud"]

    def test_is_found_by_our_own_client(self, served):
        """The configuration is one that toolbench takes too."""
        entry = read_config(dict(served.client_config("mcp")))[served.name]
        assert [entry.command, *entry.args] == [str(PROGRAM), "connect", served.name]

    def test_the_token_is_on_no_command_line(self, served):
        """Others on the machine can read those."""
        assert served.token not in json.dumps(entry_of(served))

    @pytest.mark.slow
    def test_ends_with_its_client(self, served):
        """A client that is gone closes stdin: nothing waits for it any more.

        One that is gone before it has asked is in test_connection_file.
        """
        hello = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "x", "version": "1"},
            },
        }
        with subprocess.Popen(
            [str(PROGRAM), "connect", served.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as bridge:
            bridge.stdin.write(json.dumps(hello) + "\n")
            bridge.stdin.flush()
            assert "protocolVersion" in bridge.stdout.readline()
            bridge.stdin.close()
            assert bridge.wait(PATIENCE) == 0

    def test_says_that_nothing_is_served(self, capsys):
        """And how to change that."""
        assert connect("nothing_here") == 1
        said = capsys.readouterr()
        assert "Nothing is served as 'nothing_here'" in said.err
        assert said.out == ""

    def test_says_that_the_kernel_is_gone(self, served, capsys):
        """A file that a killed process left behind."""
        file = ConnectionFile("gone", "http://127.0.0.1:9/mcp", "token")
        file.write()
        assert connect("gone") == 1
        assert not file.path.exists()
        said = capsys.readouterr().err
        assert "cannot be reached: its kernel ended" in said
        assert "Traceback" not in said


class TestConfig:
    @pytest.mark.parametrize("client", CLIENTS)
    def test_can_be_pasted(self, served, client):
        """Its text says what the object says, and starts the program."""
        config = served.client_config(client)
        load = tomllib.loads if client == "codex" else json.loads
        assert load(str(config)) == config
        [servers] = config.values()
        [(name, entry)] = servers.items()
        assert (name, entry["args"]) == ("bridged", ["connect", "bridged"])
        assert Path(entry["command"]) == PROGRAM

    def test_vscode_has_words_of_its_own(self, served):
        """`servers`, each with its type."""
        config = served.client_config("vscode")
        assert config["servers"]["bridged"]["type"] == "stdio"

    def test_of_an_unknown_client_is_refused(self, served):
        """With the nearest."""
        with pytest.raises(ToolbenchError, match="Did you mean 'cursor'"):
            served.client_config("curser")
