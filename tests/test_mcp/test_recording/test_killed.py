"""A kernel that is killed leaves a recording with all that was answered."""

import pytest
from forked import run_python

from toolbench.mcp import create_mcp_tools
from toolbench.mcp.recording import Recording

PROGRAM = """
import os, signal
from toolbench.mcp import MCPClient
from toolbench.testing import FakeMCPServer

server = FakeMCPServer("n")
server.answer("load", "loaded")
client = MCPClient()
session = client.connect("n", {"server": server}, record="killed.jsonl")
session.keep_secret(["s3cr3t-abcdef-123456"])
for number in range(6):
    session.stderr.add("loading the profile s3cr")
    session.call("load", {"number": number})
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_each_answered_call_is_in_the_file(tmp_path):
    """Nothing waits to be written, not even text that may be the beginning of a secret."""
    assert run_python(PROGRAM, tmp_path).returncode == -9
    calls = Recording.read(tmp_path / "killed.jsonl").calls
    assert [call.arguments["number"] for call in calls] == list(range(6))
    assert all(call.result for call in calls)
    with create_mcp_tools(replay=tmp_path / "killed.jsonl") as client:
        assert client["load"]({"number": 5}).text == "loaded"
