"""%tools, %tool, %%tool and %tool_history: list, open, run and repeat tools."""

import json
from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from IPython.core.magic import (
    Magics,
    line_cell_magic,
    line_magic,
    magics_class,
    no_var_expand,
)

# Its names are imported with their first use
from toolbench import widgets
from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_advice import remake_advice
from toolbench.errors import (
    BodyError,
    ToolbenchError,
    ToolFailedError,
    ToolStoppedError,
)
from toolbench.files import write_named
from toolbench.llm.formats import FORMATS
from toolbench.magics.call_arguments import (
    FORMS,
    arguments_in,
    check_parts,
    fill_in,
    from_text,
    looks_like_json,
)
from toolbench.magics.catalog import Catalog, matching
from toolbench.magics.commands import export_command
from toolbench.magics.option_checks import check_history, check_tool
from toolbench.magics.parsers import (
    LineParser,
    UsageError,
    count,
    cut_json,
    hides_secrets,
    parsed,
    quote_json,
    seconds,
)
from toolbench.magics.sweep_values import grid_from_words
from toolbench.magics.table import Listing
from toolbench.runs.history import HEADS, history, rows_of
from toolbench.runs.perform import perform
from toolbench.runs.run import run_here

if TYPE_CHECKING:
    from toolbench.magics.lint_report import LintReport


def _tools_parser() -> LineParser:
    parser = LineParser(
        "tools",
        description="List the tools this notebook knows.",
        examples=("%tools", "%tools file*", "%tools --source mcp", "%tools --lint"),
    )
    parser.add_argument("pattern", nargs="?", default="", help="part of a name, or a * pattern")
    parser.add_argument("--source", default="", help="only tools from notebook, registry or mcp")
    parser.add_argument("--lint", action="store_true", help="show what may confuse a model")
    return parser


def _tool_parser() -> LineParser:
    parser = LineParser(
        "tool",
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
            "%tool split_bill total=80..90 people=[2,4] --sweep",
            "%tool split_bill --schema openai",
            "%tool split_bill --schema openai -o split_bill.json",
            "%tool split_bill --export split_bill",
            "%tool split_bill add_tip --export bills",
        ),
    )
    parser.add_argument("name", nargs="?", help="the tool")
    parser.add_argument(
        "arguments",
        nargs="*",
        metavar="key=value",
        help="the value is read as JSON if it can be, else as text; for an argument that takes bytes, "
        "@path is the content of the file there, beside the notebook",
    )
    parser.add_argument("--schema", choices=tuple(FORMATS), help="show the tool as a model gets it")
    parser.add_argument(
        "-f",
        "--format",
        choices=FORMS,
        help="format of the body: json, yaml, or py (assignments, or a dict on the last line); "
        "without -f, a body that starts with { is JSON, and any other is YAML",
    )
    parser.add_argument(
        "-o",
        "--out",
        metavar="VAR",
        help="keep the observation in the variable VAR and show nothing, as %%%%capture does; only "
        "a failure is shown too. With --schema, write JSON text to the file VAR; a file with other "
        "content is not overwritten",
    )
    parser.add_argument("--dry-run", action="store_true", help="only check the arguments")
    parser.add_argument(
        "--yes",
        action="store_true",
        help="do not ask before running; with --schema -o or --export, overwrite files",
    )
    parser.add_argument("--bg", action="store_true", help="run in the background, in a panel")
    parser.add_argument(
        "--sweep",
        action="store_true",
        help="call it with every combination: x=1..5, x=0..1..0.25, y=[a,b]",
    )
    parser.add_argument(
        "--export",
        metavar="DIR",
        help="write it as a package that can be installed; %%tool NAME NAME --export DIR writes "
        "several tools as one package",
    )
    parser.add_argument(
        "--openhands", action="store_true", help="with --export: for the OpenHands SDK"
    )
    parser.add_argument(
        "--timeout",
        type=seconds,
        metavar="SECONDS",
        help="cancel the run after this time",
    )
    return parser


def _history_parser() -> LineParser:
    parser = LineParser(
        "tool_history",
        description="Show the last runs, or repeat one.",
        examples=("%tool_history 5", "%tool_history --rerun 12"),
    )
    parser.add_argument("count", nargs="?", type=count, help="how many, 20 by default")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--rerun", type=int, metavar="N", help="run number N again")
    return parser


# Runs that a line without a count shows
_LAST = 20
TOOLS, TOOL, HISTORY = _tools_parser(), _tool_parser(), _history_parser()


@magics_class
class ToolMagics(Magics):
    """The magics `%tools`, `%tool`, `%%tool` and `%tool_history`."""

    def __init__(self, shell: Any, catalog: Catalog) -> None:
        """Prepare the magics for *shell*; *catalog* has the tools."""
        super().__init__(shell)
        self.catalog = catalog
        self._namespace = shell.user_ns

    @line_magic
    def tools(self, line: str) -> "Listing | LintReport | None":
        """List tools."""
        options = parsed(TOOLS, line)
        if options is None:
            return None
        if options.source:
            self._check_source(options.source)
        if options.lint:
            from toolbench.magics.lint_report import (  # noqa: PLC0415 - heavy
                LintReport,
            )

            return LintReport(self.catalog.tools(options.pattern, options.source).values())
        entries = self.catalog.entries(options.pattern, options.source)
        nothing = "No tools yet. Define one with @tool, or connect a server with %mcp."
        if options.pattern or options.source:
            nothing = f"No tool matches {line.strip()!r}. %tools lists them all."
        return Listing(
            ("tool", "from", "what it does"),
            [(entry.name, entry.source, entry.summary) for entry in entries],
            nothing,
            notes=[
                *self.catalog.outdated(entries),
                *self.catalog.clashes(entries),
                *self.catalog.advice(options.pattern, options.source),
            ],
        )

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
        check_tool(options, literal, cell)
        if options.schema:
            _tell_if_outdated(tool)
            schema = FORMATS[options.schema](tool)
            return self._write(schema, options) if options.out else schema
        if options.export:
            others = map(self.catalog.find, options.arguments)
            return export_command.run([tool, *others], options)
        if options.sweep:
            return self._sweep(tool, options)
        arguments = self._arguments(tool, options, literal, cell)
        if arguments is None:
            return widgets.ToolPanel(tool, timeout=options.timeout)
        return self._run(tool, arguments, options)

    @line_magic
    def tool_history(self, line: str) -> Any:
        """Show runs."""
        options = parsed(HISTORY, line)
        if options is None:
            return None
        check_history(options)
        if options.rerun is not None:
            run = _record(options.rerun).again("magic")
            _tell_if_outdated(run.tool)
            return perform(run)
        last = history()[-(options.count or _LAST) :]
        if options.json:
            return [record.to_dict() for record in last]
        return Listing(
            HEADS,
            rows_of(last),
            "No runs yet.",
            notes=history().remarks_on(last),
        )

    def _check_source(self, kind: str) -> None:
        sources = self.catalog.sources()
        if not any(map(matching(kind), sources)):
            msg = f"No tools come from {kind!r}: --source takes {' or '.join(sources)}."
            raise UsageError(msg)

    def _arguments(
        self,
        tool: ToolDefinition[Any, Any],
        options: Namespace,
        literal: str | None,
        cell: str | None,
    ) -> dict[str, Any] | None:
        """Return the arguments of the call; None if the line asks for the panel."""
        namespace: Mapping[str, Any] = self._namespace
        is_all = cell is None and literal is None
        words = options.arguments
        arguments = arguments_in(words, tool, namespace, is_all=is_all)
        if cell is not None:
            schema = tool.input_schema
            body = from_text(cell, options.format, namespace, schema)
            _check_once(arguments, body)
            if options.format in (None, "yaml") and not looks_like_json(cell):
                check_parts(body, arguments, tool, namespace)
            # Python has the variables already
            if options.format != "py":
                body = fill_in(body, namespace)
            arguments |= body
        elif literal is not None:
            body = from_text(literal, "json", namespace, tool.input_schema)
            _check_once(arguments, body)
            arguments |= fill_in(body, namespace)
        elif not (arguments or options.dry_run or options.bg) and not _takes_nothing(options):
            return None
        return arguments

    def _sweep(self, tool: ToolDefinition[Any, Any], options: Namespace) -> Any:
        from toolbench.evals import sweep  # noqa: PLC0415 - only for a sweep

        grid = fill_in(grid_from_words(options.arguments, tool.input_node), self._namespace)
        _tell_if_outdated(tool)
        report = sweep(tool, grid, confirm=not options.yes)
        if not options.out:
            return report
        self._namespace[options.out] = report
        return None

    def _write(self, schema: dict[str, Any], options: Namespace) -> None:
        text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        path = write_named(options.out, text, overwrite=options.yes)
        print(f"Wrote {path}.")  # noqa: T201 - in the cell that asked

    def _run(
        self,
        tool: ToolDefinition[Any, Any],
        arguments: dict[str, Any],
        options: Namespace,
    ) -> Any:
        if options.dry_run:
            return tool.action_from_arguments(arguments)
        if tool.executor is None:
            msg = f"{tool.name} has no executor: there is nothing to run."
            raise ToolbenchError(msg)
        if options.bg:
            panel = widgets.ToolPanel(tool, arguments, timeout=options.timeout)
            panel.run(confirm=not options.yes)
            return panel
        _tell_if_outdated(tool)
        run = run_here(tool, arguments, "magic")
        observation = perform(run, confirm=not options.yes, timeout=options.timeout)
        if options.out:
            self._namespace[options.out] = observation
        # The output is saved with the notebook
        redactor = run.secrets.redactor
        masked = redactor.value(observation) if redactor.secrets else observation
        if observation.is_error:
            kind = ToolFailedError if run.state == "error" else ToolStoppedError
            raise kind(tool.name, masked, run.place)
        return None if options.out else masked


def _tell_if_outdated(tool: ToolDefinition[Any, Any]) -> None:
    advice = remake_advice(tool)
    if advice:
        print(advice)  # noqa: T201 - in the cell that asked


def _takes_nothing(options: Namespace) -> bool:
    """Tell whether the line asks for a run even if it has no arguments."""
    return bool(options.out or options.yes)


def _check_once(values: Mapping[str, Any], others: Mapping[str, Any]) -> None:
    """Check that *others*, the arguments of the body, are not in *values*, the arguments of the line.

    Raises:
        BodyError: If an argument is given twice.
    """
    for name in others:
        if name in values:
            msg = f"{name!r} is given twice: as a word of the line, and in the object."
            raise BodyError(msg)


def _record(number: int) -> Any:
    record = history().find(number)
    if record is None:
        msg = f"There is no run {number}: %tool_history shows the last ones."
        raise UsageError(msg)
    return record


for _magic, _parser in (("tools", TOOLS), ("tool", TOOL), ("tool_history", HISTORY)):
    getattr(ToolMagics, _magic).__doc__ = _parser.help_text()
