"""Several things at once: connects, disconnects, losses and calls of the same servers."""

import asyncio
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

import pytest
from patience import PATIENCE, eventually, join

from test_mcp.peers import LIGHT, children, is_running, light
from test_mcp.test_client import interrupt_at_a_new_process
from toolbench.core.background_loop import portal
from toolbench.errors import ServerError, ToolNotFoundError
from toolbench.mcp import MCPClient
from toolbench.mcp.config.reader import read_entry
from toolbench.mcp.server_session import MCPServerSession
from toolbench.testing import FakeMCPServer

# Turns of the loop until the process of a server has started, and one more
STEPS = 6
# Most of them meet the process in the moment between its start and its end
ROUNDS = 3
DIES = '''
import os, runpy, subprocess, sys
sys.stderr.write("ready\\n")
class Input:
    """Ends the process at a call, with a helper that keeps its stderr open for a while."""
    def __iter__(self):
        for line in sys.__stdin__:
            if "tools/call" in line and '"die"' in line:
                sys.stderr.write("MemoryError: no memory left\\n"); sys.stderr.flush()
                subprocess.Popen(["sleep", "2"], stdout=subprocess.DEVNULL,
                                 stdin=subprocess.DEVNULL, start_new_session=True)
                os._exit(3)
            yield line
    def readline(self):
        return sys.__stdin__.readline()
sys.stdin = Input()
sys.argv = ["light", "o", "die", "hi"]
runpy.run_path(%r)
'''


FORKED = """
import os
from toolbench.mcp import MCPClient
with MCPClient() as client:
    session = client.connect("a", {entry})
    if os.fork() == 0:
        print(session.call("x").text, flush=True)
        print(client.reconnect("a").call("x").text, flush=True)
        client.sync_close()
        os._exit(0)
    os.wait()
    print(session.call("x").text)
"""


class Waiting:
    """Light servers that start, or end, only when they are let."""

    def __init__(self, folder, *words):
        """Keep the marks of the server in *folder*."""
        self.there, self._here = folder / "there", folder / "here"
        self.entry = light(*words[:1], str(self.there), str(self._here), *words[1:])

    def let(self):
        """Let the servers go on."""
        self._here.touch()

    def hold(self):
        """Let no further server go on."""
        self._here.unlink()


@pytest.fixture
def starting(tmp_path):
    """A server that starts when it is let."""
    return Waiting(tmp_path, "--after", "a", "x")


@pytest.fixture
def lingering(tmp_path):
    """A server that ends when it is let."""
    return Waiting(tmp_path, "--lingers", "a", "x")


def in_thread(work, *args):
    """Do *work* in a thread; return the thread and the list that gets the result or the error."""
    outcomes = []

    def run():
        try:
            outcomes.append(work(*args))
        except (ServerError, ToolNotFoundError, KeyError) as error:
            outcomes.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, outcomes


async def some_turns():
    """Let the background loop do what an interrupt has asked for."""
    for _ in range(STEPS):
        await asyncio.sleep(0)


@contextmanager
def last_request(session):
    """Let *session* have something to send before it closes, as one that cancels a task has."""
    stack = ExitStack()

    async def begin():
        stack.enter_context(session.connection.last_request())

    async def end():
        stack.close()

    portal.call(begin)
    try:
        yield
    finally:
        portal.call(end)


class TestTheServersOfAClient:
    def test_do_not_change_under_a_reader(self, client):
        """Whoever looks through the servers meanwhile sees those of the moment of the look."""
        client.connect("a", FakeMCPServer("a"))
        looking = [iter(each) for each in (client.servers, client.former, client.known)]
        before = client.servers
        client.connect("b", FakeMCPServer("b"))
        client.disconnect("a")
        assert [list(each) for each in looking] == [["a"], [], ["a"]]
        assert (list(before), list(client.servers)) == (["a"], ["b"])

    def test_are_changed_by_no_reader(self, client):
        """The mappings are for looking."""
        client.connect("a", FakeMCPServer("a"))
        with pytest.raises(TypeError):
            del client.servers["a"]

    def test_all_end_with_the_client_also_one_that_connects(self, client, starting):
        """A server that replaces another when it is connected ends too, and says why."""
        client.connect("a", light("old", "x"))
        connecting, (outcomes) = in_thread(client.connect, "a", starting.entry)
        eventually(starting.there.exists)
        client.sync_close()
        join(connecting)
        (error,) = outcomes
        assert isinstance(error, ServerError)
        assert "disconnected while it was connecting" in str(error)

    def test_all_end_with_a_client_that_nobody_has(self, starting):
        """Also one that was disconnected and came back by its own session."""
        before = children()
        client = MCPClient(timeout=PATIENCE)
        session = client.connect("a", light("a", "x"))
        client.disconnect("a")
        session.reconnect()
        assert client.servers["a"] is session
        del client
        gc.collect()
        eventually(lambda: not any(map(is_running, children() - before)))

    def test_without_a_name_are_kept_until_they_are_closed(self, client):
        """One that was replaced and came back by itself; a closed one is kept no longer."""
        first, second, _ = (client.connect("a", FakeMCPServer("a")) for _ in range(3))
        first.reconnect()
        known = weakref.ref(first)
        first.close()
        del first
        second.reconnect()
        gc.collect()
        assert known() is None
        client.sync_close()
        assert second.status == "closed"

    @pytest.mark.slow
    @pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
    def test_are_of_the_process_that_connected_them(self):
        """A fork of it is told so, and can connect them for itself."""
        script = FORKED.format(entry=light("a", "x"))
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        refused, own, parents = done.stdout.splitlines()
        assert "'a' belongs to the process that connected it, not to this fork of it" in refused
        assert (own, parents) == ("a", "a"), done.stderr


class TestReconnect:
    def test_that_is_interrupted_can_be_repeated_soon(self, client, starting):
        """Even while the process that was just started still ends."""
        starting.let()
        client.connect("a", starting.entry)
        starting.hold()
        with interrupt_at_a_new_process(), pytest.raises(KeyboardInterrupt):
            client.reconnect("a")
        portal.call(some_turns)
        starting.let()
        assert client.reconnect("a").call("x").text == "a"

    def test_starts_nothing_once_all_who_wait_for_it_gave_up(self, starting):
        """Even if the one who came first gave up first."""
        session = MCPServerSession("a", read_entry(starting.entry))

        async def given_up():
            waiting = [asyncio.ensure_future(session.aconnect()) for _ in range(2)]
            for each in waiting:
                await some_turns()
                each.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await each

        portal.call(given_up)
        assert session.status == "closed"


class TestDisconnect:
    def test_leaves_a_server_that_was_connected_meanwhile(self, client, lingering):
        """What is closed is what was taken out, not what has its name now."""
        client.connect("a", lingering.entry)
        ending, outcomes = in_thread(client.disconnect, "a")
        eventually(lingering.there.exists)
        second = client.connect("a", light("new", "x"))
        lingering.let()
        join(ending)
        assert outcomes == [None]
        assert (dict(client.servers), dict(client.former)) == ({"a": second}, {})
        assert client["x"]({}).text == "new"

    def test_twice_is_told_the_second_time(self, client, lingering):
        """A button and a cell disconnect the same server."""
        client.connect("a", lingering.entry)
        ending, outcomes = in_thread(client.disconnect, "a")
        eventually(lingering.there.exists)
        with pytest.raises(ToolNotFoundError, match="'a' is disconnected"):
            client.disconnect("a")
        lingering.let()
        join(ending)
        assert (outcomes, list(client.servers), list(client.former)) == ([None], [], ["a"])

    def test_does_not_wait_for_a_server_that_is_connecting(self, client, starting):
        """The connect ends with a sentence, and `reconnect` tries it again."""
        connecting, outcomes = in_thread(client.connect, "a", starting.entry)
        eventually(starting.there.exists)
        client.disconnect("a")
        join(connecting)
        assert "disconnected while it was connecting" in str(outcomes[0])
        assert (list(client.servers), list(client.former)) == ([], ["a"])
        starting.let()
        assert client.reconnect("a").call("x").text == "a"


class TestConnect:
    def test_that_fails_gives_the_disconnected_server_back(self, client):
        """A typing error does not destroy the way back that `disconnect` promised."""
        session = client.connect("a", light("a", "x"))
        client.disconnect("a")
        with pytest.raises(ServerError, match=r"%mcp reconnect a") as caught:
            client.connect("a", {"command": sys.executable, "args": ["-c", "exit('typo')"]})
        assert "typo" in str(caught.value)
        assert (dict(client.servers), dict(client.former)) == ({}, {"a": session})
        assert client.reconnect("a").call("x").text == "a"

    @pytest.mark.parametrize("turns", [0, STEPS, 3 * STEPS])
    def test_that_is_interrupted_can_be_repeated_soon(self, client, starting, turns):
        """By `reconnect`, at whatever moment of the end of the first process that comes."""
        with interrupt_at_a_new_process(), pytest.raises(KeyboardInterrupt):
            client.connect("a", starting.entry)
        for _ in range(turns):
            portal.call(asyncio.sleep, 0)
        starting.let()
        session = client.reconnect("a")
        assert session.call("x").text == "a"
        assert (session.status, dict(client.servers)) == ("connected", {"a": session})

    def test_that_is_interrupted_gives_the_disconnected_server_back(self, client, starting):
        """And of the new one nothing is left."""
        session = client.connect("a", light("a", "x"))
        client.disconnect("a")
        before = children()
        with interrupt_at_a_new_process(), pytest.raises(KeyboardInterrupt):
            client.connect("a", starting.entry)
        eventually(lambda: children() <= before)
        eventually(lambda: client.former == {"a": session})
        assert client.servers == {}

    def test_of_two_at_once_one_stays_and_the_other_is_told(self, client, starting):
        """Neither returns a session that is closed."""
        first, outcomes = in_thread(client.connect, "a", starting.entry)
        eventually(starting.there.exists)
        second, others = in_thread(client.connect, "a", starting.entry)
        join(first)
        starting.let()
        join(second)
        assert "disconnected while it was connecting" in str(outcomes[0])
        assert dict(client.servers) == {"a": others[0]}
        assert others[0].call("x").text == "a"

    def test_that_is_replaced_while_it_is_connected_takes_no_place_back(self, client, starting):
        """The newer connect counts, even if the older server answers before it has ended."""
        first, outcomes = in_thread(client.connect, "a", starting.entry)
        eventually(starting.there.exists)
        replaced = client.servers["a"]
        with last_request(replaced):
            second, others = in_thread(client.connect, "a", light("new", "x"))
            eventually(lambda: client.servers["a"] is not replaced)
            starting.let()
            eventually(lambda: replaced.is_connected)
        join(first)
        join(second)
        assert "another connect replaced it" in str(outcomes[0])
        assert dict(client.servers) == {"a": others[0]}
        assert client["x"]({}).text == "new"

    def test_that_is_interrupted_ends_the_server_that_it_replaced(self, client, tmp_path):
        """Even if that waits for its last request: nobody else could end it."""
        before = children()
        session = client.connect("a", light("a", "x"))
        with last_request(session), interrupt_at_a_new_process(), pytest.raises(KeyboardInterrupt):
            client.connect("a", session.entry)
        eventually(lambda: children() <= before)


@pytest.mark.slow
def test_a_server_that_is_closed_at_any_moment_of_its_start_leaves_no_warning(caplog):
    """Asyncio finds its process, which ends at once, in one place."""
    entry = read_entry({"command": "true", "mode": "legacy"})

    async def connect_and_close(steps):
        session = MCPServerSession("a", entry)
        connecting = asyncio.ensure_future(session.aconnect())
        for _ in range(steps):
            await asyncio.sleep(0)
        await session.aclose()
        with suppress(ServerError):
            await connecting

    for _ in range(ROUNDS):
        for steps in range(STEPS):
            portal.call(connect_and_close, steps)
    assert not [record for record in caplog.records if record.name == "asyncio"]


class TestALostServer:
    def test_is_awaited_by_all_calls_within_their_own_limits(self, client, tmp_path):
        """Five calls at a server that does not come back end together, before its only start does."""
        program, starts = tmp_path / "light.py", tmp_path / "starts"
        shutil.copy(LIGHT, program)
        entry = {"command": sys.executable, "args": [str(program), "a", "x"], "timeout": 1000}
        session = client.connect("a", entry)
        program.write_text(f"open({str(starts)!r}, 'a').write('+')\nimport sys\nsys.stdin.read()")
        os.kill(session.connection.pid, signal.SIGKILL)
        eventually(lambda: session.status == "lost")
        with ThreadPoolExecutor(5) as calls:
            results = list(calls.map(lambda number: session.call("x"), range(5)))
        (text,) = {result.text for result in results}
        assert text.startswith("The server was not connected within 1 s")
        assert session.status == "connecting"
        eventually(lambda: starts.exists() and starts.read_text())
        assert starts.read_text() == "+"

    def test_that_is_closed_at_any_moment_of_its_return_says_so(self, client):
        """To the call for which it is connected again."""
        server = FakeMCPServer("a")
        server.answer("x", "a")
        session = client.connect("a", server)

        async def text_of_a_call(steps):
            await session.aconnect()
            server.hang_up()
            while session.status != "lost":
                await asyncio.sleep(0)
            calling = asyncio.ensure_future(session.call_tool("x", {}))
            for _ in range(steps):
                await asyncio.sleep(0)
            await session.aclose()
            return str((await asyncio.gather(calling, return_exceptions=True))[0])

        texts, steps = [""], count()
        while "content" not in texts[-1]:
            texts.append(portal.call(text_of_a_call, next(steps)))
        assert all("disconnected" in text for text in texts[1:-1]), texts

    def test_is_not_blamed_on_the_user(self, client, tmp_path):
        """Even if another call connects again while the end is still read."""
        program = tmp_path / "dies.py"
        program.write_text(DIES % str(LIGHT))
        session = client.connect("o", {"command": sys.executable, "args": [str(program)]})
        calling, outcomes = in_thread(session.call, "die")
        eventually(lambda: session.status == "lost")
        assert session.call("hi").text == "o"
        join(calling)
        text = outcomes[0].text
        assert "disconnected here" not in text
        assert "broke during the call" in text
        assert "exit code 3" in text
        assert "MemoryError: no memory left" in text


class Forgetful(BaseHTTPRequestHandler):
    """A server that forgets the session of a call of the tool `fast`, once."""

    protocol_version = "HTTP/1.1"
    sessions = 0
    forgets = False
    slow = threading.Event()
    is_slow = threading.Event()

    def log_message(self, *args):
        pass

    def _send(self, status, body=b"", **headers):
        self.send_response(status)
        headers = {"content-type": "application/json", "content-length": str(len(body)), **headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self._send(405)

    do_DELETE = do_GET

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, kind = request["method"], type(self)
        if "id" not in request:
            self._send(202)
            return
        headers, result = {}, {}
        if method == "initialize":
            kind.sessions += 1
            headers = {"mcp-session-id": str(kind.sessions)}
            result = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "h", "version": "1"},
            }
        elif method == "tools/list":
            schema = {"type": "object"}
            result = {"tools": [{"name": n, "inputSchema": schema} for n in ("slow", "fast")]}
        elif request["params"]["name"] == "fast" and kind.forgets:
            kind.forgets = False
            self._send(404)
            return
        else:
            name = request["params"]["name"]
            if name == "slow":
                kind.is_slow.set()
                kind.slow.wait(PATIENCE)
            text = f"{name} in session {self.headers['mcp-session-id']}"
            result = {"content": [{"type": "text", "text": text}]}
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": result}
        self._send(200, json.dumps(answer).encode(), **headers)


def test_a_forgotten_session_cuts_no_other_call(client):
    """The server forgot the session of one request: another one that runs still gets its answer."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Forgetful)
    server.daemon_threads = True
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/mcp"
        session = client.connect("h", {"url": url, "mode": "legacy"})
        calling, outcomes = in_thread(session.call, "slow")
        assert Forgetful.is_slow.wait(PATIENCE)
        Forgetful.forgets = True
        assert session.call("fast").text == "fast in session 2"
        Forgetful.slow.set()
        join(calling)
        assert outcomes[0].text == "slow in session 1"
    finally:
        Forgetful.slow.set()
        client.sync_close()
        server.shutdown()
        server.server_close()
        join(serving)
