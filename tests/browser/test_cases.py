"""Cases in the page: typed, changed and removed by a person, in JupyterLab."""

import pytest
from playwright.sync_api import Locator, expect

from browser.axe import violations
from browser.lab import NotebookPage

TOOLS = '''
%load_ext toolbench
from toolbench import tool
from toolbench.evals import Case, Cases

@tool(read_only=True)
def split_bill(total: float, people: int, tip: float = 0.0) -> float:
    """Split a restaurant bill between people.

    Args:
        total: The sum of the bill.
        people: How many share it.
        tip: The tip, added before it is split.
    """
    return (total + tip) / people

@tool(destructive=True)
def wipe(path: str) -> str:
    """Delete a file for ever."""
    return path

cases = Cases([Case("Good morning!", name="no call")])
'''


def alive(lab: NotebookPage) -> Locator:
    """The form as widgets: the output before it is for when they are gone."""
    return lab.output(1).locator(".toolbench-panel").first


def look(lab: NotebookPage, state: str) -> list[str]:
    """What axe-core says of the form in both themes; a picture of each is left behind."""
    faults = []
    for theme in lab.themes():
        lab.show(1)
        lab.picture(f"cases-{state}-{theme}")
        part = ".jp-OutputArea-output:has(.toolbench-panel)"
        faults += [f"{state}, {theme}: {v}" for v in violations(lab.tab.page, part)]
    return faults


@pytest.mark.long
@pytest.mark.usefixtures("looks")
def test_cases_are_typed_changed_and_removed(lab: NotebookPage):
    """The variable of the notebook has what the form shows; saved, the notebook reads without it."""
    lab.share(TOOLS, "cases", "print(cases[:], cases[-1].to_dict())")
    lab.run(0)
    lab.run(1)
    form = alive(lab)
    lab.wait_for_text("1 case", within=form)
    lab.type_into("What the person says", "Split 84 euros by 4", within=form)
    form.get_by_label("Expected tool", exact=True).select_option("split_bill")
    lab.type_into("total", "84", within=form)
    form.get_by_label("Compare total", exact=True).select_option("approx")
    lab.type_into("Tolerance of total", "0.01", within=form)
    form.get_by_label("Forbidden tools").select_option("wipe")
    faults = look(lab, "typed")

    lab.click("Add case", within=form)
    lab.wait_for_text("Enter a value.", within=form)
    lab.type_into("people", "4", within=form)
    lab.click("Add case", within=form)
    lab.wait_for_text("Added: Split 84 euros by 4", within=form)
    lab.wait_for_text("2 cases", within=form)
    lab.run(2)
    assert "2 cases" in lab.text(2)
    assert "'match': {'total': {'approx': 0.01}}" in lab.text(2)
    assert "'forbid': ['wipe']" in lab.text(2)

    form.locator(".toolbench-items").get_by_role("option", name="Split 84 euros by 4").click()
    people = form.get_by_label("people", exact=True)
    expect(people).to_have_value("4")
    lab.type_into("people", "5", within=form)
    lab.click("Save changes", within=form)
    lab.wait_for_text("Changed: Split 84 euros by 4", within=form)
    faults += look(lab, "changed")
    form.locator(".toolbench-items").get_by_role("option", name="no call").click()
    lab.click("Remove", within=form)
    lab.wait_for_text("Removed: no call", within=form)
    lab.run(2)
    assert "1 case" in lab.text(2) and "'people': 5" in lab.text(2)
    lab.save()
    saved = "".join(str(o["data"]["text/html"]) for o in lab.outputs(1) if "data" in o)
    assert "people=5" in saved
    assert faults == []
    assert lab.errors() == [] and lab.tab.console_errors == []
