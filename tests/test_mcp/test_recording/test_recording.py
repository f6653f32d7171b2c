"""What is written down of servers, what is not, and what is read of it again."""

import gc
import json
import os
import stat
from errno import ENOSPC

import pytest

from test_mcp.peers import light, scripted
from test_mcp.test_recording.recorded_shop import fake, recorded
from toolbench import answering
from toolbench.errors import ServerError
from toolbench.mcp import MCPClient, create_mcp_tools
from toolbench.mcp.elicitation import Answer
from toolbench.mcp.recording import Recording
from toolbench.mcp.recording.player import rounds
from toolbench.redaction import MARK
from toolbench.testing import FakeMCPServer

LOG_IN = {"type": "object", "properties": {"api_key": {"type": "string"}}}


class TestSecrets:
    def test_are_not_in_the_file_and_match_any(self, path):
        """A secret argument is a numbered mark in the file, and any value fits in its place."""
        server = FakeMCPServer("n")
        server.answer("log_in", "welcome sesame-4711", schema=LOG_IN)
        with create_mcp_tools({"n": server}, record=path) as client:
            client["log_in"]({"api_key": "sesame-4711"})
        text = path.read_text()
        assert "sesame" not in text
        assert '"api_key":"<secret-hidden:1>"' in text
        with create_mcp_tools(replay=path) as client:
            assert client["log_in"]({"api_key": "other-4712"}).text == f"welcome {MARK}"

    @pytest.mark.every_case
    @pytest.mark.parametrize(
        "secret", [471100, 4.5, "p", "abc", ["deep", {"a": "deeper"}], {"a": "b c"}]
    )
    def test_of_any_kind_are_hidden_by_their_place(self, path, secret):
        """A secret argument is hidden whatever it is, also if it is too short to look for."""
        server = FakeMCPServer("n")
        server.answer("log_in", "welcome", schema=LOG_IN)
        with create_mcp_tools({"n": server}, record=path) as client:
            client.servers["n"].call("log_in", {"api_key": secret, "n": "ok"})
        [call] = Recording.read(path).calls
        assert call.arguments["api_key"].startswith("<secret-hidden:")
        assert call.arguments["n"] == "ok"
        with create_mcp_tools(replay=path) as client:
            again = client.servers["n"].call("log_in", {"api_key": 1, "n": "ok"})
        assert again.text == "welcome"

    @pytest.mark.slow
    def test_are_remembered_as_long_as_the_file_is_written(self, path):
        """A secret that comes back after many others is hidden still."""
        server, first = FakeMCPServer("n"), "first-pass-4711"

        @server.tool
        def log_in(password: str) -> str:
            """Log in."""
            return first if password == "last-pass" else "ok"

        with create_mcp_tools({"n": server}, record=path) as client:
            for password in (
                first,
                *(f"other-{n:04}" for n in range(101)),
                "last-pass",
            ):
                client["log_in"]({"password": password})
        assert first not in path.read_text()
        last = Recording.read(path).calls[-1]
        assert MARK.strip("<>") in str(last.result)

    def test_of_the_entry_are_told_apart(self, path):
        """Two secrets of a server have two numbers, which say nothing of them."""
        env = {"API_KEY": "first-secret-value", "PASSWORD": "second-secret-value"}
        entry = {**light("g", "nothing_or"), "env": env}
        with create_mcp_tools({"mcpServers": {"g": entry}}, record=path) as client:
            both = {"text": "first-secret-value and second-secret-value"}
            client.servers["g"].call("nothing_or", both)
        text = path.read_text()
        assert "secret-value" not in text
        assert "<secret-hidden:1>" in text
        assert "<secret-hidden:2>" in text

    def test_nothing_is_left_of_those_that_overlap(self, path):
        """Two secrets that share letters are one mark; no mark is hidden again by another secret."""
        server = FakeMCPServer("n")
        server.answer("show", "it is abcdefgh-ijklmnop-qrstuvwx, hidden")
        with create_mcp_tools({"n": server}, record=path) as client:
            session = client.servers["n"]
            session.keep_secret(["abcdefgh-ijklmnop", "ijklmnop-qrstuvwx", "hidden"])
            session.call("show")
        [call] = Recording.read(path).calls
        text = call.result["content"][0]["text"]
        assert text == "it is <secret-hidden:1>, <secret-hidden:2>"


class TestSnapshot:
    def test_is_what_the_server_sent(self, path, tmp_path):
        """Live and from a recording it is the same, and nothing is filled in or left out."""
        tool = {"name": "t", "inputSchema": {"type": "object"}}
        more = {"execution": {"taskSupport": "optional"}, "outputSchema": {"type": 5}}
        tools = [tool, {**tool, "name": "u", **more}, tool, {"name": "v"}]
        script = {"tools/list": [{"result": {"tools": tools}}]}
        entry = scripted(tmp_path / "script.json", script)
        with create_mcp_tools({"mcpServers": {"s": entry}}, record=path) as client:
            live = client.servers["s"].snapshot()
        assert live.json["tools"] == {"t": tools[0], "u": tools[1]}
        assert set(live.json["disabled"]) == {"t", "v"}
        assert Recording.read(path).snapshot().diff(live) == []


START = {
    "direction": "start",
    "message": {"format": "toolbench-recording", "version": 1},
}
CALL = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "t"}}
ASKS = {"resultType": "input_required", "inputRequests": [1], "requestState": "a"}
ODD = {
    "parameters": [("sent", {**CALL, "params": [1]})],
    "cancelled": [("sent", {"method": "notifications/cancelled", "params": [1]})],
    "progress": [("received", {"method": "notifications/progress", "params": [1]})],
    "asides": [("sent", CALL), ("failure", {"token": None, "text": 1, "asides": 5})],
    "requests": [
        ("sent", CALL),
        ("received", {"id": 2, "result": ASKS}),
        ("sent", {**CALL, "params": {"requestState": "a", "inputResponses": [1]}}),
        ("received", {"id": 2, "result": [1]}),
    ],
    "direction": [({"a": 1}, CALL), ("other", CALL)],
    "rounds": [
        ("received" if n % 2 else "sent", message)
        for round in range(1_500)
        for n, message in enumerate(
            (
                {**CALL, "params": {"requestState": f"{round}"}},
                {"id": 2, "result": {**ASKS, "requestState": f"{round + 1}"}},
            )
        )
    ],
}


class TestFramesOfAnyShape:
    @pytest.mark.parametrize("odd", ODD)
    def test_raise_nothing_of_python(self, path, odd):
        """A recording may hold any JSON: it is read, or refused in one of our errors."""
        frames = [
            {"direction": direction, "server": "s", "message": message}
            for direction, message in ODD[odd]
        ]
        lines = [json.dumps({"at": 1, **frame}) for frame in [START, *frames]]
        path.write_text("\n".join(lines) + "\n")
        recording = Recording.read(path)
        assert all(call.server == "s" for call in recording.calls)
        assert "Recording(" in repr(recording)
        if recording.servers:
            recording.snapshot()
            list(_rounds_of(recording))

    def test_show_no_control_characters(self, path):
        """The name of a server is shown with what hides in it spelled out."""
        frame = {"at": 1, "direction": "stderr", "server": "\x1b[31m", "message": "x"}
        path.write_text("".join(json.dumps(one) + "\n" for one in [{"at": 1, **START}, frame]))
        assert "^[[31m" in repr(Recording.read(path))
        assert "\x1b" not in repr(Recording.read(path))


PAY = {"method": "elicitation/create", "params": {"message": "Pay?"}}
VISIT = {"method": "elicitation/create", "params": {"mode": "url", "url": "https://a.example"}}
WRITE = {"method": "sampling/createMessage", "params": {"messages": []}}
TEXT = {"role": "assistant", "model": "a person", "content": {"type": "text", "text": "Emma"}}
BY_MODEL = {**TEXT, "model": "m-1"}
ANSWERS = [
    (PAY, {"action": "accept", "content": {"answer": True}}, {"answer": True}),
    (PAY, {"action": "decline"}, None),
    (PAY, {"action": "cancel"}, Answer("cancel")),
    (VISIT, {"action": "accept"}, True),
    (WRITE, TEXT, Answer("accept", {"answer": TEXT})),
    (WRITE, BY_MODEL, Answer("accept", {"answer": BY_MODEL})),
]
"""Questions, the answers on the wire, and the same answers as presets."""


def asked_in(era):
    """Frames of a call that works for two seconds, and waits nine for each of the answers."""
    done = {"content": [{"type": "text", "text": "ok"}]}
    if era == "legacy":
        yield 10, "sent", {**CALL, "id": 1}
        for number, (question, answer, _) in enumerate(ANSWERS):
            identity = f"q{number}"
            yield 11 + number * 9, "received", {"id": identity, **question}
            yield 20 + number * 9, "sent", {"id": identity, "result": answer}
        yield 12 + len(ANSWERS) * 9, "received", {"id": 1, "result": done}
        return
    asked = {f"q{number}": each[0] for number, each in enumerate(ANSWERS)}
    answered = {f"q{number}": each[1] for number, each in enumerate(ANSWERS)}
    again = {**CALL["params"], "requestState": "s", "inputResponses": answered}
    result = {"resultType": "input_required", "inputRequests": asked, "requestState": "s"}
    yield 10, "sent", {**CALL, "id": 1}
    yield 11, "received", {"id": 1, "result": result}
    yield 20, "sent", {**CALL, "id": 2, "params": again}
    yield 21, "received", {"id": 2, "result": done}


class TestCalls:
    @pytest.mark.parametrize("era", ["legacy", "modern"])
    def test_have_the_answers_and_the_time(self, path, era):
        """The answers are those of `answering`; the time is that with the questions."""
        frames = [(1, START["direction"], START["message"]), *asked_in(era)]
        lines = [
            json.dumps({"at": at, "direction": direction, "server": "s", "message": message})
            for at, direction, message in frames
        ]
        path.write_text("\n".join(lines) + "\n")
        [call] = Recording.read(path).calls
        assert list(call.answers) == [preset for _, _, preset in ANSWERS]
        assert call.seconds == frames[-1][0] - 10
        assert call.failure is None

    @pytest.mark.parametrize("era", ["legacy", "modern"])
    def test_are_answered_again_by_their_answers(self, path, era):
        """With them, a call gets the same result of a server that is asked again."""
        recorded(path, era)
        [call] = [call for call in Recording.read(path).calls if call.answers]
        with create_mcp_tools({"shop": fake(era)}) as client, answering(*call.answers):
            again = client[call.tool](dict(call.arguments))
        assert again.text == call.result["content"][0]["text"] == "paid"


class _FullDisk:
    """A file of which a disk that is full takes ten bytes, and then none."""

    def __init__(self, file, files, is_full=False):
        self.file = file
        files.append(self)
        self.is_full = is_full
        self.left = 10

    def write(self, data):
        if not self.is_full:
            return self.file.write(data)
        if not self.left:
            raise OSError(ENOSPC, "No space left on device")
        size, self.left = self.left, 0
        return self.file.write(data[:size])

    def fileno(self):
        return self.file.fileno()

    def close(self):
        self.file.close()


def _collections():
    return sum(generation["collections"] for generation in gc.get_stats())


def _rounds_of(recording):
    for exchange in recording.tape(recording.servers[0]).exchanges:
        yield from rounds(exchange)


class TestRecorder:
    def test_keeps_an_earlier_recording(self, path):
        """Recording into a file again keeps the earlier one beside it."""
        recorded(path)
        first = path.read_bytes()
        recorded(path)
        assert path.with_name("shop.jsonl~").read_bytes() == first

    def test_keeps_all_earlier_recordings(self, path):
        """However often a file is recorded into, no recording is lost."""
        for _ in range(3):
            with create_mcp_tools({"n": FakeMCPServer("n")}, record=path):
                pass
        assert len(list(path.parent.iterdir())) == 3

    def test_begins_anew_when_a_server_is_connected_again(self, path):
        """A cell that is run again makes a recording of its own; the first is kept beside it."""
        server = FakeMCPServer("n")
        server.answer("t", "1")
        with MCPClient() as client:
            for number in (1, 2):
                session = client.connect("n", {"server": server}, record=path)
                session.call("t", {"number": number})
        [call] = Recording.read(path).calls
        assert call.arguments == {"number": 2}
        [call] = Recording.read(f"{path}~").calls
        assert call.arguments == {"number": 1}

    def test_is_for_the_users_eyes_only(self, path):
        """Nobody else can read or write a recording."""
        recorded(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_writes_over_nothing_else(self, path):
        """A file that is not a recording is left alone."""
        path.write_text("precious")
        with pytest.raises(ServerError, match="not overwritten"):
            create_mcp_tools({"n": fake()}, record=path)
        assert path.read_text() == "precious"

    def test_stays_open_for_the_others_of_a_file(self, path):
        """Closing a server twice, or running its cell again, ends nobody else's recording."""
        with MCPClient() as client:
            first, other = FakeMCPServer("first"), FakeMCPServer("other")
            for server in (first, other, first):
                server.answer("t", "ok")
                client.connect(server.name, {"server": server}, record=path)
            client.server("first").close()
            client.server("first").close()
            client.connect("late", {"server": FakeMCPServer("late")}, record=path)
            client.server("other").call("t")
            client.server("first").reconnect()
            client.server("first").call("t")
        calls = [call.server for call in Recording.read(path).calls]
        assert sorted(calls) == ["first", "other"]
        assert [each.name for each in path.parent.iterdir()] == [path.name]

    def test_goes_on_after_a_write_that_failed(self, path, monkeypatch, caplog):
        """A disk that was full for a while costs what was not written, and that is told once."""
        server, opened = FakeMCPServer("n"), os.fdopen
        server.answer("t", "ok")
        with MCPClient() as client:
            with monkeypatch.context() as patched:
                files = []
                patched.setattr(os, "fdopen", lambda *a, **k: _FullDisk(opened(*a, **k), files))
                session = client.connect("n", {"server": server}, record=path)
            [file] = files
            for number in range(3):
                file.is_full = number == 1
                session.call("t", {"number": number})
        calls = Recording.read(path).calls
        assert [call.arguments["number"] for call in calls] == [0, 2]
        assert [r.message for r in caplog.records if "is not complete" in r.message] == [
            f"The recording {path} is not complete: a part of it could not be written."
        ]

    @pytest.mark.parametrize("is_closed", [True, False])
    def test_begins_whole_again_if_its_file_was_deleted(self, path, caplog, is_closed):
        """Until the next connection nothing is written, and that is told once."""
        one, two = FakeMCPServer("one"), FakeMCPServer("two")
        with MCPClient() as client:
            for server in (one, two):
                server.answer("t", "ok")
                client.connect(server.name, {"server": server}, record=path)
            session = client.server("one")
            if is_closed:
                client.server("two").close()
                session.close()
            path.unlink()
            for number in range(2):
                if number or is_closed:
                    session.reconnect()
                session.call("t", {"number": number})
                assert path.exists() is (number == 1 or is_closed)
            client.server("two").call("t")
        numbers = [call.arguments["number"] for call in Recording.read(path).calls]
        assert numbers == ([0, 1] if is_closed else [1])
        with create_mcp_tools(replay=path) as client:
            assert client["t"]({"number": 1}).text == "ok"
        told = [r.message for r in caplog.records if "is not complete" in r.message]
        sentence = "the file was deleted, and the next connection begins it anew"
        assert told == ([] if is_closed else [f"The recording {path} is not complete: {sentence}."])

    def test_is_refused_if_its_first_line_cannot_be_written(self, path, monkeypatch):
        """A disk that is full already is an error: nobody records into a file that cannot be read."""
        opened, files = os.fdopen, []
        with MCPClient() as client:
            with monkeypatch.context() as patched:
                patched.setattr(
                    os, "fdopen", lambda *a, **k: _FullDisk(opened(*a, **k), files, True)
                )
                with pytest.raises(ServerError, match="Cannot write the recording"):
                    client.connect("n", {"server": fake()}, record=path)
            assert not path.exists()
            client.connect("n", {"server": fake()}, record=path)
        assert Recording.read(path).servers == ("n",)

    def test_several_servers_share_a_file(self, path):
        """Servers that are recorded together are told apart, and replayed together."""
        one, two = FakeMCPServer("one"), FakeMCPServer("two")
        one.answer("a", "1")
        two.answer("b", "2")
        with create_mcp_tools({"one": one, "two": two}, record=path) as client:
            client["a"]({})
            client["b"]({})
        assert Recording.read(path).servers == ("one", "two")
        with create_mcp_tools(replay=path) as client:
            assert client["a"]({}).text + client["b"]({}).text == "12"

    def test_keeps_messages_of_any_length(self, path):
        """A message that the traffic cuts is whole in the recording."""
        server = FakeMCPServer("n")
        server.answer("long", "x" * 300_000)
        with create_mcp_tools({"n": server}, record=path) as client:
            client["long"]({})
        with create_mcp_tools(replay=path) as client:
            assert client["long"]({}).text == "x" * 300_000


class TestRecording:
    def test_is_read_without_looking_for_garbage(self, path):
        """With many frames that takes longer than to read them; afterwards, the collector works."""
        recorded(path)
        frame = path.read_bytes().splitlines(keepends=True)[-1]
        with path.open("ab") as file:
            file.write(frame * 5_000)
        before = _collections()
        assert len(Recording.read(path).frames) > 5_000
        assert _collections() - before < 5
        assert gc.isenabled()

    def test_lists_calls_and_differs_by_what_is_offered(self, path, tmp_path):
        """A recording knows its calls and what was offered; two are compared by that."""
        recorded(path)
        recording = Recording.read(path)
        assert [call.tool for call in recording.calls] == [
            *("price", "price", "price", "pay", "fail", "refuse"),
        ]
        assert recording.calls[3].result["content"][0]["text"] == "paid"
        assert recording.diff(recording) == []
        later = FakeMCPServer("shop")
        later.answer("price", 3)
        other = tmp_path / "other.jsonl"
        with create_mcp_tools({"shop": later}, record=other) as client:
            client["price"]({})
        changes = recording.diff(Recording.read(other))
        assert "tools/pay" in [c.where for c in changes if c.severity == "breaking"]

    def test_loads_up_to_where_it_was_cut(self, path, tmp_path):
        """Cut at any byte after its first line, a recording has the frames that are whole."""
        server = FakeMCPServer("n")
        server.answer("ping", "pong é")
        with create_mcp_tools({"n": server}, record=path) as client:
            client["ping"]({})
        whole = path.read_bytes()
        frames = list(Recording.read(path).frames)
        cut = tmp_path / "cut.jsonl"
        ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
        near_ends = {end + more for end in ends for more in (-2, -1, 0, 1, 2)}
        sizes = {*range(ends[0], len(whole), 13), *near_ends} & {*range(ends[0], len(whole) + 1)}
        for size in sorted(sizes):
            cut.write_bytes(whole[:size])
            recording = Recording.read(cut)
            count = whole[:size].count(b"\n")
            assert len(recording.frames) == count
            assert list(recording.frames) == frames[:count]
            for name in recording.servers:
                recording.snapshot(name)

    @pytest.mark.parametrize(
        "text",
        [
            *("{}\n", "hello\n", "hello", '{"direction": "sent", "message": 1}\n'),
            *("", '{"at": 1, "direc'),
        ],
    )
    def test_that_is_none_is_refused(self, path, text):
        """A file that does not begin as a recording does is none."""
        path.write_text(text)
        with pytest.raises(ServerError, match="is not a recording"):
            Recording.read(path)

    def test_that_was_cut_off_before_any_server_says_so(self, path):
        """There is nothing to replay: that is told, and no empty client comes of it."""
        path.write_text(json.dumps({"at": 1, **START}))
        assert len(Recording.read(path).frames) == 0
        with pytest.raises(ServerError, match="has no server"):
            create_mcp_tools(replay=path)

    def test_of_a_later_version_is_refused(self, path):
        """A format that this version does not know is told."""
        start = {"format": "toolbench-recording", "version": 99}
        path.write_text(json.dumps({"at": 0, "direction": "start", "message": start}) + "\n")
        with pytest.raises(ServerError, match="version 99"):
            Recording.read(path)
