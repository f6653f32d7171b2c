"""The three commands, their arguments and what they print."""

import sys
from pathlib import Path
from shutil import which
from typing import Annotated

from cyclopts import App, Parameter
from rich.console import Console

from toolbench import __version__
from toolbench.cli import doctor as checks
from toolbench.cli.lab import LabError, open_lab
from toolbench.cli.scaffold import ScaffoldError, scaffold

app = App(
    name="toolbench",
    help="A workbench for agent tools in Jupyter notebooks.",
    version=__version__,
)
console = Console(highlight=False, soft_wrap=True)


@app.command
def new(
    name: str, *, into: Annotated[Path, Parameter(name=["--into", "-d"])] = Path()
) -> int:
    """Write a tool package to start from: the tool, a test and a notebook.

    Args:
        name: The tool's name, as a Python module is called: `word_count`.
        into: The folder that the package's folder is made in.
    """
    try:
        made = scaffold(name, into)
    except ScaffoldError as error:
        return _refuse(error)
    for path in made.files:
        console.print(path, markup=False)
    console.print(
        f"\nNext: cd {made.folder}, then `{_typed('python')} -m pytest`, then "
        f"`{_typed('toolbench')} lab {made.notebook.name}`.",
        markup=False,
    )
    return 0


@app.command
def lab(notebook: Path | None = None, *, browser: bool = True) -> int:
    """Open JupyterLab on a notebook; without one, on a new one that lists your tools.

    Args:
        notebook: The notebook to open, which is in the folder JupyterLab will show.
        browser: Whether to open it in a browser, or only to say its address.
    """
    try:
        return open_lab(notebook, browser=browser)
    except LabError as error:
        return _refuse(error)


@app.command
def doctor() -> int:
    """Say what is installed, which front ends will show widgets, and what cannot be used and why."""
    found = checks.examine()
    console.print(checks.report(found))
    console.print(f"\n{checks.verdict(found)}", markup=False)
    return 1 if any(check.state == "broken" for check in found) else 0


def _typed(program: str) -> str:
    """What to type for *program* of this environment, which may not be the active one."""
    ours = Path(sys.executable).with_name(program)
    return program if which(program) == str(ours) else str(ours)


def _refuse(error: Exception) -> int:
    Console(stderr=True, highlight=False, soft_wrap=True).print(
        str(error), markup=False
    )
    return 1
