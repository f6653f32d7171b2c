"""All rows of a table, filtered and sorted in the kernel for a page that has the first."""

import gc
import json
import re
from types import SimpleNamespace
from weakref import ref

import pandas as pd
import pytest

from toolbench import run_tool, tool
from toolbench.display import observations
from toolbench.display.live_results import LiveResults, live_results, observation_bundle
from toolbench.display.object_table import object_table
from toolbench.display.table_query import Sort, TableQuery
from toolbench.display.tables import COLUMNS, ColumnType, TableHead
from toolbench.redaction.redactor import NO_SECRETS, Redactor

COUNT = 3_000


def _rows():
    """Rows with numbers, texts, missing values, dates, and lists; the interesting ones are late."""
    return [
        {
            "id": n,
            "km": None if n % 7 == 3 else n / 8,
            "note": None if n % 3 else f"Late {n}",
            "day": None if n % 28 == 5 else f"2026-01-{1 + n % 28:02}",
            "tags": ["a", n],
        }
        for n in range(COUNT)
    ]


def _frame():
    frame = pd.DataFrame(_rows())
    frame["day"] = pd.to_datetime(frame["day"])
    return frame


def _walks():
    """A table that gives its rows only one after another."""
    frame = _frame().astype(object)
    return SimpleNamespace(
        columns=list(frame.columns), shape=frame.shape, itertuples=frame.itertuples
    )


TABLES = {"pandas": _frame, "objects": lambda: object_table(_rows()), "another": _walks}
FILTERS = {
    "": COUNT,
    "late": COUNT // 3,
    '"late 29"': 36,
    "note:late id>=2990": 3,
    "id=2990": 1,
    "km>374": 6,
    "note=none": COUNT - COUNT // 3,
    "day>2026-01-27": COUNT // 28,
    "id:299 2995": 1,
    "note:late note!=none KM<=1": 2,
}


@pytest.fixture(params=TABLES.values(), ids=TABLES.keys(), scope="module")
def query(request):
    """What answers questions about a table of each kind."""
    return TableQuery(request.param(), NO_SECRETS)


def test_a_page_that_asks_at_once_finds_the_table_that_was_read_for_its_view(monkeypatch):
    """Its text is read once; later tables take its place, and it is read again."""
    read = []
    monkeypatch.setattr(observations, "object_table", lambda value: _noted(read, value))

    @tool
    def rows() -> list[dict[str, object]]:
        """Give rows."""
        return _rows()

    results = [run_tool(rows, {}) for _ in range(4)]
    keys = [_key(observation_bundle(result)) for result in results]
    assert len(read) == 4
    for key, count in zip(reversed(keys), (4, 4, 5, 6), strict=True):
        query = live_results.query(key)
        assert query.rows("id=2990", None, 0, 5).matched == 1
        assert len(read) == count


def _noted(read, value):
    read.append(value)
    return object_table(value)


def _key(bundle):
    return re.search('data-toolbench-result="(.+?)"', bundle["text/html"])[1]


def test_a_table_of_objects_has_the_columns_and_the_types_of_all_rows():
    """Also those that only its last row has."""
    late = {"note": "x", "id": 1.5, "tags": [], "ok": True}
    table = object_table([{"id": 1, "ok": None, "way": {}}, {}, late])
    assert table.columns == ("id", "ok", "way", "note", "tags")
    assert list(map(str, table.dtypes)) == ["float", "bool", "object", "str", "list"]
    assert table.row(1)[0] == 1


@pytest.mark.parametrize("words", FILTERS)
def test_a_filter_finds_what_is_not_on_the_page(query, words):
    """Words, conditions with numbers, texts and dates, all of a term together."""
    found = query.rows(words, None, 0, 5)
    if words == "note=none":
        # pandas says NaN for it
        found = max(found, query.rows("note=nan", None, 0, 5))
    assert found.matched == FILTERS[words]
    assert len(found.rows) == min(5, found.matched)


def test_an_order_is_by_type_and_missing_values_come_last(query):
    """Numbers by size, texts by their letters; up and down; a window of it."""
    for is_descending, first in ((False, "0"), (True, str(COUNT - 2))):
        rows = query.rows("", Sort(2, is_descending), 0, COUNT).rows
        kilometres = [row[2] for row in rows]
        assert rows[0][0] == first
        assert all(isinstance(cell, list) for cell in kilometres[-400:])
        numbers = [float(cell) for cell in kilometres if isinstance(cell, str)]
        assert numbers == sorted(numbers, reverse=is_descending)
        assert query.rows("", Sort(2, is_descending), 100, 3).rows == rows[100:103]
    notes = query.rows("late", Sort(3, True), 0, 2).rows
    assert [row[3] for row in notes] == ["Late 999", "Late 996"]
    assert query.rows("", Sort(99, True), 0, 1).matched == COUNT
    times = [(n, text) for n, text in enumerate(("1 min 5 s", "10 ms", "6.6 ms", "9 s"))]
    shown = TableHead(("seconds",), (4, 1), tuple(times), (ColumnType("", "f"),))
    took = TableQuery(shown, NO_SECRETS)
    assert [row[0] for row in took.rows("", Sort(1, False), 0, 9).rows] == ["2", "1", "3", "0"]
    assert took.rows("seconds>0.5 s", None, 0, 9).matched == 2


def test_columns_that_no_page_shows_are_not_read():
    """A thousand objects with keys of their own have a thousand columns."""
    table = object_table([{f"key {n}": n} for n in range(1_000)])
    assert table.shape == (1_000, 1_000) and len(table.row(999)) == 1 + COLUMNS
    assert TableQuery(table, NO_SECRETS).rows("key_3=3", None, 0, 5).matched == 1


def test_cells_are_those_of_the_table(query):
    """Numbers as pandas prints them, missing values and lists as such."""
    [row] = query.rows("id=1003", None, 0, 9).rows
    assert row[:2] == ["1003", "1003"] and row[2] in ("125.375", "125.375000")
    assert isinstance(row[3], list)
    assert row[4].startswith("2026-01-24")
    assert json.loads(row[5]["json"]) == ["a", 1003]


def test_a_secret_is_neither_sent_nor_found():
    """Its mark is; the other rows are as they were."""
    query = TableQuery(_frame(), Redactor(["Late 2997"]))
    assert query.rows("2997", None, 0, 5).matched == 1
    assert query.rows("note:2997", None, 0, 5).matched == 0
    hidden = query.rows("note:secret-hidden", None, 0, 5)
    assert hidden.matched == 1
    assert "Late 2997" not in str(hidden.rows)


@tool
def trips(count: int) -> pd.DataFrame:
    """Return a table."""
    return pd.DataFrame({"n": range(count)})


def test_a_page_gets_rows_as_long_as_the_result_is_there():
    """By a key that a second run from the start has too; what the page has whole has none."""
    keys = set()
    for _ in range(2):
        results, result = LiveResults(), run_tool(trips, count=200)
        key, table = results.keep(result, NO_SECRETS, result), ref(result.result)
        keys.add(key)
        assert results.query(key).rows("n>198", None, 0, 9).rows == [["199", "199"]]
        del result
        gc.collect()
        assert results.query(key) is None and table() is None
    assert len(keys) == 1
    html = observation_bundle(run_tool(trips, count=50))["text/html"]
    assert "data-toolbench-result" not in html
    shown = run_tool(trips, count=51)
    [key] = re.findall('data-toolbench-result="([^"]*)"', observation_bundle(shown)["text/html"])
    assert live_results.query(key).rows("", None, 50, 9).rows == [["50", "50"]]
