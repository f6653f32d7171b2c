"""The bench and a panel without a mouse: find a tool, fill it in, run it, agree."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from browser.lab import NotebookPage, write_notebook

TOOLS = """
%load_ext toolbench
from toolbench import bench, tool

@tool
def greet(name: str) -> str:
    '''Greet somebody.'''
    return f"Hello {name}."

@tool(destructive=True)
def erase(path: str) -> str:
    '''Erase a file.'''
    return f"Erased {path}."

bench(greet, erase)
"""


HERE = "element => element === document.activeElement"


def tab_to(place: Locator) -> None:
    """Press Tab until *place* has the focus."""
    for _ in range(20):
        place.page.keyboard.press("Tab")
        if place.evaluate(HERE):
            return
    pytest.fail(f"Tab does not lead to {place}.")


def test_a_tool_is_found_filled_in_and_run(lab: NotebookPage, nbroot: Path):
    """Enter in the search field picks a tool; Tab leads to its fields and to Run."""
    write_notebook(nbroot / "keyboard.ipynb", TOOLS)
    lab.open("keyboard.ipynb")
    lab.run_all()
    keys, output = lab.tab.page.keyboard, lab.output(0)
    output.get_by_label("Search").focus()
    keys.type("erase")
    expect(output.get_by_role("option")).to_have_count(1)
    keys.press("Enter")
    path = output.get_by_label("path")
    tab_to(path)
    keys.type("old.log")
    run = output.get_by_role("button", name="Run", exact=True)
    tab_to(run)
    keys.press("Enter")
    yes = output.get_by_role("button", name="Erase old.log", exact=True)
    expect(yes).to_be_visible()
    lab.wait_for_text('path = "old.log"', within=output)
    tab_to(yes)
    keys.press("Enter")
    lab.wait_for_text("Erased old.log.", within=output)
    assert lab.errors() == []
