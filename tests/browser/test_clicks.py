"""A click, Ctrl+Enter or Enter never overtakes the last typed keys, however slow the kernel is."""

import os
from pathlib import Path

import pytest
from patience import eventually
from playwright.sync_api import Locator, expect

from browser.lab import Hands, NotebookPage, write_notebook

TOOL = """
%load_ext toolbench
import ipywidgets
from toolbench import tool
from toolbench.widgets.panel import ToolPanel

@tool
def echo(text: str) -> str:
    '''Return the text.'''
    return f"Got {text}."

def fields(widget):
    if isinstance(widget, ipywidgets.Text | ipywidgets.Textarea):
        yield widget
    for child in getattr(widget, "children", ()):
        yield from fields(child)

def wait(change):
    open(f"{GATES}/{change.new}").close()  # waits until the test opens its other end

panel = ToolPanel(echo)
[text] = [field for field in fields(panel) if field.description == "text"]
text.observe(wait, "value")
panel
"""


REVERSE = """
%load_ext toolbench
from toolbench import tool

@tool
def backwards(text: str) -> str:
    '''Return the text backwards.'''
    return text[::-1]

backwards
"""
OPEN = "path => void jupyterapp.commands.execute('docmanager:open', {path})"
IS_OPEN = "path => jupyterapp.shell.currentWidget.context?.path === path"


class Gates:
    """What the kernel waits for after each change of the field: a pipe for each of its values."""

    def __init__(self, folder: Path, *values: str) -> None:
        self.folder = folder
        for value in values:
            os.mkfifo(folder / value)

    def let_pass(self, value: str) -> None:
        """Let the kernel go on after *value*, as soon as it waits there."""

        def opened() -> bool:
            try:
                gate = os.open(self.folder / value, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                # Nobody waits yet
                return False
            os.close(gate)
            return True

        eventually(opened, what=f"the kernel waits after {value}")


def typed_ahead(page: Hands, gates: Gates, notebook: Path) -> Locator:
    """Open the panel and type 84: the kernel has 8 and is busy with it, 84 is still in the page."""
    cell = f"GATES = {str(gates.folder)!r}\n{TOOL}"
    if isinstance(page, NotebookPage):
        page.share(cell)
    else:
        write_notebook(notebook, cell)
        page.open(notebook.name)
    page.run_all()
    page.wait_for_module()
    field = page.tab.page.get_by_label("text", exact=True)
    field.press_sequentially("84")
    return field


@pytest.mark.parametrize(
    "front_end",
    ["lab", *(pytest.param(name, marks=pytest.mark.long) for name in ("voila", "nbclassic"))],
)
def test_a_run_takes_all_keys(
    request: pytest.FixtureRequest, front_end: str, nbroot: Path, tmp_path: Path
):
    """By a click or by Ctrl+Enter: the run waits until the kernel has both keys, then it begins."""
    page: Hands = request.getfixturevalue(front_end)
    gates = Gates(tmp_path, "8", "84", "841", "8412")
    field = typed_ahead(page, gates, nbroot / f"clicks-{front_end}.ipynb")
    # nbclassic has a Run of its own
    panel = page.tab.page.locator(".toolbench-panel")
    run = panel.get_by_role("button", name="Run", exact=True)
    run.click()
    runs_after(page, run, gates, "8", "84")
    field.press_sequentially("12")
    field.press("Control+Enter")
    runs_after(page, run, gates, "841", "8412")


def runs_after(page: Hands, run: Locator, gates: Gates, *values: str) -> None:
    """Run shows that it was pressed, and the run has the last of *values*, which pass one by one."""
    expect(run).to_have_attribute("aria-busy", "true")
    for value in values:
        gates.let_pass(value)
    page.wait_for_text(f"Got {values[-1]}.")
    expect(run).not_to_have_attribute("aria-busy", "true")


@pytest.mark.long
def test_a_click_waits_for_no_dead_kernel(new_lab: Hands, nbroot: Path, tmp_path: Path):
    """The kernel ends while a click waits for it: the button is free again."""
    gates = Gates(tmp_path, "8", "84")
    field = typed_ahead(new_lab, gates, nbroot / "clicks-dead.ipynb")
    run = new_lab.tab.page.get_by_role("button", name="Run", exact=True)
    run.click()
    expect(run).to_have_attribute("aria-busy", "true")
    new_lab.tab.page.evaluate("rig.panel().sessionContext.session.kernel.shutdown()")
    expect(run).not_to_have_attribute("aria-busy", "true")
    expect(field).to_have_value("84")


@pytest.mark.long
def test_a_click_comes_to_the_third_notebook_of_a_page(lab: NotebookPage, nbroot: Path):
    """Each kernel brings its module; those of the other notebooks let the click pass."""
    page = lab.tab.page
    first, *others = [f"clicks-{number}.ipynb" for number in ("one", "two", "three")]
    for name in (first, *others):
        write_notebook(nbroot / name, REVERSE)
    lab.open(first)
    lab.run_all()
    lab.wait_for_module()
    for name in others:
        page.evaluate(OPEN, name)
        page.wait_for_function(IS_OPEN, arg=name)
        lab.wait_until_ready("jupyterapp.shell.currentWidget")
        page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')")
        panel = page.locator(".toolbench-panel").locator("visible=true")
        lab.type_into("text", "stressed", within=panel)
        lab.click("Run", within=panel)
        lab.wait_for_text("desserts", within=panel)
        panel.get_by_role("tab", name="JSON").click()
        panel.get_by_role("textbox", name="Arguments as JSON").wait_for()
        page.evaluate("void jupyterapp.commands.execute('docmanager:save')")
    ids = page.locator("[id^=toolbench-]").evaluate_all("elements => elements.map(({id}) => id)")
    assert len(set(ids)) == len(ids) >= len(others)
