"""`toolbench eval FILE` in a terminal: what it says, writes and exits with."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace

import pytest

from toolbench.cli import main

TOOLBENCH = Path(sys.executable).with_name("toolbench")
TOOLS = '''
from toolbench import tool

@tool(read_only=True)
def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: One.
        b: The other.
    """
    raise AssertionError("nothing is run")

def right(messages, tools):
    call = {"name": "add", "arguments": '{"a": 1, "b": 2}'}
    return {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": call}]}

def silent(messages, tools):
    return "I would rather not."

def broken(messages, tools):
    raise ConnectionError("no route to the model")

def hostile(messages, tools):
    name = "\\x1b]0;owned\\x07\\x1b[2Jadd\\r" + "x" * 100_000
    call = {"name": name, "arguments": '{"\\\\u001b[31m": "\\\\u202e"}'}
    return {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": call}]}

def hostile_error(messages, tools):
    raise ConnectionError("\\x1b[2J\\r\\n0 errors" + "y" * 100_000)

def flaky(messages, tools):
    from pathlib import Path
    if not Path("up").exists():
        raise ConnectionError("no route to the model")
    return right(messages, tools)
'''
SERVERS = """
from toolbench.mcp import create_mcp_tools
from toolbench.testing import FakeMCPServer

servers = {name: FakeMCPServer(name) for name in ("one", "two")}
for server in servers.values():
    server.answer("add", "3")
client = create_mcp_tools({"mcpServers": servers})

def right(messages, tools):
    call = {"name": "one_add", "arguments": '{"a": 1, "b": 2}'}
    return {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": call}]}
"""
CASES = """
cases:
- name: one and two
  inputs: What is 1 + 2?
  expected_output: [{name: add, arguments: {a: 1, b: 2}}]
"""

RIGHT = ["cases.yaml", "--tools", "my_tools.py", "--model", "my_tools.py:right"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of the cases, in which the command runs."""
    (tmp_path / "my_tools.py").write_text(TOOLS)
    (tmp_path / "cases.yaml").write_text(CASES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """Runs the command: its exit code and what it prints."""

    def command(*arguments):
        # The next test's is another
        monkeypatch.setitem(sys.modules, "my_tools", None)
        return SimpleNamespace(
            returncode=main(["eval", *arguments]), **capsys.readouterr()._asdict()
        )

    return command


@pytest.mark.parametrize(
    ("model", "code", "words"),
    [
        ("right", 0, "1 of 1"),
        ("silent", 1, "was not called"),
        ("broken", 2, "no route to the model"),
    ],
)
def test_the_exit_code_says_how_it_went(run, folder, model, code, words):
    """0 as expected, 1 not as expected, 2 not measured."""
    done = run(
        "cases.yaml", "--tools", "my_tools.py", "--model", f"my_tools.py:{model}",
        "--junit", "out.xml", "--html", "out.html",
    )  # fmt: skip
    assert done.returncode == code, done.out + done.err
    assert words in done.out
    assert "1 request" in done.err
    root = ET.parse(folder / "out.xml").getroot()
    assert (root.attrib["failures"], root.attrib["errors"]) == (
        str(int(code == 1)),
        str(int(code == 2)),
    )
    assert "<table" in (folder / "out.html").read_text()


def test_a_share_may_be_enough(run, folder):
    """A model that passes none of its answers passes where none are asked for."""
    done = run(
        "cases.yaml", "--tools", "my_tools.py", "--model", "my_tools.py:silent",
        "--min-passed", "0", "--save", "trials.jsonl",
    )  # fmt: skip
    assert done.returncode == 0
    _first, answer = (folder / "trials.jsonl").read_text().splitlines()
    assert json.loads(answer)["case"] == "one and two"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["none.yaml", "--tools", "my_tools.py", "--model", "my_tools.py:right"],
            "none.yaml",
        ),
        (
            ["cases.yaml", "--tools", "none.py", "--model", "my_tools.py:right"],
            "none.py",
        ),
        (
            [
                "cases.yaml",
                "--tools",
                "my_tools.py:sub",
                "--model",
                "my_tools.py:right",
            ],
            "sub",
        ),
        (["cases.yaml", "--tools", "my_tools.py", "--model", "gpt-9"], "gpt-9"),
        ([*RIGHT, "--min-passed", "80"], "between 0 and 1, such as 0.8, not 80.0"),
        ([*RIGHT, "--min-passed", "nan"], "not nan"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(run, arguments, words):
    """Exit code 2, the reason, and no traceback."""
    done = run(*arguments)
    assert done.returncode == 2
    assert words in done.err
    assert "Traceback" not in done.err


def test_a_tool_of_a_server_has_an_address(run, folder):
    """On the line and in the cases, whatever the model calls it."""
    (folder / "my_tools.py").write_text(SERVERS)
    cases = CASES.replace("add", "one.add") + "  metadata: {forbid: [two.add]}\n"
    (folder / "cases.yaml").write_text(cases)
    done = run(
        "cases.yaml", "--tools", "my_tools.py:one.add,two.add", "--model", "my_tools.py:right"
    )
    assert done.returncode == 0, done.err
    assert "not offered" not in done.err


@pytest.mark.parametrize("model", ["hostile", "hostile_error"])
def test_what_a_model_sends_does_not_steer_the_terminal(run, folder, model):
    """Control characters are spelled out, and lines are cut off, in all that is written."""
    done = run(
        "cases.yaml", "--tools", "my_tools.py", "--model", f"my_tools.py:{model}",
        "--junit", "out.xml",
    )  # fmt: skip
    assert "^[" in done.out
    for text in (done.out, done.err, (folder / "out.xml").read_text()):
        assert not {"\x1b", "\x07", "\u202e"} & set(text)
        assert len(text) < 20_000
    assert all(len(line) <= 500 for line in done.out.splitlines())


def test_a_hostile_file_of_cases_does_not_steer_the_terminal(run, folder):
    """The sentence about it is escaped too."""
    (folder / "cases.yaml").write_text('cases:\n- {inputs: "\\e[2J", match: "\\e[31m"}\n')
    done = run("cases.yaml", "--tools", "my_tools.py", "--model", "my_tools.py:right")  # fmt: skip
    assert done.returncode == 2
    assert "\x1b" not in done.err


def test_errors_are_asked_again_where_the_option_says_so(run, folder):
    """Without it, the error of the file stays; with it, the answer comes."""
    options = [
        "cases.yaml", "--tools", "my_tools.py", "--model", "my_tools.py:flaky",
        "--save", "trials.jsonl",
    ]  # fmt: skip
    assert run(*options).returncode == 2
    (folder / "up").touch()
    assert run(*options).returncode == 2
    assert run(*options, "--retry-errors").returncode == 0


def test_a_note_about_the_cases_comes_before_the_estimate(run, folder):
    """Also in a log, which has no line of progress."""
    text = CASES.replace("name: add", "name: ad")
    (folder / "cases.yaml").write_text(text)
    done = run("cases.yaml", "--tools", "my_tools.py", "--model", "my_tools.py:right")  # fmt: skip
    assert done.returncode == 1
    note, estimate, *_ = done.err.splitlines()
    assert "Did you mean 'add'?" in note
    assert "1 request" in estimate


@pytest.mark.slow
def test_a_file_that_cannot_be_written_does_not_cost_the_report(folder):
    """The answers are paid for: the process shows them, and one sentence names the file."""
    command = [TOOLBENCH, "eval", *RIGHT, "--junit", "cases.yaml/out.xml", "--html", "out.html"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "1 of 1" in done.stdout
    assert "'cases.yaml/out.xml' cannot be written: Not a directory" in done.stderr
    assert "Errno" not in done.stderr


def test_a_file_that_is_there_is_kept_unless_the_line_says_overwrite(run, folder):
    """It is seen before a model is asked: no answer is paid for and then not written."""
    report = folder / "out.html"
    report.write_text("a year of notes")
    done = run(*RIGHT, "--html", str(report))
    assert done.returncode == 2
    assert "--overwrite" in done.err
    assert "request" not in done.err
    assert report.read_text() == "a year of notes"
    assert run(*RIGHT, "--html", str(report), "--overwrite").returncode == 0
    assert "<html" in report.read_text()


def test_a_log_has_one_line_of_progress(run):
    """However many answers there are and however long they take."""
    done = run(*RIGHT, "--repeats", "50")
    assert done.returncode == 0
    assert len(done.err.splitlines()) == 1
