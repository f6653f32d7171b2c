"""A replay is what was recorded: the same tools, results, progress, questions and failures."""

import json
import os

import pytest
from cut_off import cut_off
from patience import PATIENCE

from test_mcp.peers import good, misbehaving, misbehaving_http, shop
from test_mcp.test_recording.recorded_shop import recorded, seen_of
from toolbench import answering, current_run, history, run_tool
from toolbench.core.declarations import ToolAnnotations
from toolbench.errors import ServerError
from toolbench.mcp import MCPClient, create_mcp_tools
from toolbench.mcp.recording.matcher import Matcher
from toolbench.mcp.recording.tape import Exchange
from toolbench.mcp.trust.approvals import Approvals
from toolbench.runs.perform import perform
from toolbench.runs.run import run_here
from toolbench.testing import HANG_UP, FakeMCPServer

ERAS = ("modern", "legacy")


class TestReplay:
    @pytest.mark.parametrize("era", ERAS)
    @pytest.mark.parametrize("answer", [True, None])
    def test_shows_what_was_seen(self, path, era, answer):
        """In both eras the replay offers, answers, reports, logs and asks the same."""
        before = recorded(path, era, answer)
        with create_mcp_tools(replay=path) as client:
            again = seen_of(client)
        times = {"log"} if era == "modern" else set()
        assert {k: v for k, v in again.items() if k not in times} == {
            k: v for k, v in before.items() if k not in times
        }
        assert before["progress"]

    def test_needs_no_answerer_and_takes_one(self, path):
        """Questions are answered as recorded; one that is answered otherwise is an error."""
        recorded(path)
        with create_mcp_tools(replay=path, elicitation_handler=lambda _: None) as client:
            result = client["pay"]({"amount": 5})
        assert result.is_error
        assert "got another answer" in result.text or "Not recorded" in result.text

    @pytest.mark.parametrize("era", ERAS)
    @pytest.mark.parametrize("answer", [True, None])
    def test_takes_a_preset_answer(self, path, era, answer):
        """It stands in the record of the run, and counts: another one than the recorded is an error."""
        recorded(path, era, answer=True)
        with create_mcp_tools(replay=path) as client, answering(answer):
            result = run_tool(client["pay"], amount=5)
        assert result.is_error is (answer is None)
        [preset] = history()[-1].answers
        assert preset.action == ("accept" if answer else "decline")

    @pytest.mark.parametrize("hints", [None, ToolAnnotations(destructiveHint=True)])
    def test_asks_for_no_consent(self, path, tmp_path, hints):
        """A recording changes nothing, whatever its tools declare."""
        server = FakeMCPServer("shop")
        server.answer("wipe", "gone", annotations=hints)
        with create_mcp_tools(server, record=path) as client:
            client["wipe"]()
        approvals = Approvals(tmp_path / "approved")
        with MCPClient(approvals=approvals) as client:
            session = client.connect("shop", replay=path)
            run = run_here(session.tool("wipe"), {}, "model")
            run.dialogue.asker = pytest.fail
            assert perform(run).text == "gone"
        assert not approvals.folder.exists()

    def test_of_another_version_of_mcp_is_told(self, path):
        """A replay that is asked for in the era it was not recorded in says what is wrong."""
        recorded(path, "modern")
        entry = {"server": FakeMCPServer("shop"), "mode": "legacy"}
        with (
            MCPClient() as client,
            pytest.raises(ServerError, match="recording is of another version of MCP"),
        ):
            client.connect("shop", entry, replay=path, mode="legacy")

    def test_can_be_connected_to_again(self, path):
        """A replay that is disconnected and connected again goes on."""
        recorded(path)
        with create_mcp_tools(replay=path) as client:
            session = client.servers["shop"]
            assert session.tool("price")({"of": "tea"}).text == "3"
            session.reconnect()
            assert session.tool("price")({"of": "jam"}).text == "4"

    def test_repeats_in_the_order_recorded(self, path):
        """A call that was answered differently each time is answered so again; the last stays."""
        from toolbench.testing import InTurn

        server = FakeMCPServer("n")
        server.answer("next", InTurn("one", "two"))
        with create_mcp_tools({"n": server}, record=path) as client:
            assert [client["next"]({}).text for _ in range(2)] == ["one", "two"]
        with create_mcp_tools(replay=path) as client:
            texts = [client["next"]({}).text for _ in range(3)]
        assert texts == ["one", "two", "two"]

    def test_a_server_that_hung_up_does_so_again(self, path):
        """A call during which the connection ended fails in the same words."""
        server = FakeMCPServer("n")
        server.answer("crash", HANG_UP)
        server.answer("ping", "pong")
        texts = []
        for source in ({"config": {"n": server}, "record": path}, {"replay": path}):
            with create_mcp_tools(**source) as client:
                first = client["crash"]({}).text
                texts.append((first, client["ping"]({}).text))
        assert texts[0] == texts[1]
        assert "broke during the call" in texts[0][0]

    @pytest.mark.parametrize("era", ERAS)
    def test_a_question_may_hold_a_secret(self, path, era):
        """A question in which a secret was hidden is answered as it was then."""
        server = FakeMCPServer("n", era=era)

        @server.tool
        def log_in(password: str) -> str:
            """Log in."""
            return str(bool(current_run().ask(f"Log in with {password}?")))

        texts = []
        sources = (
            {
                "config": {"n": server},
                "record": path,
                "elicitation_handler": lambda _: True,
            },
            {"replay": path},
        )
        for source in sources:
            with create_mcp_tools(**source) as client:
                texts.append(client["log_in"]({"password": "hunter2-4711"}).text)
        assert texts == ["True", "True"]
        assert "hunter2" not in path.read_text()

    def test_a_text_between_secrets_takes_no_time(self):
        """Many secrets in one text are compared in time that grows with the text, not faster."""
        recorded = Exchange({"method": "m", "params": {"a": "<secret-hidden:1>a" * 500}})
        matcher = Matcher([recorded])
        assert matcher.find("m", {"a": "a" * 5_000 + "b"}) is None
        assert matcher.find("m", {"a": "a" * 5_000}) is recorded

    @pytest.mark.parametrize(
        ("text", "fits"),
        [
            ("a--b--c", True),
            ("a--c", False),
            ("abc", True),
            ("xabc", False),
            ("ac", False),
        ],
    )
    def test_what_stands_between_secrets_is_in_its_order(self, text, fits):
        """A text fits if it begins, goes on and ends as the recorded one does."""
        one = "a<secret-hidden:1>b<secret-hidden:2>c"
        matcher = Matcher([Exchange({"method": "m", "params": {"a": one}})])
        assert (matcher.find("m", {"a": text}) is not None) is fits

    def test_is_what_a_recorded_connection_is_with_the_variable(self, path, monkeypatch):
        """With TOOLBENCH_REPLAY=1, `record=` replays, and starts nothing."""
        recorded(path)
        monkeypatch.setenv("TOOLBENCH_REPLAY", "1")
        config = {"mcpServers": {"shop": {"command": "/there/is/no/such/program"}}}
        with create_mcp_tools(config, record=path) as client:
            assert client["price"]({"of": "tea"}).text == "3"

    def test_shows_no_recording_that_is_missing(self, tmp_path):
        """A recording that is not there is told by its name."""
        with pytest.raises(ServerError, match="Cannot read the recording"):
            create_mcp_tools(replay=tmp_path / "none.jsonl")


class TestStrictness:
    def test_a_call_that_was_not_recorded_is_an_error(self, path):
        """It names what is missing, the nearest recorded call and the difference."""
        recorded(path)
        with create_mcp_tools(replay=path) as client:
            result = client["price"]({"of": "milk"})
            (session,) = client.servers.values()
            other = session.call("price", {"of": "milk", "a": 1, "b": 2, "c": 3})
        assert result.is_error
        assert result.text == (
            'Not recorded: tools/call {"name": "price", "arguments": {"of": "milk"}}. '
            'The nearest recorded one differs in arguments.of (recorded "tea", "milk" now).'
        )
        assert other.text.endswith("; 1 more.")

    def test_a_method_that_was_not_recorded_is_told(self, path):
        """A request of a kind that was never made says so."""
        server = FakeMCPServer("n")
        server.answer("ping", "pong")
        server.resource("x://a", "a")
        with create_mcp_tools({"n": server}, record=path) as client:
            client["ping"]({})
        with (
            create_mcp_tools(replay=path) as client,
            pytest.raises(ServerError, match="no request resources/read"),
        ):
            client.servers["n"].read_resource("x://a")

    def test_times_match_times(self, path):
        """An argument that is a time of day now matches the one of then."""
        server = FakeMCPServer("n")
        server.answer("at", "ok", schema={"type": "object"})
        with create_mcp_tools({"n": server}, record=path) as client:
            client["at"]({"when": "2026-11-22T10:00:00Z"})
        with create_mcp_tools(replay=path) as client:
            assert client["at"]({"when": "2027-01-01T00:00:00Z"}).text == "ok"
            assert client["at"]({"when": "tomorrow"}).is_error


class TestProcesses:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("entry", "mode"),
        [
            (good, "auto"),
            pytest.param(shop, "legacy", marks=pytest.mark.long),
            pytest.param(good, "legacy", marks=pytest.mark.long),
            pytest.param(shop, "auto", marks=pytest.mark.long),
        ],
    )
    def test_are_not_needed_any_more(self, path, mode, entry, monkeypatch):
        """A process that was recorded is replayed without it, with the same results."""
        config = {"mcpServers": {"g": {**entry(), "mode": mode}}}
        with create_mcp_tools(config, record=path, elicitation_handler=lambda _: None) as client:
            before = client.servers["g"].snapshot(), called(client)
        monkeypatch.setenv("PATH", "")
        with cut_off() as tried, create_mcp_tools(replay=path) as client:
            assert client.servers["g"].connection.pid is None
            again = client.servers["g"].snapshot(), called(client)
        assert again == before
        assert tried == []


def called(client, skip=("hang", "never", "sleep")):
    """The text of one call of each tool with the least arguments."""
    texts = {}
    for tool in client:
        if tool.name in skip:
            continue
        whole = tool.input_schema
        arguments = {
            name: {
                "integer": 1,
                "number": 1,
                "array": [],
                "object": {},
                "boolean": True,
            }.get(whole["properties"][name].get("type"), "a")
            for name in whole.get("required", [])
        }
        texts[tool.name] = client.servers[tool.server].call(tool.remote_name, arguments).text
    return texts


# Their time limit expires
SILENT = ("never-list", "never-init", "no-newline", "pretty-json")
STARTS = [
    *(
        "calls",
        "ok",
        "exit-at-start",
        "exit-after-init",
        "exit-on-list",
        "stderr-flood",
    ),
    *("junk-stdout", "binary-stdout", "crlf", "batch", "notify-first", "dup-names"),
    *SILENT,
]


class TestMisbehaving:
    @pytest.mark.parametrize("mode", STARTS)
    def test_connects_or_fails_as_it_did(self, path, mode):
        """Whatever a server does while it is connected to, the replay does."""
        limit = 3 if mode in SILENT else PATIENCE
        assert replayed(path, misbehaving(mode), limit) == "equal"

    def test_a_deeply_nested_list_is_listed_again(self, path):
        """A schema beyond the limit of many JSON parsers is recorded and replayed as it was sent."""
        config = {"mcpServers": {"m": misbehaving("deep-schema")}}
        with create_mcp_tools(config, record=path) as client:
            names = [tool.name for tool in client.servers["m"].tools]
            assert client.servers["m"].call("ping").text == "pong"
        with create_mcp_tools(replay=path, timeout=10 * PATIENCE) as client:
            session = client.servers["m"]
            assert session.error is None
            assert [tool.name for tool in session.tools] == names
            assert session.call("ping").text == "pong"

    @pytest.mark.parametrize("mode", ["http-500", "http-404", "http-401", "http-lost-session"])
    def test_over_http_fails_as_it_did(self, path, mode):
        """An error of HTTP is told in the same words."""
        with misbehaving_http(mode) as url:
            assert replayed(path, {"url": url}) == "equal"

    @pytest.mark.slow
    def test_calls_end_as_they_did(self, path):
        """Each tool that misbehaves when called gives the same text, or fails in the same words."""
        texts = []
        config = {"mcpServers": {"m": misbehaving("calls")}}
        for source, seconds in (
            ({"config": config, "record": path}, 1.5),
            # What had no answer is not waited for
            ({"replay": path}, 10 * PATIENCE),
        ):
            with create_mcp_tools(**source, timeout=PATIENCE) as client:
                session = client.servers["m"]
                session.call_seconds = seconds
                names = [t.remote_name for t in session.tools if t.remote_name not in SLOW]
                texts.append({n: session.call(n, {}).text for n in names})
        assert texts[0] == texts[1]
        assert len(texts[0]) > 10

    def test_a_call_without_an_answer_is_not_waited_for(self, path):
        """It fails at once, in the words of then: how long it took is one of them."""
        config = {"mcpServers": {"m": misbehaving("calls")}}
        with create_mcp_tools(config, record=path, timeout=PATIENCE) as client:
            session = client.servers["m"]
            session.call_seconds = 1
            names = sorted({t.remote_name for t in session.tools} & SLOW)
            before = {name: session.call(name, {}).text for name in names}
        with cut_off() as tried, create_mcp_tools(replay=path) as client:
            session = client.servers["m"]
            session.call_seconds = 600
            assert {name: session.call(name, {}).text for name in names} == before
        assert tried == []
        assert any("1 s" in text for text in before.values())


SLOW = {"never", "slow", "huge"}
"""The tools of the misbehaving server that take their time, or for ever."""


class TestCutOff:
    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ((), "recording ended before the server answered"),
            (("cancelled",), "was cancelled before the server answered"),
        ],
    )
    def test_a_call_that_was_under_way_is_not_waited_for(self, path, more, words):
        """Where a recording breaks off, or a person cancelled, the replay says so at once."""
        server = FakeMCPServer("n")
        server.answer("t", "ok")
        with create_mcp_tools({"n": server}, record=path) as client:
            client["t"]({})
        lines = path.read_text().splitlines(keepends=True)
        at = next(n for n, line in enumerate(lines) if "tools/call" in line)
        path.write_text("".join(lines[: at + 1]))
        for name in more:
            frame = json.loads(lines[at])
            params = {"requestId": frame["message"]["id"]}
            notification = {"method": f"notifications/{name}", "params": params}
            with path.open("a") as file:
                print(json.dumps({**frame, "message": notification}), file=file)
        with create_mcp_tools(replay=path) as client:
            client.servers["n"].call_seconds = 600
            assert words in client["t"]({}).text

    @pytest.mark.parametrize("method", ["tools/list", "prompts/get"])
    def test_nothing_is_waited_for_that_was_cut_off(self, path, method):
        """Also a list, or a prompt, of which the file has no answer any more, fails at once."""
        server = FakeMCPServer("n")
        server.answer("t", "ok")
        server.prompt("greet", "Hello")
        with create_mcp_tools({"n": server}, record=path) as client:
            client.servers["n"].get_prompt("greet")
        lines = path.read_text().splitlines(keepends=True)
        at = next(n for n, line in enumerate(lines) if f'"method":"{method}"' in line)
        path.write_text("".join(lines[: at + 1]))
        with create_mcp_tools(replay=path, timeout=10 * PATIENCE) as client:
            session = client.servers["n"]
            if method == "tools/list":
                assert "recording ended before" in session.error
            else:
                with pytest.raises(ServerError, match="recording ended before"):
                    session.get_prompt("greet")


def replayed(path, entry, limit=PATIENCE):
    """Whether connecting and a ping come out the same in the replay."""
    outcomes = []
    for source in (
        {"config": {"mcpServers": {"m": entry}}, "record": path},
        {"replay": path},
    ):
        try:
            with create_mcp_tools(**source, timeout=limit) as client:
                session = client.servers["m"]
                names = [t.name for t in session.tools]
                outcomes.append((names, session.error, session.call("ping", {}).text))
        except ServerError as error:
            outcomes.append(str(error))
    return "equal" if outcomes[0] == outcomes[1] else outcomes


def test_nothing_is_left_open():
    """The tests above leave no recorder behind."""
    from toolbench.mcp.recording.recorder import open_recorders

    assert open_recorders._open == {}
    assert "TOOLBENCH_REPLAY" not in os.environ
