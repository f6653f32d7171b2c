"""The panel as a person meets it: its looks, its tabs, its news, and what is left when it is over."""

from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from patience import eventually
from playwright.sync_api import Locator, expect

from browser.lab import NotebookPage, text_in

TOOL = """
import base64, os, threading
from typing import Annotated, Literal
import pandas as pd
from IPython.display import HTML, Image, Markdown, display
from pydantic import Field
from toolbench import current_run, tool

@tool(title="Index a folder", read_only=True, open_world=False)
def index(
    folder: str,
    depth: Annotated[int, Field(ge=1, le=9)] = 3,
    kind: Literal["text", "all"] = "text",
) -> dict:
    '''Index every file of a folder.

    Reads each file once and counts its words. **Nothing is changed.**
    See [the manual](https://example.org).

    Args:
        folder: Where to begin.
        depth: How many levels down.
        kind: Which files count.
    '''
    run, told = current_run(), threading.Event()
    run.on_cancel(told.set)
    for n in range(12):
        print(f"\\x1b[32mindexed\\x1b[0m {folder}/part-{n}.txt")
        run.progress(n + 1, 12, f"part {n}")
        while n == 5 and not os.path.exists("seen.txt") and not told.wait(0.02):
            pass
    display(pd.DataFrame({"file": ["a.txt", "b.txt"], "words": [4711, 815]}))
    display(Image(data=base64.b64decode(PIXEL), format="png", width=40, height=40))
    display(Markdown("*three* files were skipped"))
    run.log("a.bin is no text", "warning")
    return {"folder": folder, "words": {"total": 5526, "unique": 815}, "skipped": ["a.bin"]}

index
"""
SETUP = """
%load_ext toolbench
PIXEL = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
"""
ERASE = """
@tool(destructive=True)
def erase(path: str) -> str:
    '''Erase a file.'''
    reason = current_run().ask("Why should it go?", {
        "type": "object",
        "properties": {
            "reason": {"type": "string", "description": "One sentence"},
            "copies": {"type": "integer", "minimum": 0, "default": 1},
        },
        "required": ["reason"],
    })
    raise OSError("the disk is full")

erase
"""
BENCH = """
from toolbench import bench
from toolbench.core.schema import Action
from toolbench import ToolDefinition
bench(index, erase, [ToolDefinition(name=f"tool_{n}", description=f"Does thing {n}.",
                                    action_type=Action) for n in range(1000)])
"""
PICK_FIRST = """output => {
  const [first] = output.querySelectorAll("[role=option]");
  first?.click();
  return first?.querySelector(".toolbench-second").textContent ?? "";
}"""
WIDTHS = (1280, 700)
PANEL, ERASING, BENCHED = 1, 2, 3


def look(lab: NotebookPage, cell: int, name: str) -> None:
    """Take a picture of an output in both themes and at both widths, if the test looks closely."""
    if not lab.looks_closely:
        return
    for theme in lab.themes():
        for width in WIDTHS:
            lab.tab.page.set_viewport_size({"width": width, "height": 1300})
            lab.output(cell).evaluate("o => o.scrollIntoView({block: 'start'})")
            lab.picture(f"{name}-{theme}-{width}")
    lab.tab.page.set_viewport_size({"width": 1280, "height": 1300})


def overflowing(lab: NotebookPage, cell: int) -> list[str]:
    """The parts of an output that are cut off at its right edge."""
    texts: list[str] = lab.output(cell).evaluate(
        """output => {
          const edge = output.getBoundingClientRect().right + 1;
          return [...output.querySelectorAll("button, input, select, .widget-html")]
            .filter(e => e.offsetWidth && e.getBoundingClientRect().right > edge)
            .map(e => e.className);
        }"""
    )
    return texts


def beside_run(panel: Locator) -> list[str]:
    """The parts of the row with Run as they are seen, from left to right."""
    names: list[str] = panel.locator(".toolbench-actions").evaluate(
        """row => {
          const parts = [[row.querySelector(".toolbench-bar"), "bar"], [row.querySelector("[role=status]"), "state"],
            ...["Run", "Cancel", "Copy call"].map(name =>
              [[...row.querySelectorAll("button")].find(e => e.textContent === name), name])];
          const left = element => element.getBoundingClientRect().left;
          return parts.sort(([a], [b]) => left(a) - left(b)).map(([, name]) => name);
        }"""
    )
    return names


def open_erase(benched: Locator) -> None:
    """Pick erase once nothing else is left in the list, and wait until it is open."""
    tools = benched.get_by_role("listbox", name="Tools")
    options = tools.get_by_role("option")
    expect(options).to_have_count(1)
    options.click()
    benched.locator("p", has_text="Erase a file.").first.wait_for()


@pytest.mark.front_end("JupyterLab", "reopen")
class TestPanel:
    @pytest.mark.usefixtures("looks")
    def test_in_jupyterlab(self, lab: NotebookPage, nbroot: Path):
        """Run, look, tabs, redefine, reload, save, open again: in one notebook."""
        lab.tab.page.set_viewport_size({"width": 1280, "height": 1300})
        lab.share(SETUP, TOOL, ERASE, BENCH)
        lab.tab.page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
        lab.run_all()
        self.runs(lab, nbroot / "seen.txt")
        self.asks(lab)
        self.shows_every_tab(lab)
        self.names_its_tabs(lab)
        self.reloads(lab)
        self.searches(lab)
        assert lab.tab.foreign_requests == []
        assert lab.tab.console_errors == []
        self.is_read_without_a_kernel(lab)

    def runs(self, lab: NotebookPage, seen: Path) -> None:
        """Progress, then the result twice, with everything that was displayed on the way.

        The tool waits in its middle until there is a file *seen*.
        """
        seen.unlink(missing_ok=True)
        panel = lab.output(PANEL)
        lab.type_into("folder", "/srv/data", within=panel)
        lab.click("Run", within=panel)
        lab.wait_for_text("part-5.txt", within=panel)
        eventually(
            lambda: beside_run(panel) == ["Run", "Cancel", "bar", "state", "Copy call"],
            what="the bar stands between the buttons",
        )
        lab.show(PANEL)
        panel.evaluate("o => o.scrollIntoView({block: 'start'})")
        lab.picture("panel-running")
        seen.touch()
        lab.wait_for_text("The user and the model read the same", within=panel)
        expect(panel.locator("table td", has_text="4711")).to_have_count(1)
        expect(panel.locator("img[src^='data:image/png']")).to_have_count(1)
        expect(panel.locator("em", has_text="three")).to_have_count(1)
        look(lab, PANEL, "panel")
        lab.tab.page.set_viewport_size({"width": 700, "height": 1300})
        eventually(lambda: not overflowing(lab, PANEL), what="all of it fits")
        lab.tab.page.set_viewport_size({"width": 1280, "height": 1300})

    def asks(self, lab: NotebookPage) -> None:
        """Consent, then a form; the error is for the model, the traceback for the person."""
        panel = lab.output(ERASING)
        lab.type_into("path", "/etc/motd", within=panel)
        lab.click("Run", within=panel)
        lab.wait_for_text("can delete or overwrite data", within=panel)
        lab.click("Run erase", within=panel)
        lab.wait_for_text("Why should it go?", within=panel)
        look(lab, ERASING, "question")
        # Not yet: a reason is needed
        lab.click("Accept", within=panel)
        lab.type_into("reason", "It is old", within=panel)
        lab.click("Accept", within=panel)
        lab.wait_for_text("Traceback", within=panel)
        assert "raise OSError" not in panel.inner_text()
        panel.get_by_text("Traceback", exact=True).click()
        lab.wait_for_text("raise OSError", within=panel)
        look(lab, ERASING, "failed")

    def shows_every_tab(self, lab: NotebookPage) -> None:
        """The schema for a model, the call as code, the earlier runs."""
        panel = lab.output(PANEL)
        for tab, text in (
            ("Schema", "tokens"),
            ("Code", "Copy as"),
            ("History", "Compare"),
        ):
            panel.get_by_role("tab", name=tab).click()
            lab.wait_for_text(text, within=panel)
            look(lab, PANEL, f"tab-{tab.lower()}")
        code = panel.get_by_role("textbox", name="Code")
        panel.get_by_role("tab", name="Code").click()
        assert "run_tool(index, {'folder': '/srv/data'})" in text_in(code)
        panel.get_by_role("tab", name="Form").click()
        lab.type_into("folder", "/elsewhere", within=panel)
        panel.get_by_role("tab", name="History").click()
        lab.click("Load", within=panel)
        folder = panel.get_by_label("folder", exact=True)
        lab.tab.page.wait_for_function("f => f.value === '/srv/data'", arg=folder.element_handle())

    def names_its_tabs(self, lab: NotebookPage) -> None:
        """Every word of them is whole, where the sidebar leaves little room too."""
        toggle = "window.jupyterapp.commands.execute('application:toggle-left-area')"
        lab.tab.page.evaluate(toggle)
        lab.tab.page.set_viewport_size({"width": 700, "height": 1300})
        tabs = lab.output(PANEL).get_by_role("tab")
        lab.picture("tabs-beside-sidebar-700")
        cut = "tabs => tabs.filter(t => t.scrollWidth > t.clientWidth).map(t => t.innerText)"
        labels = lab.output(PANEL).locator(".toolbench-tabs .lm-TabBar-tabLabel")
        expect(labels).to_have_count(tabs.count())
        eventually(lambda: not labels.evaluate_all(cut), what="all can be read")
        lab.tab.page.evaluate(toggle)
        lab.tab.page.set_viewport_size({"width": 1280, "height": 1300})

    def reloads(self, lab: NotebookPage) -> None:
        """Defining the tool again says so in the panel; Reload keeps what was entered."""
        panel = lab.output(PANEL)
        lab.type_into("depth", "5", within=panel)
        lab.tab.page.evaluate(
            "code => rig.panel().sessionContext.session.kernel"
            ".requestExecute({code}).done.then(() => true)",
            TOOL.replace("Index every file of a folder.", "Index it, the new way.").removesuffix(
                "index\n"
            ),
        )
        lab.wait_for_text("The tool changed", within=panel)
        title = panel.locator(".toolbench-title > .widget-html-content").first
        begins = [part.bounding_box() for part in (title, panel.get_by_text("The tool changed"))]
        assert len({round(box["x"]) for box in begins if box}) == 1
        lab.click("Reload", within=panel)
        lab.wait_for_text("the new way", within=panel)
        expect(panel.get_by_label("depth", exact=True)).to_have_value("5")
        expect(panel.get_by_label("folder", exact=True)).to_have_value("/srv/data")
        expect(panel.get_by_text("The tool changed")).to_have_count(0)

    def searches(self, lab: NotebookPage) -> None:
        """One of a thousand tools is found by typing."""
        benched = lab.output(BENCHED)
        look(lab, BENCHED, "bench")
        lab.tab.page.set_viewport_size({"width": 700, "height": 1300})
        eventually(lambda: not overflowing(lab, BENCHED), what="all of it fits")
        lab.tab.page.set_viewport_size({"width": 1280, "height": 1300})
        benched.get_by_label("Search", exact=True).fill("eras")
        open_erase(benched)
        # A click overtakes the last filter
        for word in ("ind", "tool_10", "eras"):
            search = benched.get_by_label("Search", exact=True)
            search.fill("")
            search.press_sequentially(word)
            picked = eventually(lambda: benched.evaluate(PICK_FIRST), what="one is picked")
            main = benched.locator(".toolbench-pane-main")
            main.get_by_text(picked).locator("visible=true").first.wait_for()
        # The last click may have overtaken "eras"
        open_erase(benched)
        lab.click("Run", within=benched)
        lab.wait_for_text("Fix 1 field to run", within=benched)

    def is_read_without_a_kernel(self, lab: NotebookPage) -> None:
        """Saved, opened again and not run; converted: tool, arguments and result are there."""
        parts = (
            "Index a folder",
            "/srv/data",
            "The user and the model read the same",
            "5526",
        )
        note = lab.output(PANEL).get_by_text("The user and the model read the same")
        # What is kept is not seen yet
        expect(note.locator("visible=true")).to_have_count(1)
        lab.save()
        path = lab.tab.shared
        assert path
        notebook = nbformat.read(path, as_version=4)
        page, _ = HTMLExporter().from_notebook_node(notebook)
        assert all(part in page for part in (*parts, "Reads each file once"))
        lab.clear()
        lab.open(path.name)
        for part in parts:
            lab.wait_for_text(part, within=lab.output(PANEL))
        expect(lab.output(PANEL).get_by_role("button", name="Run")).to_have_count(0)
        lab.output(PANEL).evaluate("o => o.scrollIntoView({block: 'start'})")
        lab.picture("panel-reopened")
