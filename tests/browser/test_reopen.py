"""A notebook that was saved with a panel in it, opened again and not run."""

import pytest
from patience import eventually
from playwright.sync_api import Locator, expect

from browser.lab import ClassicPage, NotebookPage, write_notebook

CELLS = (
    "%load_ext toolbench",
    "from toolbench import tool\n"
    "@tool\n"
    "def backwards(text: str) -> str:\n"
    '    """Say it backwards.\n\n    Args:\n        text: What to say.\n    """\n'
    "    return text[::-1]\n"
    "backwards",
    "%tool backwards text=stressed",
    "%tool backwards",
)
DISPLAY, CALLED, RUN = 1, 2, 3
HINT = "Run the cell to use the form."
DEAD = ("model not found", "could not be displayed")


def runs(page: NotebookPage | ClassicPage, panel: Locator) -> None:
    """A run in the panel; what is kept of it, and of the tool, is not seen beside it."""
    page.type_into("text", "deliver", within=panel)
    page.click("Run", within=panel)
    page.wait_for_text("reviled", within=panel)
    expect(panel.get_by_text("Say it backwards.").locator("visible=true")).to_have_count(1)
    expect(panel.get_by_text(HINT).locator("visible=true")).to_have_count(0)
    copy = panel.locator(".toolbench-kept").get_by_text("reviled")
    copy.first.wait_for(state="attached")
    expect(copy.locator("visible=true")).to_have_count(0)


def is_read(panel_output: Locator, called: Locator, run: Locator) -> None:
    """The tool, its parameters, the arguments and the result are there, each once."""
    called.get_by_text("desserts").locator("visible=true").first.wait_for()
    run.get_by_text("reviled").locator("visible=true").first.wait_for()
    for panel in (panel_output, run):
        panel.get_by_text("Say it backwards.").locator("visible=true").wait_for()
        text = panel.inner_text()
        assert text.count("Say it backwards.") == 1
        assert text.count("What to say.") == 1
        assert text.count(HINT) == 1
        assert not any(words in text for words in DEAD)
    assert "deliver" in run.inner_text()


def in_the_notebook(page: NotebookPage, name: str) -> None:
    page.share(*CELLS)
    page.run_all()
    runs(page, page.output(RUN))
    page.save()
    path = page.tab.shared
    assert path
    page.clear()
    page.open(path.name)
    is_read(page.output(DISPLAY), page.output(CALLED), page.output(RUN))
    page.picture(name)


@pytest.mark.front_end("JupyterLab", "reopen")
def test_in_jupyterlab(lab: NotebookPage):
    """What Lab cannot draw without its kernel it shows as it was saved."""
    in_the_notebook(lab, "reopen-lab")


@pytest.mark.front_end("Notebook 7", "reopen")
@pytest.mark.long
def test_in_notebook_7(notebook7: NotebookPage):
    """The tool, its parameters and the result can be read without a kernel's help."""
    in_the_notebook(notebook7, "reopen-notebook7")


@pytest.mark.front_end("nbclassic", "reopen")
@pytest.mark.long
def test_in_nbclassic(nbclassic: ClassicPage, nbroot):
    """The classic front end shows the same static view."""
    write_notebook(nbroot / "reopen-classic.ipynb", *CELLS)
    nbclassic.open("reopen-classic.ipynb")
    nbclassic.run_all()
    outputs = nbclassic.tab.page.locator(".output_wrapper")
    runs(nbclassic, outputs.nth(RUN))
    nbclassic.save()
    nbclassic.shut_down()
    nbclassic.tab.page.goto("about:blank")
    nbclassic.open("reopen-classic.ipynb")
    is_read(outputs.nth(DISPLAY), outputs.nth(CALLED), outputs.nth(RUN))
    nbclassic.picture("reopen-classic")


FORM = """from toolbench.widgets.form import SchemaForm
SchemaForm(backwards.action_type.to_mcp_schema()).widget"""
RESTART = "async () => await window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
BEFORE = """panel => [panel, ...panel.querySelectorAll('.jupyter-widgets')]
  .map(part => getComputedStyle(part, '::before'))
  .filter(before => !['none', 'normal', '""'].includes(before.content) && before.display !== 'none')
  .map(before => before.content)"""
SENTENCE = '"The kernel was restarted or has ended: run the cell again."'


def test_a_panel_says_that_its_kernel_was_restarted(lab: NotebookPage) -> None:
    """In one sentence, until the cell is run again; ipywidgets marks each part of it with an icon."""
    lab.share(*CELLS[:2], FORM)
    lab.run_all()
    places = [
        lab.output(DISPLAY).locator(".toolbench-panel"),
        lab.output(2).locator(".tb-form"),
    ]
    for place in places:
        place.wait_for()
        assert SENTENCE not in place.evaluate(BEFORE)
    lab.tab.page.evaluate(RESTART)
    for place in places:
        eventually(
            lambda place=place: place.evaluate(BEFORE) == [SENTENCE],
            what="the panel says so",
        )
    lab.wait_until_ready()
    lab.run_all()
    for place in places:
        place.wait_for()
        assert SENTENCE not in place.evaluate(BEFORE)
