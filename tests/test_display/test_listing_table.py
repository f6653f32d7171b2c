"""The tables of the magics' lists: numbers on the right, also those that are written for people."""

import re

import pytest

from toolbench.display.tables import listing_html


def sides(*cells: object) -> list[bool]:
    """Whether each cell of the second column is on the right, its head first."""
    html = listing_html(("tool", "tokens"), [("one", cell) for cell in cells])
    styles = re.findall(r'<t[hd] [^>]*style="([^"]*)"', html)
    return ["text-align:right" in style for style in styles[1::2]]


@pytest.mark.parametrize("cells", [(1, 20), ("160", "2,161"), ("≈ 160", "≈ 2,161")])
def test_numbers_are_on_the_right(cells):
    """Their digits stand below each other, and below their head."""
    assert sides(*cells) == [True, True, True]


@pytest.mark.parametrize("cells", [("160", "none"), ("2026-07-28",), (True,), ("",)])
def test_other_texts_are_on_the_left(cells):
    """A date is no number, and neither is a column with a word in it."""
    assert not any(sides(*cells))


def test_an_empty_column_is_left_out():
    """Its head would only take room; a column with one text stays, and so does a zero."""
    html = listing_html(("a", "b", "c"), [("one", "", 0), ("two", "", "")])
    assert re.findall(r'<th scope="col"[^>]*>(\w*)</th>', html) == ["a", "c"]
    assert re.findall(r'<th scope="row"[^>]*>(\w*)</th>', html) == ["one", "two"]


def test_a_short_word_is_never_broken():
    """Not even a date at its hyphens; a sentence is."""
    html = listing_html(("a", "b", "c"), [("one", "2026-07-28", "Lend a book.")])
    styles = re.findall(r'<t(?:d|h scope="row") style="([^"]*)"', html)
    assert ["white-space:" in style for style in styles] == [True, True, False]


def test_columns_of_sentences_are_marked():
    """For the page, which puts them below the other cells; the first column is never one."""
    rows = [("a name that has several words", "x", "Finds the files that match.", 3)]
    html = listing_html(("a", "b", "c", "d"), rows)
    marked = [" data-toolbench-sentence" in cell for cell in html.split("<t")[1:]]
    heads_and_cells = [cell for cell in html.split("<t") if cell[:2] in ("h ", "d ")]
    assert marked.count(True) == 2
    assert ["sentence" in cell for cell in heads_and_cells] == [
        False,
        False,
        True,
        False,
    ] * 2
