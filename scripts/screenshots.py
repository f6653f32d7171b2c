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

from PIL import Image
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
from document_pictures import PICTURES, Picture
from picture_states import SETUP, STATES, State

IMAGES = ROOT / "docs" / "images"
# All of an output is in the window
SIZE = {"width": 1000, "height": 1600}
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


def main() -> int:
    """Write the pictures of the documents, or with `--states FOLDER` those of every state."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=Path, metavar="FOLDER", help="every state there")
    parser.add_argument("--only", default="", help="pictures whose name matches this")
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
        with JupyterServer("lab", root, home) as server:
            for picture in PICTURES:
                if re.search(options.only, picture.name):
                    take(browser, server, picture)
    return 0


def take(browser: Browser, server: JupyterServer, picture: Picture) -> None:
    """Run the cells of *picture* in a notebook of its own, and take its last output in each theme."""
    context = browser.new_context(viewport=SIZE, device_scale_factor=2)
    context.set_default_timeout(30_000)
    context.add_init_script(path=HERE / "rig.js")
    page = NotebookPage(Tab(context), server, IMAGES)
    write_notebook(server.root / f"{picture.name}.ipynb", LOAD, *picture.cells)
    page.open(f"{picture.name}.ipynb")
    for command in MAKE_ROOM:
        page.tab.page.evaluate(command)
    page.run_all()
    last = len(picture.cells)
    page.show(last)
    # Without the number of the cell
    place = page.output(last).locator(".jp-OutputArea-output").last
    part = picture.act(page, place) or place
    for theme in THEMES:
        use_theme(page.tab.page, theme)
        save(part, f"{picture.name}-{theme}", server.root)
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


def save(place: Locator, name: str, folder: Path) -> None:
    """Write what *place* shows, without the paths of this machine."""
    for path, words in ((folder, "~/notebooks"), (ROOT, CHECKOUT)):
        place.evaluate(RENAME, [str(path), words])
    picture = IMAGES / f"{name}.png"
    place.screenshot(path=picture, animations="disabled")
    # A third of the bytes, and the same to the eye: a front end has few colors
    with Image.open(picture) as taken:
        few = taken.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    few.save(picture, optimize=True)
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
