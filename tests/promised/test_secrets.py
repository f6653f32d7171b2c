"""A secret is hidden in each promised writing, at each place that what its owner says gets to."""

import logging
import os
import re
import sys
from pathlib import Path

import comm
import ipywidgets
import pytest
from comm.base_comm import BaseComm
from IPython.utils.capture import capture_output
from patience import PATIENCE, eventually
from pydantic import SecretStr
from shells import new_shell

from promised.shop import calls
from promised.writings import KEY, ODD, WRITINGS
from toolbench import Conversation, current_run, history, run_tool, tool
from toolbench.agent import Agent
from toolbench.llm.models import ScriptedModel
from toolbench.mcp import create_mcp_tools
from toolbench.testing import FakeMCPServer
from toolbench.widgets import ToolPanel

COLOURS = re.compile(r"\x1b\[[\d;]*m|\\u001b\[[\d;]*m|\\x1b\[[\d;]*m")
# Characters of a secret that show
SHOWS = 10
MARK = "secret-hidden"
# A line has no second write, and a secret of one line no other
CASES = [(w, KEY if w == "a line of it" else ODD) for w in WRITINGS]
pytestmark = [
    pytest.mark.usefixtures("no_records"),
    # Each writing is a promise of its own
    pytest.mark.every_case,
]
each_writing = pytest.mark.parametrize(("writing", "secret"), CASES, ids=[w for w, _ in CASES])


def leaks(text, writing, secret):
    """The pieces of *secret*, as *writing* has it, that show in *text*; escapes cut pieces."""
    core = COLOURS.sub("", "".join(WRITINGS[writing](secret)))
    bare = COLOURS.sub("", text)
    pieces = {core[n : n + SHOWS] for n in range(len(core) - SHOWS + 1)}
    return sorted(piece for piece in pieces if piece in bare)


def check(texts, writing, secret):
    """The secret shows nowhere in *texts*, which are by place, and a mark shows everywhere."""
    pieces = {place: leaks(text, writing, secret) for place, text in texts.items()}
    assert not {place: first for place, first in pieces.items() if first}
    assert {place for place, text in texts.items() if MARK in text} == {*texts}


@tool(name="tell", read_only=True)
def tell_all(token: SecretStr, writing: str, fails: bool = False) -> str:
    """Tell all, everywhere."""
    parts = WRITINGS[writing](token.get_secret_value())
    for stream in (sys.stdout, sys.stderr):
        for part in parts:
            print(part, end="", file=stream, flush=True)
        print(file=stream, flush=True)
    logging.getLogger("shop").warning("".join(parts))
    if fails:
        raise ValueError("".join(parts))
    return "".join(parts)


@pytest.fixture(scope="module")
def shell():
    """A shell with the extension and the tool."""
    with new_shell() as shell:
        shell.run_line_magic("load_ext", "toolbench")
        shell.push({"tell": tell_all})
        yield shell
        shell.run_line_magic("unload_ext", "toolbench")


@pytest.fixture
def page(monkeypatch):
    """What a page is sent of widgets."""
    sent = []

    class Recording(BaseComm):
        def publish_msg(self, msg_type, data=None, *_, **__):
            sent.append(repr(data))

    monkeypatch.setattr(comm, "create_comm", Recording)
    yield sent
    ipywidgets.Widget.close_all()


@each_writing
def test_of_a_runs_argument(writing, secret, shell, page, tmp_path, caplog):
    """In the cell, its record, the history's file, the traceback, the widget and logs."""
    history().persist(tmp_path / "runs.jsonl")
    shell.push({"token": secret, "writing": writing})
    with capture_output() as captured:
        shell.run_cell('%tool tell token="${token}" writing="${writing}"')
        shell.run_cell('%tool tell token="${token}" writing="${writing}" fails=true')
    panel = ToolPanel(tell_all)
    panel.form.value = {"token": secret, "writing": writing}
    del page[:]
    assert panel.run().done.wait(PATIENCE)
    eventually(lambda: MARK in "".join(page))
    panel.close()
    texts = {
        "cell": captured.stdout + captured.stderr + repr([o.data for o in captured.outputs]),
        "record": repr(history()[0]) + str(history()[0]._repr_mimebundle_()),
        "history": history().to_json(),
        "file": (tmp_path / "runs.jsonl").read_text("utf-8"),
        "traceback": history()[1].traceback,
        "widget": "".join(page),
        "logs": caplog.text,
    }
    check(texts, writing, secret)


@each_writing
def test_of_a_servers_argument(writing, secret, tmp_path):
    """In the traffic, the log and the recording of a server that got it in a call."""
    server = FakeMCPServer("leaky")

    @server.tool
    def tell(token: SecretStr, writing: str) -> str:
        """Tell all."""
        text = "".join(WRITINGS[writing](token.get_secret_value()))
        current_run().log(text)
        return text

    path = tmp_path / "recording.jsonl"
    with create_mcp_tools(server, record=path) as client:
        session = client.servers["leaky"]
        run_tool(client["tell"], token=secret, writing=writing)
        texts = {
            "history": history().to_json(),
            "traffic": session.traffic.to_ndjson(),
            "log": repr([*session.log]),
        }
    texts["recording"] = path.read_text("utf-8")
    check(texts, writing, secret)


def entries(session, path):
    """What is kept of the server so far, an entry per line, by place."""
    return {
        "traffic": session.traffic.to_ndjson().splitlines(),
        "log": [repr(entry) for entry in session.log],
        "stderr": [*session.stderr],
        "recording": path.read_text("utf-8").splitlines(),
    }


def added_by_a_call(client, path, writing):
    """What a call that tells the secret in *writing* adds, by place."""
    session = client.servers["leaky"]
    before = entries(session, path)

    def added():
        after = entries(session, path)
        return {place: "\n".join(after[place][len(before[place]) :]) for place in after}

    history().clear()
    observation = run_tool(client["tell"], writing=writing)
    eventually(lambda: all(added().values()))
    return added() | {"history": history().to_json(), "result": observation.text}


@pytest.mark.parametrize("secret", [ODD, KEY], ids=["of one line", "of lines"])
def test_of_a_servers_environment(secret, tmp_path):
    """In what the server says: result, log, traffic, stderr, recording."""
    tests = Path(__file__).parents[1]
    entry = {
        "command": sys.executable,
        "args": ["-m", "promised.leaking_program"],
        "env": {"API_TOKEN": secret, "PYTHONPATH": os.fspath(tests)},
        "mode": "legacy",
    }
    path = tmp_path / "recording.jsonl"
    with create_mcp_tools({"mcpServers": {"leaky": entry}}, record=path) as client:
        for writing in [writing for writing, its_secret in CASES if its_secret == secret]:
            check(added_by_a_call(client, path, writing), writing, secret)


@each_writing
def test_of_a_conversation(writing, secret, tmp_path):
    """In what a model is sent, the transcript, the saved file, and the history."""

    @tool(read_only=True)
    def tell() -> str:
        """Tell all."""
        return "".join(WRITINGS[writing](secret))

    script = [calls(("tell", {})), "".join(WRITINGS[writing](secret))]
    agent = Agent(ScriptedModel(script), [tell])
    with Conversation(agent=agent, secrets={"TOKEN": secret}) as conversation:
        conversation.send_message("Tell.")
        conversation.run()
        conversation.save(tmp_path / "conversation.jsonl")
        texts = {
            "request": repr(agent.llm.requests[-1]),
            "page": conversation.to_html(),
            "file": (tmp_path / "conversation.jsonl").read_text("utf-8"),
            "history": history().to_json(),
        }
    check(texts, writing, secret)
