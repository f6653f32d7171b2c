"""`toolbench check`, as a script in a shell meets it: rows, words, exit codes, a report for CI."""

import json
import sys
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest

from toolbench.cli import main
from toolbench.core.declarations import ToolAnnotations
from toolbench.mcp import MCPClient

# FastMCP takes a second to import, which is no test's
from toolbench.mcp.wire import transports  # noqa: F401
from toolbench.testing import FakeMCPServer

LIBRARY = '''
"""A server in this process."""

from toolbench import tool
from toolbench.core.declarations import ToolAnnotations
from toolbench.testing import FakeMCPServer

server = FakeMCPServer("library")
READS = ToolAnnotations(readOnlyHint=True)
server.answer("find", [{"title": "Emma", "year": 1815}], annotations=READS)
server.answer("fail", ValueError("no such book"), annotations=READS)
server.answer("hostile", "\\x1b[2J \\u202e", annotations=READS)
server.answer("burn", "ashes", annotations=ToolAnnotations(destructiveHint=True))


@tool
def half(total: float) -> float:
    """Halve a total."""
    return total / 2
'''
CHECKS = """
# What callers count on
checks:
- name: finds
  tool: library.find
  expect: {result: [{title: Emma, year: 1815}]}
- name: finds another year
  tool: library.find
  expect: {result: [{title: Emma, year: 1816}]}
- {name: fails, tool: library.fail, expect: {error: no such book}}
- {name: is hostile, tool: library.hostile, expect: {text: peace}}
- {name: burns, tool: library.burn}
- {name: lost, tool: library.fnd}
- {name: elsewhere, tool: gone.find}
- {name: halves, tool: "library.py:half", arguments: {total: 84}, expect: {result: 42}}
- {name: asks a module, tool: "nowhere:half"}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with checks, and the configuration of two servers, one of which cannot be started."""
    (tmp_path / "library.py").write_text(LIBRARY)
    (tmp_path / "library.checks.yaml").write_text(CHECKS)
    servers = {"library": {"module": "library.py:server"}, "gone": {"command": "no-such-program"}}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


@pytest.fixture
def check(folder, capsys):
    """Runs the checks of *names*: the exit code, the document, and the words."""

    def run(*names, words=("--approve",), file="library.checks.yaml"):
        only = [word for name in names for word in ("--only", name)]
        code = main(["check", file, *only, *words])
        out, err = capsys.readouterr()
        return SimpleNamespace(code=code, out=out, err=err, json=json.loads(out or "null"))

    return run


@pytest.mark.parametrize(
    ("names", "words", "code", "said"),
    [
        (["finds", "fails", "halves"], [], 0, "passed     halves"),
        (["finds", "finds another year"], [], 1, "1816 was expected, and 1815 was returned"),
        (["lost", "finds another year"], [], 2, "No connected server has a tool 'library.fnd'"),
        (["asks a module"], [], 2, "nowhere cannot be imported"),
        (["fnds"], [], 2, "There is no check 'fnds'. Did you mean 'finds'"),
        (["elsewhere", "lost"], [], 3, "command not found: 'no-such-program'"),
        (["burns", "finds another year"], [], 4, "consent was needed, because burn can delete"),
        (["burns"], ["--yes"], 0, "passed     burns"),
    ],
)
def test_the_exit_code_says_how_it_ended(check, names, words, code, said):
    """What could not run counts more than what differs."""
    ended = check(*names, words=["--approve", *words])
    assert (ended.code, said in " ".join(ended.err.split()) or said in ended.err) == (code, True), (
        ended
    )


def test_each_check_is_a_row_and_a_line(check):
    """With its state and what differs; a call that is refused holds up no other."""
    names = ["finds another year", "burns", "halves"]
    ended = check(*names)
    document = ended.json
    assert (document["passed"], document["checks"], document["failed"]) == (False, 3, 2)
    rows = document["results"]
    assert [row["name"] for row in rows] == names
    assert [row["state"] for row in rows] == ["failed", "refused", "passed"]
    message = "1816 was expected, and 1815 was returned"
    assert rows[0]["problems"] == [{"where": "[0].year", "message": message}]
    assert f"[0].year: {message}" in ended.err
    assert " burn was not run: nobody could be asked" in ended.err
    assert "--yes approves in advance" in ended.err
    assert "\n1 of 3 checks passed in " in ended.err
    [_, row] = check("finds", "elsewhere").json["results"]
    assert "command not found: 'no-such-program'" in row["problems"][0]["message"]


def test_no_character_does_something_to_a_terminal(check):
    """Neither on stdout nor on stderr."""
    ended = check("is hostile")
    assert ended.code == 1
    for text in (ended.out, ended.err):
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_only_servers_that_are_named_are_connected(check, folder):
    """And none for tools of Python, which need no configuration."""
    ended = check("finds", "halves")
    assert "no-such-program" not in ended.err
    (folder / "mcp.json").unlink()
    assert check("halves", words=()).code == 0
    ended = check("finds", words=())
    assert (ended.code, "Where is the server?" in ended.err) == (2, True)
    ended = check("finds", "elsewhere", words=["--", "python"])
    assert (ended.code, "name gone, library, and a command" in ended.err) == (2, True)


def test_a_url_beside_another_source_is_refused(check, folder):
    """It would not be used: the checks would run with the servers of the file."""
    url, file = "http://127.0.0.1:9/mcp", "library.checks.yaml"
    ended = check(file=url, words=[file, "--config", "mcp.json", "--approve"])
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "Give one source of servers, not a URL and --config.\n"


def test_a_report_for_ci_has_failures_and_errors(check, folder):
    """A file that is there is replaced only if the line says so; a missing folder is made."""
    words = ["--approve", "--junit", "reports/out.xml"]
    assert check("finds", "finds another year", "lost", words=words).code == 2
    suite = ET.parse(folder / "reports/out.xml").getroot().find("testsuite")
    assert suite.attrib["name"] == "library"
    assert [[child.tag for child in case] for case in suite] == [[], ["failure"], ["error"]]
    again = check("finds", words=words)
    assert (again.code, again.out, "out.xml" in again.err) == (2, "", True)
    assert check("finds", words=[*words, "--overwrite"]).code == 0


def test_a_recording_answers_in_place_of_the_server(check, folder):
    """The server that it is of has changed since then."""
    server = FakeMCPServer("library")
    reads = ToolAnnotations(readOnlyHint=True)
    server.answer("find", [{"title": "Emma", "year": 1816}], annotations=reads)
    with MCPClient() as client:
        client.connect("library", server, record=folder / "r.jsonl").tool("find")({})
    states = []
    for words in (["--replay", "r.jsonl"], ["--approve"]):
        rows = check("finds", "finds another year", words=words).json["results"]
        states.append([row["state"] for row in rows])
    assert states == [["failed", "passed"], ["passed", "failed"]]


def test_all_files_are_read_before_a_check_runs(check, folder):
    """One that cannot be used is named; the checks of all run in the order of the line."""
    (folder / "bad.checks.yaml").write_text("checks:\n- {name: x, tool: y, expect: {resul: 1}}\n")
    ended = check(file="bad.checks.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert "bad.checks.yaml cannot be used" in ended.err
    assert check(file="none.checks.yaml").code == 2
    (folder / "cut.checks.yaml").write_text("# What callers count on\n")
    ended = check(file="cut.checks.yaml")
    assert (ended.code, ended.err) == (2, "There is no check in cut.checks.yaml.\n")
    (folder / "more.checks.yaml").write_text("checks:\n- {name: more, tool: library.find}\n")
    ended = check("halves", "more", words=["more.checks.yaml", "--approve"])
    assert [row["name"] for row in ended.json["results"]] == ["halves", "more"]
    assert (ended.code, ended.json["checks"]) == (0, 2)


def test_finds_a_module_of_the_current_folder(check, folder, monkeypatch):
    """As the notebook did in which the check was saved."""
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    monkeypatch.delitem(sys.modules, "own_shelf", raising=False)
    (folder / "own_shelf.py").write_text(LIBRARY)
    (folder / "own.checks.yaml").write_text(CHECKS.replace("library.py:half", "own_shelf:half"))
    assert check("halves", file="own.checks.yaml", words=()).code == 0


@pytest.mark.slow
def test_a_server_that_breaks_off_is_no_difference(check, folder):
    """Even if the next call has connected it again; answers of a check are given in its own call alone."""
    arguments = "arguments: {title: Emma}, expect: {match: any}"
    (folder / "example.checks.yaml").write_text(
        "checks:\n"
        f"- {{name: lends, tool: lend, {arguments}, answers: [{{until: '2027-01-31'}}]}}\n"
        f"- {{name: asks, tool: lend, {arguments}}}\n"
        "- {name: exits, tool: exit_in_call}\n"
        "- {name: finds, tool: find, arguments: {title: Em}, expect: {warnings: true}}\n"
    )
    words = ["--", sys.executable, "-m", "toolbench.mcp.example"]
    ended = check(file="example.checks.yaml", words=["--yes", *words])
    states = [row["state"] for row in ended.json["results"]]
    assert states == ["passed", "failed", "failed", "passed"], ended
    assert ended.code == 3
    assert check("asks", file="example.checks.yaml", words=["--yes", *words]).code == 1
