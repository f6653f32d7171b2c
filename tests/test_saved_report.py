"""The report that `make demo` writes of a notebook: for people without a kernel."""

import sys
from pathlib import Path
from subprocess import run

import pytest
from browser.lab import write_notebook
from bs4 import BeautifulSoup, Tag
from patience import PATIENCE

ROOT = Path(__file__).parents[1]
CELLS = (
    "%load_ext toolbench",
    '''\
import pandas as pd
from toolbench import tool

@tool(read_only=True)
def find_books(words: str, zeal: int = 3, authors: list[str] = []) -> pd.DataFrame:
    """Find books.

    Args:
        words: Part of a title.
        zeal: How hard to look.
    """
    return pd.DataFrame({"title": ["Typee", "Emma"], "year": [1846, 1815]})

find_books''',
    "%tool find_books words=e",
    "%tools find*",
)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[Tag]:
    """What the report shows of each cell."""
    source = tmp_path_factory.mktemp("report") / "saved-report-of-a-test.ipynb"
    write_notebook(source, *CELLS)
    command = [sys.executable, str(ROOT / "scripts" / "tour.py"), "--report", source]
    done = run(command, capture_output=True, text=True, timeout=3 * PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    report = Path(done.stdout.partition("The report is ")[2].strip())
    page = BeautifulSoup(report.read_text(), "html.parser")
    report.unlink()
    return page.select(".jp-Cell")


def rows(table: Tag) -> list[list[str]]:
    """The texts of a table, row by row, without the space around them."""
    return [
        [cell.get_text(" ", strip=True) for cell in row.find_all(["th", "td"])]
        for row in table.find_all("tr")
    ]


def tables(cell: Tag) -> list[list[list[str]]]:
    """The tables of the output of a cell."""
    return [rows(table) for table in cell.select(".jp-OutputArea table")]


@pytest.mark.slow
def test_a_table_stays_a_table(outputs):
    """Of a result: its columns in their order, with their types, and its rows."""
    [head, *body] = next(t for t in tables(outputs[2]) if "Typee" in str(t))
    assert [name.split()[0] for name in head[-2:]] == ["title", "year"]
    assert [row[-2:] for row in body] == [["Typee", "1846"], ["Emma", "1815"]]


@pytest.mark.slow
def test_the_list_of_tools_is_a_table(outputs):
    """`%tools` keeps its columns."""
    [[head, *body]] = tables(outputs[3])
    assert head[0] == "tool"
    assert [row[0] for row in body] == ["find_books"]


@pytest.mark.slow
def test_a_tool_keeps_its_parameters_in_order_with_their_defaults(outputs):
    """Not in the order of the alphabet."""
    text = outputs[1].select_one(".jp-OutputArea").get_text(" ", strip=True)
    places = [text.index(name) for name in ("words", "zeal", "authors")]
    assert places == sorted(places)
    assert "default 3" in text.replace(":", "").replace("=", "")
    assert "How hard to look." in text
