"""The page objects: one notebook in JupyterLab or Notebook 7, in Voila, in nbclassic."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from kernels import FORGET
from patience import eventually
from playwright.sync_api import Locator, expect

from browser.axe import THEMES, use_theme
from browser.server import JupyterServer
from browser.tab import WINDOW, Tab

# How what was started last has ended, if it has within a second
OUTCOME = "rig.soon(rig.ending)"


class Hands:
    """What a person does with widgets, in whatever front end shows them.

    Attributes:
        tab: The browser tab, with its console errors and foreign requests.
        server: The front end it looks at.
        everything: Where to look if a test names no place.
        looks_closely: Whether a test looks at each state in every theme and size, and takes
            pictures; see the fixture `looks`.
    """

    everything = "body"
    looks_closely = False

    def __init__(self, tab: Tab, server: JupyterServer, screenshots: Path) -> None:
        self.tab = tab
        self.server = server
        self._screenshots = screenshots

    def wait_for_module(self) -> None:
        """Wait until the page has our front-end module."""
        expect(self.tab.page.locator("html.toolbench-live")).to_have_count(1)

    def type_into(self, label: str, text: str, *, within: Locator | None = None) -> None:
        """Replace a field's text, key by key, and leave the field.

        Leaving is what makes number fields send their value. Radio buttons and sliders
        of ipywidgets have no label to be found by.
        """
        field = self._place(within).get_by_label(label, exact=True)
        wait_until_drawn(field)
        field.clear()
        field.press_sequentially(text)
        field.press("Tab")

    def click(self, button: str, *, within: Locator | None = None) -> None:
        """Click a button once it is there and enabled."""
        self._place(within).get_by_role("button", name=button, exact=True).click()

    def wait_for_text(self, text: str | re.Pattern[str], *, within: Locator | None = None) -> None:
        """Wait until a text can be seen; it must not be one that was there before."""
        places = self._place(within).get_by_text(text).locator("visible=true")
        places.first.wait_for()

    def screenshot(self, name: str) -> Path:
        """Write what the window shows to build/screenshots/<name>.png."""
        path = self._screenshots / f"{name}.png"
        self.tab.page.screenshot(path=path, animations="disabled")
        return path

    def picture(self, name: str) -> None:
        """Leave a picture for people to look at, if the test looks closely."""
        if self.looks_closely:
            self.screenshot(name)

    def _place(self, within: Locator | None) -> Locator:
        return within or self.tab.page.locator(self.everything)


class NotebookPage(Hands):
    """What a person does in a notebook and sees there, and what the page knows.

    Cells are counted as in the file: from 0, Markdown cells included. Results are
    read from the page's model, since the page may still be drawing them.
    """

    everything = ".jp-NotebookPanel"

    def open(self, notebook: str) -> None:
        """Open a notebook by its path under the server's root, with a kernel ready.

        A page of JupyterLab that is open already opens it beside what it shows.
        """
        if self.tab.shared:
            self.clear()
        if self._evaluate("rig.isLab()"):
            self._evaluate(f"rig.open({json.dumps(notebook)})")
            self.wait_until_done()
        else:
            self.tab.page.goto(self.server.url(notebook))
        self.wait_until_ready()

    def share(self, *cells: str) -> None:
        """Have these cells, not yet run, in a notebook whose kernel tests share.

        Where a test before left it open, its kernel forgets that test, as far as a cell can, and
        these cells come in the place of the others. For what does not depend on a kernel or a
        notebook that is new: it takes a fifth of the time. `self.tab.shared` is its file.
        """
        if self.tab.shared:
            contents = [nbformat.v4.new_code_cell(source) for source in cells]
            self._evaluate(f"rig.replace({json.dumps(contents)}, {json.dumps(FORGET)})")
            self.wait_until_done()
            return
        if self._evaluate("rig.panels().length"):
            self.clear()
        root = self.server.root
        path = root / f"shared-{len([*root.glob('shared-*')])}.ipynb"
        write_notebook(path, *cells)
        self.open(path.name)
        self.tab.shared = path

    def wait_until_ready(self, panel: str = "rig.panel()") -> None:
        """Wait until the kernel and the widgets of a notebook are ready.

        Args:
            panel: Its panel, in the words of the page.
        """
        self._poll(f"rig.soon(rig.ready(() => {panel}))", "the kernel is ready")

    def shut_down(self) -> None:
        """End the kernels of all notebooks in the page."""
        self._evaluate("rig.shutdown()")

    def clear(self) -> None:
        """End the kernels and close the notebooks; a page of JupyterLab is then as a new one.

        What the notebooks have to say in its console, they have said by then.
        """
        if self._evaluate("rig.isLab()"):
            self._evaluate("rig.clear()")
            outcome = eventually(lambda: self._evaluate(OUTCOME), what="the page is empty")
            assert outcome == "done", outcome
        else:
            self.shut_down()
            self.tab.page.goto("about:blank")
        self.tab.shared = None
        self.tidy()

    def tidy(self) -> None:
        """Give the window its usual size, and take from the page what a test allowed it."""
        self.tab.page.set_viewport_size(WINDOW)
        self.tab.page.context.clear_permissions()

    def run_all(self, *, may_fail: bool = False) -> None:
        """Run every cell and wait until the last one, or the first to fail, is done.

        Raises:
            AssertionError: One failed, and not *may_fail*.
        """
        self._evaluate("rig.runAll()")
        self.wait_until_done()
        assert may_fail or not (errors := self.errors()), errors

    def run(self, index: int) -> None:
        """Run one cell and wait until it is done.

        Raises:
            AssertionError: It failed.
        """
        self.start(index)
        self.wait_until_done()
        errors = [error for error in self.errors() if error.startswith(f"{index}: ")]
        assert not errors, errors

    def start(self, index: int) -> None:
        """Run one cell and do not wait."""
        self._evaluate(f"rig.runCell({index})")

    def interrupt(self) -> None:
        """Choose Interrupt Kernel."""
        self._evaluate("rig.interrupt()")

    def save(self) -> None:
        """Save the notebook and wait until it is on disk."""
        self._evaluate("rig.save()")
        self.wait_until_done()

    def wait_until_done(self) -> None:
        """Wait for what was started last.

        Raises:
            AssertionError: It was still not done, the front end refused, or kernel or server ended.
        """
        outcome = self._poll(OUTCOME, "the notebook is done")
        assert outcome == "done", outcome

    def outputs(self, index: int) -> list[dict[str, Any]]:
        """The outputs of a cell, as a saved notebook would hold them."""
        cells: list[dict[str, Any]] = self._evaluate("rig.cells()")
        messages: list[dict[str, Any]] = cells[index].get("outputs", [])
        return messages

    def text(self, index: int) -> str:
        """What a cell printed and the plain text of what it displayed."""
        parts = []
        for output in self.outputs(index):
            data = output.get("data", {}).get("text/plain", "")
            parts.append(output.get("text", data))
        return "".join("".join(part) for part in parts)

    def errors(self) -> list[str]:
        """What went wrong, in any cell, as `cell: name: message`."""
        return [
            f"{index}: {output['ename']}: {output['evalue']}"
            for index, cell in enumerate(self._evaluate("rig.cells()"))
            for output in cell.get("outputs", [])
            if output["output_type"] == "error"
        ]

    def cell(self, index: int) -> Locator:
        """A cell in the page."""
        return self.tab.page.locator(f".jp-Cell[data-windowed-list-index='{index}']")

    def output(self, index: int) -> Locator:
        """A cell's output in the page: where to look when its source has the words too."""
        return self.cell(index).locator(".jp-Cell-outputWrapper")

    def wait_until_drawn(self, index: int, least: int) -> None:
        """Wait until a cell's output has *least* elements, and no more come."""
        elements = self.output(index).locator("*")
        counts: list[int] = []

        def still() -> bool:
            counts.append(elements.count())
            return counts[-1] >= least and counts[-10:] == 10 * counts[-1:]

        eventually(still, what=f"cell {index} has {least} elements")

    def themes(self) -> Iterator[str]:
        """Have the page in each theme, `light` at last; only in that, unless the test looks closely."""
        if not self.looks_closely:
            yield "light"
            return
        for theme in reversed(THEMES):
            use_theme(self.tab.page, theme)
            yield theme

    def show(self, index: int) -> None:
        """Scroll until a cell is the first in the window."""
        self.cell(index).evaluate("cell => cell.scrollIntoView({block: 'start'})")

    def _evaluate(self, question: str) -> Any:
        return self.tab.page.evaluate(question)

    def _poll(self, question: str, until: str) -> Any:
        return eventually(lambda: self._evaluate(question), what=until, unless=self._failure)

    def _failure(self) -> str | None:
        """What has ended that a notebook needs."""
        death: str | None = self._evaluate("rig.death()")
        return death or self.server.end


class VoilaPage(Hands):
    """A notebook as a page of its own; Voila runs it when it is opened."""

    def open(self, notebook: str) -> None:
        """Open a notebook; its widgets are there when a test finds them."""
        self.tab.page.goto(self.server.url(notebook))

    def run_all(self) -> None:
        """Nothing: it is done."""

    def shut_down(self) -> None:
        """Leave: the kernel ends with the page."""
        self.tab.page.goto("about:blank")


class ClassicPage(Hands):
    """A notebook in the classic front end, as nbclassic keeps it alive."""

    def open(self, notebook: str) -> None:
        """Open a notebook, with a kernel and widgets ready.

        When widgetsnbextension has heard which widgets a kernel has, it draws all outputs
        anew and loses the widgets in them; the second answer comes after that.
        """
        self.tab.page.goto(self.server.url(notebook))
        ready = "window.Jupyter?.notebook?.kernel?.is_connected() && !Jupyter.notebook.kernel_busy"
        self._poll(ready, "the kernel is ready")
        manager = "Jupyter.notebook.kernel.widget_manager"
        self._poll(manager, "the page has widgets")
        self.tab.page.evaluate(f"{manager}._loadFromKernel()")

    def run_all(self) -> None:
        """Run every cell; what they show is there when a test finds it."""
        self.tab.page.evaluate("Jupyter.notebook.execute_all_cells()")

    def save(self) -> None:
        """Save the notebook and wait until it is on disk."""
        self.tab.page.evaluate("Jupyter.notebook.save_notebook()")

    def shut_down(self) -> None:
        """End the kernel, and have the page not ask whether to leave it."""
        self.tab.page.evaluate(
            "Jupyter.notebook.session.delete(); Jupyter.notebook.set_dirty(false)"
        )

    def _poll(self, question: str, until: str) -> None:
        def probe() -> Any:
            return self.tab.page.evaluate(f"Boolean({question})")

        eventually(probe, what=until, unless=lambda: self.server.end)


def wait_until_drawn(field: Locator) -> None:
    """Wait for *field*, and for a frame of the page, before keys are pressed in it.

    With a question comes the cursor, before the frame that shows it: nobody is quicker with keys.
    """
    field.wait_for()
    field.page.evaluate("() => new Promise(requestAnimationFrame)")


def text_in(field: Locator) -> str:
    """What is in a text area, or in the editor that the page's module puts in its place."""
    lines = "[...e.querySelectorAll('.cm-line')].map(line => line.textContent).join('\\n')"
    text: str = field.evaluate(f"e => e.value ?? {lines}")
    return text


def write_notebook(path: Path, *sources: str, kernel: str = "python3") -> None:
    """Write a notebook of these code cells for a Python kernel."""
    kernelspec = {"name": kernel, "display_name": kernel, "language": "python"}
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernelspec})
    nbformat.write(notebook, path)
