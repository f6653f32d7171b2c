"""The calls of a recording made again: at the same server, at a changed one, at another one."""

import json
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from patience import PATIENCE

from toolbench import answering, current_run, policy, tool
from toolbench.checks import Check, Checks, recorded_checks, rerun, reruns
from toolbench.core.declarations import ToolAnnotations
from toolbench.errors import CaseError, ServerError, ToolNotFoundError
from toolbench.mcp import MCPClient
from toolbench.mcp.recording import Recording
from toolbench.redaction import MARK
from toolbench.testing import FakeMCPServer
from toolbench.widgets.report_panel import CheckPanel

READS = ToolAnnotations(readOnlyHint=True)
BURNS = ToolAnnotations(destructiveHint=True)
TITLE = {"type": "object", "properties": {"title": {"type": "string"}}}
LOG_IN = {"type": "object", "properties": {"api_key": {"type": "string"}}}


@tool(read_only=True)
def find(title: str) -> dict:
    """Find books; the time and the id are never the same."""
    at = datetime.now(UTC).isoformat(timespec="microseconds")
    return {"books": [{"title": "Emma", "year": 1815}], "at": at, "id": str(uuid4())}


def library(**changed):
    """A server with tools that read, and others; *changed* has other answers of tools."""
    server = FakeMCPServer("library")
    server.tool(find)
    answers = {"count": 3, "close": ValueError("closed at 7"), **changed}
    for name, answer in answers.items():
        server.answer(name, answer, schema=TITLE, annotations=READS)
    server.answer("burn", "ashes", annotations=BURNS)

    @server.tool
    def lend(title: str) -> str:
        """Lend a book, if its reader agrees."""
        return "lent" if current_run().ask(f"Lend {title}?") else "kept"

    return server


CALLS = (
    ("find", {"title": "Em"}),
    ("count", {}),
    ("close", {}),
    ("burn", {}),
    ("lend", {"title": "Emma"}),
)


@pytest.fixture
def path(tmp_path):
    """A recording of calls of `library`; its question was answered with yes."""
    path = tmp_path / "library.jsonl"
    with MCPClient(elicitation_handler=lambda _: True) as client:
        session = client.connect("library", {"server": library()}, record=path)
        for name, arguments in CALLS:
            session.call(name, arguments)
    return path


@pytest.fixture(autouse=True)
def slow_machine(monkeypatch):
    """However long a call takes under load, it is not slower."""
    monkeypatch.setattr(reruns, "_SECONDS", PATIENCE)


@pytest.fixture
def client():
    with MCPClient() as client:
        yield client
    policy.reset()


def outcomes(report):
    return [row.state for row in report]


class TestRecordedChecks:
    def test_expect_what_was_recorded(self, path, tmp_path, client):
        """They pass by the recording and by the server, and find what has changed in another one."""
        recording, file = Recording.read(path), tmp_path / "library.checks.yaml"
        assert len(recorded_checks(recording, "library")) == 5
        recorded_checks(recording, "library").write(file)
        checks = Checks.read(file)
        client.connect("library", replay=path)
        assert checks.run(client).passed
        client.connect("library", {"server": library()})
        assert checks.run(client, confirm=False).passed
        client.connect("library", {"server": library(count=4)})
        [failed] = checks.run(client, confirm=False).failures
        assert failed.error == "3 was expected, and 4 was returned"

    def test_leave_out_what_cannot_be_expected_again(self, path, tmp_path, client):
        """The same call twice, hidden secrets, and arguments that toolbench does not send."""
        server, path = FakeMCPServer("bank"), tmp_path / "bank.jsonl"
        server.answer("log_in", "welcome", schema=LOG_IN, annotations=READS)
        server.answer("show", "key sesame-4711", annotations=READS)
        server.answer("count", "3", schema=TITLE, annotations=READS)
        session = client.connect("bank", {"server": server}, record=path)
        for name, arguments in (
            ("log_in", {"api_key": "sesame-4711"}),
            ("show", {}),
            ("count", {"title": 7}),
            ("count", {"title": "Emma"}),
            ("count", {"title": "Emma"}),
        ):
            session.call(name, arguments)
        [check] = recorded_checks(Recording.read(path), "bank")
        assert check.arguments == {"title": "Emma"}

    def test_keep_calls_that_were_answered_otherwise(self, tmp_path):
        """And those whose arguments differ where a name ends; each has a name of its own."""
        path, answers = tmp_path / "library.jsonl", [True, False, True]
        long = "Em" * 500
        with MCPClient(elicitation_handler=lambda _: answers.pop()) as client:
            session = client.connect("library", {"server": library()}, record=path)
            for title in ("Emma", "Emma", "Emma"):
                session.call("lend", {"title": title})
            for title in (long, f"{long}!", long):
                session.call("find", {"title": title})
        checks = recorded_checks(Recording.read(path), "library")
        assert [check.expect.get("text") for check in checks][:2] == ["lent", "kept"]
        assert len({check.name for check in checks}) == len(checks) == 4


class TestRerun:
    def test_of_the_same_server_is_the_same(self, path, client):
        """Times and ids may differ, errors are expected, and questions are answered as then."""
        session = client.connect("library", {"server": library()})
        report = rerun(session, path, confirm=False)
        assert outcomes(report) == ["same"] * 5
        assert report.passed
        assert report.changes == []
        assert report.title == "library.jsonl rerun at library"
        assert "5 of 5 checks passed" in report.verdict
        assert report.to_text().endswith("0 changes in what is offered.")

    def test_of_a_changed_server_says_what_differs(self, path, client):
        """Its behaviour beside its schemas; the checks of the rows find the same."""
        books = {"books": [{"title": "Emma", "year": 1816}], "at": "2026-01-01T10:00Z", "id": "x"}
        changed = library(find=books, count=KeyError("lost"), close="open")
        session = client.connect("library", {"server": changed})
        report = rerun(session, path, tools=["library.burn"])
        assert outcomes(report) == ["differs", "error", "differs", "same", "not called"]
        wrong = {(each.where, each.message) for each in report[0].problems}
        assert ("books[0].year", "1815 was expected, and 1816 was returned") in wrong
        assert not any(where == "at" for where, _ in wrong)
        assert report[2].error == "it should have failed, and succeeded"
        html = report.to_html()
        assert "<del>1815</del>" in html and "<ins>1816</ins>" in html
        panel = CheckPanel(report)
        for place, words in enumerate(("<del>1815</del>", "lost", "should have failed")):
            panel.show_row(place)
            assert words in panel._head.value
            assert "toolbench-hidden" in panel._accept._dom_classes
        panel.close()
        again = Checks([row.check for row in report[:3]]).run(client)
        assert [result.state for result in again] == ["failed"] * 3
        assert again[0].problems == report[0].problems

    def test_has_the_changes_of_schemas(self, path, client):
        """A tool that is gone is an error of its calls, and a breaking change."""
        smaller = FakeMCPServer("library")
        smaller.answer("count", 3, schema={"type": "object"}, annotations=READS)
        session = client.connect("library", {"server": smaller})
        report = rerun(session, path)
        assert outcomes(report) == ["error", "same", "not called", "error", "error"]
        assert report[0].error == "library has no tool 'find'"
        assert "tools/find" in [c.where for c in report.changes if c.severity == "breaking"]
        assert "- breaking: library: " in report.to_text()

    def test_says_that_a_server_does_not_list_what_it_offers(self, path, client, monkeypatch):
        """Its calls are made all the same."""
        session = client.connect("library", {"server": library()})
        why = "Server 'library' does not list its resources: Method not found."

        def refused():
            raise ServerError(why)

        monkeypatch.setattr(session, "snapshot", refused)
        report = rerun(session, path, confirm=False)
        assert report.passed
        assert report.about_changes == f"0 changes in what is offered. Not compared: {why}"

    def test_calls_nothing_without_a_yes_that_is_not_read_only(self, path, client):
        """It asks once, and shows all; a policy that forbids a tool is stronger than a yes."""
        server = library()
        session = client.connect("library", {"server": server})
        with answering(False):
            report = rerun(session, path)
        assert outcomes(report) == ["same", "same", "same", "refused", "refused"]
        assert "a preset answer declined" in report[3].error
        assert [call.tool for call in server.calls] == ["find", "count", "close"]
        policy.deny(session.tool("burn"))
        with answering(True):
            report = rerun(session, path)
        assert outcomes(report) == ["same", "same", "same", "refused", "same"]
        assert "denied, because the policy names burn" in report[3].error
        with pytest.raises(ToolNotFoundError, match=r"no call of a tool 'bury'\. Did you mean"):
            rerun(session, path, tools=["bury"])

    def test_takes_any_value_for_a_secret(self, tmp_path, client):
        """What was hidden may be another one now; a call whose secret is gone is not made."""
        server, path = FakeMCPServer("bank"), tmp_path / "bank.jsonl"
        server.answer("log_in", "welcome", schema=LOG_IN, annotations=READS)
        server.answer("show", "key sesame-4711, balance 5", annotations=READS)
        session = client.connect("bank", {"server": server}, record=path)
        for name, arguments in (("log_in", {"api_key": "sesame-4711"}), ("show", {})):
            session.call(name, arguments)
        with pytest.raises(ServerError, match="is being written"):
            rerun(session, path)
        server = FakeMCPServer("bank")
        server.answer("log_in", "welcome", schema=LOG_IN, annotations=READS)
        server.answer("show", "key other-4712, balance 5", annotations=READS)
        report = rerun(client.connect("bank", {"server": server}), path)
        assert outcomes(report) == ["not called", "same"]
        assert report[0].error == "the recording hides a secret of its arguments: api_key"
        assert report[0].check.arguments == {"api_key": MARK}
        assert "4711" not in json.dumps(report.to_dict()) + report.to_html()

    def test_says_what_takes_longer(self, path, client, monkeypatch):
        """More than twice as long and half a second more, with the same result."""
        at, lines = 0, []
        for line in path.read_text().splitlines():
            lines.append(json.dumps({**json.loads(line), "at": at}))
        path.write_text("\n".join([*lines, ""]))
        session = client.connect("library", {"server": library()})
        monkeypatch.setattr(reruns, "_SECONDS", 0)
        report = rerun(session, path, tools=["burn"])
        assert outcomes(report) == [*["slower"] * 4, "not called"]
        assert report.passed

    def test_compares_two_servers(self, path, client):
        """With another server, both are called, and the recorded results do not count."""
        old = client.connect("old", {"server": library(count=7)})
        new = client.connect("library", {"server": library(count=8)})
        report = rerun(new, path, against=old)
        assert outcomes(report)[:3] == ["same", "differs", "same"]
        assert report[1].error == "7 was expected, and 8 was returned"
        assert report.title == "old rerun at library"

    def test_calls_each_server_of_a_recording(self, tmp_path, client):
        """Each call goes to the server of its name; one that the recording lacks is named."""
        path, answers = tmp_path / "both.jsonl", {"one": 1, "two": 2}
        for name, answer in answers.items():
            server = FakeMCPServer(name)
            server.answer("get", answer, annotations=READS)
            client.connect(name, {"server": server}, record=path).call("get")
        client.sync_close()
        with MCPClient() as later:
            sessions = []
            for name in answers:
                server = FakeMCPServer(name)
                server.answer("get", 1, annotations=READS)
                sessions.append(later.connect(name, {"server": server}))
            report = rerun(sessions, Recording.read(path))
            assert [(row.check.tool, row.state) for row in report] == [
                ("one.get", "same"),
                ("two.get", "differs"),
            ]
            other = later.connect("three", {"server": library()})
            with pytest.raises(ServerError, match="has no server 'three'"):
                rerun(other, path)
            later.connect("four", {"server": library()}, record=path).stop_recording()
            with pytest.raises(CaseError, match="has no call that could be made again"):
                rerun(other, path)


def test_what_a_recording_has_no_answer_to_is_not_accepted(path, tmp_path):
    """It is no answer of the tool; an other result is one."""
    file = Checks(
        [
            Check("other", "library.count", expect={"result": 4}),
            Check("unknown", "library.count", arguments={"title": "?"}, expect={"result": 3}),
        ]
    ).write(tmp_path / "library.checks.yaml")
    with MCPClient() as client:
        client.connect("library", replay=path)
        report = Checks.read(file).run(client)
    assert "Not recorded" in report[1].error
    with pytest.raises(CaseError, match="no new result"):
        report.accepting(1)
    assert report.accepting(0)[0].passed
