"""A question in a cell, and JupyterLab's mark that its kernel waits for an answer."""

from pathlib import Path

from patience import eventually
from playwright.sync_api import expect

from browser.lab import NotebookPage, write_notebook

SETUP = """
%load_ext toolbench
import json
from toolbench import current_run, tool
from toolbench.llm.models import ScriptedModel

@tool(read_only=True)
def germinate() -> str:
    '''Let seeds germinate.'''
    return str(current_run().ask("Is it warm?").action)

function = {"name": "germinate", "arguments": "{}"}
call = {"id": "c1", "type": "function", "function": function}
%model gardener ScriptedModel([{"role": "assistant", "content": None, "tool_calls": [call]}, "Green."])
"""
SOW = "%%chat garden --model gardener --tools germinate\nSow."
FORM = """
%load_ext toolbench
from toolbench import tool

@tool
def water(liters: int) -> int:
    '''Water the seeds.'''
    return liters

water
"""
ASK = "name = input('Which seeds?')"
OPEN = """async path => {
  window.other = await jupyterapp.commands.execute("docmanager:open", {path});
}"""
RUN_ALL = "void jupyterapp.commands.execute('notebook:run-all-cells')"
RETURN = "jupyterapp.shell.activateById(rig.panel().id)"
WAITS = "panel => panel.sessionContext.session.kernel.hasPendingInput"


def test_the_end_of_a_cell_leaves_the_question_of_another_notebook(
    lab: NotebookPage, nbroot: Path
) -> None:
    """Each kernel has its own mark: the end of one's cell says nothing of the other's."""
    write_notebook(nbroot / "asking.ipynb", FORM, ASK)
    lab.share(SETUP, SOW)
    lab.run(0)
    page = lab.tab.page
    page.evaluate(OPEN, "asking.ipynb")
    lab.wait_until_ready("other")
    other = page.locator(".jp-NotebookPanel:not(.lp-mod-hidden):not(.lm-mod-hidden)")
    page.evaluate(RUN_ALL)
    expect(other.get_by_role("button", name="Copy call")).to_be_visible()
    expect(other.locator("input.jp-Stdin-input")).to_be_visible()
    eventually(lambda: page.evaluate(f"({WAITS})(other)"), what="the mark of the other is there")
    page.evaluate(RETURN)
    lab.start(1)
    own = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    expect(own.locator("input.jp-Stdin-input")).to_be_visible()
    own.get_by_role("button", name="Stop", exact=True).click()
    lab.wait_until_done()
    eventually(
        lambda: not page.evaluate(f"({WAITS})(rig.panel())"),
        what="the own mark is gone",
    )
    assert page.evaluate(f"({WAITS})(other)")
    lab.picture("question-over")
    page.evaluate("jupyterapp.shell.activateById(other.id)")
    lab.picture("question-of-another-notebook")
    other.locator("input.jp-Stdin-input").fill("Peas")
    other.locator("input.jp-Stdin-input").press("Enter")
    eventually(
        lambda: not page.evaluate(f"({WAITS})(other)"),
        what="the question is answered",
    )
    page.evaluate("other.sessionContext.shutdown()")
    assert lab.tab.console_errors == []
