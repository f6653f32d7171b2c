"""A probe finds what is wrong with a server, names the rule, and calls nothing that may change something."""

import signal
import threading
from xml.etree.ElementTree import fromstring

import pytest
from fastmcp import FastMCP
from patience import PATIENCE, eventually, when
from test_mcp.peers import children, good, is_running, misbehaving

from toolbench.checks import probe
from toolbench.errors import ServerError, ToolbenchError, ToolNotFoundError
from toolbench.mcp import MCPClient
from toolbench.runs.policy import policy

SEEN = {
    "bad-annotations": "tools: definitions and schemas",
    "bad-cursor": "tools/list: all pages",
    "bad-discover": "server/discover",
    "bad-output-schema": "tools: definitions and schemas",
    "bad-schemas": "tools: definitions and schemas",
    "binary-later": "stdout has messages only",
    "binary-stdout": "stdout has messages only",
    "claims-all": "prompts/list: all pages",
    "deep-schema": "tools: definitions and schemas",
    "dup-names": "tools/list: no name twice",
    "endless-pages": "tools/list: all pages",
    "exit-after-init": "it goes on",
    "exit-on-list": "it goes on",
    "illegal-schemas": "tools: definitions and schemas",
    "junk-stdout": "stdout has messages only",
    "list-error": "tools/list: all pages",
    "list-null": "tools/list: all pages",
    "missing-schema": "tools: definitions and schemas",
    "no-capabilities": "initialize",
    "odd-names": "tools: names",
    "same-cursor": "tools/list: all pages",
    "wrong-version": "initialize",
}
"""The modes of the misbehaving server that a probe sees, each with the question that finds it.

It does not see: `batch`, `crlf`, `slow-bytes`, `slow-start`, `stderr-flood`, `notify-first`, `hang-discover`,
`exit-on-discover`, `ignore-close`, `empty-pages`, `no-tools` and `many-tools`, which older versions allow or no
sentence forbids; `hostile-listing`, which the review shows; `illegal-output-schema`, whose root is allowed in
2026-07-28; `never-init`, `pretty-json`, `no-newline`, `init-error`, `future-version`, `exit-at-start` and the HTTP
modes, which do not connect (the doctor says why); `never-list` within the patience of a test.
"""
CALLS = {
    "bad_structured": "tools/call: the result of bad_structured",
    "missing_structured": "tools/call: the result of missing_structured",
    "structured_only": "tools/call: the result of structured_only",
    "no_content": "tools/call: the result of no_content",
    "bad_base64": "tools/call: the result of bad_base64",
    "unknown_block": "tools/call: the result of unknown_block",
    "rpc_error": "tools/call: the result of rpc_error",
    "null_result": "tools/call: the result of null_result",
    "twice": "each request has one answer",
    "string_id": "each request has one answer",
    "odd_progress": "progress belongs to a call, and grows",
    "junk_between": "stdout has messages only",
}
"""The same, of the tools of its mode `calls`."""


def found(report):
    """The questions that have a finding."""
    return {each.question for each in report.findings}


class TestFindings:
    """What is wrong is found, by the right question."""

    @pytest.mark.parametrize(
        "mode",
        ["bad-cursor", "bad-discover", "claims-all", "dup-names", "exit-on-list", "junk-stdout"],
    )
    def test_of_a_mode(self, mode):
        report = probe(misbehaving(mode), seconds=PATIENCE)
        assert SEEN[mode] in found(report), report.to_text()

    @pytest.mark.slow
    def test_of_all_modes(self):
        for mode in SEEN:
            self.test_of_a_mode(mode)

    def test_of_calls(self):
        """Each row has the sentence of the specification, its URL, and what to do."""
        report = probe(misbehaving("calls"), tools=CALLS, seconds=PATIENCE)
        assert set(CALLS.values()) <= found(report), report.to_text()
        for each in report.findings:
            assert each.rule
            assert each.source.startswith("https://")
            assert each.what_to_do
            assert each.came
        assert not report.passed
        assert len(report.errors) < len(report.findings)

    @pytest.mark.slow
    def test_of_a_cancelled_call(self):
        """The tool answers all the same, which the newer protocol forbids over stdio."""
        report = probe(misbehaving("calls", "--modern"), tools=["slow"], seconds=PATIENCE)
        question = "a call that is cancelled is not answered"
        states = [each.state for each in report if each.question == question]
        assert states == ["wrong", "advice"], report.to_text()

    def test_nothing_is_wrong_with_a_good_server(self):
        """FastMCP answers a call of an unknown tool with a failed result."""
        before = children()
        report = probe(good(), seconds=PATIENCE)
        assert not report.errors, report.to_text()
        assert found(report) <= {
            "tools/call: an unknown tool is refused",
            "resources/read: an unknown resource is refused",
            "prompts/get: an unknown prompt is refused",
        }
        assert {each.era for each in report} == {"2026-07-28", "2025-11-25"}
        assert report.passed
        assert children() == before


@pytest.fixture
def counted_server():
    """A server with a tool of each effect, and the names of those that were called."""
    server, calls = FastMCP("shop"), []

    def offer(name, **hints):
        def run(a: int, b: int = 2) -> int:
            calls.append(name)
            return a + b

        server.tool(run, name=name, description="Adds.", annotations=hints)

    offer("look", readOnlyHint=True)
    offer("write", readOnlyHint=False, destructiveHint=False)
    offer("remove", destructiveHint=True)
    offer("unsaid")
    return server, calls


class TestConsent:
    """Nothing that may change something is called, unless it is named."""

    def test_only_what_is_read_only_is_called(self, counted_server):
        server, calls = counted_server
        report = probe(server)
        assert set(calls) == {"look"}
        left = [each.came for each in report if each.question == "tools/call: results"]
        assert "3 tools, not declared read-only, and not named: write, remove, unsaid" in left

    def test_what_is_named_is_called_unless_the_policy_denies_it(self, counted_server):
        server, calls = counted_server
        policy.deny("remove")
        report = probe(server, tools=["write", "remove"])
        assert set(calls) == {"look", "write"}, report.to_text()

    def test_a_name_that_it_has_not(self, counted_server):
        with pytest.raises(ToolNotFoundError, match="no tool 'wirte'"):
            probe(counted_server[0], tools=["wirte"])


class TestOfASession:
    """The session of the user goes on, and its server is another process."""

    def test_goes_on(self):
        with MCPClient() as client:
            session = client.connect("lib", good())
            pid, sent = session.connection.pid, len(session.traffic)
            report = probe(session)
            assert report.server == "lib"
            assert session.connection.pid == pid
            assert len(session.traffic) == sent

    def test_that_is_replayed(self, tmp_path):
        with MCPClient() as client:
            client.connect("lib", good(), record=tmp_path / "lib.jsonl")
        with MCPClient() as client:
            session = client.connect("lib", replay=tmp_path / "lib.jsonl")
            with pytest.raises(ToolbenchError, match="replayed from a recording"):
                probe(session)

    def test_that_cannot_be_reached(self):
        with pytest.raises(ServerError, match="did not connect"):
            probe(misbehaving("exit-at-start"))

    def test_whose_server_is_killed(self):
        """The row says at which question it ended; no process is left."""
        before = children()
        report = probe(misbehaving("calls"), tools=["crash"])
        (row,) = (each for each in report if each.question == "it goes on")
        assert "the result of crash" in row.came
        assert children() == before

    def test_ends_with_an_interrupt(self):
        """What was asked until then is there; no process is left."""
        silent = misbehaving("never-list")
        before = children()
        main = threading.main_thread().ident
        with when(lambda: children() - before, lambda: signal.pthread_kill(main, signal.SIGINT)):
            report = probe(silent, seconds=PATIENCE)
        assert report.stopped == "It was interrupted"
        assert not report.passed
        eventually(lambda: not any(map(is_running, children() - before)))


def test_a_report_as_data():
    """As text, a table, JSON and JUnit, in which only what is wrong is a failure."""
    report = probe(misbehaving("hostile-listing"))
    wrong = {f"{each.question} [{each.era}]" for each in report.errors}
    suite = fromstring(report.to_junit())
    assert {case.get("name") for case in suite.iter("testcase") if len(case)} == wrong
    assert len(report.to_dataframe()) == len(report) == len(report.to_dict()["results"])
    assert "<script>" not in report.to_html()
    assert "\x1b" not in report.to_text()
