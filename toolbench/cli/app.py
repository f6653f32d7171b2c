"""The commands, their arguments and what they print."""

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
from toolbench.errors import ToolbenchError

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
        project = scaffold(name, into)
    except ScaffoldError as error:
        return _refuse(error)
    for path in project.files:
        console.print(path, markup=False)
    console.print(
        f"\nNext: cd {project.folder}, then `{_typed('python')} -m pytest`, then "
        f"`{_typed('toolbench')} lab {project.notebook.name}`.",
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


@app.command(name="eval")
def eval_(
    file: Path,
    *,
    tools: Annotated[list[str], Parameter(negative=())],
    model: Annotated[list[str], Parameter(negative=())],
    api_key_env: str | None = None,
    repeats: int = 1,
    min_passed: float = 1.0,
    save: Path | None = None,
    max_cost: float | None = None,
    junit: Path | None = None,
    html: Path | None = None,
) -> int:
    """Have models answer the cases of a file, and say how many calls are as expected.

    The exit code is 0 if every model passes enough of its answers, 1 if one does not, and 2 if
    answers did not come or something cannot be used. No tool is run.

    Args:
        file: The cases: a YAML file, as `Cases.write` and pydantic-evals write it.
        tools: Where the tools are: `tools.py`, `package.module`, either with `:name,name`.
        model: Who answers: `http://localhost:11434/v1#qwen3`, a recording (`.jsonl`), weights
            (`.gguf`), `local`, or `module:name`; it may stand there several times.
        api_key_env: The variable that holds the key of an address.
        repeats: How many answers of each model to each case.
        min_passed: Which share of the answers must pass, between 0 and 1.
        save: A JSONL file with a line an answer: what is in it is not asked again.
        max_cost: US dollars after which no more answers are asked for.
        junit: Where to write JUnit XML.
        html: Where to write the report as a page.
    """
    from toolbench.cli import eval_command  # noqa: PLC0415 - other commands need no models

    try:
        report = eval_command.run_cases(
            file,
            tools,
            model,
            api_key_env=api_key_env,
            repeats=repeats,
            save=save,
            max_cost=max_cost,
        )
        if junit is not None:
            report.to_junit(junit)
        if html is not None:
            report.to_html(html)
    except (ToolbenchError, OSError) as error:
        _refuse(error)
        return eval_command.NOT_MEASURED
    console.print(report.to_text(), markup=False)
    return eval_command.exit_code(report, min_passed)


@app.command
def export(
    tools: str,
    folder: Path,
    *,
    openhands: Annotated[bool, Parameter(negative=())] = False,
    overwrite: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Write tools of a file or module as a package that can be installed.

    Args:
        tools: Where they are: `tools.py`, `package.module`, either with `:name,name`.
        folder: Where the project goes.
        openhands: Write it for the OpenHands SDK instead of toolbench.
        overwrite: Replace files that are there and hold something else.
    """
    from toolbench.cli.user_modules import tools_of  # noqa: PLC0415 - other commands need none
    from toolbench.export import export_package  # noqa: PLC0415 - the same

    try:
        sources = tools_of(tools)
        project = export_package(
            sources, folder, openhands=openhands, overwrite=overwrite
        )
    except ToolbenchError as error:
        return _refuse(error)
    console.print(
        f"{project}: {', '.join(tool.name for tool in sources)}. Next: "
        f"`{_typed('python')} -m pip install {project}`.",
        markup=False,
    )
    return 0


@app.command
def connect(name: str) -> int:
    """Let a client that starts commands use what a notebook serves: stdio to that, until it ends.

    `%mcp serve` and `serve(tools)` say how clients are configured to start this. The address
    and the token are read from a file that only you can read.

    Args:
        name: The name it is served by: `notebook`, if you gave none.
    """
    from toolbench.serving.access import bridge  # noqa: PLC0415 - MCP takes seconds

    try:
        bridge.connect(name)
    except ToolbenchError as error:
        return _refuse(error)
    except KeyboardInterrupt:  # the usual way to end it by hand
        pass
    return 0


@app.command
def doctor() -> int:
    """Say what is installed, which front ends will show widgets, and what cannot be used and why."""
    results = checks.examine()
    console.print(checks.report(results))
    console.print(f"\n{checks.verdict(results)}", markup=False)
    return 1 if any(check.state == "broken" for check in results) else 0


def _typed(program: str) -> str:
    """What to type for *program* of this environment, which may not be the active one."""
    ours = Path(sys.executable).with_name(program)
    return program if which(program) == str(ours) else str(ours)


def _refuse(error: Exception) -> int:
    Console(stderr=True, highlight=False, soft_wrap=True).print(
        str(error), markup=False
    )
    return 1
