"""Reports of evaluations and sweeps in the page: failures open into panels, rows are filtered."""

from playwright.sync_api import Locator, expect

from browser.axe import THEMES, use_theme, violations
from browser.lab import NotebookPage, write_notebook

SETUP = '''
%load_ext toolbench
import json
from toolbench import history, tool
from toolbench.evals import Case, evaluate, sweep
from toolbench.llm.models import ScriptedModel

@tool(read_only=True)
def split_bill(total: float, people: int) -> float:
    """Split a restaurant bill between people.

    Args:
        total: The sum of the bill.
        people: How many share it.
    """
    return total / people

def answer(people):
    call = {"name": "split_bill", "arguments": json.dumps({"total": 84, "people": people})}
    return {"role": "assistant", "content": "I think so.", "tool_calls": [{"id": "1", "type": "function", "function": call}]}

cases = [
    Case(f"Split 84 by {n}", {"name": "split_bill", "arguments": {"total": 84, "people": n}})
    for n in (2, 3, 4)
]
report = evaluate(ScriptedModel([answer(2), answer(4), answer(5)]), [split_bill], cases)
'''
RAN = "print([(r.arguments, r.observation.text) for r in history()])"


def alive(lab: NotebookPage, cell: int) -> Locator:
    """The report as widgets: the output before it is for when they are gone."""
    return lab.output(cell).locator(".toolbench-workbench").first


def look(lab: NotebookPage, cell: int, state: str, part: str) -> list[str]:
    """What axe-core says of a part in both themes; a picture of each is left behind."""
    faults = []
    for theme in THEMES:
        use_theme(lab.tab.page, theme)
        lab.show(cell)
        lab.screenshot(f"evaluation-{state}-{theme}")
        faults += [f"{state}, {theme}: {v}" for v in violations(lab.tab.page, part)]
    use_theme(lab.tab.page, "light")
    return faults


def test_a_failure_opens_into_the_panel_of_its_call(lab: NotebookPage, nbroot):
    """It is changed and run there; saved, the notebook has every failure without a kernel."""
    write_notebook(nbroot / "failures.ipynb", SETUP, "report", RAN)
    lab.open("failures.ipynb")
    lab.run(0)
    lab.run(1)
    seen = alive(lab, 1)
    lab.wait_for_text("3 was expected, and 4 was sent", within=seen)
    people = seen.get_by_label("people", exact=True)
    expect(people).to_have_value("4")
    seen.locator(".toolbench-items").get_by_role("option", name="Split 84 by 4").click()
    expect(people).to_have_value("5")
    faults = look(lab, 1, "failure", ".jp-OutputArea-output:has(.toolbench-workbench)")
    lab.type_into("people", "4", within=seen)
    lab.click("Run", within=seen)
    lab.wait_for_text("21.0", within=seen)
    lab.run(2)
    assert lab.text(2).strip() == "[({'total': 84, 'people': 4}, '21.0')]"
    lab.save()
    saved = "".join(str(o["data"]["text/html"]) for o in lab.outputs(1) if "data" in o)
    assert "3 was expected, and 4 was sent" in saved
    assert "4 was expected, and 5 was sent" in saved
    assert faults == []
    assert lab.errors() == [] and lab.tab.console_errors == []
