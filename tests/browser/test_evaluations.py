"""Reports of evaluations and sweeps in the page: failures open into panels, rows are filtered."""

import pytest
from playwright.sync_api import Locator, expect

from browser.axe import violations
from browser.lab import NotebookPage

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
PRINT_RUNS = "print([(r.arguments, r.observation.text) for r in history()])"


def alive(lab: NotebookPage, cell: int) -> Locator:
    """The report as widgets: the output before it is for when they are gone."""
    return lab.output(cell).locator(".toolbench-panel").first


def look(lab: NotebookPage, cell: int, state: str, part: str) -> list[str]:
    """What axe-core says of a part in both themes; a picture of each is left behind."""
    faults = []
    for theme in lab.themes():
        lab.show(cell)
        lab.picture(f"evaluation-{state}-{theme}")
        faults += [f"{state}, {theme}: {v}" for v in violations(lab.tab.page, part)]
    return faults


@pytest.mark.usefixtures("looks")
def test_a_failure_opens_into_the_panel_of_its_call(lab: NotebookPage):
    """It is changed and run there; saved, the notebook has every failure without a kernel."""
    lab.share(SETUP, "report", PRINT_RUNS)
    lab.run(0)
    lab.run(1)
    view = alive(lab, 1)
    lab.wait_for_text("3 was expected, and 4 was sent", within=view)
    people = view.get_by_label("people", exact=True)
    expect(people).to_have_value("4")
    view.get_by_label("Filter rows").fill("failed")
    view.get_by_role("button", name="Open 3").click()
    expect(people).to_have_value("5")
    faults = look(lab, 1, "failure", ".jp-OutputArea-output:has(.toolbench-panel)")
    lab.type_into("people", "4", within=view)
    lab.click("Run", within=view)
    lab.wait_for_text("21.0", within=view)
    lab.run(2)
    assert lab.text(2).strip() == "[({'total': 84, 'people': 4}, '21.0')]"
    lab.save()
    saved = "".join(str(o["data"]["text/html"]) for o in lab.outputs(1) if "data" in o)
    assert "3 was expected, and 4 was sent" in saved
    assert "4 was expected, and 5 was sent" in saved
    assert faults == []
    assert lab.errors() == [] and lab.tab.console_errors == []


ROWS = """
@tool(read_only=True)
def divide(a: int, b: int) -> dict:
    '''Divide a by b; returns quotient and rest.'''
    return {"quotient": a // b, "rest": a % b}

sweep(divide, {"a": range(1_000), "b": range(10)})
"""
MANY = """
answers = evaluate(ScriptedModel([answer(n % 5 + 1) for n in range(3_000)]), [split_bill], cases, repeats=1_000)
answers
"""


def rows_of(table: Locator) -> list[list[str]]:
    """The texts of the rows that are elements of the page; a label stands before each."""
    rows: list[list[str]] = table.evaluate(
        "t => [...t.tBodies[0].rows].filter(r => !r.ariaHidden).map(r => [...r.cells].map(c => c.textContent))"
    )
    return rows


@pytest.mark.long
@pytest.mark.usefixtures("looks")
def test_rows_of_a_sweep_are_filtered_and_sorted(lab: NotebookPage):
    """All 10,000 are there, and only those in sight are elements; keys stay in the filter.

    A row opens the panel of its call.
    """
    lab.share(SETUP, ROWS)
    lab.run(0)
    lab.run(1)
    view = lab.output(1).locator(".toolbench-panel").first
    table, field = (
        view.locator("table.toolbench-table"),
        view.get_by_label("Filter rows"),
    )
    count = view.get_by_role("status")
    expect(count).to_have_text("10,000 of 10,000 rows")
    assert len(rows_of(table)) < 200
    field.press_sequentially("b>7 quotient=12 state:ok")
    expect(count).to_have_text("17 of 10,000 rows")
    assert {row[2] for row in rows_of(table)} == {"8", "9"}
    view.get_by_role("button", name="a", exact=True).click()
    view.get_by_role("button", name="a", exact=True).click()
    assert [int(row[1]) for row in rows_of(table)] == sorted(
        [*range(96, 104), *range(108, 117)], reverse=True
    )
    view.get_by_role("button", name="Open 968").press("Enter")
    expect(view.get_by_label("a", exact=True)).to_have_value("96")
    expect(table.locator("[aria-current]")).to_have_count(1)
    faults = look(lab, 1, "sweep", ".jp-OutputArea-output:has(.toolbench-panel)")
    field.fill('error:"division or modulo" a=7')
    expect(count).to_have_text("1 of 10,000 rows")
    field.fill("nothing holds this")
    expect(count).to_have_text("0 of 10,000 rows")
    before = lab.tab.page.evaluate("rig.cells().length")
    field.fill("")
    field.press("x")
    field.press("Escape")
    field.press("d")
    field.press("d")
    expect(count).to_have_text("0 of 10,000 rows")
    assert lab.tab.page.evaluate("rig.cells().length") == before
    field.fill("")
    expect(count).to_have_text("10,000 of 10,000 rows")
    view.locator(".toolbench-scroller").evaluate("b => b.scrollTo(0, b.scrollHeight)")
    last = table.locator("tbody tr").last.get_by_role("cell")
    # It is still sorted, downwards
    expect(last.nth(1)).to_have_text("0")
    assert len(rows_of(table)) < 200
    assert faults == []
    assert lab.errors() == [] and lab.tab.console_errors == []


@pytest.mark.long
def test_answers_of_an_evaluation_are_filtered(lab: NotebookPage):
    """They stand below the summary, and the first failure below them."""
    lab.share(SETUP, MANY)
    lab.run(0)
    lab.run(1)
    view = alive(lab, 1)
    expect(view.get_by_text("All answers: 3,000")).to_be_visible()
    count = view.get_by_role("status").first
    expect(count).to_have_text("3,000 of 3,000 rows")
    view.get_by_label("Filter rows").fill('"Split 84 by 3" failed')
    expect(count).to_have_text("800 of 3,000 rows")
    assert all(row[2] == "Split 84 by 3" for row in rows_of(view.locator("table.toolbench-table")))
    assert lab.errors() == [] and lab.tab.console_errors == []
