"""The rows of a sweep: a column for each argument and field, hidden secrets, damaged lines."""

import pytest

from toolbench import tool
from toolbench.errors import ToolbenchError
from toolbench.evals import sweep


@tool(read_only=True)
def wait(seconds: float, state: str, error: float, repeat: int) -> dict:
    """Return other values under the names of the arguments, and of their columns."""
    return {"seconds": 2 * seconds, "repeat": -repeat, "argument.error": "mine"}


GRID = {"seconds": [8.0, 9.0], "state": ["new"], "error": [0.5, 1.5], "repeat": [7]}


def test_an_argument_called_like_an_own_column_keeps_its_values():
    """The column of the call has the name, the argument's stands beside it."""
    report = sweep(wait, GRID)
    first = report.to_dataframe().iloc[0].to_dict()
    assert first.pop("seconds") < 8
    assert first == {
        "argument.seconds": 8.0,
        "argument.state": "new",
        "argument.error": 0.5,
        "argument.repeat": 7,
        "result.seconds": 16.0,
        "result.repeat": -7,
        "result.argument.error": "mine",
        "state": "ok",
        "error": None,
    }
    assert "argument.seconds" in report.to_html()


def test_repeats_have_a_column_beside_an_argument_of_that_name():
    """Both are there."""
    columns = sweep(wait, GRID, repeats=2).columns
    assert columns["repeat"] == [1, 2] * 4
    assert columns["argument.repeat"] == [7] * 8


class Listing:
    """A table of one row, as DataFrames are tables."""

    columns = ("shape", "rows", "empty")
    shape = (1, 3)

    def itertuples(self, index=True, name=None):
        yield ("word", 1, "")


@tool(read_only=True)
def tell(password: str) -> dict:
    """Return the password, and a word."""
    return {"answer": password, "word": "fine"}


@tool(read_only=True)
def listing(password: str) -> Listing:
    """Return a table."""
    return Listing()


WORDS = ["state", "seconds", "fields", "error", "images", "table"]


@pytest.mark.every_case
@pytest.mark.parametrize("word", WORDS)
def test_a_secret_that_is_a_word_of_the_report_is_hidden_alone(word, tmp_path):
    """The state, the time and the fields of the row are there, also from the file."""
    for _ in range(2):
        [row] = sweep(tell, {"password": word}, save=tmp_path / "sweep.jsonl")
        assert row.state == "ok" and row.seconds > 0
        assert row.fields == {"answer": "<secret-hidden>", "word": "fine"}


@pytest.mark.parametrize("word", ["shape", "columns", "rows"])
def test_a_table_is_shown_beside_a_secret_that_is_a_word_of_it(word):
    """Its parts are there."""
    report = sweep(listing, {"password": word})
    assert report[0].table is not None
    assert report[0].table.keys() == {"columns", "rows", "shape"}
    assert "word" in report.to_html() and ">empty</th>" in report.to_html()
    # Its size stands below it, and in the column of results alone
    assert ">ok</td>" in report.to_html()
    assert report.to_html().count(">1 row · 3 ") == 2


@tool(read_only=True)
def count(n: int) -> int:
    """Return the number."""
    return n


DAMAGES = [
    ('"seconds": ', '"seconds": "soon", "x": '),
    ('"fields": {', '"fields": 3, "x": {'),
    ('"state": "ok"', '"state": "ok", "images": 4'),
    ('"state": "ok"', '"state": "ok", "table": {"rows": 1}'),
]


@pytest.mark.parametrize(("old", "new"), DAMAGES)
def test_a_damaged_row_is_refused(old, new, tmp_path):
    """The sentence names its line."""
    path = tmp_path / "sweep.jsonl"
    sweep(count, {"n": range(3)}, save=path, workers=1)
    lines = path.read_text().splitlines()
    assert old in lines[2]
    lines[2] = lines[2].replace(old, new)
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ToolbenchError, match=r"^Line 3 of .* cannot be used \(.*\): delete it"):
        sweep(count, {"n": range(3)}, save=path)
