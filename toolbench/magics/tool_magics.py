"""%tool and %%tool: open a tool's panel, or run the tool."""

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

# Its names are imported with their first use
from toolbench import widgets
from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_advice import remake_advice
from toolbench.errors import BodyError, ToolbenchError, ToolFailedError, ToolStoppedError
from toolbench.magics.call_arguments import (
    FORMS,
    arguments_in,
    check_parts,
    fill_in,
    from_text,
    looks_like_json,
)
from toolbench.magics.catalog import Catalog
from toolbench.magics.commands import Argument, LineParser, parsed
from toolbench.magics.line import (
    UsageError,
    cut_json,
    hides_secrets,
    quote_json,
    seconds,
    variable,
)
from toolbench.magics.settings import Toolbench
from toolbench.runs.perform import perform
from toolbench.runs.run import run_here

AnyTool = ToolDefinition[Any, Any]

YES = Argument("--yes", action="store_true", help="say yes in advance: do not ask before running")
OUT = Argument(
    "-o",
    "--out",
    metavar="VAR",
    type=variable,
    help="keep the result in the variable VAR and show nothing, as %%%%capture does; only "
    "a failure is shown too",
)
TOOL = LineParser(
    "tool",
    (
        Argument("name", nargs="?", offers="tool", help="the tool"),
        Argument(
            "arguments",
            nargs="*",
            offers="argument",
            metavar="key=value",
            help="the value is read as JSON if it can be, else as text; for an argument that takes "
            "bytes, @path is the content of the file there, beside the notebook",
        ),
        Argument(
            "-f",
            "--format",
            choices=FORMS,
            help="format of the body: json, yaml, or py (assignments, or a dict on the last line); "
            "without -f, a body that starts with { is JSON, and any other is YAML",
        ),
        OUT,
        YES,
        Argument("--bg", action="store_true", help="run in the background, in a panel"),
        Argument(
            "--timeout", type=seconds, metavar="SECONDS", help="cancel the run after this time"
        ),
    ),
    description="Open a tool's panel, or run it: %tool NAME [key=value ... | {json}]. "
    "The body of %%tool NAME holds the arguments. The string ${name} stands for the "
    "object of that name. Without arguments the panel opens; {}, --yes or -o VAR runs "
    "a tool that needs none.",
    examples=(
        "%tool split_bill",
        "%tool split_bill total=84 people=4 -o bill",
        '%tool order dishes=["soup", "bread"] note="no salt"',
        '%tool order {"dishes": ["soup"], "guest": "${guest}"}',
        "%tool read_scan page=@scans/1.png",
        "%tool forget name=shopping --yes",
    ),
)


@magics_class
class ToolMagics(Magics):
    """The magics `%tool` and `%%tool`."""

    def __init__(self, shell: Any, catalog: Catalog, settings: Toolbench) -> None:
        """Prepare the magics for *shell*; *catalog* has the tools, *settings* the time limit."""
        super().__init__(shell)
        self.catalog = catalog
        self.settings = settings
        self._namespace = shell.user_ns

    @no_var_expand
    @line_cell_magic
    @hides_secrets
    def tool(self, line: str, cell: str | None = None) -> Any:
        """Open or run a tool."""
        words, literal = cut_json(quote_json(line))
        options = parsed(TOOL, words)
        if options is None:
            return None
        if not options.name:
            msg = "Which tool? %tool NAME opens one; %tools lists them all."
            raise UsageError(msg)
        tool = self.catalog.find(options.name)
        options.timeout = options.timeout or self.settings.timeout
        if options.format and cell is None:
            msg = "-f is the format of the body of %%tool, but %tool has no body."
            raise UsageError(msg)
        if options.bg and options.out:
            msg = "-o keeps the result of a run, --bg does not wait for it: give only one of them."
            raise UsageError(msg)
        arguments = self._arguments(tool, options, literal, cell)
        if arguments is None:
            return widgets.ToolPanel(tool, timeout=options.timeout)
        return self._run(tool, arguments, options)

    def _arguments(
        self, tool: AnyTool, options: Namespace, literal: str | None, cell: str | None
    ) -> dict[str, Any] | None:
        """Return the arguments of the call; None if the line asks for the panel."""
        namespace: Mapping[str, Any] = self._namespace
        is_all = cell is None and literal is None
        arguments: dict[str, Any] = arguments_in(options.arguments, tool, namespace, is_all=is_all)
        if cell is not None:
            body = from_text(cell, options.format, namespace, tool.input_schema)
            _check_once(arguments, body)
            if options.format in (None, "yaml") and not looks_like_json(cell):
                check_parts(body, arguments, tool, namespace)
            # Python has the variables already
            if options.format != "py":
                body = fill_in(body, namespace)
            arguments.update(body)
            return arguments
        if literal is not None:
            body = from_text(literal, "json", namespace, tool.input_schema)
            _check_once(arguments, body)
            body = fill_in(body, namespace)
            arguments.update(body)
            return arguments
        if arguments or options.bg or options.out or options.yes:
            return arguments
        return None

    def _run(self, tool: AnyTool, arguments: dict[str, Any], options: Namespace) -> Any:
        if tool.executor is None:
            msg = f"{tool.name} has no executor: there is nothing to run."
            raise ToolbenchError(msg)
        if options.bg:
            panel = widgets.ToolPanel(tool, arguments, timeout=options.timeout)
            panel.run(confirm=not options.yes)
            return panel
        tell_if_outdated(tool)
        run = run_here(tool, arguments, "magic")
        observation = perform(run, confirm=not options.yes, timeout=options.timeout)
        if options.out:
            self._namespace[options.out] = observation
        # The output is saved with the notebook
        masked = observation
        redactor = run.secrets.redactor
        if redactor.secrets:
            masked = redactor.value(observation)
        if observation.is_error:
            kind: type[ToolbenchError] = ToolStoppedError
            if run.state == "error":
                kind = ToolFailedError
            raise kind(tool.name, masked, run.place)
        if options.out:
            return None
        return masked


def tell_if_outdated(tool: AnyTool) -> None:
    """Print a sentence if *tool* uses a class that was defined again since."""
    advice = remake_advice(tool)
    if advice:
        print(advice)  # noqa: T201 - in the cell that asked


def _check_once(values: Mapping[str, Any], others: Mapping[str, Any]) -> None:
    """Check that *others*, the arguments of the body, are not in *values*, the arguments of the line.

    Raises:
        BodyError: If an argument is given twice.
    """
    for name in others:
        if name in values:
            msg = f"{name!r} is given twice: as a word of the line, and in the object."
            raise BodyError(msg)


ToolMagics.tool.__doc__ = TOOL.help_text()
