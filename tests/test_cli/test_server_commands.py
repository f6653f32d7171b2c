"""The commands about servers, as a script in a shell meets them: JSON, words and exit codes."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from documents import ROOT
from patience import PATIENCE, eventually

from toolbench.checks import reruns
from toolbench.cli import main
from toolbench.cli.exit_codes import MEANINGS

# FastMCP takes a second to import, which is no test's
from toolbench.mcp import MCPClient
from toolbench.mcp.wire import transports  # noqa: F401

SERVERS = Path(__file__).parents[1] / "test_mcp" / "servers"
GOOD = [sys.executable, str(SERVERS / "good.py")]
TOOLBENCH = Path(sys.executable).with_name("toolbench")
LIBRARY = '''
"""A server in this process, with what the commands may meet."""

import json
from base64 import b64encode

from toolbench import current_run, tool
from toolbench.core.declarations import ToolAnnotations
from toolbench.testing import FakeMCPServer, InTurn

server = FakeMCPServer("library")
READS = ToolAnnotations(readOnlyHint=True)
SCHEMA = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["title"],
}
server.answer("find", [{"title": "Emma"}], schema=SCHEMA, annotations=READS)
server.answer("hostile", "\\x1b[2J \\u202e hunter2hunter2 \\ud83d", annotations=READS)
server.answer("fail", ValueError("no such book"), annotations=READS)
server.answer("now_and_then", InTurn("a", ValueError("torn"), "b", "c"), annotations=READS)
server.answer("burn", "ashes", annotations=ToolAnnotations(destructiveHint=True))
server.answer("promise", {"n": "x"}, output_schema={"properties": {"n": {"type": "integer"}}},
              annotations=READS)
server.resource("books://emma", "Emma Woodhouse, handsome, clever, and rich")
server.prompt("review", "Review {title}.", arguments=["title"])


@tool(read_only=True)
def echo(title: str, scan: bytes = b"", pages: list[int] = [], year: str = "") -> str:
    """Return what was sent."""
    return json.dumps({"title": title, "scan": b64encode(scan).decode(), "pages": pages, "year": year})


server.tool(echo)


@server.tool
def lend(title: str) -> str:
    """Lend a book, if its reader agrees."""
    return "lent" if current_run().ask(f"Lend {title}?") else "kept"
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the configuration of two servers, one of which cannot be started."""
    (tmp_path / "library.py").write_text(LIBRARY)
    servers = {"library": {"module": "library.py:server"}, "gone": {"command": "no-such-program"}}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


@pytest.fixture
def toolbench(folder, capsys):
    """Runs a command: its exit code, its document, and its words."""

    def run(command, *words, approve="--approve"):
        code = main([command, *filter(None, [approve]), *words])
        out, err = capsys.readouterr()
        return SimpleNamespace(code=code, out=out, err=err, json=json.loads(out or "null"))

    return run


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("call library.find title=Emma", 0, ""),
        ("call library.fail", 1, ""),
        ("call library.promise", 1, "does not fit the tool's output schema"),
        ("call library.fnd title=Emma", 2, "No connected server has a tool 'library.fnd'"),
        ("call library.find title=Emma limit=many", 2, 'limit: should be an integer, not "many"'),
        ("call library.find --frob", 2, "Unknown option"),
        ("call library.find --header X:1", 2, "--header is for a URL"),
        ("read library books://none", 1, "none"),
        ("prompt library.review titel=Emma", 2, "Did you mean 'title'"),
        ("review", 2, "Which server? There are: library, gone."),
        ("list gone", 3, "command not found: 'no-such-program'"),
        ("call find title=Emma -- no-such-program", 2, "--approve is for the servers of a file"),
        ("call library.burn", 4, "can delete or overwrite data. --yes"),
        ("call library.burn --yes", 0, ""),
    ],
)
def test_the_exit_code_says_how_it_ended(toolbench, line, code, words):
    """One table for all; stdout has the document, or else stderr has the reason."""
    ended = toolbench(*line.split())
    assert (ended.code, words in " ".join(ended.err.split())) == (code, True), ended
    assert bool(ended.out) == (code == 0 or "library.fail" in line or "promise" in line)


def test_a_file_that_was_not_approved_starts_nothing(toolbench):
    """What would start is shown, with the option; an approval counts from then on."""
    refused = toolbench("call", "library.find", "title=Emma", approve=None)
    assert (refused.code, refused.out) == (4, "")
    assert "runs the Python code library.py:server" in refused.err
    assert "--approve" in refused.err
    assert toolbench("call", "library.find", "title=Emma").code == 0
    assert toolbench("call", "library.find", "title=Emma", approve=None).code == 0


def test_the_result_is_printed_as_it_was_sent(toolbench):
    """Secrets are hidden, and no character does something to a terminal."""
    ended = toolbench("call", "library.hostile", "password=hunter2hunter2")
    (block,) = ended.json["content"]
    assert block["text"].startswith("\x1b[2J \u202e <secret-hidden>")
    assert "\x1b" not in ended.out
    assert "\u202e" not in ended.out


def test_a_variable_called_like_a_secret_is_hidden(toolbench, monkeypatch):
    """Whatever the argument is called that takes it: the lines of CI are kept."""
    monkeypatch.setenv("LIBRARY_TOKEN", "tangerine-4711")
    ended = toolbench("call", "library.echo", "title=${LIBRARY_TOKEN}")
    assert '"title": "<secret-hidden>"' in ended.json["content"][0]["text"]
    assert "tangerine" not in ended.out + ended.err


def test_arguments_are_read_as_by_the_magic(toolbench, folder, monkeypatch):
    """Text where the tool takes text, else JSON; JSON beside words; a file; a variable alone."""
    monkeypatch.setenv("TITLE", "Persuasion")
    (folder / "scan.png").write_bytes(b"PNG")
    words = ["title=${TITLE}", "scan=@scan.png", '{"pages": [1, 2], "year": "1818"}']
    sent = json.loads(toolbench("call", "library.echo", *words).json["content"][0]["text"])
    assert sent == {"title": "Persuasion", "scan": "UE5H", "pages": [1, 2], "year": "1818"}
    sent = json.loads(toolbench("call", "library.echo", "title=7").json["content"][0]["text"])
    assert sent["title"] == "7"
    assert "has to be JSON" in toolbench("call", "library.echo", "{title: 7}").err


def test_a_question_is_declined_or_answered_in_advance(toolbench):
    """Nobody is there to ask: stderr says so, and how it can be answered."""
    declined = toolbench("call", "library.lend", "title=Emma")
    assert "kept" in declined.out
    assert "Lend Emma?" in declined.err
    assert "--answer" in declined.err
    assert "lent" in toolbench("call", "library.lend", "title=Emma", "--answer", "true").out


def test_a_server_is_asked_whether_it_is_right(toolbench, folder):
    """The review and the probe are JSON, what is found is words; --tools and --junit need --probe."""
    probed = toolbench("review", "library", "--probe", "--junit", "probe.xml", "--tools", "lend")
    assert probed.code == 1
    wrong = [row for row in probed.json["probe"]["results"] if row["state"] == "wrong"]
    assert "tools/call: the result of promise" in {row["question"] for row in wrong}
    assert "tools/call: the result of lend" in {
        row["question"] for row in probed.json["probe"]["results"]
    }
    assert "what to do: Return what the outputSchema says" in probed.err
    assert "<failure" in (folder / "probe.xml").read_text()
    assert toolbench("review", "library", "--probe", "--junit", "probe.xml").code == 2
    assert toolbench("review", "library", "--tools", "lend").code == 2


def test_what_a_server_offers_is_listed_read_and_reviewed(toolbench):
    """Each as one document."""
    (server,) = toolbench("list", "library").json["servers"]
    effects = {tool["name"]: tool["effect"] for tool in server["tools"]}
    assert effects["find"] == "read-only"
    assert effects["burn"] == "destructive"
    assert all(tool["tokens"] and tool["inputSchema"] for tool in server["tools"])
    (content,) = toolbench("read", "library", server["resources"][0]["uri"]).json["contents"]
    assert content["text"].startswith("Emma Woodhouse")
    (message,) = toolbench("prompt", "library.review", "title=Emma").json["messages"]
    assert message["content"]["text"] == "Review Emma."
    reviewed = toolbench("review", "library")
    # Its verdict is no
    assert reviewed.code == 1
    review = reviewed.json
    assert review["destructive"] == ["burn"]
    assert review["verdict"]["tone"] == "danger"
    assert {finding["tool"] for finding in review["findings"]} <= {*effects}


def test_recorded_calls_are_made_again(toolbench, folder, monkeypatch):
    """A line each on stderr; the code says whether all are the same, and whether somebody agreed."""
    # However long a call takes under load
    monkeypatch.setattr(reruns, "_SECONDS", PATIENCE)
    with MCPClient() as client:
        session = client.connect("library", {"module": "library.py:server"}, record="lib.jsonl")
        for tool, arguments in (("find", {"title": "Emma"}), ("fail", {}), ("burn", {})):
            session.call(tool, arguments)
    refused = toolbench("rerun", "lib.jsonl")
    assert [row["state"] for row in refused.json["results"]] == ["same", "same", "refused"]
    assert (refused.code, "nobody could be asked" in refused.err) == (4, True)
    same = toolbench("rerun", "library", "lib.jsonl", "--tools", "burn")
    assert (same.code, same.json["passed"], same.json["changes"]) == (0, True, [])
    assert 'same       library.find {"title": "Emma"}' in same.err
    (folder / "changed.py").write_text(LIBRARY.replace('"title": "Emma"', '"title": "Lady Susan"'))
    servers = {"changed": {"module": "changed.py:server"}}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    differs = toolbench("rerun", "lib.jsonl", "--yes")
    assert [row["state"] for row in differs.json["results"]] == ["differs", "same", "same"]
    assert (differs.code, differs.json["results"][0]["problems"][0]["where"]) == (1, "[0].title")
    for words in (["library", "lib.jsonl"], ["mcp.json"], [], ["lib.jsonl", "--tools", "bury"]):
        assert toolbench("rerun", *words).code == 2


def test_many_calls_are_timed(toolbench):
    """The percentiles are times of calls; a failure counts, and fails the command."""
    times = toolbench("call", "library.find", "title=Emma", "--load", "20", "--at-once", "4")
    assert times.code == 0
    numbers = times.json
    assert 0 < numbers["p50"] <= numbers["p90"] <= numbers["p99"]
    assert (numbers["calls"], numbers["errors"]) == (20, 0)
    failed = toolbench("call", "library.now_and_then", "--load", "4")
    assert (failed.code, failed.json["error_rate"]) == (1, 0.25)
    assert "torn" in failed.err
    broken = toolbench("call", "library.promise", "--load", "4")
    assert (broken.code, broken.json["errors"]) == (1, 4)
    assert toolbench("call", "library.burn", "--load", "4").code == 4


def test_a_line_without_a_server_shows_the_four_ways(toolbench, folder):
    """As a line with two of them says that it has two."""
    (folder / "mcp.json").unlink()
    ended = toolbench("call", "find", approve=None)
    assert ended.code == 2
    assert all(way in ended.err for way in ("--config", "--replay", "URL", "-- COMMAND"))
    ended = toolbench("call", "find", "--replay", "x.jsonl", "--", "python", approve=None)
    assert "Give one source of servers" in ended.err
    ended = toolbench("call", "http://[::1", "find", approve=None)
    assert (ended.code, ended.err[:8]) == (2, "The host")


def test_the_doctor_looks_at_a_server(toolbench):
    """Its steps are JSON, and lines on stderr."""
    ended = toolbench("doctor", "gone")
    (server,) = ended.json["servers"]
    states = {step["name"]: step["state"] for step in server["steps"]}
    assert (ended.code, states["command"]) == (3, "failed")
    assert "gone: failed  command" in ended.err
    Path("lax.py").write_text(
        "from toolbench.testing import FakeMCPServer\nserver = FakeMCPServer('lax')\n"
        "server.answer('find', 'x', schema={'type': 'object', 'properties': {'a': {'type': 'no'}}})"
    )
    servers = {"lax": {"module": "lax.py:server"}}
    Path("mcp.json").write_text(json.dumps({"mcpServers": servers}))
    # Connected, and what it offers is wrong: another code than that of a lost connection
    ended = toolbench("doctor", "lax")
    states = {step["name"]: step["state"] for step in ended.json["servers"][0]["steps"]}
    assert (ended.code, states["tools"], states["schemas"]) == (1, "ok", "failed")


def test_the_doctor_finds_what_it_names_without_a_server(toolbench, folder):
    """`toolbench doctor` lists the servers of all programs here: each name may stand after it."""
    servers = {"there": {"command": "no-such-program"}}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    ended = toolbench("doctor", "there")
    assert (ended.code, ended.json["servers"][0]["name"]) == (3, "there")
    assert toolbench("doctor", "gone").code == 3
    assert toolbench("doctor", "nope").code == 2
    assert "--env is for" in toolbench("doctor", "there", "--env", "KEY").err


def test_a_result_that_cannot_be_written_is_a_sentence(toolbench, monkeypatch):
    """Of a stdout that is closed, or has no room."""
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        ended = toolbench("list", "library")
        assert (ended.code, "No space left" in ended.err) == (2, True)
        monkeypatch.setattr("sys.stdout", None)
        ended = toolbench("list", "library")
        assert (ended.code, "stdout is closed" in ended.err) == (2, True)


@pytest.mark.slow
class TestProcess:
    def test_nothing_is_left_after_an_interrupt(self, tmp_path):
        """Ctrl+C: exit code 130, no traceback, and the server has ended."""
        pid = tmp_path / "pid"
        program = f"import os; open({str(pid)!r}, 'w').write(str(os.getpid())); import runpy;"
        program += f" runpy.run_path({GOOD[1]!r}, run_name='__main__')"
        command = [TOOLBENCH, "call", "hang", "--", sys.executable, "-c", program]
        with subprocess.Popen(command, stdout=-1, stderr=-1, stdin=-3, text=True) as process:
            seen = [next(line for line in process.stderr if "hanging" in line)]
            process.send_signal(signal.SIGINT)
            out, err = process.communicate()
        assert (process.returncode, out) == (130, "")
        assert "Traceback" not in "".join([*seen, err])
        assert eventually(lambda: not Path(f"/proc/{pid.read_text()}").exists() or None)

    def test_the_end_of_the_input_at_a_terminal_is_a_no(self, folder):
        """Ctrl+D at the question whether a tool of undeclared effect may run."""
        control, terminal = pty.openpty()
        # Before the question is there, it waits in the terminal
        os.write(control, b"\x04")
        command = [TOOLBENCH, "call", "--approve", "library.lend", "title=Emma"]
        done = subprocess.run(command, stdin=terminal, stdout=-1, stderr=-1, text=True)
        os.close(control)
        os.close(terminal)
        assert (done.returncode, done.stdout) == (4, "")
        assert "You declined; lend was not run." in done.stderr

    def test_a_reader_may_have_read_enough(self, tmp_path):
        """As `head` does: no traceback."""
        reading, writing = os.pipe()
        os.close(reading)
        command = [TOOLBENCH, "list", "--", *GOOD]
        done = subprocess.run(command, stdout=writing, stderr=-1, stdin=-3, text=True)
        assert done.returncode == 0
        assert "BrokenPipe" not in done.stderr


def test_the_table_of_exit_codes_is_in_the_documents(toolbench, capsys):
    """And in the help of each command."""
    document = (ROOT / "docs/how-to/call-a-server-from-a-shell.md").read_text()
    for code, meaning in MEANINGS.items():
        assert f"| {code.value} | {meaning} |" in document
    assert main(["call", "--help"]) == 0
    assert " ".join(MEANINGS[4].split()) in " ".join(capsys.readouterr().out.split())
