"""Takes the pictures of the documents from the real thing, in light and in dark."""
# ruff: noqa: T201 - a script talks to its terminal

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Locator, sync_playwright
from tour import CHECKOUT, ROOT

# The tests know how to drive a front end
sys.path.insert(0, str(ROOT / "tests"))

from browser.axe import THEMES, use_theme, violations
from browser.chromium import FLAGS
from browser.conftest import HERE
from browser.lab import NotebookPage, write_notebook
from browser.server import JupyterServer
from browser.tab import Tab
from picture_states import SETUP, STATES, State

IMAGES = ROOT / "docs" / "images"
# Three panes, and all of each is in the window
SIZE = {"width": 1280, "height": 1600}
WIDTHS = (1280, 700, 400)
# In a narrow window JupyterLab's own bars take most of it
MAKE_ROOM = (
    "jupyterapp.commands.execute('application:set-mode', {mode: 'single-document'})",
    "jupyterapp.commands.execute('application:toggle-left-area')",
    "jupyterapp.commands.execute('application:toggle-side-tabbar', {side: 'left'})",
    "jupyterapp.commands.execute('application:toggle-side-tabbar', {side: 'right'})",
)
RENAME = """(place, [from, to]) => {
  const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(from, to);
}"""
LOAD = "%load_ext toolbench"
PANEL = '''\
from typing import Annotated, Literal
from pydantic import Field
from toolbench import tool

@tool(title="Split the bill", read_only=True, open_world=False)
def split_bill(
    total: Annotated[float, Field(gt=0)],
    people: Annotated[int, Field(ge=1, le=50)] = 2,
    tip: Literal["none", "10%", "15%", "20%"] = "10%",
) -> str:
    """Split a restaurant bill evenly, tip included.

    Args:
        total: The bill before the tip, in euros.
        people: How many share it.
        tip: What comes on top.
    """
    percent = 0 if tip == "none" else int(tip.rstrip("%"))
    return f"Everybody pays {total * (100 + percent) / 100 / people:.2f} euros."

split_bill'''
BENCH = """\
from toolbench import bench, list_registered_tools
from toolbench.tools import register_default_tools

bench(*register_default_tools())"""
SERVER = """\
%mcp connect time -- python -m mcp_server_time --local-timezone=UTC"""
EXPLORER = "%mcp explore time"


def main() -> int:
    """Write the pictures of the documents, or with `--states FOLDER` those of every state."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=Path, metavar="FOLDER", help="every state there")
    parser.add_argument("--only", default="", help="states whose name matches this")
    parser.add_argument("--widths", type=int, nargs="+", default=WIDTHS)
    parser.add_argument("--themes", nargs="+", default=list(THEMES), choices=THEMES)
    options = parser.parse_args()
    if options.states:
        return take_states(options)
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        root, home = Path(folder) / "notebooks", Path(folder) / "home"
        root.mkdir()
        home.mkdir()
        write_notebook(root / "pictures.ipynb", LOAD, PANEL, BENCH, SERVER, EXPLORER)
        with JupyterServer("lab", root, home) as server:
            for theme in THEMES:
                take(browser, server, theme, root)
    return 0


def take(browser: Browser, server: JupyterServer, theme: str, folder: Path) -> None:
    """Open the notebook in *folder* in one theme and take each picture of it."""
    context = browser.new_context(viewport=SIZE, device_scale_factor=2)
    context.set_default_timeout(30_000)
    context.add_init_script(path=HERE / "rig.js")
    page = NotebookPage(Tab(context), server, IMAGES)
    page.open("pictures.ipynb")
    use_theme(page.tab.page, theme)
    page.tab.page.evaluate("jupyterapp.commands.execute('application:toggle-left-area')")
    page.run_all()
    panel = page.output(1)
    page.show(1)
    page.type_into("total", "84", within=panel)
    page.type_into("people", "4", within=panel)
    page.click("Run", within=panel)
    page.wait_for_text("23.10", within=panel)
    save(panel, f"panel-{theme}", folder)
    page.show(2)
    alive(page, 2).get_by_text("terminal").filter(visible=True).first.wait_for()
    save(page.output(2), f"bench-{theme}", folder)
    page.show(4)
    alive(page, 4).get_by_text("convert_time").filter(visible=True).first.click()
    # Its panel is there
    alive(page, 4).get_by_role("button", name="Run").wait_for()
    save(page.output(4), f"explorer-{theme}", folder)
    page.shut_down()
    context.close()


def take_states(options: argparse.Namespace) -> int:
    """Take each state in the themes and widths; return 1 if axe-core finds a fault."""
    target: Path = options.states
    target.mkdir(parents=True, exist_ok=True)
    chosen = [state for state in STATES if re.search(options.only, state.name)]
    faults = []
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        root, home = Path(folder) / "notebooks", Path(folder) / "home"
        root.mkdir()
        home.mkdir()
        write_notebook(root / "states.ipynb", SETUP, *(state.cell for state in chosen))
        with JupyterServer("lab", root, home) as server:
            context = browser.new_context(viewport=SIZE)
            context.set_default_timeout(30_000)
            context.add_init_script(path=HERE / "rig.js")
            page = NotebookPage(Tab(context), server, target)
            page.open("states.ipynb")
            for command in MAKE_ROOM:
                page.tab.page.evaluate(command)
            page.run_all()
            for error in page.errors():
                print(error)
            for index, state in enumerate(chosen, 1):
                page.show(index)
                state.act(page, page.output(index))
            for theme in options.themes:
                use_theme(page.tab.page, theme)
                for width in options.widths:
                    faults += take_width(page, chosen, theme, width, target)
            page.shut_down()
            context.close()
    print("\n".join(faults) or "axe-core finds nothing.")
    return 1 if faults else 0


def take_width(
    page: NotebookPage, chosen: list[State], theme: str, width: int, target: Path
) -> list[str]:
    """Take each state in a window of *width* pixels; return what axe-core says of it."""
    faults = []
    page.tab.page.set_viewport_size({"width": width, "height": 3000})
    for index, state in enumerate(chosen, 1):
        page.show(index)
        # Lists and cards measure themselves anew
        page.tab.page.wait_for_timeout(150)
        path = target / f"{state.name}-{theme}-{width}.png"
        page.output(index).screenshot(path=path, animations="disabled")
        part = f".jp-Cell[data-windowed-list-index='{index}'] .jp-Cell-outputWrapper"
        sentences = violations(page.tab.page, part)
        faults += [f"{state.name}, {theme}, {width}: {fault}" for fault in sentences]
    return faults


def alive(page: NotebookPage, cell: int) -> Locator:
    """The widget of a cell; the output before it is for when that is gone."""
    return page.output(cell).locator(".jp-OutputArea-child").last


def save(place: Locator, name: str, folder: Path) -> None:
    """Write what *place* shows, without the paths of this machine."""
    for path, words in ((folder, "~/notebooks"), (ROOT, CHECKOUT)):
        place.evaluate(RENAME, [str(path), words])
    picture = IMAGES / f"{name}.png"
    place.screenshot(path=picture, animations="disabled")
    print(f"{picture.relative_to(ROOT)}: written")


@contextmanager
def chromium() -> Iterator[Browser]:
    """The machine's Chromium."""
    command = ["sh", str(ROOT / "scripts/chromium.sh"), "--find"]
    path = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603 - our own script
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path.strip(), args=FLAGS, chromium_sandbox=False
        )
        yield browser
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
