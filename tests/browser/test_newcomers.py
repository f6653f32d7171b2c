"""The projects of a newcomer, as docs/newcomers.md has them, filled in by hand in JupyterLab."""

from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from playwright.sync_api import Locator, expect

from browser.lab import NotebookPage

PAGE = Path(__file__).parents[2] / "docs" / "newcomers.md"


def cells() -> list[str]:
    """Return the Python of the page, in its order."""
    blocks = MarkdownIt().parse(PAGE.read_text(encoding="utf-8"))
    return [b.content for b in blocks if b.type == "fence" and "python" in b.info]


def opened(lab: NotebookPage, count: int, start: int = 0) -> Locator:
    """Run the first *count* cells after the first one from *start* on; return the last output."""
    sources = cells()
    chosen = [sources[0], *sources[max(start, 1) :][: count - 1]]
    lab.share(*chosen)
    lab.run_all()
    return lab.output(count - 1).locator(".toolbench-panel")


def test_a_tool_on_sqlite_takes_dates_and_lists(lab: NotebookPage):
    """Two cells and one form: a list typed with a comma is asked about, the rest is as it says."""
    panel = opened(lab, 2)
    lab.type_into("words", "e", within=panel)
    authors = panel.get_by_label("authors", exact=True)
    authors.fill("Austen, Melville")
    lab.wait_for_text("for several, type one per line", within=panel)
    authors.fill("Austen\nMelville")
    panel.get_by_label("since", exact=True).fill("2025-01-01")
    lab.click("Run", within=panel)
    lab.wait_for_text("Persuasion", within=panel)
    expect(panel.get_by_text("Typee").first).to_be_visible()
    expect(panel.get_by_text("Emma")).to_have_count(0)
    expect(panel.get_by_text("failed", exact=True)).to_have_count(0)
    lab.picture("newcomer-sqlite")
    assert lab.errors() == [] and lab.tab.console_errors == []


@pytest.mark.long
def test_a_tool_of_four_classes_runs_from_its_form(lab: NotebookPage):
    """Two cells and one form; a missing value says what to do, and where."""
    start = next(n for n, source in enumerate(cells()) if "class LendAction" in source)
    panel = opened(lab, 2, start)
    lab.type_into("title", "Typee", within=panel)
    panel.get_by_label("to", exact=True).fill("Ann\nBob")
    lab.click("Run", within=panel)
    lab.wait_for_text("Enter a value.", within=panel)
    panel.get_by_label("until", exact=True).fill("2026-12-01")
    lab.click("Run", within=panel)
    lab.wait_for_text("Lent for 7 days.", within=panel)
    lab.picture("newcomer-class")
    assert lab.errors() == [] and lab.tab.console_errors == []
