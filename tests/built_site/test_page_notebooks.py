"""The notebooks of the site run in the page, to their end, and their forms are filled and run."""

import pytest
from browser.axe import violations

from built_site.lite_page import LiteNotebook

GOAL = 20  # seconds from the address to the first form; `make site-test` prints what it took


@pytest.mark.front_end("JupyterLite", "load", "type", "run")
def test_form_is_filled_and_run(page, origin):
    """The first notebook shows a live panel, whose Run runs the tool in the page."""
    notebook = LiteNotebook(page, origin, "start.ipynb")
    notebook.run_all()
    page.wait_for_selector(".toolbench-panel")
    print(f"First form after {notebook.seconds:.1f} s (goal: {GOAL} s)")
    panel = page.locator(".toolbench-panel").last
    panel.get_by_label("total").fill("84")
    panel.get_by_role("button", name="Run", exact=True).click()
    panel.get_by_text("Everybody pays 42.00 euros.").wait_for()
    assert violations(page, ".toolbench-panel") == []
    notebook.picture("start")


NOTEBOOKS = {
    "00_tour": ("Split the bill", {"total": "84"}, "Everybody pays 46.20 euros."),
    "01_your_first_tool": (
        "Average temperature",
        {"first": "6", "last": "8"},
        "The average of months 6 to 8 is 19.3 °C.",
    ),
    "03_inside_a_tool_call": ("Postage", {"grams": "20"}, "Postage: 125 cents."),
}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook_runs_to_its_end(page, origin, name):
    """Run All runs every cell, past errors that are meant; then a form takes values and runs."""
    title, values, answer = NOTEBOOKS[name]
    notebook = LiteNotebook(page, origin, f"notebooks/{name}.ipynb")
    notebook.run_all()
    if name.startswith("01"):
        notebook.answer("n")  # its magic asks before it deletes
    notebook.wait_for_the_end()
    assert notebook.unexpected_errors() == []
    panel = notebook.panel(title)
    for label, value in values.items():
        panel.get_by_label(label, exact=True).fill(value)
    panel.get_by_role("button", name="Run", exact=True).click()
    panel.get_by_text(answer).first.wait_for()
    panel.scroll_into_view_if_needed()
    notebook.picture(name)
