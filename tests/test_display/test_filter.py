"""The language of all filters: what a term means, and that an unknown key is named."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from toolbench.display import filter as language
from toolbench.display.filter import LANGUAGE, Filter, text_of
from toolbench.display.table_query import TableQuery
from toolbench.display.tables import TableHead
from toolbench.errors import FilterError
from toolbench.redaction.redactor import NO_SECRETS

KEYS = ("tool", "state", "ms", "day", "first name")
ROWS = [
    ("lend", "ok", 12.5, "2026-02-01", "Ada"),
    ("lend", "failed", 900, "2026-02-03", "No route: 12:30"),
    ("give back", "error", None, "2026-03-01", "ok? http://x"),
    ("find", "succeeded, not as declared", 501, "2026-01-31", "failed once"),
    ("find", "cancelled", 7, "2026-02-03", "Ada"),
]
FOUND = {
    "": [0, 1, 2, 3, 4],
    "lend ADA": [0],
    'tool:"give back"': [2],
    "tool:lend ms>500": [1],
    "ms>=12.5 ms<901 ms!=501": [0, 1],
    "ms!=7": [0, 1, 2, 3],
    "day>2026-02 day<=2026-02-03": [0, 1, 4],
    "First_Name=ada": [0, 4],
    "error": [1, 2],
    "Failed": [1, 2],
    "state:failed tool=lend": [1],
    "state!=error": [0, 3, 4],
    "ok": [0, 3],
    '"failed"': [1, 3],
    '"ok"': [0, 2],
    "12:30 route:": None,
    'http://x "route: 12"': [],
    "state:canc": [4],
    '"no route: 12:30"': [1],
}


@dataclass
class Row:
    """A row with keys, as those of the history and of the traffic."""

    cells: tuple

    def value(self, key):
        return dict(zip(KEYS, self.cells, strict=True))[key.replace("_", " ")]

    @property
    def searched(self):
        return "\n".join(map(str, self.cells))


def table():
    rows = tuple((number, *row) for number, row in enumerate(ROWS))
    return TableQuery(TableHead(KEYS, (len(ROWS), len(KEYS)), rows), NO_SECRETS)


@pytest.mark.parametrize("text", FOUND)
def test_a_term_means_the_same_for_rows_and_tables(text):
    """Words, phrases, states, numbers, dates; a key may be written in any case."""
    if FOUND[text] is None:
        for find in (lambda: Filter(text, KEYS), lambda: table().rows(text, None, 0, 9)):
            with pytest.raises(FilterError, match=r"No key is called 'route'"):
                find()
        return
    only = Filter(text, KEYS)
    assert [n for n, cells in enumerate(ROWS) if only.matches(Row(cells))] == FOUND[text]
    assert [int(row[0]) for row in table().rows(text, None, 0, 9).rows] == FOUND[text]


def test_an_unknown_key_is_named_with_those_that_are_there():
    """Also how to look for the text; rows that are text alone say that they have no keys."""
    with pytest.raises(FilterError) as caught:
        Filter('lend stat:"no route"', KEYS)
    assert str(caught.value) == (
        "No key is called 'stat'. Did you mean 'state'? Keys: tool, state, ms, day, first_name. "
        'To find the text itself, put it in quotes: "stat:no route"'
    )
    with pytest.raises(FilterError, match="These rows have no keys"):
        Filter("level:error", ())
    assert Filter('"level:error" failed', ()).matches("Level:Error FAILED")


def test_words_of_a_line_keep_their_quotes():
    """A word that a shell would have unquoted is a phrase again."""
    assert text_of(['error:"no route"', "no route", "x"]) == 'error:"no route" "no route" x'


def test_the_page_says_the_same_of_the_language():
    """A table without a kernel has the line of every other field."""
    source = Path(language.__file__).parents[2] / "frontend" / "src" / "rowfilter.ts"
    [line] = re.findall(r"const LANGUAGE = '(.*)';", source.read_text("utf-8"))
    assert line == LANGUAGE
