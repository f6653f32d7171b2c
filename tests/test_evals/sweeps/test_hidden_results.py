"""Secrets in the results of a sweep: they are hidden, and the row stays a row."""

import pytest

from toolbench import tool
from toolbench.evals import sweep


class Listing:
    """A table of one row, as DataFrames are tables."""

    columns = ("shape", "rows")
    shape = (1, 2)

    def itertuples(self, index=True, name=None):
        yield ("word", 1)


@tool(read_only=True)
def tell(password: str) -> dict:
    """Return the password, and a word."""
    return {"answer": password, "word": "fine"}


@tool(read_only=True)
def listing(password: str) -> Listing:
    """Return a table."""
    return Listing()


WORDS = ["state", "seconds", "fields", "error", "images", "table"]


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
    assert "word" in report.to_html()
