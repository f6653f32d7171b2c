"""What a line asks for in vain is an error; what it may ask for together works."""

import json

import pytest
from IPython.core.error import UsageError
from patience import PATIENCE

from test_magics.test_tool_magics import cell, line
from toolbench.errors import BodyError, FileError


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "%tool add --schema openai nonsense > f.json",
            "'nonsense > f.json' has no meaning there. -o FILE writes it",
        ),
        ("%tool add --schema mcp a=1 --yes", "'a=1 --yes' has no"),
        ('%tool add --schema mcp {"a": 1}', "'{\"a\": 1}' has no"),
        (
            "%tool add --schema mcp -o /no/f",
            "'/no/f' cannot be written",
        ),
        ("%tool add a=1 -f yaml", "%tool has no body"),
        ("%tool add a=1 --bg -o x", "give only one of them"),
        ("%tool_history 5 --rerun 1", "--rerun N repeats one run"),
        ("%tool_history --json --rerun 1", "--rerun N repeats one run"),
        ("%tool add --schema mcp --schema openai", "--schema is there twice"),
        ("%tool add a=1 -o x --out y", "--out is there twice"),
        ('%tool add --schema mcp -o ""', "-o has no value"),
        ('%tool add {"a": 1, "a": 2}', 'the key "a" is there twice'),
        ("%tools add > f.json", "unrecognized arguments: > f.json"),
    ],
)
def test_nothing_is_ignored(shell, text, message):
    """What has no meaning on a line is one sentence that names it."""
    with pytest.raises((UsageError, BodyError)) as caught:
        line(shell, text)
    assert message in str(caught.value)


@pytest.mark.parametrize("option", ["-o x", "--bg", "--timeout 3.0", "--yes"])
def test_a_dry_run_takes_nothing_of_a_run(shell, option):
    """Where nothing runs there is nothing to keep, to wait for or to agree to."""
    with pytest.raises(UsageError, match=f"'{option}' has no meaning there"):
        line(shell, f"%tool add --dry-run {option} a=1")


@pytest.mark.parametrize("options", ["", "-f yaml"])
def test_a_body_says_each_name_once(shell, options):
    """Of two values the last would win in silence; the line refuses that too."""
    bodies = {"": '{"a": 1, "a": 2}', "-f yaml": "a: 1\na: 2"}
    with pytest.raises(BodyError, match='the key "a" is there twice'):
        cell(shell, f"add {options}", bodies[options])


def test_a_schema_takes_no_body(shell):
    """A body beside --schema would be ignored: it is refused."""
    with pytest.raises(UsageError, match="the body of the cell"):
        cell(shell, "add --schema mcp", '{"a": 1}')


def test_writes_a_schema_to_a_file(shell, tmp_path, capsys):
    """With -o FILE, --schema writes JSON text: what the line alone shows."""
    file = tmp_path / "add.json"
    assert line(shell, f"%tool add --schema openai -o {file}") is None
    assert json.loads(file.read_text()) == line(shell, "%tool add --schema openai")
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

    SCHEMA = "%tool add --schema openai -o"

    def test_what_somebody_else_wrote_stays(self, shell, tmp_path, capsys):
        """The sentence says that nothing was written, and how to have it written."""
        file = tmp_path / "notes.md"
        file.write_text("my notes")
        with pytest.raises(FileError, match=r"nothing was written.*--yes"):
            line(shell, f"{self.SCHEMA} {file}")
        assert file.read_text() == "my notes"
        line(shell, f"{self.SCHEMA} {file} --yes")
        assert json.loads(file.read_text()) == line(shell, "%tool add --schema openai")
        assert capsys.readouterr().out == f"Wrote {file}.\n"

    def test_a_cell_that_is_run_again_asks_for_yes_where_the_text_is_another(self, shell, tmp_path):
        """One with the same text needs none."""
        file = tmp_path / "add.json"
        line(shell, f"{self.SCHEMA} {file}")
        line(shell, f"{self.SCHEMA} {file}")
        shell.run_cell("@tool\ndef add(z: int) -> int:\n    'Other.'").raise_error()
        with pytest.raises(FileError, match="nothing was written"):
            line(shell, f"{self.SCHEMA} {file}")
        line(shell, f"{self.SCHEMA} {file} --yes")
        assert '"z"' in file.read_text()
