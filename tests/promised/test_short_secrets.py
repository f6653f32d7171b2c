"""A secret of fewer than 8 characters is hidden in what belongs to its owner, and only as a word."""

import os
import sys
from pathlib import Path

import pytest
from IPython.utils.capture import capture_output
from patience import eventually
from shells import new_shell

from promised.shop import calls
from toolbench import Conversation, current_run, history, run_tool, tool
from toolbench.agent import Agent
from toolbench.llm.models import ScriptedModel
from toolbench.mcp import create_mcp_tools
from toolbench.testing import FakeMCPServer

MARK = "<secret-hidden>"
pytestmark = pytest.mark.usefixtures("no_records")


@tool
def login(user: str, password: str) -> str:
    """Log in."""
    print("with", password, "not at the latest")
    return f"{user}:{password}, tested"


@tool
def run_suite(name: str) -> str:
    """Run a suite."""
    print("ran", name)
    return f"{name}: 12 tests passed, test 13 failed"


def shown(cell):
    """What *cell* prints and displays."""
    with new_shell() as shell, capture_output() as captured:
        shell.run_line_magic("load_ext", "toolbench")
        shell.push({"login": login, "run_suite": run_suite})
        shell.run_cell(cell)
        shell.run_line_magic("unload_ext", "toolbench")
    return captured.stdout + repr([output.data for output in captured.outputs])


def test_is_hidden_as_a_word_in_its_run():
    """In what its tool prints, returns and leaves as a record."""
    cell = shown("login(user='ada', password='test')")
    assert f"with {MARK} not at the latest" in cell
    record = str(history()[0].to_dict())
    for text in (cell, record):
        assert f"ada:{MARK}, tested" in text
    assert history()[0].arguments == {"user": "ada", "password": MARK}


def test_changes_nothing_of_other_runs():
    """They print, show and record what they did, and run again."""
    cell = shown("login(user='ada', password='test')\nrun_suite(name='test/unit')")
    result = "test/unit: 12 tests passed, test 13 failed"
    assert "ran test/unit" in cell
    assert result in cell
    record = history()[1]
    assert record.arguments == {"name": "test/unit"}
    assert record.observation.text == record.rerun().text == result


def test_is_hidden_in_what_its_server_says(tmp_path):
    """In traffic, log and recording; another call of the server is recorded as it was."""
    server = FakeMCPServer("shop")

    @server.tool
    def enter(password: str) -> str:
        """Enter."""
        current_run().log(f"entered with {password}")
        return f"in with {password}"

    @server.tool
    def find(name: str) -> str:
        """Find."""
        return f"found {name}"

    path = tmp_path / "recording.jsonl"
    with create_mcp_tools(server, record=path) as client:
        session = client.servers["shop"]
        run_tool(client["enter"], password="test")
        run_tool(client["find"], name="test latest")
        texts = [session.traffic.to_ndjson(), repr([*session.log])]
        assert history()[1].rerun().text == history()[1].observation.text == "found test latest"
    for text in (*texts, path.read_text("utf-8")):
        assert "with test" not in text
    assert "latest" in texts[0]
    assert history()[0].observation.text == f"in with {MARK}"


@pytest.mark.parametrize("secret", ["test", "hu7x"])
def test_of_a_servers_settings_is_hidden_in_what_it_says(tmp_path, secret):
    """In results, traffic, log, stderr and recording, from 4 characters on; other words stay."""
    entry = {
        "command": sys.executable,
        "args": ["-m", "promised.leaking_program"],
        "env": {"API_TOKEN": secret, "PYTHONPATH": os.fspath(Path(__file__).parents[1])},
        "mode": "legacy",
    }
    path = tmp_path / "recording.jsonl"
    with create_mcp_tools({"mcpServers": {"leaky": entry}}, record=path) as client:
        session = client.servers["leaky"]
        result = run_tool(client["tell"], writing="as it is", note=f"{secret}ed")
        eventually(lambda: [*session.stderr] and [*session.log])
        said = session.traffic.to_ndjson()
        texts = [said, session.stderr.text, str([*session.log]), path.read_text("utf-8")]
    assert result.text == f"told: {MARK}"
    for text in (*texts, str(history()[0].to_dict()), repr(history()[0])):
        assert secret not in text.replace(f"{secret}ed", "")
    assert f"{secret}ed" in said
    assert run_tool(run_suite, name=secret).text in str(history()[-1].to_dict())


def test_is_hidden_in_its_conversation():
    """In its page, its events and what a model is sent; not in other runs."""

    @tool(read_only=True)
    def tell() -> str:
        """Tell."""
        return "test, latest"

    agent = Agent(ScriptedModel([calls(("tell", {})), "It was test."]), [tell])
    with Conversation(agent=agent, secrets={"TOKEN": "test"}) as conversation:
        conversation.send_message("Tell.")
        conversation.run()
        for text in (
            repr(agent.llm.requests[-1]),
            conversation.to_html(),
            repr(conversation.events[:]),
        ):
            assert "latest" in text
            assert "test," not in text
            assert "was test" not in text
    assert run_tool(run_suite, name="test").text in str(history()[-1].to_dict())
