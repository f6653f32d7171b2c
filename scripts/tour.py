"""Opens a notebook in JupyterLab, or executes it and writes a report to read."""
# ruff: noqa: T201 - a script talks to its terminal

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import webbrowser
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolbench.cli.lab import LabError, open_lab, use_own_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[1]
# What stands for it in all that is published
CHECKOUT = "/home/you/toolbench"
CELL_SECONDS = 300
JUPYTER_FOLDERS = (
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_DATA_DIR",
    "JUPYTER_RUNTIME_DIR",
    "IPYTHONDIR",
)
# nbconvert's page without what it would load from elsewhere: require.js, MathJax, mermaid, widgets.
OFFLINE_PAGE = """\
{%- extends 'lab/index.html.j2' -%}
{%- block html_head_js -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}
{%- block jupyter_widgets -%}{%- endblock -%}
"""


class TourError(Exception):
    """The notebook cannot be shown; the message says why in the reader's words."""


def main(arguments: list[str] | None = None) -> int:
    """Show the notebook the way the arguments and the terminal allow.

    Returns:
        The exit code: 0, or 1 when a cell failed or a file is missing.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebook", type=Path)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--lab", action="store_true", help="start JupyterLab even without a screen")
    how.add_argument("--report", action="store_true", help="write a report even with one")
    options = parser.parse_args(arguments)
    notebook: Path = options.notebook.resolve()
    obstacle = browser_obstacle()
    try:
        if not notebook.is_file():
            message = f"There is no notebook {str(options.notebook)!r}."
            raise TourError(message)
        if options.lab or not (options.report or obstacle):
            return open_tour(notebook, browser=obstacle is None)
        use_own_kernel()
        if not options.report:
            reason = f"{obstacle}, so here is a report; `make lab` starts JupyterLab."
            # The report takes a while
            print(reason, flush=True)
        print(f"The report is {write_report(notebook)}")
    except (TourError, LabError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def browser_obstacle() -> str | None:
    """Say why no browser can be opened from here; None when one can."""
    wsl = "microsoft" in platform.release().lower()
    screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not (screen or wsl or sys.platform in ("darwin", "win32")):
        return "This terminal has no screen (no DISPLAY, no WAYLAND_DISPLAY)"
    try:
        webbrowser.get()
    except webbrowser.Error:
        return "There is no browser here"
    return None


def open_tour(notebook: Path, *, browser: bool) -> int:
    """Serve JupyterLab on the notebook, in this repository if it is part of it."""
    if not home_is_usable():
        home = ROOT / "build" / "home"
        home.mkdir(parents=True, exist_ok=True)
        os.environ["HOME"] = str(home)
    root = ROOT if notebook.is_relative_to(ROOT) else None
    # A container in which this repository is developed often has no other user
    return open_lab(notebook, browser=browser, allow_root=True, root=root)


def home_is_usable() -> bool:
    """Tell whether Jupyter can keep its files where it is used to."""
    if os.environ.get("HOME") == "":
        return False
    try:
        home = Path.home()
    except RuntimeError:
        # No HOME, and a user without a name
        return False
    return home.is_dir() and os.access(home, os.W_OK)


def write_report(source: Path) -> Path:
    """Execute a copy of the notebook and write it as one self-contained page.

    Returns:
        The path of the page, `build/report/<name>.html`.

    Raises:
        TourError: A cell failed, or the page cannot be written.
    """
    report = ROOT / "build" / "report" / f"{source.stem}.html"
    with refusals_named(report):
        report.parent.mkdir(parents=True, exist_ok=True)
        # An earlier run's would pass for this one's
        report.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        # The report owes nothing to the user's settings
        for name in JUPYTER_FOLDERS:
            os.environ[name] = str(Path(folder) / name.lower())
        page = page_of(executed(source), source)
    with refusals_named(report):
        report.write_text(page, encoding="utf-8")
    return report


@contextmanager
def refusals_named(path: Path) -> Iterator[None]:
    """Turn what the file system refuses into a sentence that names the file."""
    try:
        yield
    except OSError as error:
        message = f"The report cannot be written to {str(path)!r}: {error.strerror}."
        raise TourError(message) from error


def executed(source: Path) -> NotebookNode:
    """Run every cell of a copy of the notebook, in the notebook's folder."""
    import nbformat  # noqa: PLC0415 - JupyterLab needs none of these three
    from nbclient import NotebookClient  # noqa: PLC0415
    from traitlets.config import Config  # noqa: PLC0415

    notebook = nbformat.read(source, as_version=4)
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=CELL_SECONDS,
        store_widget_state=False,
        resources={"metadata": {"path": str(source.parent)}},
        # The kernel warns on the terminal about every unencrypted connection.
        config=Config(KernelManager={"transport_encryption": "auto"}),
    )
    with failures_named(client, source):
        client.execute()
    # Without their state the page shows the widgets' static HTML, which needs no script.
    notebook.metadata.pop("widgets", None)
    return notebook


@contextmanager
def failures_named(client: Any, source: Path) -> Iterator[None]:
    """Turn the ways a cell can fail into one that names the cell."""
    from nbclient.exceptions import (  # noqa: PLC0415 - comes with nbclient
        CellExecutionError,
        CellTimeoutError,
    )

    place = "before its first cell"

    def remember(cell: NotebookNode, cell_index: int) -> None:
        nonlocal place
        place = f"in cell {cell_index + 1}:\n\n{indented(cell.source)}\n"

    client.on_cell_execute = remember
    try:
        yield
    except CellExecutionError as error:
        reason = f"{error.ename}: {error.evalue}"
    except CellTimeoutError:
        reason = f"It was not done after {CELL_SECONDS} s."
    except RuntimeError as error:
        # The kernel died, or did not start
        reason = str(error)
    else:
        return
    message = f"{source.name} failed {place}\n{reason}"
    raise TourError(message)


def indented(text: str) -> str:
    """Set text off from the sentences around it."""
    return "\n".join(f"    {line}" for line in text.splitlines())


def page_of(notebook: NotebookNode, source: Path) -> str:
    """Render a notebook as one HTML page that loads nothing from anywhere."""
    from nbconvert import HTMLExporter  # noqa: PLC0415 - JupyterLab does not need it

    exporter = HTMLExporter(raw_template=OFFLINE_PAGE, embed_images=True)
    origin = {"name": source.stem, "path": str(source.parent)}
    page, _ = exporter.from_notebook_node(notebook, {"metadata": origin})
    return str(page)


if __name__ == "__main__":
    sys.exit(main())
