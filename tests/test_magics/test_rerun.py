"""A run of an earlier session, which `persist` read from a file, is run again."""

from toolbench import history


def test_the_tool_of_the_notebook_does_it(shell, tmp_path, capsys):
    """It is found where %tool finds it; without it one line says what to do, and no traceback."""
    history().persist(tmp_path / "runs.jsonl")
    shell.run_cell_magic("tool", "add", "a: 1")
    history().clear()
    history().persist(tmp_path / "runs.jsonl")
    [record] = history()
    line = f"--rerun {record.id}"
    assert shell.run_line_magic("tool_history", line).text == "2"
    del shell.user_ns["add"]
    shell.run_cell(f"%tool_history {line}")
    assert capsys.readouterr().out.rpartition("ToolNotFoundError: ")[::2] == (
        "",
        f"Run {record.id} was read from a file, and there is no tool 'add' here: run the cell "
        "that makes it, or connect its server.\n",
    )
