"""How long a page changes after a cell was run, and its longest task: JupyterLab in Chromium."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser.chromium import FLAGS  # noqa: E402 - the rig of the browser tests
from browser.lab import NotebookPage, write_notebook  # noqa: E402
from browser.server import JupyterServer  # noqa: E402
from browser.tab import Tab  # noqa: E402
from measuring import fewer  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

# Ms without a change in the cell's output mean that it is drawn
QUIET = 700
# Runs a cell that is there once more; resolves to the ms until the last change in its output.
_MEASURE = """
    ([index, quiet]) => new Promise(resolve => {
      const start = performance.now();
      let last = start, seen = 0;
      const watch = new MutationObserver(changes => {
        last = performance.now();
        seen += changes.length;
      });
      const cell = rig.panel().content.widgets[index].node;
      const what = {childList: true, subtree: true, attributes: true, characterData: true};
      watch.observe(cell.querySelector(".jp-Cell-outputWrapper"), what);
      rig.runCell(index);
      const timer = setInterval(() => {
        const drawn = cell.querySelector(".jp-OutputArea-output input");
        if (!drawn || rig.outcome !== "done" || performance.now() - last < quiet) return;
        clearInterval(timer);
        watch.disconnect();
        resolve(last - start);
      }, 50);
    })
"""
_WATCH = """
    () => {
      window.tasks = [];
      const note = list => tasks.push(...list.getEntries().map(task => task.duration));
      new PerformanceObserver(note).observe({type: "longtask"});
    }
"""

# Runs a cell whose output holds a table with a filter; resolves to the ms until all its rows are
# there, and then, for a filter, until the rows that pass it are drawn.
_ROWS = """
    ([index, text]) => new Promise((resolve, reject) => {
      const cell = rig.panel().content.widgets[index].node;
      // Not that of the HTML that is saved with the notebook
      const field = () => cell.querySelector(".jupyter-widgets .toolbench-filter input");
      const [old, start] = [field(), performance.now()];
      const look = () => {
        const now = field();
        if (performance.now() - start > 60_000) return reject(new Error("no filter"));
        if (!now || now === old) return requestAnimationFrame(look);
        const shown = performance.now() - start;
        const begin = performance.now();
        now.value = text;
        now.dispatchEvent(new Event("input", {bubbles: true}));
        const filtered = () => {
          const count = now.parentElement.querySelector("[role=status]");
          if (performance.now() - begin > 60_000) return reject(new Error("not filtered"));
          // The kernel has the other rows
          if (count.classList.contains("toolbench-of-part")) return requestAnimationFrame(filtered);
          const rows = cell.querySelectorAll(".jupyter-widgets .toolbench-table tbody tr").length;
          resolve([shown, performance.now() - begin, rows, count.textContent]);
        };
        requestAnimationFrame(() => setTimeout(filtered));
      };
      rig.runCell(index);
      requestAnimationFrame(look);
    })
"""


class Lab:
    """JupyterLab in Chromium, whose notebooks are opened one after the other in the same page.

    To start both and to load the page takes ten seconds, a notebook with its kernel two.
    """

    def __init__(self, page: NotebookPage) -> None:
        self._page = page

    @contextmanager
    def opened(self, cells: Mapping[str, str], setup: str) -> Iterator[NotebookPage]:
        """Open a notebook of a cell with *setup* and of *cells*, with a kernel of its own."""
        root = self._page.server.root
        name = f"{len([*root.iterdir()])}.ipynb"
        clean = "import ipywidgets, warnings; warnings.simplefilter('ignore')\n" + setup
        write_notebook(root / name, clean, *cells.values(), kernel="measured")
        self._page.open(name)
        try:
            yield self._page
        finally:
            self._page.clear()


def last_changes(
    cells: Mapping[str, str],
    *,
    python: Path = Path(sys.executable),
    setup: str = "",
    rounds: int = 7,
) -> dict[str, list[float]]:
    """Return for each cell the milliseconds until its output was drawn, one for each round.

    Each cell shows a form anew; the cells take turns, so that a busy moment hits all.

    Args:
        cells: The source of each cell, by name.
        python: Whose ipykernel and ipywidgets the kernel uses.
        setup: The source of a cell that is run once, before.
        rounds: How often; one more at the beginning does not count.
    """
    with opened(cells, python, setup) as page:
        page.run_all()
        assert page.errors() == [], page.errors()
        return _turns(page, list(cells), fewer(rounds))


def longest_tasks(
    lab: Lab, cells: Mapping[str, str], *, setup: str, rounds: int = 5
) -> dict[str, list[float]]:
    """Return for each cell the seconds of the page's longest task while it ran, for each round.

    Chromium notes tasks of 50 ms and more: 0.05 stands for no longer one.
    """
    with lab.opened(cells, setup) as page:
        page.run(0)
        page.tab.page.evaluate(_WATCH)
        longest: dict[str, list[float]] = {name: [] for name in cells}
        for _ in range(fewer(rounds)):
            for index, name in enumerate(cells, 1):
                page.show(index)
                page.tab.page.evaluate("() => { tasks.length = 0; }")
                page.run(index)
                page.tab.page.wait_for_timeout(2 * QUIET)
                tasks = page.tab.page.evaluate("() => tasks")
                longest[name].append(max([50, *tasks]) / 1000)
        assert page.errors() == [], page.errors()
        return longest


def rows_in_the_page(
    lab: Lab, cell: str, text: str, *, setup: str, rounds: int = 7
) -> tuple[list[float], list[float]]:
    """Return the seconds until the table of *cell* is shown, and until it is filtered by *text*.

    The first round does not count.
    """
    with lab.opened({"rows": cell}, setup) as page:
        page.run(0)
        page.show(1)
        taken = []
        for _ in range(fewer(rounds) + 1):
            *times, rows, count = page.tab.page.evaluate(_ROWS, [1, text])
            assert 0 < rows < 200 and " of 10,000 rows" in count, count
            taken.append([ms / 1000 for ms in times])
            page.wait_until_done()
        assert page.errors() == [], page.errors()
        shown, filtered = zip(*taken[1:], strict=True)
        return list(shown), list(filtered)


@contextmanager
def started(python: Path = Path(sys.executable)) -> Iterator[Lab]:
    """Start JupyterLab and Chromium; the kernels use the ipykernel and ipywidgets of *python*."""
    with tempfile.TemporaryDirectory() as place:
        root, home = Path(place, "root"), Path(place, "home")
        root.mkdir()
        _write_kernel(home, python)
        with (
            JupyterServer("lab", root, home) as server,
            sync_playwright() as playwright,
        ):
            browser = playwright.chromium.launch(
                executable_path=_chromium(), args=FLAGS, chromium_sandbox=False
            )
            context = browser.new_context(viewport={"width": 1280, "height": 960})
            context.add_init_script(path=ROOT / "tests" / "browser" / "rig.js")
            yield Lab(NotebookPage(Tab(context), server, root))
            browser.close()


@contextmanager
def opened(cells: Mapping[str, str], python: Path, setup: str) -> Iterator[NotebookPage]:
    """Open a notebook of a cell with *setup* and of *cells* in a JupyterLab of its own."""
    with started(python) as lab, lab.opened(cells, setup) as page:
        yield page


def _turns(page: NotebookPage, names: list[str], rounds: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds + 1):
        for index, name in enumerate(names, 1):
            page.show(index)
            took = page.tab.page.evaluate(_MEASURE, [index, QUIET])
            if turn:
                found[name].append(took)
    return found


def _write_kernel(home: Path, python: Path) -> None:
    spec = home / ".local" / "share" / "jupyter" / "kernels" / "measured" / "kernel.json"
    spec.parent.mkdir(parents=True)
    launch = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    env = {"PYTHONPATH": os.environ.get("PYTHONPATH", str(ROOT))}
    described = {
        "argv": launch,
        "display_name": "measured",
        "language": "python",
        "env": env,
    }
    spec.write_text(json.dumps(described))


def _chromium() -> str:
    find = ["sh", str(ROOT / "scripts" / "chromium.sh"), "--find"]
    return subprocess.run(find, capture_output=True, text=True, check=True).stdout.strip()
