"""A class in a cell is changed and run again while the panel of its tool is open."""

import pytest
from playwright.sync_api import expect

from browser.axe import violations
from browser.lab import NotebookPage

CLASSES = '''\
from pydantic import Field
from rich.table import Table
from toolbench import Action, Observation, TextContent, ToolDefinition, ToolExecutor

class GerminateAction(Action):
    """Which seeds."""
    seeds: list[str] = Field(description="The seeds.")

class GerminateObservation(Observation):
    sprouted: list[str] = []

    @property
    def visualize(self):
        table = Table("sprouted")
        for seed in self.sprouted:
            table.add_row(seed)
        return table

    @property
    def to_llm_content(self):
        return [TextContent(text=f"Sprouted: {', '.join(self.sprouted)}.")]

class Germinator(ToolExecutor[GerminateAction, GerminateObservation]):
    def __call__(self, action, conversation=None):
        if "kale" in action.seeds:
            return GerminateObservation.from_text("Unknown seeds: ['kale']", is_error=True)
        return GerminateObservation(sprouted=[f"the old {seed}" for seed in action.seeds])

class GerminateTool(ToolDefinition[GerminateAction, GerminateObservation]):
    @classmethod
    def create(cls, conv_state=None, **params):
        return [cls(description="Germinate seeds.", action_type=GerminateAction,
                    observation_type=GerminateObservation, executor=Germinator())]
'''
MAKE = "[germinate] = GerminateTool.create()"
PANEL = f"{MAKE}\ngerminate"
CALL = """code => jupyterapp.shell.currentWidget.sessionContext.session.kernel
  .requestExecute({code}).done.then(() => true)"""


def test_the_open_panel_says_which_line_to_run(lab: NotebookPage) -> None:
    """Then it offers the new tool. An error that the class's own views leave out is shown."""
    cells = ("%load_ext toolbench", CLASSES, PANEL)
    lab.share(*cells)
    lab.run_all()
    lab.wait_for_module()
    panel = lab.output(2)
    panel.get_by_label("seeds", exact=True).fill("kale")
    lab.click("Run", within=panel)
    lab.wait_for_text("This result is an error, and neither", within=panel)
    lab.wait_for_text("Unknown seeds: ['kale']", within=panel)
    lab.picture("error-without-text")
    lab.tab.page.evaluate(CALL, CLASSES.replace("the old", "the new"))
    lab.wait_for_text("GerminateTool was defined again", within=panel)
    lab.wait_for_text(f"run `{MAKE}` to use the new one", within=panel)
    expect(panel.get_by_role("button", name="Reload")).to_have_count(0)
    lab.picture("outdated-class")
    lab.tab.page.evaluate(CALL, MAKE)
    lab.click("Reload", within=panel)
    # Of the result of before, "the tool was defined again after this run" is said
    expect(panel.get_by_text("GerminateTool was defined again")).to_have_count(0)
    expect(panel.get_by_text("The tool changed")).to_have_count(0)
    panel.get_by_label("seeds", exact=True).fill("chard")
    lab.click("Run", within=panel)
    lab.wait_for_text("the new chard", within=panel)
    lab.picture("reloaded-class")


LOOP = '''\
from pydantic import SecretStr
from toolbench import tool

code = "the new code" if "book" in globals() else "the old code"

@tool
def book(city: str, token: SecretStr, nights: int = 1) -> str:
    """Book a room."""
    return f"{code}: {city}, {nights}, {len(token.get_secret_value())} letters"
book
'''


@pytest.mark.usefixtures("looks")
def test_a_cell_that_runs_again_keeps_what_was_typed(lab: NotebookPage) -> None:
    """The loop of a prototype: edit, run the cell, Run, and see what differs; then name the values.

    Neither the saved notebook nor the file of examples has a secret.
    """
    lab.share("%load_ext toolbench", LOOP)
    lab.run_all()
    lab.wait_for_module()
    panel = lab.output(1)
    for label, text in {"city": "Köln", "nights": "3x", "token": "hunter2hunter2"}.items():
        lab.type_into(label, text, within=panel)
    lab.type_into("nights", "3", within=panel)
    lab.click("Run", within=panel)
    lab.wait_for_text("the old code: Köln, 3, 14 letters", within=panel)
    lab.type_into("nights", "3x", within=panel)
    # The page holds keys back until the kernel has answered those before
    lab.wait_for_text("is not an integer", within=panel)
    lab.run(1)
    lab.wait_for_text("From the earlier code", within=panel)
    lab.wait_for_text("the old code: Köln, 3, 14 letters", within=panel)
    expect(panel.get_by_label("city", exact=True)).to_have_value("Köln")
    expect(panel.get_by_label("nights", exact=True)).to_have_value("3x")
    for theme in lab.themes():
        assert not violations(lab.tab.page, ".toolbench-panel"), theme
        lab.picture(f"earlier-code-{theme}")
    lab.type_into("nights", "3", within=panel)
    lab.click("Run", within=panel)
    lab.wait_for_text("the new code: Köln, 3, 14 letters", within=panel)
    expect(panel.get_by_text("From the earlier code: the tool")).to_have_count(0)
    expect(panel.locator(".toolbench-differences del").first).to_have_text("old")
    panel.get_by_text("The result of the earlier code").click()
    lab.click("Save as example", within=panel)
    expect(panel.get_by_label("Name of the example")).to_be_focused()
    lab.tab.page.keyboard.type("Köln")
    lab.tab.page.keyboard.press("Enter")
    lab.wait_for_text("Save again, to write book.examples.yaml", within=panel)
    for theme in lab.themes():
        assert not violations(lab.tab.page, ".toolbench-panel"), theme
        lab.picture(f"new-code-{theme}")
    lab.tab.page.keyboard.press("Enter")
    lab.wait_for_text("Left out, as a secret or too long: token.", within=panel)
    lab.type_into("city", "Bonn", within=panel)
    lab.click("Köln", within=panel)
    expect(panel.get_by_label("city", exact=True)).to_have_value("Köln")
    lab.save()
    assert lab.tab.shared
    assert "hunter2" not in lab.tab.shared.read_text()
    [examples] = lab.tab.shared.parent.glob("*.examples.yaml")
    assert "hunter2" not in examples.read_text()
    # Other tests have a tool of this name
    examples.unlink()
