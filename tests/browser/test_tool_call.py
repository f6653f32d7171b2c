"""A model's message pasted into a notebook: its calls read, mended, run and answered."""

import json

import pytest
from playwright.sync_api import Locator, expect

from browser.axe import violations
from browser.lab import NotebookPage

TOOLS = '''
%load_ext toolbench
from typing import Literal
from toolbench import tool

@tool
def add(a: int, b: int) -> int:
    """Add two whole numbers and return the sum.

    Args:
        a: The first number.
        b: The second number.
    """
    return a + b

@tool
def greet(name: str, style: Literal["short", "long"] = "short") -> str:
    """Greet somebody by name and return the greeting.

    Args:
        name: Who is greeted.
        style: How many words it takes.
    """
    return f"Hello {name}"
'''
MENDED = {"name": "add", "arguments": '{"a": "2", "b": 3,}'}
WRONG = {"name": "greet", "arguments": '{"style": "wild"}'}
MESSAGE = {
    "role": "assistant",
    "content": "First the sum, then a greeting.",
    "tool_calls": [
        {"id": "call_sum", "type": "function", "function": MENDED},
        {"id": "call_hello", "type": "function", "function": WRONG},
    ],
}


def alive(page: NotebookPage) -> Locator:
    """The calls as widgets: the output before them is for when they are gone."""
    return page.output(1).locator(".jp-OutputArea-child").last


def look(page: NotebookPage, state: str) -> list[str]:
    """What axe-core says of the calls in both themes; a picture of each is left behind."""
    faults = []
    for theme in page.themes():
        answers = alive(page).get_by_text("What goes back to the model")
        for number in range(2):
            answers.nth(number).scroll_into_view_if_needed()
            page.picture(f"tool-call-{state}-{number + 1}-{theme}")
        part = ".jp-OutputArea-output:has(.toolbench-box)"
        faults += [f"{state}, {theme}: {v}" for v in violations(page.tab.page, part)]
    return faults


@pytest.mark.usefixtures("looks")
def test_a_pasted_message(lab: NotebookPage):
    """Each call is its filled panel; what goes back to the model follows what was run."""
    pasted = f"%%tool_call\n{json.dumps(MESSAGE, indent=1)}"
    lab.share(TOOLS, pasted)
    lab.run_all()
    view = alive(lab)
    for text in (
        "Call 1 of 2: add (openai, id call_sum)",
        "Thought: First the sum, then a greeting.",
        'Repaired: a: "2" was read as a number.',
        "Ready to run.",
        "Nothing, until the call is run.",
        "Call 2 of 2: greet (openai, id call_hello)",
        "Error: The call of 'greet' was not run, 2 problems",
    ):
        lab.wait_for_text(text, within=view)
    expect(view.get_by_label("a", exact=True)).to_have_value("2")
    expect(view.get_by_label("b", exact=True)).to_have_value("3")
    faults = look(lab, "pasted")

    view.get_by_role("button", name="Run", exact=True).first.click()
    lab.wait_for_text('"5"', within=view)
    expect(view.get_by_text("Nothing, until").locator("visible=true")).to_have_count(0)
    lab.type_into("name", "Ada", within=view)
    style = view.get_by_role("radiogroup", name="style", exact=True)
    expect(style.get_by_label("wild (not a choice)")).to_be_checked()
    style.get_by_label("long").click()
    view.get_by_role("button", name="Run", exact=True).last.click()
    lab.wait_for_text('"Hello Ada"', within=view)
    faults += look(lab, "answered")
    assert faults == []
    assert lab.tab.console_errors == []
    assert lab.tab.foreign_requests == []
