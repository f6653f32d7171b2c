"""Checks in the page: a run is saved as one, a changed tool fails it, and one click accepts the result."""

import pytest
from playwright.sync_api import expect

from browser.axe import violations
from browser.lab import NotebookPage

TOOL = '''
from pathlib import Path
from toolbench import tool
Path("find.checks.yaml").unlink(missing_ok=True)

@tool(read_only=True)
def find(title: str) -> dict:
    """Find books."""
    return {"total": 1, "books": [{"title": "Emma", "id": 7}]}
'''
SHOW = "print(Path('find.checks.yaml').read_text())"
CHANGE = TOOL.replace("7", "8").replace('Path("find', '# Path("find')


@pytest.mark.usefixtures("looks")
def test_a_run_becomes_a_check_and_a_new_result_is_accepted(lab: NotebookPage):
    """Saved, the notebook has the report without a kernel."""
    lab.share(
        "%load_ext toolbench", TOOL, "%tool find", CHANGE, "%tools check find.checks.yaml", SHOW
    )
    for cell in range(3):
        lab.run(cell)
    view = lab.output(2).locator(".toolbench-panel").first
    lab.click("Save as check", within=view)
    lab.wait_for_text("There is no result that a check can expect.", within=view)
    lab.type_into("title", "Em", within=view)
    lab.click("Run", within=view)
    lab.wait_for_text("succeeded", within=view)
    lab.click("Save as check", within=view)
    name = view.get_by_label("Name of the check")
    expect(name).to_be_focused()
    lab.tab.page.keyboard.type("finds Emma")
    lab.tab.page.keyboard.press("Enter")
    lab.wait_for_text("Saved 'finds Emma', which expects the result of run", within=view)
    lab.run(3)
    lab.run(4)
    report = lab.output(4).locator(".toolbench-panel").first
    lab.wait_for_text("0 of 1 check passed", within=report)
    expect(report.get_by_label("title", exact=True)).to_have_value("Em")
    expect(report.locator("ins")).to_have_text("8")
    faults = []
    for theme in lab.themes():
        lab.show(4)
        lab.picture(f"checks-{theme}")
        faults += violations(lab.tab.page, ".jp-OutputArea-output:has(.toolbench-panel)")
    filter_field = report.get_by_label("Filter rows")
    filter_field.fill("emma")
    report.get_by_role("button", name="Accept").dblclick()
    lab.wait_for_text("1 of 1 check passed", within=report)
    expect(filter_field).to_have_value("emma")
    expect(report.get_by_role("cell", name="accepted")).to_be_visible()
    expect(report.get_by_role("button", name="Accept")).to_have_count(0)
    lab.run(5)
    assert "id: 8" in lab.text(5)
    lab.save()
    saved = "".join(str(o["data"]["text/html"]) for o in lab.outputs(4) if "data" in o)
    assert "1 accepted" in saved
    assert faults == []
    assert lab.errors() == [] and lab.tab.console_errors == []
