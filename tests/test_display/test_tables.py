"""DataFrames as small escaped tables."""

import re
from types import SimpleNamespace

import pandas as pd

from test_display.inert import problems, text_of
from toolbench import run_tool, tool
from toolbench.display import table_html, table_text
from toolbench.display.tables import ROWS, Frame, head_of


def _frame() -> pd.DataFrame:
    return pd.DataFrame(
        {"name": ["a<b>", "c"], "size": [1, 22], "ratio": [0.5, 2.0]},
        index=["x", "y"],
    )


class TestTable:
    def test_text(self):
        """Golden: labels, columns, values."""
        assert table_text(_frame()) == (
            "    name   size   ratio\n"
            "───────────────────────\n"
            "x   a<b>      1     0.5\n"
            "y   c        22     2.0"
        )

    def test_html(self):
        """Every cell is escaped, numbers stand right."""
        html = table_html(_frame())
        assert problems(html) == []
        assert "a&lt;b&gt;" in html
        assert html.count("text-align:right") == 6
        assert html.count("<tr>") == 3

    def test_heads_have_words(self):
        """The corner above the rows' labels is a plain cell: screen readers read heads out."""
        html = table_html(_frame())
        assert re.search(r"<th[^>]*>\s*</th>", html) is None
        assert html.count("<th ") == 5

    def test_what_walks_like_a_frame_is_one(self):
        """No library is imported, and none is needed."""
        walks = SimpleNamespace(
            columns=["a"], shape=(1, 1), itertuples=lambda index, name: [(0, "v")]
        )
        assert isinstance(walks, Frame)
        assert isinstance(_frame(), Frame)
        assert not isinstance({}, Frame)
        assert text_of(table_html(walks)) == "a0v"

    def test_an_empty_frame_shows_its_columns(self):
        """Nothing found is a result."""
        empty = pd.DataFrame({"a": [], "b": []})
        assert text_of(table_html(empty)) == "ab"
        assert table_text(empty).split("\n")[0].split() == ["a", "b"]


class TestCaps:
    def test_the_first_rows_and_columns(self):
        """Fifty rows, twenty columns, and what is left out."""
        big = pd.DataFrame([[n * 100 + c for c in range(30)] for n in range(1_000)])
        html = table_html(big)
        assert html.count("<tr>") == 51
        assert html.count("<td") == 1 + 50 * 20
        for text in (text_of(html), table_text(big)):
            rows, _, columns = text.rpartition("… 950 rows left out …")
            assert rows
            assert columns.strip() == "… 10 columns left out …"

    def test_long_cells_are_cut(self):
        """Two hundred characters of one value."""
        html = table_html(pd.DataFrame({"a": ["x" * 10_000]}))
        assert "x" * 199 + "…</td>" in html
        assert len(html) < 3_000


def test_a_head_has_as_many_rows_as_are_shown():
    """It is what is kept of a table: not one row more."""
    frame = pd.DataFrame({"a": range(ROWS + 9)})
    assert [len(head_of(frame).rows), head_of(frame).shape] == [ROWS, (ROWS + 9, 1)]


class TestForAPage:
    """What a page needs to draw rows as they are scrolled to, and to sort them."""

    def test_the_types_of_the_table_stand_in_the_heads(self):
        """A column of texts whose first value is missing is no column of numbers."""
        frame = pd.DataFrame(
            {
                "a": [1, 2],
                "note": [float("nan"), "late"],
                "day": pd.to_datetime([None, "2026-01-02"]),
                "many": pd.array([None, 3], dtype="Int64"),
            },
            index=pd.Index(["x", "y"], name="station"),
        )
        frame["note"] = frame["note"].astype(object)
        kept = head_of(frame)
        for html in (table_html(frame, typed=True), table_html(kept, typed=True)):
            heads = re.findall("<th [^>]*>(.*?)</th>", html)[:5]
            assert [*map(text_of, heads)] == [
                *("station", "a int64", "note object"),
                *(f"day {frame.dtypes['day']}", "many Int64"),
            ]
            sides = re.findall("<th [^>]*text-align:(left|right)", html)[:5]
            assert sides == ["left", "right", "left", "left", "right"]
        assert table_text(frame).split("\n")[0].split()[0] == "station"

    def test_the_name_of_the_index_is_cut(self):
        """As the name of a column; also in the record."""
        index = pd.Index([1], name="x" * 100_000)
        frame = pd.DataFrame({"a": [1]}, index=index)
        assert len(table_text(frame)) < 1_000
        kept = head_of(frame)
        assert len(kept.label) < 1_000 and not kept.is_whole


def lambda_of(frame):
    """Return a function that returns *frame*."""

    def give() -> pd.DataFrame:
        """Return a table."""
        return frame

    return give


class TestCells:
    def test_numbers_are_as_pandas_prints_them(self):
        """Six digits after the point at most, one column alike; dates without a time have none."""
        frame = pd.DataFrame(
            {
                "sum": [163378.58000000002, 0.5, None],
                "small": [1.5e-7, 0.0, 1e22],
                "day": pd.to_datetime(["2026-01-02", None, "2026-01-03"]),
            }
        )
        cells = re.findall("<td [^>]*>(.*?)</td>", table_html(frame))[1:]
        assert cells[0:3] == ["163378.58", "1.5e-07", "2026-01-02"]
        assert cells[3:6] == ["0.50", "0.0", "NaT"]
        assert cells[6:] == ["NaN", "1e+22", "2026-01-03"]
        assert (
            run_tool(tool(lambda_of(frame))).text.split("\n")[1] == "163378.58,1.5e-07,2026-01-02"
        )

    def test_a_list_in_a_cell_is_a_chip_that_unfolds(self):
        """Its beginning, and its JSON, both escaped."""
        html = table_html(pd.DataFrame({"tags": [["<b>", {"deep": "x" * 99}], []]}))
        assert problems(html) == []
        assert html.count("<details data-toolbench-chip>") == 1
        assert "&lt;b&gt;" in html and "[]</td>" in html
