"""One server: its state, its lists, its end and its return."""

import asyncio
import json
import os
import signal
import sys
import threading
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from patience import PATIENCE

from test_mcp.peers import (
    children,
    eventually,
    good,
    is_running,
    light,
    misbehaving,
    misbehaving_http,
    scripted,
)
from test_mcp.servers.shop import shop
from toolbench.core.background_loop import portal
from toolbench.errors import ServerError, ToolNotFoundError
from toolbench.magics import mcp_listing
from toolbench.mcp import MCPClient
from toolbench.mcp.elicitation import Answer, answering
from toolbench.mcp.server_html import server_bundle
from toolbench.runs.perform import perform
from toolbench.runs.questions import answering as in_advance
from toolbench.runs.run import run_here

OPEN_FILES = Path("/proc/self/fd")


@pytest.fixture(scope="module")
def server(shared):
    return shared.connect("good", good())


class TestState:
    def test_says_who_is_there_and_how_we_talk(self, server):
        """Name, instructions, capabilities, version, era, process."""
        assert server.server_info["name"] == "good"
        assert server.instructions == "Be gentle."
        assert "tools" in server.capabilities
        assert (server.era, server.protocol_version) == ("modern", "2026-07-28")
        version = server.server_info["version"]
        assert version and {tool.version for tool in server.tools} == {version}
        assert is_running(server.connection.pid)
        assert "2026-07-28" in repr(server)

    def test_can_be_reconnected_in_the_other_era(self, client):
        """One call changes the protocol; what worked is remembered."""
        server = client.connect("modern", misbehaving("ok", "--modern"))
        assert server.era == "modern"
        pid = server.connection.pid
        server.reconnect("legacy")
        assert (server.era, server.connection.mode) == ("legacy", "legacy")
        assert not is_running(pid)
        server.reconnect()
        assert server.era == "legacy"


class TestProbe:
    """For the newer protocol, which some servers do not survive."""

    def test_ends_a_process_that_is_dead_inside(self, client):
        """One that waits for a line before it notices gets one; the next is not probed again."""
        session = client.connect("old", light("--dead-inside", "old", "t"))
        assert session.tool("t")({}).text == "old"
        assert session.connection.mode == "legacy"
        methods = [m.method for m in session.traffic.find(direction="sent")]
        # Of the new process only
        assert methods.count("initialize") == 1
        session.reconnect()
        methods = [m.method for m in session.traffic.find(direction="sent")]
        assert methods.count("server/discover") == 1

    def test_that_is_ignored_is_not_repeated(self, client, tmp_path):
        """Waiting for it costs seconds: once in a kernel, unless a person asks for it."""
        client.timeout = 3
        entry = {**scripted(tmp_path / "s", {"server/discover": []}), "mode": "auto"}
        probes = []
        for again in (False, False, True):
            session = client.connect("s", entry)
            if again:
                session.reconnect("auto")
            probes.append(len(session.traffic.find(method="server/discover")))
            assert session.tool("t")({}).text == "fine"
            client.disconnect("s")
        assert probes == [1, 0, 1]

    def test_that_was_ignored_is_repeated_if_the_older_protocol_fails(self, client, tmp_path):
        """A server that was replaced, or the same command in another folder, may know the newer one only."""
        client.timeout = 3
        discovery = {
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {},
            "ttlMs": 0,
            "cacheScope": "private",
        }
        refusal = {"error": {"code": -32601, "message": "No"}}
        newer = {"server/discover": [{"result": discovery}], "initialize": [refusal]}
        first, second = tmp_path / "first", tmp_path / "second"
        for folder in (first, second):
            folder.mkdir()
        entry = {**scripted(first / "s", {"server/discover": []}), "mode": "auto"}
        entry["args"] = [entry["args"][0], "s"]
        assert client.connect("a", {**entry, "cwd": str(first)}).era == "legacy"
        scripted(second / "s", newer)
        other = client.connect("b", {**entry, "cwd": str(second)})
        assert len(other.traffic.find(method="initialize")) == 0
        client.disconnect("a")
        scripted(first / "s", newer)
        assert client.connect("a", {**entry, "cwd": str(first)}).era == "modern"

    def test_that_is_answered_late_is_repeated(self, client, tmp_path):
        """A server that was slow to start is asked again the next time."""
        client.timeout = 3
        entry = {**scripted(tmp_path / "s", {"server/discover": []}), "mode": "auto"}
        late = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "No"}}
        begin = json.loads((tmp_path / "s").read_text())["initialize"]
        script = {"server/discover": [], "initialize": [json.dumps(late), *begin]}
        entry = {**scripted(tmp_path / "s", script), "mode": "auto"}
        session = client.connect("s", entry)
        first = session.traffic.find(method="server/discover", direction="sent")
        assert first[0].request_id == 1
        session.reconnect()
        sent = session.traffic.find(method="server/discover", direction="sent")
        assert len(sent) == 2

    def test_waits_for_a_server_that_is_slow(self, client):
        """The newer protocol is spoken with whoever knows it, though silent for a while."""
        entry = misbehaving("slow-start", "--modern", "--delay", "4")
        session = client.connect("slow", entry)
        assert session.era == "modern"
        assert session.traffic.find(method="notifications/cancelled")
        assert session.call("ping").text == "pong"


class TestLists:
    def test_resources_templates_and_prompts(self, server):
        """What a server offers beside tools is listed, read and written."""
        assert [r.uri for r in server.resources] == ["good://readme"]
        assert server.read_resource("good://readme").text == "Read me."
        (template,) = server.resources.templates
        uri = template.expand(name="ann", field="age")
        assert server.read_resource(uri).data == {"name": "ann", "field": "age"}
        (prompt,) = server.prompts
        assert prompt.schema["required"] == ["code"]
        written = server.get_prompt("review", code="x = 1")
        assert written.text == "Review in a kind tone: x = 1"

    def test_a_refusal_is_a_sentence(self, server):
        """What the server does not have is told in its words."""
        with pytest.raises(ServerError, match="did not read 'good://nope'"):
            server.read_resource("good://nope")

    def test_may_ask_before_they_answer(self, client):
        """Whoever answers here is asked while a resource is read or a prompt is written."""
        session = client.connect("shop", {"server": shop})
        with answering(lambda question: {"name": "Ann"}):
            assert session.read_resource("shop://receipt/pear").text == "pear for Ann"
            assert "as Ann." in str(session.get_prompt("thank").messages)
        with in_advance({"name": "Bob"}):
            assert session.read_resource("shop://receipt/pear").text == "pear for Bob"
        session.answerer = lambda question: Answer("cancel")
        assert session.read_resource("shop://receipt/pear").text == "pear for cancel"
        session.answerer = None
        assert session.read_resource("shop://receipt/pear").text == "pear for decline"

    def test_what_a_server_does_not_claim_is_not_asked_for(self, client):
        """Without the capability the list is empty, and no request is sent."""
        server = client.connect("ok", misbehaving("ok"))
        assert (server.resources, server.resources.templates, server.prompts) == (
            [],
            [],
            [],
        )
        assert server.complete("p", "a") == []
        assert {m.method for m in server.traffic if m.kind == "request"} <= {
            "server/discover",
            "initialize",
            "tools/list",
        }

    def test_a_claim_that_is_broken_is_told(self, client):
        """A server that claims lists and cannot give them says so itself."""
        server = client.connect("claims", misbehaving("claims-all"))
        with pytest.raises(ServerError, match="claimed, but broken"):
            list(server.resources)

    def test_unknown_and_disabled_tools_are_told_apart(self, client):
        """A wrong name gets the nearest; a disabled tool its reason, and can be forced."""
        server = client.connect("odd", misbehaving("bad-schemas"))
        with pytest.raises(ToolNotFoundError, match="cannot be called: its inputSchema"):
            server.tool("dangling_ref")
        assert "4 more cannot be called: see tools.disabled" in repr(client)
        with pytest.raises(ToolNotFoundError, match="Did you mean 'recursive'"):
            server.tool("recursiv")
        assert '"called": "dangling_ref"' in server.call("dangling_ref", {"a": 1}).text


class TestChanges:
    def test_do_not_bring_back_what_was_closed(self, client):
        """News that comes with the end starts no new process, then or later."""
        before = children()
        server = client.connect("storm", misbehaving("list-changed-storm"))
        server.close()
        with pytest.raises(TimeoutError):
            # Longer than news is collected
            portal.call(asyncio.sleep, 60, timeout=0.5)
        assert server.status == "closed"
        assert children() <= before

    def test_that_do_not_come_leave_what_is_known(self, client, tmp_path):
        """A server that says it changed and then lists nothing keeps its tools, with a problem."""
        client.timeout = 3
        session = client.connect("s", scripted(tmp_path / "script", {}))
        scripted(tmp_path / "script", {"tools/list": []})
        session.refresh()
        assert session.problems == ["tools/list: no answer within 3 s"]
        assert session.tool("t")({}).text == "fine"
        scripted(tmp_path / "script", {"tools/list": [{"result": {"tools": []}}]})
        session.refresh()
        assert (session.tools, session.problems) == ([], [])

    def test_one_limit_counts_for_the_handshake_and_the_list(self, client, tmp_path):
        """A server that is late with the one has less time for the other, also at a reconnect."""
        client.timeout = 2
        late = tmp_path / "late.py"
        late.write_text(
            "import json, sys, time\n"
            "for line in sys.stdin:\n"
            "    request = json.loads(line)\n"
            "    answer = {'jsonrpc': '2.0', 'id': request.get('id')}\n"
            "    if request['method'] not in ('initialize', 'tools/list'):\n"
            "        continue\n"
            "    time.sleep(1.2)\n"
            "    info = {'serverInfo': {'name': 's', 'version': '1'}, 'capabilities': {'tools': {}}}\n"
            "    answer['result'] = {'protocolVersion': '2025-11-25', **info, 'tools': []}\n"
            "    print(json.dumps(answer), flush=True)\n"
        )
        entry = {"command": sys.executable, "args": [str(late)], "mode": "legacy"}
        # With a limit for each, both would come in time
        with suppress(ServerError):
            client.connect("s", entry)
        session = client.servers["s"]
        assert "no answer within 2 s" in session.error
        with suppress(ServerError):
            session.reconnect()
        assert "no answer within 2 s" in session.error

    def test_the_time_of_a_person_does_not_count_for_it(self, tmp_path):
        """A server may ask somebody during a list; what is sent after that has its time too."""
        question = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}
        ask = {"id": "q", "method": "elicitation/create", "params": question}
        tools = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
        info = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "s", "version": "1"}}
        started = {**info, "capabilities": {"tools": {}, "resources": {"subscribe": True}}}
        asking = tmp_path / "asking.py"
        asking.write_text(
            "import json, sys\n"
            "for line in sys.stdin:\n"
            "    request = json.loads(line)\n"
            "    id, method = request.get('id'), request.get('method')\n"
            "    answer = {'id': id, 'result': {}}\n"
            "    if method == 'initialize':\n"
            f"        answer['result'] = {started}\n"
            "    elif method == 'tools/list':\n"
            f"        listing, answer = id, {ask}\n"
            "    elif id == 'q':\n"
            f"        answer = {{'id': listing, 'result': {tools}}}\n"
            "    if id is not None:\n"
            "        print(json.dumps({'jsonrpc': '2.0', **answer}), flush=True)\n"
        )
        limit, takes = 2, [0, 0, 2.2]

        def person(question):
            threading.Event().wait(takes.pop(0))
            return {}

        with MCPClient(timeout=limit, elicitation_handler=person) as client:
            entry = {"command": sys.executable, "args": [str(asking)], "mode": "legacy"}
            session = client.connect("s", entry)
            session.reconnect()
            session.resources.subscribe("r://x")
            session.reconnect()
            assert takes == []
            assert ([tool.name for tool in session.tools], session.problems) == (["t"], [])

    @pytest.mark.parametrize(("reach", "args"), [("stdio", ()), ("http", ("--modern",))])
    def test_a_list_that_never_comes_is_an_error_that_says_so(self, client, args, reach):
        """Such a server is incomplete, which its views show with why and what to do; calls work."""
        client.timeout = 3
        with ExitStack() as stack:
            entry = misbehaving("never-list", *args)
            if reach == "http":
                url = misbehaving_http("never-list", *args)
                entry = {"url": stack.enter_context(url)}
            session = client.connect("mute", entry)
            assert (session.status, list(session.tools)) == ("incomplete", [])
            assert ", incomplete, " in repr(session)
            assert "is connected, but does not list its tools: " in session.error
            # This server's HTTP has an empty answer at once
            if reach == "stdio":
                assert "no answer within 3 s." in session.error
            table = repr(mcp_listing.tools(session))
            assert "does not list its tools" in " ".join(table.split())
            assert "%mcp reconnect mute" in table
            assert "does not list" in repr(mcp_listing.servers([session]))
            text = " ".join(server_bundle(session)["text/plain"].split())
            assert "does not list its tools" in text
            assert "tools not loaded yet" in server_bundle(session)["text/html"]
            session.call_seconds = 10
            assert session.call("ping").text == "pong"
            assert session.status == "incomplete"

    def test_make_a_server_complete_when_they_come(self, client, tmp_path):
        """One whose list came with the second request is connected, and has no error."""
        client.timeout = 3
        script = scripted(tmp_path / "script", {"tools/list": []})
        session = client.connect("late", script)
        assert session.status == "incomplete"
        scripted(tmp_path / "script", {})
        session.refresh()
        assert (session.status, session.error) == ("connected", None)
        assert session.tool("t")({}).text == "fine"

    def test_that_are_silent_show_on_refresh(self, client):
        """A schema that changed without a word is seen when the list is read again."""
        server = client.connect("calls", misbehaving("calls"))
        server.tool("change_silently")({})
        server.refresh()
        assert server.tools.last_change.changed == ("ping",)

    def test_between_snapshots_are_told_by_path(self, client):
        """Two snapshots are compared deeply; equal ones have no differences."""
        server = client.connect("calls", misbehaving("calls"))
        before = server.snapshot()
        assert before.diff(server.snapshot()) == []
        server.tool("change_silently")({})
        server.refresh()
        changes = [str(c) for c in before.diff(server.snapshot())]
        assert "added tools/ping/inputSchema/required" in changes


class TestLoss:
    def test_of_the_process_is_seen_and_repaired_by_the_next_call(self, client):
        """A server that died between two calls is started again, once, for the next.

        An explorer hears of the death without asking for anything.
        """
        server = client.connect("a", light("a", "x"))
        pid, changes = server.connection.pid, []
        server.observe(changes.append)
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: any("status" in names for names in changes))
        eventually(lambda: server.status == "lost")
        assert server.tool("x")({}).text == "a"
        assert server.connection.pid != pid

    def test_during_a_call_is_an_error_of_the_network_and_the_call_not_repeated(self, client):
        """What was under way may be half done: the caller decides, by that; the next call works."""
        server = client.connect("calls", misbehaving("calls"))
        run = run_here(server.tool("crash"), {}, "python")
        text = perform(run, confirm=False).text
        assert (run.state, run.error_kind) == ("error", "network")
        assert "exit code 7" in text
        assert "crashing now" in text
        other = run_here(server.tool("ping"), {}, "python")
        assert perform(other).text == "pong"
        assert (other.state, other.error_kind) == ("ok", None)
        assert len(server.traffic.find('"crash"', kind="request")) == 1

    def test_after_closing_is_final(self, client):
        """A closed session says how to open it again, and can be."""
        server = client.connect("a", light("a", "x"))
        server.close()
        server.close()
        assert "reconnect it first" in server.tool("x")({}).text
        server.reconnect()
        assert server.tool("x")({}).text == "a"


class TestClosing:
    @pytest.mark.slow
    @pytest.mark.skipif(not OPEN_FILES.exists(), reason="needs /proc to count")
    def test_leaves_no_pipe_open(self, client):
        """Also of a server that was still talking, and whose last words nobody has read."""
        light_one = client.connect("once", light("once", "t"))
        light_one.close()
        before = len(list(OPEN_FILES.iterdir()))
        session = client.connect("f", light("--flood", "f", "t"))
        assert session.tool("t")({}).text == "f"
        session.close()
        eventually(lambda: len(list(OPEN_FILES.iterdir())) <= before)


class TestEvidence:
    def test_of_traffic_is_complete_and_masked(self, client, monkeypatch):
        """Every message is there; the server's own secrets are not."""
        monkeypatch.setenv("MY_TOKEN", "s3cret-token-value")
        entry = {**misbehaving("calls"), "env": {"API_TOKEN": "${MY_TOKEN}"}}
        server = client.connect("calls", entry)
        server.tool("hostile_text")({})
        server.call("slow", {"seconds": 0, "note": "s3cret-token-value"})
        with answering(lambda question: {"name": "s3cret-token-value"}):
            assert "s3cret" not in server.tool("ask_form")({}).text
        sent = server.traffic.find(direction="sent", method="tools/call")
        assert len(sent) == 3
        assert not server.traffic.find("s3cret")
        assert "s3cret" not in repr(server) + repr(server.entry)

    def test_of_noise_during_a_call_is_said_at_the_call(self, client, tmp_path):
        """To the person, since other clients fail at it; where no answer comes, it may be the answer."""
        fine = {"result": {"content": [{"type": "text", "text": "fine"}]}}
        path = tmp_path / "script"
        session = client.connect("s", scripted(path, {"tools/call": ["here I am", fine]}))
        observation = session.tool("t")({})
        assert [item.text for item in observation.to_llm_content] == ["fine"]
        [warning] = observation.warnings
        assert warning.startswith(
            "The server wrote a line that is not a message: 'here I am'. It was left out, but other "
        )
        answer = json.dumps({"jsonrpc": "2.0", "id": "$ID", **fine})
        scripted(path, {"tools/call": [f"DEBUG: {answer}"], "tools/list": ["soon"]})
        session.call_seconds = client.timeout = 0.5
        assert session.tool("t")({}).text.startswith(
            "No answer within 0.5 s.\nThe server wrote a line that is not a message: 'DEBUG: {"
        )
        scripted(path, {})
        session.call_seconds = PATIENCE
        assert session.tool("t")({}).warnings == []

    def test_of_a_failed_call_is_what_came_on_stderr_and_stdout(self, client, tmp_path):
        """To the user: of this call alone, and none of it to a model. Success needs no evidence."""
        path, log = tmp_path / "script", "INFO  Processing request of type CallToolRequest"
        failed = {"result": {"content": [{"type": "text", "text": "no"}], "isError": True}}
        refused = {"error": {"code": -32603, "message": "Internal error"}}
        secret = {"API_TOKEN": "s3cret-token-value"}
        session = client.connect("s", scripted(path, {}, env=secret))
        for answer in (failed, refused):
            steps = [{"stderr": f"{log}\nKeyError: s3cret-token-value"}, "debugging", answer]
            scripted(path, {"tools/call": [*steps]})

            def seen():
                observation = session.tool("t")({})
                assert observation.is_error
                for item in observation.to_llm_content:
                    assert "KeyError" not in item.text
                return len(observation.warnings) == 2 and observation.warnings

            noise, stderr = eventually(seen)
            assert noise == "The server wrote a line that is not a message: 'debugging'."
            heading, *lines = stderr.splitlines()
            assert heading == "While this call ran, the server wrote to stderr:"
            # A line that is read after the answer of its call belongs to the next one
            assert set(lines) == {"  KeyError: <secret-hidden>"}
        scripted(path, {"tools/call": [{"stderr": log}, failed]})
        eventually(lambda: session.tool("t")({}).warnings == [])
        scripted(path, {"tools/call": [{"stderr": "KeyError"}, {"result": {"content": []}}]})
        eventually(lambda: session.tool("t")({}).warnings == [])

    def test_of_noise_on_stdout_is_counted_not_logged(self, client, caplog):
        """Lines that are no messages are kept to look at; no log fills up."""
        server = client.connect("junk", misbehaving("junk-stdout"))
        assert server.tool("ping")({}).text == "pong"
        assert "Welcome to Misbehaving" in server.noise[0]
        assert server.traffic.find(kind="noise")
        assert not [r for r in caplog.records if r.name.startswith("mcp")]
