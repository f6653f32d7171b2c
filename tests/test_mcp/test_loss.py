"""A server that ends while it is asked for a list, or between two calls: what is said of it."""

import logging
import os
import shutil
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from patience import PATIENCE, eventually, join

from test_mcp.peers import LIGHT, light, scripted
from test_mcp.test_mutated_answers.http_server import Http, answering
from toolbench.core.background_loop import portal
from toolbench.errors import ServerError
from toolbench.testing import FakeMCPServer

INFO = {
    "protocolVersion": "2025-11-25",
    "serverInfo": {"name": "s", "version": "1"},
    "capabilities": {
        "tools": {"listChanged": True},
        "resources": {},
        "prompts": {},
    },
}
TOOLS = [{"name": "t", "inputSchema": {"type": "object"}}]

DEATH = {"exit": 3, "stderr": "fatal: the disk is gone"}
LISTS = {
    "tools/list": lambda session: session.refresh(),
    "prompts/list": lambda session: list(session.prompts),
    "resources/list": lambda session: list(session.resources),
    "resources/templates/list": lambda session: list(session.resources.templates),
}


@pytest.fixture
def path(tmp_path):
    """The script of a server with all kinds of lists."""
    return tmp_path / "script"


def rewrite(path, **script):
    """Let the server of *path* say something else from now on."""
    return scripted(path, {"initialize": [{"result": INFO}], **script})


class TestDeathInAList:
    @pytest.mark.parametrize("method", LISTS)
    def test_is_our_error_with_exit_code_and_stderr(self, client, path, method):
        """Whatever list a server dies in, the error says how it ended and what it wrote."""
        session = client.connect("d", rewrite(path))
        rewrite(path, **{method: [DEATH]})
        with pytest.raises(ServerError) as caught:
            LISTS[method](session)
        assert "exit code 3" in str(caught.value)
        assert "fatal: the disk is gone" in str(caught.value)
        assert "'d'" in str(caught.value)

    def test_is_asked_once_more_of_the_server_that_came_back(self, client, path):
        """A list changes nothing, so a server that died once in it is asked again."""
        session = client.connect("d", rewrite(path))
        lists = len(session.traffic.find(method="tools/list"))
        tools = {"name": "new", "inputSchema": {"type": "object"}}
        answer = {"result": {"tools": [tools]}}
        death = {**DEATH, "once": str(path.with_name("died"))}
        rewrite(path, **{"tools/list": [death, answer]})
        session.refresh()
        assert [tool.name for tool in session.tools] == ["new"]
        assert len(session.traffic.find(method="tools/list")) > lists + 1

    def test_after_a_notification_is_no_unheard_error(self, client, path, caplog):
        """The list that a notification leads to: a death in it leaves no traceback behind."""
        changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
        call = [{"result": {"content": []}}, changed]
        session = client.connect("d", rewrite(path, **{"tools/call": call}))
        rewrite(path, **{"tools/call": call, "tools/list": [DEATH]})
        with caplog.at_level(logging.WARNING, "asyncio"):
            session.call("t")
            eventually(lambda: session.status == "lost")
            session.close()
        assert not [r for r in caplog.records if r.name == "asyncio"]


class TestMemory:
    def test_lost_between_two_calls_is_told_once(self, client):
        """The first result of a server that was started again says so, to person and model."""
        session = client.connect("a", light("a", "x"))
        assert session.call("x").warnings == []
        os.kill(session.connection.pid, signal.SIGKILL)
        eventually(lambda: session.status == "lost")
        result = session.call("x")
        (warning,) = result.warnings
        assert result.to_llm_content[-1].text == f"Note: {warning}"
        assert result.text == "a"
        assert "had ended (signal 9) and was started again" in warning
        assert "in memory is gone" in warning
        assert session.call("x").warnings == []

    def test_lost_in_a_list_is_told_by_the_next_call(self, client):
        """A list may be what starts the server again: the call after it says so."""
        session = client.connect("a", light("a", "x"))
        os.kill(session.connection.pid, signal.SIGKILL)
        eventually(lambda: session.status == "lost")
        session.refresh()
        (warning,) = session.call("x").warnings
        assert "in memory is gone" in warning

    @pytest.mark.parametrize("is_reconnected", [False, True])
    def test_lost_before_a_start_that_failed_is_told_by_the_start_that_works(
        self, client, tmp_path, is_reconnected
    ):
        """Unless the person reconnected the server since then."""
        program = tmp_path / "light.py"
        shutil.copy(LIGHT, program)
        entry = {"command": sys.executable, "args": [str(program), "a", "x"]}
        session = client.connect("a", entry)
        os.kill(session.connection.pid, signal.SIGKILL)
        eventually(lambda: session.status == "lost")
        program.unlink()
        assert session.call("x").is_error
        assert session.status == "failed"
        shutil.copy(LIGHT, program)
        if is_reconnected:
            session.reconnect()
        warnings = session.call("x").warnings
        assert len(warnings) == (0 if is_reconnected else 1)
        assert all("had ended (signal 9)" in warning for warning in warnings)
        assert session.call("x").warnings == []

    @pytest.mark.parametrize(
        ("era", "lost"), [("modern", []), ("legacy", ["in its session is gone"])]
    )
    def test_of_a_session_is_lost_only_where_the_protocol_has_sessions(self, client, era, lost):
        """A server of the newer protocol that is no process kept nothing for this client."""
        server = FakeMCPServer("a", era=era)
        server.answer("x", "a")
        session = client.connect("a", server)
        server.hang_up()
        eventually(lambda: session.status == "lost")
        result = session.call("x")
        assert result.text == "a"
        assert len(result.warnings) == len(lost)
        assert all(words in warning for words, warning in zip(lost, result.warnings, strict=True))

    def test_lost_by_the_persons_own_reconnect_needs_no_word(self, client):
        """Who reconnects knows that the server starts anew."""
        session = client.connect("a", light("a", "x"))
        session.reconnect()
        assert session.call("x").warnings == []


def test_a_server_that_does_not_come_back_is_started_once_for_calls_at_once(client, path):
    """All of them wait for this one start; the next call tries again."""
    client.timeout = 3
    session = client.connect("d", rewrite(path))
    rewrite(path, initialize=[])
    os.kill(session.connection.pid, signal.SIGKILL)
    eventually(lambda: not session.is_connected)
    starts = len(session.traffic.find(method="initialize", kind="request"))
    with ThreadPoolExecutor(4) as calls:
        results = list(calls.map(lambda number: session.call("t"), range(4)))
    assert all("no answer within 3 s" in result.text for result in results)
    assert len(session.traffic.find(method="initialize", kind="request")) == starts + 1
    rewrite(path)
    assert session.call("t").text == "fine"


def test_a_server_that_ends_after_each_start_is_started_once_for_a_call(client, tmp_path):
    """It lists its tools and ends: it is not started until one stays."""
    program, starts = tmp_path / "ends.py", tmp_path / "starts"
    listed = "if request.get('method') == 'tools/list': os._exit(4)"
    lines = LIGHT.read_text().replace("import json\n", "import json, os\n", 1)
    program.write_text(
        f"open({str(starts)!r}, 'a').write('+')\n{lines.split('if lingers:')[0]}        {listed}\n"
    )
    session = client.connect("a", {"command": sys.executable, "args": [str(program), "a", "x"]})
    eventually(lambda: session.status == "lost")
    for number in (2, 3):
        assert "exit code 4" in session.call("x").text
        eventually(lambda: session.status == "lost")
        assert starts.read_text() == number * "+"


def test_a_call_is_not_repeated_if_its_server_is_shut_down_with_a_404(client, monkeypatch):
    """A 404 means a forgotten session only if the connection did not break: half may be done."""
    answers = {"initialize": INFO, "tools/list": {"tools": TOOLS}}
    calls, is_lost = [], threading.Event()
    with answering(answers) as server:
        answer = server.answer

        def shut_down_at_a_call(request):
            if request["method"] != "tools/call":
                return answer(request)
            calls.append(request)
            server.over.set()
            assert is_lost.wait(PATIENCE)
            return Http("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")

        monkeypatch.setattr(server, "answer", shut_down_at_a_call)
        session = client.connect("s", {"url": server.url("sse"), "transport": "sse"})
        with ThreadPoolExecutor(1) as thread:
            called = thread.submit(session.call, "t")
            eventually(lambda: session.status == "lost")
            server.over.clear()
            is_lost.set()
            text = called.result().text
    assert text.startswith("The connection to server 's' broke during the call.")
    assert len(calls) == 1


class TestDisconnecting:
    def test_right_before_a_request_is_told_as_during_it(self, client, path):
        """Another thread may close the connection that a list is about to use."""
        session = client.connect("m", rewrite(path))

        async def look(connection):
            await session.aclose()
            return await connection.pages("tools", "tools/list", PATIENCE)

        with pytest.raises(ServerError, match="was disconnected here during the request"):
            portal.call(session.connection.use, look)

    def test_during_a_call_says_who_did_it(self, client, path):
        """The call says that this side closed the connection, not that it comes back."""
        session = client.connect("m", rewrite(path, **{"tools/call": []}))
        observations = []
        call = threading.Thread(target=lambda: observations.append(session.call("t")))
        call.start()
        eventually(lambda: session.traffic.find(method="tools/call"))
        session.close()
        join(call)
        (observation,) = observations
        assert observation.is_error
        assert "was disconnected here during the call" in observation.text
        assert "%mcp reconnect m" in observation.text
        assert "connects again." not in observation.text

    def test_during_a_list_starts_nothing_again(self, client, path):
        """A list that is cut off by a disconnect is not asked for again."""
        session = client.connect("m", rewrite(path))
        rewrite(path, **{"resources/list": []})
        errors = []

        def look():
            try:
                list(session.resources)
            except ServerError as error:
                errors.append(error)

        looking = threading.Thread(target=look)
        looking.start()
        eventually(lambda: session.traffic.find(method="resources/list"))
        session.close()
        join(looking)
        assert "is disconnected: reconnect it first" in str(errors[0])
        assert session.status == "closed"
