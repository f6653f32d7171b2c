"""An explorer in a notebook of JupyterLab, as a person uses it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, expect

from browser.axe import violations
from browser.lab import NotebookPage, wait_until_drawn

SHOP = Path(__file__).parents[1] / "test_mcp" / "servers" / "shop.py"
WIDTHS = (1280, 700)
ABOUT = ("Server", "Log", "Traffic", "Timeline", "Recording", "Changes")
EXPLORER = ".toolbench-explorer"


class Explored:
    """An explorer in a notebook of JupyterLab."""

    def __init__(self, lab: NotebookPage, cell: int) -> None:
        self.lab = lab
        self.box = lab.output(cell)

    def server(self, name: str) -> None:
        """Pick a server."""
        self.box.get_by_label("Servers").get_by_role("option", name=name).click()

    def tab(self, title: str) -> None:
        """Go to a tab of the server; those about the server itself are opened first."""
        details = self.box.get_by_role("button", name="Server and traffic").locator("visible=true")
        if title in ABOUT and details.count():
            details.click()
        self.box.get_by_role("tab", name=title).click()

    def pick(self, label: str, name: str, *, text: str = "") -> None:
        """Pick a line of the list called *label*, and wait until *text*, or *name*, is open."""
        options = self.box.get_by_label(label, exact=True).get_by_role("option")
        options.filter(has_text=name).first.click()
        main = self.box.locator(".toolbench-pane-main").get_by_text(text or name)
        main.locator("visible=true").first.wait_for()

    def open_tool(self, name: str) -> None:
        """Pick a tool and wait for its panel: until then, Run is another tool's."""
        self.pick("Tools", name)
        title = self.box.locator("strong", has_text=name).locator("visible=true")
        title.first.wait_for()

    def click(self, button: str) -> None:
        """Click a button that can be seen."""
        control = self.box.get_by_role("button", name=button, exact=True)
        visible = control.locator("visible=true")
        # Beside an app, a yes that has just moved is not taken; and each new try of a click scrolls
        visible.scroll_into_view_if_needed()
        expect(visible).to_be_enabled()
        visible.click()

    def run(self, *, until: str) -> None:
        """Run the tool that is open, and wait for a text."""
        self.click("Run")
        self.see(until)

    def preview_app(self) -> None:
        """Run the tool that is open to its end, and show its app."""
        self.run(until="The user and the model read the same")
        self.click("Preview its app")

    def type_into(self, label: str, text: str) -> None:
        """Type into a field that can be seen."""
        field = self.box.get_by_label(label, exact=True).locator("visible=true")
        wait_until_drawn(field)
        field.fill("")
        field.press_sequentially(text)
        field.press("Tab")

    def choose(self, value: str) -> None:
        """Choose a value in the only list or switch of the question."""
        question = self.box.locator(".toolbench-question")
        lists = question.locator("select").locator("visible=true")
        if lists.count():
            lists.select_option(value)
            return
        question.get_by_text(value, exact=True).locator("visible=true").first.click()

    def see(self, text: str) -> Locator:
        """Wait until a text can be seen."""
        element = self.box.get_by_text(text).locator("visible=true").first
        element.wait_for()
        return element

    def look(self, name: str) -> None:
        """Take pictures in both themes and widths, if the test looks closely."""
        if not self.lab.looks_closely:
            return
        page = self.lab.tab.page
        for theme in self.lab.themes():
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 1300})
                self.box.evaluate("o => o.scrollIntoView({block: 'start'})")
                self.lab.picture(f"{name}-{theme}-{width}")
        page.set_viewport_size({"width": 1280, "height": 1300})

    def faults(self, state: str) -> list[str]:
        """What axe-core says of it."""
        sentences = []
        for theme in self.lab.themes():
            faults = violations(self.lab.tab.page, EXPLORER)
            sentences += [f"{state}, {theme}: {fault}" for fault in faults]
        return sentences


@contextmanager
def opened(lab: NotebookPage, *cells: str) -> Iterator[Explored]:
    """A notebook of *cells*, run; the last one shows an explorer."""
    lab.tab.page.set_viewport_size({"width": 1280, "height": 1300})
    lab.share("%load_ext toolbench", *cells)
    lab.tab.page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
    # Each has its own time
    for cell in range(1 + len(cells)):
        lab.run(cell)
    yield Explored(lab, len(cells))
    assert lab.tab.foreign_requests == []


def connect(name: str, *words: str) -> str:
    """The line that connects a Python script."""
    return f"%mcp connect {name} -- {sys.executable} {' '.join(words)}"
