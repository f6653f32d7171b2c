"""The subcommands of `toolbench`: their arguments and output. Their docstrings are the help texts."""

import gc
import sys
from collections.abc import Sequence
from pathlib import Path
from shutil import which
from typing import Annotated

from cyclopts import App, CycloptsError, Parameter
from rich.console import Console

from toolbench import __version__
from toolbench.cli import server_commands
from toolbench.cli.exit_codes import ExitCode, table
from toolbench.cli.lab import LabError, open_lab
from toolbench.cli.scaffold import ScaffoldError, scaffold
from toolbench.cli.server_source import Source
from toolbench.display.caps import shorten
from toolbench.display.escape import visible
from toolbench.errors import ToolbenchError

app = App(
    name="toolbench",
    help="A workbench for agent tools in Jupyter notebooks.",
    version=__version__,
    help_epilogue=f"Exit codes:\n\n{table()}",
)
# Characters of a reason
_LONGEST = 5_000
console = Console(highlight=False, soft_wrap=True)


def run(arguments: Sequence[str]) -> int:
    """Run the command with *arguments*, and return its exit code."""
    words, program = list(arguments), list[str]()
    if "--" in words:
        begin = words.index("--")
        words, program = words[:begin], words[begin + 1 :]
    try:
        command, bound, others = app.parse_args(words, exit_on_error=False)
    except CycloptsError:
        # It has said what is wrong
        return ExitCode.USAGE
    if "program" in others:
        bound.arguments["program"] = tuple(program)
    elif program:
        _refuse(f"Only commands about servers take a command after --, not: {' '.join(words)}")
        return ExitCode.USAGE
    else:
        gc.enable()
    code = command(*bound.args, **bound.kwargs)
    if isinstance(code, int):
        return code
    return ExitCode.OK


@app.command
def new(name: str, *, into: Annotated[Path, Parameter(name=["--into", "-d"])] = Path()) -> int:
    """Write a new tool package with a tool, a test and a notebook.

    Args:
        name: The name of the tool, such as `word_count`. It must be a valid name of a Python
            module.
        into: The folder in which the folder of the package is created.
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
def lab(
    notebook: Path | None = None,
    *,
    browser: bool = True,
    allow_root: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Open a notebook in JupyterLab. By default, open a starter notebook that lists your tools.

    Args:
        notebook: The notebook to open. If it does not exist, it is created. JupyterLab shows its
            folder.
        browser: Open a browser. With `--no-browser`, only print the address.
        allow_root: Start JupyterLab even as the user root. This has a risk, because cells can then
            change all files of the machine.
    """
    try:
        return open_lab(notebook, browser=browser, allow_root=allow_root)
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
    retry_errors: Annotated[bool, Parameter(negative=())] = False,
    junit: Path | None = None,
    html: Path | None = None,
    overwrite: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Test models on the cases of a file, and report how many of their tool calls are as expected.

    The tools are not run. The exit code is 0 if enough answers of every model pass, and 1 if too
    few answers of a model pass. It is 2 if answers are missing, or if an input cannot be used.

    Args:
        file: The YAML file with the cases, written by `Cases.write` or by pydantic-evals.
        tools: The file or module with the tools, such as `tools.py` or `package.module`. To use
            only some tools, add their names: `tools.py:add,split`. For a server's tool, add its
            address: `tools.py:server.tool`.
        model: The model to test: a URL such as `http://localhost:11434/v1#qwen3`, a recording
            (`.jsonl`), weights (`.gguf`), `local`, or `module:name`. Repeat the option to test
            several.
        api_key_env: The name of the environment variable with the API key, if the model is a URL.
        repeats: The number of answers that each model gives to each case.
        min_passed: The share of the answers that must pass, between 0 and 1.
        save: A JSONL file in which the answers are saved. Answers that are already in the file are
            not requested again.
        max_cost: The cost limit in US dollars. When it is reached, no more answers are requested.
        retry_errors: Repeat the requests for which the file of `--save` contains an error.
        junit: The file to write a JUnit XML report to.
        html: The file to write an HTML report to.
        overwrite: Replace the files of `--junit` and `--html` if they exist.
    """
    from toolbench.cli import eval_command  # noqa: PLC0415 - other commands need no models

    try:
        eval_command.check_share(min_passed)
        eval_command.check_files(junit, html, overwrite=overwrite)
        report = eval_command.run_cases(
            file,
            tools,
            model,
            api_key_env=api_key_env,
            repeats=repeats,
            save=save,
            max_cost=max_cost,
            retry_errors=retry_errors,
        )
        console.print(report.to_text(), markup=False)
        eval_command.write_files(report, junit=junit, html=html, overwrite=overwrite)
    except (ToolbenchError, OSError) as error:
        _refuse(error)
        return eval_command.NOT_MEASURED
    return eval_command.exit_code(report, min_passed)


@app.command
def export(
    tools: str,
    folder: Path,
    *,
    cells: Annotated[tuple[int, ...], Parameter(negative=())] = (),
    openhands: Annotated[bool, Parameter(negative=())] = False,
    overwrite: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Write tools of a file or module as a package that can be installed.

    Args:
        tools: The file or module with the tools, such as `tools.py` or `package.module`. To export
            only some tools, add their names: `tools.py:add,split`.
        folder: The folder of the project.
        cells: Pass `--cells 0` to include all statements of the file, even if no tool needs them.
        openhands: Write the package for the OpenHands SDK instead of toolbench.
        overwrite: Replace existing files that have other content. Files that only an earlier export
            wrote are removed, unless you changed them.
    """
    from toolbench.cli.user_modules import tools_of  # noqa: PLC0415 - other commands need none
    from toolbench.export.installation import (  # noqa: PLC0415 - the same
        how_to_install,
        how_to_install_for_openhands,
    )
    from toolbench.export.package import export_package  # noqa: PLC0415 - the same

    try:
        sources = tools_of(tools)
        package = export_package(
            sources,
            folder,
            cells=cells,
            openhands=openhands,
            overwrite=overwrite,
        )
    except ToolbenchError as error:
        return _refuse(error)
    how = how_to_install(package, python=_typed("python"))
    if openhands:
        how = how_to_install_for_openhands(package)
    names = ", ".join(tool.name for tool in sources)
    text = f"Wrote the package {package} with {names}. {how}{package.to_look_at()}"
    console.print(text, markup=False)
    return 0


@app.command
def connect(name: str) -> int:
    """Connect an MCP client over stdio to the tools that a notebook serves.

    The MCP client starts this command. `%mcp serve` and `serve(tools)` show the configuration for
    the client. The command reads the address and the token of the notebook from a file that only
    you can read.

    Args:
        name: The name under which the notebook serves its tools. If you have not chosen a name, it
            is `notebook`.
    """
    from toolbench.serving.access import bridge  # noqa: PLC0415 - MCP takes seconds

    try:
        bridge.connect(name)
    except ToolbenchError as error:
        return _refuse(error)
    except KeyboardInterrupt:
        # The usual way to end it by hand
        pass
    return 0


@app.command(usage=f"Usage: toolbench doctor [{server_commands.SOURCES} [SERVER] [-- COMMAND...]]")
def doctor(
    *words: str,
    source: Source = server_commands.NOWHERE,
    program: server_commands.Program = (),
) -> int:
    """Check the installation, or each step of the connection to a server.

    Without a server, this checks packages, front ends, the kernel, tools and extras. It also checks
    the configurations of MCP servers on this machine, but does not connect to the servers.

    With a server, the exit code is 3 if a step of the connection fails. It is 1 if the connection
    works, but the server sends an invalid schema or list.

    Example: `toolbench doctor -- python server.py`

    Args:
        words: The name of a server, or its URL.
        source: The options that say where the servers are: `--config`, `--replay` and others.
        program: The command after `--`, which starts the server.
    """
    if words or program or source != server_commands.NOWHERE:
        return server_commands.examine(*words, source=source, program=program)
    from toolbench.cli import doctor as checks  # noqa: PLC0415 - it looks at all parts

    results = checks.examine()
    console.print(checks.report(results))
    console.print(f"\n{checks.verdict(results)}", markup=False)
    if any(check.state == "broken" for check in results):
        return ExitCode.FAILED
    return ExitCode.OK


def _typed(program: str) -> str:
    """Return what to type in a terminal to start *program*, which belongs to this environment.

    This is its name or, if the name would start nothing or another program, its path.
    """
    ours = str(Path(sys.executable).with_name(program))
    if which(program) == ours:
        return program
    return ours


def _refuse(error: object) -> int:
    Console(stderr=True, highlight=False, soft_wrap=True).print(
        shorten(visible(str(error)), _LONGEST), markup=False
    )
    return ExitCode.FAILED


server_commands.add_to(app)
