"""A class in a cell is changed and run again while the panel of its tool is open."""

from pathlib import Path

from playwright.sync_api import expect

from browser.lab import NotebookPage, write_notebook

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


def test_the_open_panel_says_which_line_to_run(lab: NotebookPage, nbroot: Path) -> None:
    """Then it offers the new tool. An error that the class's own views leave out is shown."""
    cells = ("%load_ext toolbench", CLASSES, PANEL)
    write_notebook(nbroot / "outdated.ipynb", *cells)
    lab.open("outdated.ipynb")
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
    expect(panel.get_by_text("was defined again")).to_have_count(0)
    expect(panel.get_by_text("The tool changed")).to_have_count(0)
    panel.get_by_label("seeds", exact=True).fill("chard")
    lab.click("Run", within=panel)
    lab.wait_for_text("the new chard", within=panel)
    lab.picture("reloaded-class")
