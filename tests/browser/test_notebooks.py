"""The shipped notebooks, as their readers use them: with a mouse, and without."""

import shutil
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, expect

from browser.lab import NotebookPage, wait_until_drawn, write_notebook

ROOT = Path(__file__).parents[2]
TOUR = ROOT / "notebooks" / "00_tour.ipynb"
TOOLS = '''\
from toolbench import bench, current_run

@tool(destructive=True)
def delete_volume(volume: int) -> str:
    """Delete a volume."""
    return f"Volume {volume} is gone."

@tool
def order_cake(people: int = 2) -> str:
    """Order a cake; you are asked for its taste."""
    answer = current_run().ask("Which taste?", {"type": "object", "required": ["taste"],
        "properties": {"taste": {"type": "string"}}})
    return f"A cake of {answer.content['taste']}."

@tool(read_only=True)
def long_list(lines: int = 400) -> str:
    """Write many lines."""
    return "\\n".join(f"line {n}" for n in range(1, lines + 1))

bench(delete_volume, order_cake, long_list)'''
EXPLORER = "%mcp explore time"
POINTERS = """
  window.pointers = 0;
  for (const kind of ["pointerdown", "mousedown", "touchstart", "wheel"])
    window.addEventListener(kind, () => window.pointers++, {capture: true});
"""
FOCUSED = "element => element === document.activeElement"
ACTIVE = "rig.panel().content.activeCellIndex"
AT_NOTEBOOK = """() => {
  const here = document.activeElement;
  return here.closest(".jp-Notebook") !== null && here.closest(".jp-Cell-outputWrapper") === null;
}"""
IDLE = """index => {
  const {model} = rig.panel().content.widgets[index];
  return model.executionState === "idle" && model.executionCount !== null;
}"""
BOTH = "The user and the model read the same"
# Not what is saved beside them
PANEL, BENCH = (
    ".toolbench-panel",
    ".toolbench-workbench",
)
# Presses of Tab from one thing to another
MOST = 80


@pytest.fixture
def tour(nbroot: Path) -> str:
    """The tour in the folder that is served, with the README it reads."""
    shutil.copytree(ROOT / "notebooks", nbroot / "notebooks", dirs_exist_ok=True)
    shutil.copy(ROOT / "README.md", nbroot)
    return "notebooks/00_tour.ipynb"


def cell_of(nbroot: Path, notebook: str, line: str) -> int:
    """The index of the first cell that has *line*."""
    cells = nbformat.read(nbroot / notebook, as_version=4).cells
    return next(i for i, cell in enumerate(cells) if line in cell.source)


class TestTour:
    @pytest.mark.long
    def test_from_form_to_what_the_model_reads(self, lab: NotebookPage, nbroot: Path, tour: str):
        """Open, run all, type, Run: the page shows what a person sees and what a model reads."""
        lab.tab.page.set_viewport_size({"width": 1280, "height": 1400})
        lab.open(tour)
        lab.run_all(may_fail=True)
        wrong = [error.partition(": ")[2] for error in lab.errors()]
        assert [error.partition(":")[0] for error in wrong] == ["ToolFailedError"]

        panel = lab.output(cell_of(nbroot, tour, "def split_bill("))
        lab.type_into("total", "84", within=panel)
        lab.click("Run", within=panel)
        lab.wait_for_text("The user and the model read the same", within=panel)
        lab.wait_for_text("Everybody pays 46.20 euros.", within=panel)
        lab.show(cell_of(nbroot, tour, "def split_bill("))
        lab.picture("tour-split-bill")

        server = lab.output(cell_of(nbroot, tour, "%tool convert_time"))
        lab.show(cell_of(nbroot, tour, "%tool convert_time"))
        lab.picture("tour-mcp")
        expect(server.get_by_role("button", name="Run", exact=True)).to_have_count(1)
        assert lab.tab.foreign_requests == []
        assert lab.tab.console_errors == []

    def test_cells_can_be_run_again(self, lab: NotebookPage):
        """The first law: a cell that defines a tool is run twice, and its panel works."""
        cells = cells_of_tour()
        load, define = (
            next(cell for cell in cells if words in cell)
            for words in ("%load_ext", "def split_bill(")
        )
        lab.share(load, define)
        lab.run(0)
        lab.run(1)
        lab.run(1)
        kinds = [output["output_type"] for output in lab.outputs(1)]
        # The first is hidden
        assert kinds == ["display_data", "execute_result"]
        lab.type_into("total", "10", within=lab.output(1))
        lab.click("Run", within=lab.output(1))
        lab.wait_for_text("Everybody pays 5.50 euros.", within=lab.output(1))


class Keyboard:
    """A person at a notebook of JupyterLab who has no mouse."""

    def __init__(self, lab: NotebookPage) -> None:
        self.lab = lab
        self.page = lab.tab.page
        self.keys = lab.tab.page.keyboard

    def run(self, index: int) -> Locator:
        """Go to a cell in command mode, run it, and return its output."""
        for _ in range(MOST):
            at = self.page.evaluate(ACTIVE)
            if at == index:
                break
            self.keys.press("ArrowDown" if at < index else "ArrowUp")
        assert self.page.evaluate(ACTIVE) == index, "the arrows do not lead to the cell"
        self.keys.press("Control+Enter")
        self.page.wait_for_function(IDLE, arg=index)
        return self.lab.output(index)

    def tab_to(self, place: Locator, *, key: str = "Tab") -> None:
        """Press Tab until *place* has the focus."""
        wait_until_drawn(place)
        for _ in range(MOST):
            if place.evaluate(FOCUSED):
                return
            self.keys.press(key)
        here = self.page.evaluate("document.activeElement.outerHTML")
        pytest.fail(f"{key} does not lead to {place}, but to {here[:300]}")

    def write(self, place: Locator, text: str, *, key: str = "Tab") -> None:
        """Go to a field and replace what is in it."""
        self.tab_to(place, key=key)
        self.keys.press("Control+a")
        self.keys.type(text)

    def leave(self) -> None:
        """Go from a panel back to where the notebook hears its own keys."""
        passed = []
        for _ in range(MOST):
            self.keys.press("Shift+Tab")
            if self.page.evaluate(AT_NOTEBOOK):
                self.keys.press("Escape")
                return
            passed.append(self.page.evaluate("document.activeElement.className"))
        pytest.fail(f"Shift+Tab does not lead out of the panel: {passed}")


def button(place: Locator, name: str) -> Locator:
    return place.get_by_role("button", name=name, exact=True)


def field(place: Locator, name: str) -> Locator:
    return place.get_by_label(name, exact=True)


def cells_of_tour() -> list[str]:
    notebook = nbformat.read(TOUR, 4)
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def test_the_tour_to_its_end(lab: NotebookPage, nbroot: Path):
    """Every cell is run and every panel used by keys alone; no pointer is ever pressed."""
    cells = cells_of_tour()
    *all_but_last, last = cells
    sources = [*all_but_last, TOOLS, EXPLORER, last]
    write_notebook(nbroot / "by-keyboard.ipynb", *sources)
    readme = "# A file for the tour to read\n" * 9
    (nbroot.parent / "README.md").write_text(readme, encoding="utf-8")
    lab.open("by-keyboard.ipynb")
    lab.tab.page.evaluate(POINTERS)
    at = Keyboard(lab)
    for index, source in enumerate(sources):
        output = at.run(index)
        if source.endswith("\nsplit_bill"):
            fill_and_run(at, output.locator(PANEL).first)
            at.leave()
        elif source == "%tool convert_time":
            convert_time(at, output.locator(PANEL).first)
            at.leave()
        elif source == TOOLS:
            use_bench(at, output.locator(BENCH).first)
            at.leave()
        elif source == EXPLORER:
            use_explorer(at, output.locator(BENCH).first)
            at.leave()
    shows_an_error = next(n for n, s in enumerate(sources) if "total=plenty" in s)
    assert [error.partition(":")[0] for error in lab.errors()] == [str(shows_an_error)]
    assert lab.tab.page.evaluate("window.pointers") == 0


def fill_and_run(at: Keyboard, output: Locator) -> None:
    """A missing value, then a full form: a number, a segment by arrow, Ctrl+Enter; then the tabs."""
    at.lab.wait_for_module()
    people = field(output, "people")
    at.write(people, "4")
    at.keys.press("Control+Enter")
    total = field(output, "total")
    expect(total).to_be_focused()
    at.keys.type("84")
    at.tab_to(output.get_by_role("radio", checked=True))
    at.keys.press("ArrowLeft")
    at.keys.press("ArrowRight")
    at.keys.press("Control+Enter")
    at.lab.wait_for_text("23.10", within=output)
    at.tab_to(output.get_by_title(f"Copy: {BOTH}"))
    at.keys.press("Enter")
    at.tab_to(output.get_by_role("tab", name="Form"), key="Shift+Tab")
    at.keys.press("End")
    at.keys.press("Enter")
    at.lab.wait_for_text("Run again", within=output)


def convert_time(at: Keyboard, output: Locator) -> None:
    """Three fields of a server's tool, and Run by Enter."""
    at.write(field(output, "source_timezone"), "Asia/Kolkata")
    at.write(field(output, "time"), "16:30")
    at.write(field(output, "target_timezone"), "Asia/Tokyo")
    at.tab_to(button(output, "Run"))
    at.keys.press("Enter")
    at.lab.wait_for_text("time_difference", within=output)


def use_bench(at: Keyboard, output: Locator) -> None:
    """Consent refused and given, a question answered, a long result shown whole and in full view."""
    # It is destructive, so that another is open
    at.write(field(output, "Search"), "delete")
    at.keys.press("Enter")
    at.write(field(output, "volume"), "3")
    at.keys.press("Control+Enter")
    keep = button(output, "Don't run")
    expect(keep).to_be_focused()
    at.keys.press("Enter")
    at.lab.wait_for_text("declined", within=output)
    expect(button(output, "Run")).to_be_enabled()
    at.write(field(output, "volume"), "4", key="Shift+Tab")
    at.keys.press("Control+Enter")
    expect(keep).to_be_focused()
    at.tab_to(button(output, "Run delete_volume"))
    at.keys.press("Enter")
    at.lab.wait_for_text("Volume 4 is gone.", within=output)

    at.write(field(output, "Search"), "cake", key="Shift+Tab")
    at.keys.press("Enter")
    at.tab_to(field(output, "people"))
    at.keys.press("Control+Enter")
    at.write(field(output, "taste"), "plums")
    at.keys.press("Control+Enter")
    at.lab.wait_for_text("A cake of plums.", within=output)

    at.write(field(output, "Search"), "long", key="Shift+Tab")
    at.keys.press("Enter")
    at.tab_to(field(output, "lines"))
    at.keys.press("Control+Enter")
    at.tab_to(button(output, "Show all 400 lines"))
    at.keys.press("Enter")
    expect(button(output, "Show less")).to_be_focused()
    at.tab_to(output.get_by_title(f"Full view: {BOTH}"), key="Shift+Tab")
    at.keys.press("Enter")
    dialog = at.page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    at.keys.press("Escape")
    expect(dialog).to_have_count(0)


def use_explorer(at: Keyboard, output: Locator) -> None:
    """A tool picked by arrows and run; the messages of it in Traffic, one opened."""
    tools = output.get_by_role("listbox", name="Tools")
    at.tab_to(tools)
    at.keys.press("Home")
    at.keys.press("Enter")
    zone = field(output, "timezone")
    at.write(zone, "UTC")
    at.keys.press("Control+Enter")
    at.lab.wait_for_text("day_of_week", within=output)
    at.tab_to(button(output, "Server and traffic"), key="Shift+Tab")
    at.keys.press("Enter")
    at.tab_to(output.get_by_role("tab", name="Server"))
    at.keys.press("ArrowRight")
    at.keys.press("ArrowRight")
    at.keys.press("Enter")
    messages = output.get_by_role("listbox", name="Messages")
    at.tab_to(messages)
    at.keys.press("Home")
    at.keys.press("Enter")
    expect(button(output, "Repeat")).to_be_visible()
