"""The tour of the repository, from its first cell to its last, without a mouse."""

import shutil
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, expect

from browser.lab import NotebookPage
from browser.polling import poll

ROOT = Path(__file__).parents[2]
TOUR = ROOT / "notebooks" / "00_tour.ipynb"
MOST = 60  # presses of Tab from one end of a panel to the other
HERE = "element => element === document.activeElement"
WITHIN = "element => element.contains(document.activeElement)"
FOCUS = """() => { const e = document.activeElement; return `${e.tagName}.${e.className} ${e.textContent.slice(0, 40)}`; }"""
# Where the notebook is: the number of the active cell, and whether a cell waits or runs.
NOW = """() => {
  const cells = rig.panel().content;
  const busy = cells.widgets.some((cell) => cell.inputArea?.promptNode?.textContent.includes("*"));
  return [cells.activeCellIndex, busy];
}"""


def test_the_tour_runs_and_its_forms_are_filled_in(lab: NotebookPage, nbroot: Path):
    """Shift+Enter runs each cell, Tab leads into the panels and out again; no cell is lost."""
    cells = copy_of_the_tour(nbroot)
    lab.open("tour/00_tour.ipynb")
    lab.tab.page.locator(".jp-Notebook").wait_for()
    forms = {
        starting(cells, "from typing import Annotated"): fill_the_bill,
        starting(cells, "%tool convert_time\n"): convert_a_time,
    }
    sources = [cell.source for cell in cells]
    for index in range(len(cells)):
        run_the_active_cell(lab, index, is_last=index == len(cells) - 1)
        if index in forms:
            forms[index](lab, index)
    assert [error.split(":")[0] for error in lab.errors()] == [
        str(starting(cells, "%tool split_bill total=plenty"))
    ]
    assert [
        "".join(cell["source"]) for cell in lab.tab.page.evaluate("rig.cells()")
    ] == sources
    assert lab.tab.console_errors == []


def copy_of_the_tour(nbroot: Path) -> list[nbformat.NotebookNode]:
    """Copy the tour without its outputs, and the file it reads; return its cells."""
    notebook = nbformat.read(TOUR, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    (nbroot / "tour").mkdir()
    nbformat.write(notebook, nbroot / "tour" / "00_tour.ipynb")
    shutil.copy(ROOT / "README.md", nbroot)
    return list(notebook.cells)


def starting(cells: list[nbformat.NotebookNode], text: str) -> int:
    """Return the number of the only cell that begins with *text*."""
    (index,) = [
        n for n, cell in enumerate(cells) if f"{cell.source}\n".startswith(text)
    ]
    return index


def run_the_active_cell(lab: NotebookPage, index: int, *, is_last: bool) -> None:
    """Run cell *index*, which is the active one, and wait until the next is and nothing runs."""
    page = lab.tab.page
    poll(lambda: page.evaluate(NOW)[0] == index, until=f"{index} is active", seconds=10)
    page.keyboard.press("Shift+Enter")
    then = [index + (not is_last), False]
    poll(lambda: page.evaluate(NOW) == then, until=f"{index} ran", seconds=60)


def fill_the_bill(lab: NotebookPage, index: int) -> None:
    """Type a wrong total, be led to it, mend it, and look at the schema."""
    output = lab.output(index)
    total = output.get_by_role("textbox", name="total")
    run = output.get_by_role("button", name="Run", exact=True)
    go(total, "Shift+Tab")
    lab.tab.page.keyboard.type("-1")
    go(run, "Tab")
    lab.tab.page.keyboard.press("Enter")
    lab.wait_for_text("Should be more than 0", within=output)
    expect(total).to_be_focused()
    lab.tab.page.keyboard.press("Control+a")
    lab.tab.page.keyboard.type("84")
    lab.tab.page.keyboard.press("Control+Enter")
    lab.wait_for_text("Everybody pays 46.20 euros.", within=output)
    leave(output, "Tab")


def convert_a_time(lab: NotebookPage, index: int) -> None:
    """Fill in three fields of a server's tool, one after the other, and run it."""
    output = lab.output(index)
    source = output.get_by_role("textbox", name="source_timezone")
    go(source, "Shift+Tab")
    for name, text in (
        ("source_timezone", "Asia/Kolkata"),
        ("time", "16:30"),
        ("target_timezone", "Asia/Tokyo"),
    ):
        field = output.get_by_role("textbox", name=name, exact=True)
        expect(field).to_be_focused()
        lab.tab.page.keyboard.type(text)
        lab.tab.page.keyboard.press("Tab")
    go(output.get_by_role("button", name="Run", exact=True), "Tab")
    lab.tab.page.keyboard.press("Enter")
    lab.wait_for_text("+3.5h", within=output)
    leave(output, "Tab")


def go(place: Locator, key: str) -> None:
    """Press *key* until *place* has the focus."""
    path = []
    for _ in range(MOST):
        if place.evaluate(HERE):
            return
        place.page.keyboard.press(key)
        path.append(place.page.evaluate(FOCUS))
    pytest.fail(f"{key} does not lead to {place}: {path}")


def leave(output: Locator, key: str) -> None:
    """Press *key* until the focus is no longer in *output*."""
    path = []
    for _ in range(MOST):
        if not output.evaluate(WITHIN):
            return
        output.page.keyboard.press(key)
        path.append(output.page.evaluate(FOCUS))
    pytest.fail(f"{key} does not lead out of the panel: {path}")
