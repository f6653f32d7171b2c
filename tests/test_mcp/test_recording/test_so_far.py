"""What a session has kept of its traffic is written afterwards, and replayed."""

import shlex

import pytest
from patience import PATIENCE

from test_mcp.peers import scripted
from toolbench import answering, current_run
from toolbench.errors import ServerError
from toolbench.mcp import MCPClient
from toolbench.mcp.over_time import record_so_far
from toolbench.mcp.recording import Recording
from toolbench.testing import FakeMCPServer

FORM = {
    "type": "object",
    "properties": {
        "password": {"type": "string"},
        "code": {"type": "integer", "format": "password"},
    },
}
SCHEMA = {"type": "object", "properties": {"api_key": {"type": "string"}}}


def shop(era):
    """A server that asks, fails, and takes a secret."""
    server = FakeMCPServer("n", era=era)

    @server.tool
    def ask() -> str:
        """Ask."""
        answer = current_run().ask("Who are you?", FORM)
        return f"{len(answer.content)} answers"

    server.answer("fail", RuntimeError("closed"))
    server.answer("use", "used", schema=SCHEMA)
    server.prompt("greet", "Hello {who}.", arguments=["who"])
    return server


def used(session):
    """What calls of all kinds give."""
    texts = [session.tool("use")({"api_key": "first-pass-4711"}).text]
    with answering({"password": "x7z", "code": 9192939}):
        texts += [session.tool("ask")({}).text, session.tool("fail")({}).text]
    return [*texts, session.get_prompt("greet", who="Ann").text]


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_what_was_seen_is_replayed(path, era):
    """Calls, questions and answers, without the secrets; also of a server that was disconnected."""
    with MCPClient() as client:
        session = client.connect("n", {"server": shop(era)})
        live = used(session), session.snapshot()
        client.disconnect("n")
        said = record_so_far(session, str(path))
        assert session.recording is None
    assert said == (
        f"{path}: 3 calls so far; nothing more is recorded. "
        f"%mcp connect n --replay {shlex.quote(str(path))} answers from it."
    )
    for secret in ("first-pass-4711", "x7z", "9192939"):
        assert secret not in path.read_text()
    times = [frame.at for frame in Recording.read(path).frames[1:]]
    assert times == sorted(times)
    with MCPClient() as client:
        replay = client.connect("n", replay=path)
        assert (used(replay), replay.snapshot()) == live


def test_a_server_that_died_dies_again(path, tmp_path):
    """In the words of then, with what it said last; what came after is there too."""
    dies = {"exit": 3, "stderr": "the disk is full", "once": str(tmp_path / "once")}
    fine = {"result": {"content": [{"type": "text", "text": "fine"}]}}
    with MCPClient(timeout=PATIENCE) as client:
        script = {"tools/call": ["noise", dies, fine]}
        session = client.connect("s", scripted(tmp_path / "script", script))
        died, later = session.tool("t")({}), session.tool("t")({})
        session.record_so_far(path)
    assert "exit code 3" in died.text
    assert "the disk is full" in died.text
    with MCPClient() as client:
        replay = client.connect("s", replay=path)
        assert (replay.tool("t")({}).text, replay.tool("t")({}).text) == (died.text, later.text)


def test_what_is_missing_is_said_and_the_tools_are_listed_again(path):
    """An exchange without its request, or with a cut message, is left out whole."""
    server = shop("legacy")
    server.answer("long", "x" * 200_000)
    with MCPClient() as client:
        session = client.connect("n", {"server": server})
        live = session.tools.raw
        session.traffic.limit = 5
        session.call("long")
        session.call("use")
        said = record_so_far(session, str(path))
        assert "1 calls" not in said
        assert ": 1 call so far" in said
        assert "The traffic keeps the last messages only: the first " in said
        assert "Left out: 1 exchange with a message that was too long to be kept whole." in said
    with MCPClient() as client:
        replay = client.connect("n", replay=path)
        assert replay.tools.raw == live
        assert replay.call("use").text == "used"
        assert "Not recorded" in replay.call("long").text


def test_it_is_refused_where_it_cannot_be(path):
    """Of a replay, of a session that is recorded, and of one that never said anything."""
    with MCPClient() as client:
        session = client.connect("n", {"server": shop("legacy")}, record=path)
        with pytest.raises(
            ServerError, match=r"it is recorded in, or replayed from, '.*shop\.jsonl'"
        ):
            session.record_so_far(path.with_name("other.jsonl"))
        session.stop_recording()
        session.traffic.clear()
        with pytest.raises(ServerError, match="it has no traffic yet"):
            session.record_so_far(path)
    assert not path.with_name("other.jsonl").exists()
