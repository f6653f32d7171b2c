"""%tools history: the last runs as a table, what it leaves out, and a run again."""

import pytest

from toolbench import history, run_tool, tool
from toolbench.magics.line import UsageError
from toolbench.runs.run import run_here


def line(shell, text):
    name, _, rest = text.removeprefix("%").partition(" ")
    return shell.run_line_magic(name, rest)


@pytest.mark.parametrize(("options", "count"), [("1", 1), ("2", 2), ("3", 2)])
def test_shows_as_many_as_asked_for(shell, options, count):
    """A number of runs is just that many, of those there are."""
    line(shell, "%tool add a=1")
    line(shell, "%tool add a=2")
    listing = line(shell, f"%tools history {options}")
    assert [record.arguments["a"] for record in listing] == [1, 2][-count:]
    assert len(line(shell, f"%tools history --json {options}")) == count


def test_lists_those_with_some_words(shell):
    """In any cell of the table, newest first; a word may be that of a tool or a state."""
    line(shell, "%tool add a=1")
    line(shell, "%tool add a=7777")
    run_tool(shell.user_ns["add"], a="x")
    [found] = line(shell, "%tools history tool:add 7777")
    assert found.arguments == {"a": 7777}
    failed = line(shell, "%tools history state:failed")
    assert [record.arguments["a"] for record in failed] == ["x"]
    assert line(shell, "%tools history tokens>5") == failed
    assert not line(shell, "%tools history ms>900000000")
    assert "should be an integer" in failed._repr_mimebundle_()["text/html"]
    assert repr(line(shell, "%tools history nothing")) == "No run matches 'nothing'."


def test_a_phrase_of_a_line_is_one_of_the_filter(shell):
    """As it stands in the line, also with an apostrophe in it."""

    @tool
    def say(text: str) -> str:
        """Say it."""
        return text

    run_tool(say, text="well, it's gone")
    run_tool(say, text="gone, it's well")
    found = line(shell, """%tools history tool:say result:"it's gone" "it's gone\"""")
    assert [record.arguments["text"] for record in found] == ["well, it's gone"]


@pytest.mark.parametrize("number", ["0", "-1", "1.5"])
def test_shows_one_run_at_least(shell, number):
    """A table without rows would say that there are no runs."""
    line(shell, "%tool add a=1")
    with pytest.raises(UsageError, match=rf"a whole number above 0.*not '{number}'"):
        line(shell, f"%tools history {number}")


def test_says_what_it_leaves_out(shell):
    """Also the numbers of runs that have not ended."""
    line(shell, "%tool add a=1")
    run_here(shell.user_ns["add"], {"a": 2}).begin()
    for _ in range(2):
        line(shell, "%tool add a=3")
    number = history()[0].id + 1
    missing = f"Missing numbers: {number}. A run is listed when it has ended."
    assert line(shell, "%tools history").notes == [missing]
    assert line(shell, "%tools history 2").notes == ["The last 2 of 3 runs."]
    assert missing in repr(line(shell, "%tools history"))


def test_lists_and_repeats(shell):
    """%tools history shows the runs; --rerun N runs one again."""
    line(shell, "%tool add a=1")
    [record] = line(shell, "%tools history")
    assert line(shell, f"%tools history --rerun {record.id}").text == "2"
    assert len(line(shell, "%tools history --json")) == 2


def test_the_tool_of_the_notebook_runs_a_record_of_a_file_again(shell, tmp_path, capsys):
    """It is found where %tool finds it; without it one line says what to do, and no traceback."""
    history().persist(tmp_path / "runs.jsonl")
    shell.run_cell_magic("tool", "add", "a: 1")
    history().clear()
    history().persist(tmp_path / "runs.jsonl")
    [record] = history()
    line = f"--rerun {record.id}"
    assert shell.run_line_magic("tools", f"history {line}").text == "2"
    del shell.user_ns["add"]
    shell.run_cell(f"%tools history {line}")
    assert capsys.readouterr().out.rpartition("ToolNotFoundError: ")[::2] == (
        "",
        f"Run {record.id} was read from a file, and there is no tool 'add' here: run the cell "
        "that makes it, or connect its server.\n",
    )
