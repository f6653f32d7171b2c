"""A file is written whole or not at all."""

import errno
import os
import subprocess
import sys

import pytest
from fastmcp import FastMCP
from forked import run_python

from toolbench import Conversation, history, tool
from toolbench.agent import Agent
from toolbench.errors import ToolbenchError
from toolbench.evals import Case, evaluate, sweep
from toolbench.files import append_whole, write_whole
from toolbench.llm.models import RecordedModel, ScriptedModel
from toolbench.mcp import MCPClient
from toolbench.mcp.trust.approvals import Approvals


def test_what_was_there_is_replaced(tmp_path):
    """The file holds the new text, and nothing is beside it; only its owner can read it."""
    path = tmp_path / "file.txt"
    path.write_text("old and longer", encoding="utf-8")
    write_whole(path, "nëw")
    assert path.read_text(encoding="utf-8") == "nëw"
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o077 == 0


def test_what_was_there_stays_when_writing_fails(tmp_path):
    """A text that no file can hold leaves the old one, and nothing beside it."""
    path = tmp_path / "file.txt"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "half of a character: \ud800")
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


_FULL = """
import resource, sys
from pathlib import Path
from toolbench.files import append_whole
path = Path(sys.argv[1])
append_whole(path, "one\\n")
resource.setrlimit(resource.RLIMIT_FSIZE, (6, 6))
try:
    append_whole(path, "two and more\\n")
except OSError as error:
    print(error.strerror)
"""


def test_what_is_appended_is_there_or_not(tmp_path):
    """Where there is no room for all of a line there is none of it; the others stay."""
    path = tmp_path / "lines.jsonl"
    # Bytecode would be cut short, too, and stay so
    full = [sys.executable, "-B", "-c", _FULL, str(path)]
    output = subprocess.run(full, capture_output=True, text=True, check=True).stdout
    assert "File too large" in output
    assert path.read_text(encoding="utf-8") == "one\n"
    append_whole(path, "three\n")
    assert path.read_text(encoding="utf-8") == "one\nthree\n"
    assert path.stat().st_mode & 0o077 == 0


# Each writes a file of a person anew: the text is longer than the room
_WRITERS = {
    "cases": "Cases([Case(f'Split {n} bills') for n in range(50)]).write(path, overwrite=True)",
    "a report": "evaluate(lambda messages, tools: 'Hello', [double], [Case('Hello')]).to_html(path, overwrite=True)",
    "a report of tests": "evaluate(lambda messages, tools: 'Hello', [double], [Case('Hi' * 600)])"
    ".to_junit(path, overwrite=True)",
    "a sweep": "sweep(double, {'n': [1]}).to_html(path, overwrite=True)",
    "a conversation": "converse().save(path, overwrite=True)",
    "a file of a line": "write_named(path, 'x' * 3_000, overwrite=True)",
}
_NO_ROOM = """
import resource, signal
from pathlib import Path
from toolbench import Conversation, tool
from toolbench.agent import Agent
from toolbench.evals import Case, Cases, evaluate, sweep
from toolbench.llm.models import ScriptedModel
from toolbench.files import write_named

@tool(read_only=True)
def double(n: int) -> int:
    "Double a number."
    return 2 * n

def converse():
    conversation = Conversation(agent=Agent(ScriptedModel(["Hello"] * 9)))
    conversation.send_message("Hello" * 500)
    return conversation

path = Path(PATH)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
write = lambda: WRITER
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
try:
    write()
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", _WRITERS)
def test_a_full_disk_leaves_what_was_there(tmp_path, kind):
    """Each file that is written anew: the old one stays whole, nothing is beside it, and it is said."""
    path = tmp_path / "file.yaml"
    path.write_text("what was there", encoding="utf-8")
    program = _NO_ROOM.replace("WRITER", _WRITERS[kind]).replace("PATH", repr(str(path)))
    output = run_python(program, tmp_path)
    assert "File too large" in output.stdout, output.stderr
    assert path.read_text(encoding="utf-8") == "what was there"
    assert not [*tmp_path.rglob(".*.tmp")]


def test_a_link_and_a_mode_stay(tmp_path):
    """A file that other people read, and that a link leads to, is that file afterwards."""
    path, link = tmp_path / "file.txt", tmp_path / "link.txt"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o664)
    link.symlink_to(path)
    write_whole(link, b"new", is_private=False)
    assert link.is_symlink() and path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o664


def evaluated(path):
    """A saved evaluation."""
    evaluate(ScriptedModel(["Hi"]), [double], [Case("Hello")], save=path)


@tool(read_only=True)
def double(n: int) -> int:
    """Double a number."""
    return 2 * n


def recorded(path):
    """A recorded connection."""
    with MCPClient() as client:
        client.connect("shop", FastMCP("shop"), record=path)


STATE = {
    "the history": lambda path: history().persist(path),
    "a conversation": lambda path: Conversation(agent=Agent(ScriptedModel([]))).save(path),
    "a recorded model": lambda path: RecordedModel(path, ScriptedModel(["Hi"])).complete([]),
    "a recorded server": recorded,
    "an evaluation": evaluated,
    "a sweep": lambda path: sweep(double, {"n": [1]}, save=path),
}


@pytest.mark.parametrize("kind", STATE)
@pytest.mark.parametrize("target", ["profile", "new"])
def test_state_is_not_written_through_a_link(kind, target, tmp_path, no_records):
    """One that came with a cloned repository could lead to any file of the person."""
    profile, link = tmp_path / "profile", tmp_path / "state.jsonl"
    profile.write_text("", encoding="utf-8")
    link.symlink_to(tmp_path / target)
    refused = (ToolbenchError, RuntimeWarning)
    with pytest.raises(refused, match=r"it is a link to '.*': give that path itself"):
        STATE[kind](link)
    assert profile.read_text(encoding="utf-8") == ""
    assert not (tmp_path / "new").exists()


def test_what_another_program_appends_is_not_removed(tmp_path, monkeypatch):
    """The disk fills up, and another program's line came after the first half of ours."""
    path = tmp_path / "lines.jsonl"
    append_whole(path, "one\n")
    write, writes = os.write, []

    def nearly_full(place, data):
        writes.append(bytes(data))
        if len(writes) == 1:
            return write(place, data[:3])
        with path.open("a", encoding="utf-8") as other:
            other.write("theirs\n")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", nearly_full)
    with pytest.raises(OSError, match="No space"):
        append_whole(path, "ours\n")
    assert path.read_text(encoding="utf-8").startswith("one\n")
    assert path.read_text(encoding="utf-8").endswith("theirs\n")


def test_an_approval_that_cannot_be_kept_leaves_nothing(tmp_path):
    """Where a folder is in the way, there is no file beside it afterwards."""
    approvals = Approvals(tmp_path)
    approvals.approve("server", {})
    (file,) = tmp_path.iterdir()
    file.unlink()
    file.mkdir()
    approvals.approve("server", {})
    assert list(tmp_path.iterdir()) == [file]
