"""What a saved report shows of a run: tables as tables, and the whole call in its order."""

import re
from html import unescape

import pytest

from toolbench import history, run_tool, tool
from toolbench.display.tables import ROWS

pandas = pytest.importorskip("pandas")
SECRET = "sk-very-secret-1"


@tool
def books(first: int = 1, second: str = "x", token: str = "", last: int | None = None):
    """Return a table."""
    titles = [f"Book {n}" for n in range(ROWS + 10)]
    return pandas.DataFrame({"title": [*titles, token], "year": 1851})


def words(html: str) -> str:
    """What can be read of *html*."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def test_a_table_stays_one():
    """The first rows are there after the table itself is gone, and the number of all."""
    run_tool(books, {})
    html = history()[-1].to_html()
    assert f"{ROWS + 11} rows · 2 columns" in words(html)
    assert '<th style="' in html
    assert "Book 3 1851" in words(html)


def test_a_secret_in_a_table_is_hidden():
    """A cell that holds a secret of the call shows the mark."""
    small = pandas.DataFrame({"a": [SECRET, "b"]})

    @tool
    def echo(token: str):
        """Return a table."""
        return small

    run_tool(echo, {"token": SECRET})
    html = history()[-1].to_html()
    assert SECRET not in html
    assert "2 rows" in words(html)


@pytest.mark.parametrize(
    "frame",
    [
        pandas.DataFrame({SECRET: [1]}),
        pandas.DataFrame({"a": [1]}, index=[SECRET]),
        pandas.DataFrame({"a": [f"{'x' * 190}{SECRET}"]}),
        pandas.DataFrame({"x" * 190 + SECRET: [1]}),
    ],
    ids=["column", "label", "cut cell", "cut column"],
)
def test_a_secret_anywhere_in_a_table_is_hidden(frame):
    """In the name of a column, and where a long text is cut: not even its start is left."""

    @tool
    def echo(token: str):
        """Return a table."""
        return frame

    run_tool(echo, {"token": SECRET})
    record = history()[-1]
    assert "1 row" in words(record.to_html())
    for text in (record.to_html(), record.to_text(), repr(record.observation.result)):
        assert "sk-very" not in text


def test_a_number_that_is_a_secret_is_hidden():
    """The table shows its text, as other displays do."""

    @tool
    def echo(token: str):
        """Return a table."""
        return pandas.DataFrame({"pin": [48213377], "year": [1851]})

    run_tool(echo, {"token": "48213377"})
    html = history()[-1].to_html()
    assert "48213377" not in html
    assert "1851" in words(html)


def test_the_call_is_shown_in_the_order_of_the_tool():
    """Defaults stand among the arguments, and say that they are defaults."""
    run_tool(books, {"second": "y"})
    head = words(history()[-1].to_html())
    assert re.search(r'first 1 default second "y" token "" default', head)
    assert "last" not in head.partition("What a person")[0]
