"""A server's tool on a worker: its session stays while it is used, and ends soon after."""

import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import pytest
from patience import PATIENCE, eventually, join

from test_mcp.peers import is_running, light
from toolbench.errors import ServerError, ToolNotFoundError
from toolbench.mcp import MCPClient, create_mcp_tools
from toolbench.mcp.config.reader import read_entry
from toolbench.mcp.worker_tool import WorkerSessions, WorkerTool

SERVER = Path(__file__).parents[1] / "test_evals" / "counting_server.py"
ENTRY = {
    "command": sys.executable,
    "args": [str(SERVER)],
    "env": {"TOKEN": "${MY_TOKEN}"},
}


@pytest.mark.slow
def test_a_session_stays_as_long_as_it_is_used(monkeypatch):
    """However short the idle time is, no call is broken off; afterwards the session ends."""
    monkeypatch.setenv("MY_TOKEN", "abc")
    sessions = WorkerSessions(idle=0.01)
    tool = WorkerTool("counting", "double", read_entry(ENTRY), MCPClient)
    with sessions.connected(tool) as session:
        # Nothing happens that could be waited for: on a slow machine this sees less
        assert not Event().wait(0.2)
        observation = session.tools["double"](n=2)
        assert observation.structured["double"] == 4
        with sessions.connected(tool) as same:
            assert same is session
        assert not Event().wait(0.2)
        assert session.tools["double"](n=3).structured["token"] == 3
    eventually(lambda: session.status == "closed")


@pytest.mark.slow
def test_a_server_that_starts_keeps_no_other_waiting(tmp_path):
    """The first use of a slow server does not hold up calls of a server that is there."""
    sessions = WorkerSessions()
    there, here = tmp_path / "there", tmp_path / "here"
    slow, fast = (
        WorkerTool(name, "x", read_entry(entry), MCPClient)
        for name, entry in {
            "slow": light("--after", str(there), str(here), "slow", "x"),
            "fast": light("fast", "x"),
        }.items()
    )
    texts = []

    def use(tool):
        with sessions.connected(tool) as session:
            texts.append(session.call("x").text)

    using = Thread(target=use, args=(slow,))
    using.start()
    eventually(there.exists)
    use(fast)
    here.touch()
    join(using)
    assert texts == ["fast", "slow"]


@pytest.mark.slow
def test_a_worker_that_ends_says_nothing(tmp_path):
    """The server ends with it, even before it was idle, and nothing is on stderr."""
    program = tmp_path / "worker.py"
    program.write_text(
        "from toolbench.mcp import MCPClient\n"
        "from toolbench.mcp.config.reader import read_entry\n"
        "from toolbench.mcp.worker_tool import WorkerTool\n"
        f"tool = WorkerTool('a', 'x', read_entry({light('a', 'x')!r}), MCPClient)\n"
        "with tool.resolved() as tool:\n"
        "    print(tool({}).text, tool.executor.client.connection.pid)\n"
    )
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=PATIENCE
    )
    text, pid = done.stdout.split()
    assert (text, done.stderr) == ("a", "")
    assert not is_running(int(pid))


def test_no_variable_travels(monkeypatch):
    """What is sent to a worker has the name of the variable, and not its value."""
    monkeypatch.setenv("MY_TOKEN", "value-of-the-token")
    import pickle

    entry = {**light("counting", "double"), "env": ENTRY["env"]}
    with create_mcp_tools({"mcpServers": {"counting": entry}}) as client:
        sent = pickle.dumps(client["double"].for_workers())
    assert b"MY_TOKEN" in sent
    assert b"value-of-the-token" not in sent


def test_a_server_that_is_an_object_of_this_process():
    """A worker cannot reach it, and the sentence says so."""
    from fastmcp import FastMCP

    server = FastMCP("here")

    @server.tool
    def f() -> int:
        return 1

    with create_mcp_tools({"mcpServers": {"here": server}}) as client:
        tool = client["f"]
        with pytest.raises(ServerError, match="object of this process"):
            tool.for_workers()
    with pytest.raises(ToolNotFoundError, match="not connected"):
        WorkerTool.of("nowhere", "f")
