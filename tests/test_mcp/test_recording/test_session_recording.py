"""A session that is connected is recorded from some moment on, until some other."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from patience import PATIENCE

from test_mcp.peers import light
from toolbench.errors import ServerError
from toolbench.mcp import MCPClient
from toolbench.mcp.recording import Recording
from toolbench.testing import FakeMCPServer


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_what_came_after_the_start_is_replayed(path, era):
    """The file opens, lists and answers as if it had been recorded from the connection on."""
    server = FakeMCPServer("n", era=era)
    server.answer("early", "before")
    server.answer("late", "after")
    server.resource("n://hours", "9 to 5")
    with MCPClient() as client:
        session = client.connect("n", {"server": server})
        session.call("early")
        assert session.start_recording(path) == path == session.recording
        live = session.call("late").text, session.snapshot(), session.era
        assert session.stop_recording() == path
        session.call("early")
        assert session.recording is None
    assert [call.tool for call in Recording.read(path).calls] == ["late"]
    with MCPClient() as client:
        replay = client.connect("n", replay=path)
        assert (replay.call("late").text, replay.snapshot(), replay.era) == live


def test_a_process_is_not_started_anew(path):
    """What the server remembers is not lost when its recording begins or ends."""
    with MCPClient(timeout=PATIENCE) as client:
        session = client.connect("good", light("good", "add"))
        pid = session.connection.pid
        session.start_recording(path)
        session.tool("add")({"a": 1, "b": 2})
        session.stop_recording()
        assert session.connection.pid == pid
    with MCPClient(timeout=PATIENCE) as client:
        replayed = client.connect("good", replay=path).tool("add")({"a": 1, "b": 2})
    assert replayed.text == "good"


def test_secrets_of_earlier_calls_are_hidden(path):
    """A secret that was sent before the recording began is not in it when it comes back."""
    server, secret = FakeMCPServer("n"), "first-pass-4711"
    schema = {"type": "object", "properties": {"password": {"type": "string"}}}
    server.answer("log_in", "hi", schema=schema)
    server.answer("whoami", f"you are {secret}")
    with MCPClient() as client:
        session = client.connect("n", {"server": server})
        session.call("log_in", {"password": secret})
        session.start_recording(path)
        session.call("whoami")
    assert secret not in path.read_text()


def test_a_call_that_was_under_way_fails_in_a_replay(path):
    """It is not waited for: the replay says that the recording ended."""
    server, begun, go_on = FakeMCPServer("n"), Event(), Event()

    @server.tool
    def wait() -> str:
        """Wait."""
        begun.set()
        assert go_on.wait(PATIENCE)
        return "done"

    with MCPClient() as client, ThreadPoolExecutor(1) as pool:
        session = client.connect("n", {"server": server})
        session.start_recording(path)
        call = pool.submit(session.call, "wait")
        assert begun.wait(PATIENCE)
        session.stop_recording()
        go_on.set()
        assert call.result().text == "done"
    with MCPClient() as client:
        text = client.connect("n", replay=path).call("wait").text
    assert "recording ended before the server answered" in text


def test_it_is_recorded_once_and_only_while_connected(path, tmp_path):
    """A session that is recorded, replayed or closed says why it cannot be recorded."""
    with MCPClient() as client:
        session = client.connect("n", {"server": FakeMCPServer("n")})
        assert session.stop_recording() is None
        # A cell and a button at the same time
        files = [path, *(tmp_path / f"{number}.jsonl" for number in range(3))]
        with ThreadPoolExecutor(len(files)) as pool:
            starts = [pool.submit(session.start_recording, file) for file in files]
        errors = [error for start in starts if (error := start.exception())]
        assert len(errors) == len(files) - 1
        assert all("recorded in, or replayed from" in str(error) for error in errors)
        assert [file for file in files if file.exists()] == [session.stop_recording()]
        session.close()
        with pytest.raises(ServerError, match="it is not connected"):
            session.start_recording(tmp_path / "other.jsonl")
        mine = tmp_path / "mine.jsonl"
        mine.write_text("precious")
        session.reconnect()
        with pytest.raises(ServerError, match="not overwritten"):
            session.start_recording(mine)
        assert session.recording is None
        assert mine.read_text() == "precious"


def test_servers_that_are_connected_together_again_begin_a_new_one(path):
    """The file has the calls of one run of the cell, whatever the number of servers."""
    one, two = FakeMCPServer("one"), FakeMCPServer("two")
    one.answer("t", "1")
    with MCPClient() as client:
        for number in (1, 2):
            client.add({"one": one, "two": two}, record=path)
            client.server("one").call("t", {"number": number})
    [call] = Recording.read(path).calls
    assert call.arguments == {"number": 2}
    [call] = Recording.read(f"{path}~").calls
    assert call.arguments == {"number": 1}


def test_it_goes_on_if_what_would_replace_its_session_fails(path, tmp_path):
    """The session keeps its place, and its file gets what is called after that, too."""
    server = FakeMCPServer("n")
    server.answer("t", "ok")
    with MCPClient() as client:
        session = client.connect("n", {"server": server}, record=path)
        with pytest.raises(ServerError, match="'n' from before is still connected"):
            client.connect("n", {"command": "pyhton"}, record=tmp_path / "other.jsonl")
        session.call("t")
    assert [call.tool for call in Recording.read(path).calls] == ["t"]


def test_a_connection_that_is_opened_again_is_in_it(path):
    """A recording goes on when its session is connected anew."""
    server = FakeMCPServer("n")
    server.answer("t", "ok")
    with MCPClient() as client:
        session = client.connect("n", {"server": server})
        session.start_recording(path)
        session.reconnect()
        session.call("t")
        session.stop_recording()
    kinds = [f.direction for f in Recording.read(path).frames]
    assert kinds.count("connect") == 2
    assert [call.tool for call in Recording.read(path).calls] == ["t"]
