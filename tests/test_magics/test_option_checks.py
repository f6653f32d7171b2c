"""What a line asks for in vain is an error; what it may ask for together works."""

import json

import pytest
from IPython.core.error import UsageError
from patience import PATIENCE

from test_magics.test_tool_magics import cell, line
from toolbench.errors import BodyError, FileError
from toolbench.magics.commands import MOVED
from toolbench.testing import FakeMCPServer


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%tools schema add openai > f.json", "unrecognized arguments: > f.json"),
        ("%tools schema add mcp --to /no/f", "'/no/f' cannot be written"),
        ("%tools schema add mcp --overwrite", "add --to FILE"),
        ("%tools schema add mcp --to", "--to: expected one argument"),
        ('%tools schema add mcp --to ""', "--to has no value"),
        ("%tools schema add mcp --to a --to b", "--to is there twice"),
        ("%tool add a=1 -f yaml", "%tool has no body"),
        ("%tool add a=1 --bg -o x", "give only one of them"),
        ("%tools history 5 --rerun 1", "--rerun N repeats one run"),
        ("%tools history --json --rerun 1", "--rerun N repeats one run"),
        ("%tool add a=1 -o x --out y", "--out is there twice"),
        ('%tool add {"a": 1, "a": 2}', 'the key "a" is there twice'),
        ("%tools add > f.json", "unrecognized arguments: > f.json"),
        ("%mcp log x --traffic --stderr", "only one of --stderr, --traffic and --level"),
        ("%mcp log x --errors", "is now %mcp log NAME --traffic error"),
        ("%mcp record x f.jsonl --stop", "only one of FILE, --stop, --as-notebook and --as-checks"),
        ("%mcp connect --config f.json --yes", "%mcp connect has no option '--yes'"),
        ("%tools export add --to x --cells a", "as in --cells 2,5, not 'a'"),
        ("%mcp lost", "Did you mean 'list'"),
        ("%mcp --stderr log x", "The command comes first, before its options: %mcp log ..."),
        ("%tools --source mcp lint add", "before its options: %tools lint ..."),
        ("%tools schem add openai", "%tools has no command 'schem'. Did you mean 'schema'"),
    ],
)
def test_nothing_is_ignored(shell, text, message):
    """What has no meaning on a line is one sentence that names it."""
    shell.user_ns["server"] = FakeMCPServer("x")
    if "x " in text:
        line(shell, "%mcp connect x server")
    with pytest.raises((UsageError, BodyError, FileError)) as caught:
        line(shell, text)
    assert message in str(caught.value)


@pytest.mark.every_case
@pytest.mark.parametrize("old", MOVED)
def test_an_old_line_says_what_to_write_now(shell, old):
    """One sentence, whatever else is on the line."""
    magic, _, word = old.partition(" ")
    before = "add" if magic == "%tool" else ""
    before = "save f.json" if word == "--yes" else before
    with pytest.raises(UsageError) as caught:
        line(shell, f"{magic} {before} {word} openai")
    assert str(caught.value) == f"{old} is now {MOVED[old]}."


@pytest.mark.parametrize("options", ["", "-f yaml"])
def test_a_body_says_each_name_once(shell, options):
    """Of two values the last would win in silence; the line refuses that too."""
    bodies = {"": '{"a": 1, "a": 2}', "-f yaml": "a: 1\na: 2"}
    with pytest.raises(BodyError, match='the key "a" is there twice'):
        cell(shell, f"add {options}", bodies[options])


def test_writes_a_schema_to_a_file(shell, tmp_path, capsys):
    """With --to FILE, JSON text: what the line alone shows."""
    file = tmp_path / "add.json"
    assert line(shell, f"%tools schema add openai --to {file}") is None
    assert json.loads(file.read_text()) == line(shell, "%tools schema add openai")
    assert capsys.readouterr().out == f"Wrote {file}.\n"


def test_a_panel_keeps_the_time_limit(shell):
    """`%tool NAME --timeout` opens a panel whose runs are cancelled after so long."""
    shell.run_cell(
        "from time import sleep\nfrom toolbench import current_run\n"
        "@tool\ndef wait() -> str:\n    'Wait.'\n"
        "    while not current_run().cancelled: sleep(0.01)"
    ).raise_error()
    panel = line(shell, "%tool wait --timeout 0.1")
    run = panel.run()
    assert run.done.wait(PATIENCE)
    assert "timed out after 0.1 s" in run.observation.text


class TestFiles:
    """What a line writes to a file costs nobody the file that was there."""

    SCHEMA = "%tools schema add openai --to"

    def test_what_somebody_else_wrote_stays(self, shell, tmp_path, capsys):
        """The sentence says that nothing was written, and how to have it written."""
        file = tmp_path / "notes.md"
        file.write_text("my notes")
        with pytest.raises(FileError, match=r"nothing was written.*--overwrite"):
            line(shell, f"{self.SCHEMA} {file}")
        assert file.read_text() == "my notes"
        line(shell, f"{self.SCHEMA} {file} --overwrite")
        assert json.loads(file.read_text()) == line(shell, "%tools schema add openai")
        assert capsys.readouterr().out == f"Wrote {file}.\n"

    def test_a_cell_that_is_run_again_asks_for_overwrite_where_the_text_is_another(
        self, shell, tmp_path
    ):
        """One with the same text needs none."""
        file = tmp_path / "add.json"
        line(shell, f"{self.SCHEMA} {file}")
        line(shell, f"{self.SCHEMA} {file}")
        shell.run_cell("@tool\ndef add(z: int) -> int:\n    'Other.'").raise_error()
        with pytest.raises(FileError, match="nothing was written"):
            line(shell, f"{self.SCHEMA} {file}")
        line(shell, f"{self.SCHEMA} {file} --overwrite")
        assert '"z"' in file.read_text()
