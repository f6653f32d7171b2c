"""The notebooks of the site run in the page, to their end, and their forms are filled and run."""

import pytest
from browser.axe import violations
from test_lesson import ANSWERS, TEXTS, name_of

from built_site.lite_page import LiteNotebook


@pytest.mark.front_end("JupyterLite", "load", "type", "run")
def test_form_is_filled_and_run(page, origin):
    """The form takes values and its Run runs the tool in the page."""
    notebook = LiteNotebook(page, origin, "start.ipynb")
    notebook.run_all()
    page.wait_for_selector(".toolbench-panel")
    panel = notebook.panel("split_bill")
    panel.get_by_label("total").fill("84")
    panel.get_by_role("button", name="Run", exact=True).click()
    panel.get_by_text("Everybody pays 42.00 euros.").wait_for()
    assert violations(page, ".toolbench-panel") == []
    notebook.picture("start")


def test_runs_of_a_saved_notebook_are_read(page, origin):
    """A notebook that was saved and is opened again shows the run; the panel itself needs its cell to be run."""
    notebook = LiteNotebook(page, origin, "start.ipynb")
    notebook.run_all()
    page.wait_for_selector(".toolbench-panel")
    notebook.run(3, "%tool split_bill")
    page.locator(".toolbench-panel").nth(1).wait_for()
    panel = notebook.panel("split_bill")
    panel.get_by_label("total").fill("84")
    panel.get_by_role("button", name="Run", exact=True).click()
    panel.get_by_text("Everybody pays 42.00 euros.").wait_for()
    notebook.save()
    page.goto("about:blank")
    reopened = LiteNotebook(page, origin, "start.ipynb")
    result = page.get_by_text("Everybody pays 42.00 euros.").locator("visible=true")
    result.first.wait_for()
    reopened.picture("start-reopened")


ASYNC_TOOL = """
import asyncio
from toolbench import current_run

@tool(read_only=True)
async def count(to: int) -> str:
    '''Count slowly.'''
    for number in range(to):
        current_run().progress(number, to)
        await asyncio.sleep(0.1)
    return f"Counted to {to}."

count
"""


@pytest.mark.front_end("JupyterLite", "cancel")
def test_async_tool_is_cancelled(page, origin):
    """Cancel ends the run of an async tool; a plain one has no such button, and its panel says why."""
    notebook = LiteNotebook(page, origin, "start.ipynb")
    notebook.run_all()
    plain = notebook.panel("split_bill")
    plain.get_by_text("An async tool can.").wait_for()
    notebook.run(3, ASYNC_TOOL)
    panel = notebook.panel("count")
    panel.get_by_label("to", exact=True).fill("10000")
    panel.get_by_role("button", name="Run", exact=True).click()
    panel.get_by_role("button", name="Cancel", exact=True).click()
    panel.get_by_text("cancelled").first.wait_for()


YOU = "%%chat mine --step --model me --tools split_bill\nWe are four. What is it for each of us?"


def test_user_is_the_model(page, origin):
    """The cell ends and the kernel is free; the answer of the user is a call, which runs, and then a text."""
    notebook = LiteNotebook(page, origin, "start.ipynb")
    notebook.run_all()
    page.wait_for_selector(".toolbench-panel")
    notebook.run(3, "%model me PersonModel()")
    notebook.run(4, YOU)
    panel = page.locator(".toolbench-transcript")
    panel.get_by_label("Tool you call").select_option("split_bill")
    panel.get_by_label("total").fill("84")
    panel.get_by_role("button", name="Answer for the model").click()
    panel.get_by_role("button", name="Run", exact=True).click()
    panel.get_by_text("Everybody pays 42.00 euros.").first.wait_for()
    panel.get_by_label("What you say").fill("It is 42 euros each.")
    panel.get_by_role("button", name="Answer for the model").click()
    panel.get_by_text("It is 42 euros each.").first.wait_for()
    assert notebook.run(5, "print(mine.final_text)") == "It is 42 euros each.\n"
    notebook.picture("you-are-the-model")


UNUSABLE = """
from toolbench.tools import BrowserTool, TerminalTool
for kind in (BrowserTool, TerminalTool):
    usable = kind.is_usable()
    print(kind.__name__, bool(usable), "|", getattr(usable, "reason", usable))
try:
    from toolbench.mcp import create_mcp_tools
    create_mcp_tools({"mcpServers": {"far": {"url": "http://127.0.0.1:1/mcp"}}})
except Exception as error:
    print(type(error).__name__, "|", error)
"""


def test_what_cannot_be_done_is_said(page, origin):
    """Tools that need processes say why they are not usable, and a server is refused with a sentence."""
    notebook = LiteNotebook(page, origin, "start.ipynb")
    notebook.run_all()
    page.wait_for_selector(".toolbench-panel")
    text = notebook.run(3, UNUSABLE)
    print(text)
    assert text.count(" False | ") == 2
    assert "Error | " in text


NOTEBOOKS = {
    "00_tour": ("Split the bill", {"total": "84"}, "Everybody pays 46.20 euros."),
    "01_your_first_tool": (
        "Average temperature",
        {"first": "6", "last": "8"},
        "The average of months 6 to 8 is 19.3 °C.",
    ),
    "03_inside_a_tool_call": ("Postage", {"grams": "20"}, "Postage: 125 cents."),
}
ALL = (*NOTEBOOKS, "06_a_model_at_the_bench", "07_evals", "08_choose_and_be_chosen")


@pytest.mark.parametrize("name", ALL)
def test_notebook_runs_to_its_end(page, origin, name):
    """Run All runs every cell, past errors that are meant; then a form takes values and runs."""
    notebook = LiteNotebook(page, origin, f"notebooks/{name}.ipynb")
    notebook.run_all()
    if name.startswith("01"):
        # Its magic asks before it deletes
        notebook.answer("n")
    notebook.wait_for_the_end()
    assert notebook.unexpected_errors() == []
    if name in NOTEBOOKS:
        title, values, answer = NOTEBOOKS[name]
        panel = notebook.panel(title)
        for label, value in values.items():
            panel.get_by_label(label, exact=True).fill(value)
        panel.get_by_role("button", name="Run", exact=True).click()
        panel.get_by_text(answer).first.wait_for()
        panel.scroll_into_view_if_needed()
    notebook.picture(name)


OWN = 'print(evaluate(model, [book_room, described("Sagt das Wetter.")], cases).compare(before))'


def test_lesson_is_done(page, origin):
    """A student is the model in exercise 1, each answer is right, and an own description is named as such."""
    notebook = LiteNotebook(page, origin, "notebooks/08_choose_and_be_chosen.ipynb")
    notebook.run_all()
    notebook.wait_for_the_end()
    panel = page.locator(".toolbench-transcript")
    panel.get_by_role("button", name="Step", exact=True).click()
    panel.get_by_label("Tool you call").select_option("tool_2")
    panel.get_by_label("city").fill("Zürich")
    panel.get_by_role("button", name="Answer for the model").click()
    panel.get_by_role("button", name="Run", exact=True).click()
    panel.get_by_text("Rain in Zürich.").first.wait_for()
    panel.get_by_label("What you say").fill("Take one, 带伞.")
    panel.get_by_role("button", name="Answer for the model").click()
    panel.get_by_text("Take one, 带伞.").first.wait_for()
    notebook.picture("08-exercise-1")
    # In the page the first cell installs; the next three are the tools and exercise 1
    codes = ["", *(text for kind, text in TEXTS if kind == "code")]
    verdicts = []
    for number, code in enumerate(codes[4:], 4):
        text = notebook.run(number, ANSWERS.get(name_of(code), code))
        if "check(" in code:
            verdicts.append(text)
    assert verdicts == ["Right.\n"] * 6
    text = notebook.run(len(codes), OWN)
    assert '+    "description": "Sagt das Wetter."' in text
