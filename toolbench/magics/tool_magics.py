"""%tools, %tool, %%tool and %tool_history."""

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import (
    Magics,
    line_cell_magic,
    line_magic,
    magics_class,
    no_var_expand,
)

from toolbench.core.tool import ToolDefinition
from toolbench.errors import BodyError, ToolbenchError, ToolFailedError
from toolbench.magics.arguments import FORMS, fill_in, from_text, from_words
from toolbench.magics.catalog import Catalog, matches
from toolbench.magics.inline import cut_json, quote_json
from toolbench.magics.linting import LintReport
from toolbench.magics.listing import Listing
from toolbench.magics.parsers import LineParser, parsed, seconds, variable
from toolbench.runs.engine import perform, run_here
from toolbench.runs.history import history
from toolbench.widgets.formats import FORMATS, schema_of
from toolbench.widgets.panel import ToolPanel


def _tools_parser() -> LineParser:
    parser = LineParser(
        "tools",
        description="List the tools this notebook knows.",
        examples=("%tools", "%tools file*", "%tools --source mcp", "%tools --lint"),
    )
    parser.add_argument(
        "pattern", nargs="?", default="", help="part of a name, or a * pattern"
    )
    parser.add_argument(
        "--source", default="", help="only from here: notebook, registry, mcp"
    )
    parser.add_argument(
        "--lint", action="store_true", help="say what a model will stumble over"
    )
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
            "%tool split_bill --schema openai",
        ),
    )
    parser.add_argument("name", nargs="?", help="the tool")
    parser.add_argument(
        "arguments",
        nargs="*",
        metavar="key=value",
        help="the value is JSON where it can be, else text",
    )
    parser.add_argument(
        "--schema", choices=tuple(FORMATS), help="show what a model is given"
    )
    parser.add_argument(
        "-f",
        "--format",
        choices=FORMS,
        help="of the body; py: assignments, or a dict at the end",
    )
    parser.add_argument(
        "-o",
        "--out",
        metavar="VAR",
        type=variable,
        help="keep the observation in VAR",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="only check the arguments"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask before running")
    parser.add_argument(
        "--bg", action="store_true", help="run in the background, in a panel"
    )
    parser.add_argument(
        "--timeout",
        type=seconds,
        metavar="SECONDS",
        help="cancel the run after so long",
    )
    return parser


def _history_parser() -> LineParser:
    parser = LineParser(
        "tool_history",
        description="Show the last runs, or repeat one.",
        examples=("%tool_history 5", "%tool_history --rerun 12"),
    )
    parser.add_argument("count", nargs="?", type=int, default=20, help="how many")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--rerun", type=int, metavar="N", help="run number N again")
    return parser


TOOLS, TOOL, HISTORY = _tools_parser(), _tool_parser(), _history_parser()


@magics_class
class ToolMagics(Magics):
    """The magics of tools."""

    def __init__(self, shell: Any, catalog: Catalog) -> None:
        """Serve the tools of *catalog* in *shell*."""
        super().__init__(shell)
        self.catalog = catalog
        self._namespace = shell.user_ns

    @line_magic
    def tools(self, line: str) -> Listing | LintReport | None:
        """List tools."""
        wanted = parsed(TOOLS, line)
        if wanted is None:
            return None
        if wanted.source:
            self._check_source(wanted.source)
        if wanted.lint:
            return LintReport(
                self.catalog.tools(wanted.pattern, wanted.source).values()
            )
        found = self.catalog.entries(wanted.pattern, wanted.source)
        nothing = "No tools yet. Define one with @tool, or connect a server with %mcp."
        if wanted.pattern or wanted.source:
            nothing = f"No tool matches {line.strip()!r}. %tools lists them all."
        return Listing(
            ("tool", "from", "what it does"),
            [(entry.name, entry.source, entry.summary) for entry in found],
            nothing,
        )

    @no_var_expand
    @line_cell_magic
    def tool(self, line: str, cell: str | None = None) -> Any:
        """Open or run a tool."""
        words, literal = cut_json(quote_json(line))
        wanted = parsed(TOOL, words)
        if wanted is None:
            return None
        if not wanted.name:
            msg = "Which tool? %tool NAME opens one; %tools lists them all."
            raise UsageError(msg)
        tool = self.catalog.find(wanted.name)
        if wanted.schema:
            return schema_of(tool, wanted.schema)
        arguments = self._arguments(tool, wanted, literal, cell)
        if arguments is None:
            return ToolPanel(tool)
        return self._run(tool, arguments, wanted)

    @line_magic
    def tool_history(self, line: str) -> Any:
        """Show runs."""
        wanted = parsed(HISTORY, line)
        if wanted is None:
            return None
        if wanted.rerun is not None:
            return perform(_record(wanted.rerun).again("magic"))
        last = history()[max(len(history()) - wanted.count, 0) :]
        if wanted.json:
            return [record.to_dict() for record in last]
        return Listing(
            ("run", "tool", "state", "seconds", "from", "arguments"),
            [
                (r.id, r.tool, r.state, f"{r.seconds:.3f}", r.source, dict(r.arguments))
                for r in last
            ],
            "No runs yet.",
        )

    def _check_source(self, wanted: str) -> None:
        sources = self.catalog.sources()
        if not any(matches(source, wanted) for source in sources):
            msg = (
                f"No tools come from {wanted!r}: --source takes {' or '.join(sources)}."
            )
            raise UsageError(msg)

    def _arguments(
        self,
        tool: ToolDefinition[Any, Any],
        wanted: Namespace,
        literal: str | None,
        cell: str | None,
    ) -> dict[str, Any] | None:
        """The arguments of the call; None where the line asks for the panel."""
        namespace: Mapping[str, Any] = self._namespace
        schema = tool.input_schema
        given = from_words(wanted.arguments, schema)
        if cell is not None:
            _add(given, from_text(cell, wanted.format, namespace, schema))
        elif literal is not None:
            _add(given, from_text(literal, "json", namespace, schema))
        elif not (given or wanted.dry_run or wanted.bg) and not _takes_nothing(wanted):
            return None
        filled: dict[str, Any] = fill_in(given, namespace)
        return filled

    def _run(
        self,
        tool: ToolDefinition[Any, Any],
        arguments: dict[str, Any],
        wanted: Namespace,
    ) -> Any:
        if wanted.dry_run:
            return tool.action_from_arguments(arguments)
        if tool.executor is None:
            msg = f"{tool.name} has no executor: there is nothing to run."
            raise ToolbenchError(msg)
        if wanted.bg:
            panel = ToolPanel(tool, arguments, timeout=wanted.timeout)
            panel.run(confirm=not wanted.yes)
            return panel
        run = run_here(tool, arguments, "magic")
        observation = perform(run, confirm=not wanted.yes, timeout=wanted.timeout)
        if wanted.out:
            self._namespace[wanted.out] = observation
        shown = run.confidence.hide(observation)  # it is saved with the notebook
        if observation.is_error:
            raise ToolFailedError(tool.name, shown)
        return None if wanted.out else shown


def _takes_nothing(wanted: Namespace) -> bool:
    """Whether the line asks for a run although it gives no arguments."""
    return bool(wanted.out or wanted.yes)


def _add(given: dict[str, Any], others: dict[str, Any]) -> None:
    """Put *others* to those *given* on the line.

    Raises:
        BodyError: If one is given twice.
    """
    for name in others:
        if name in given:
            msg = f"{name!r} is given twice: as a word of the line, and in the object."
            raise BodyError(msg)
    given |= others


def _record(number: int) -> Any:
    record = history().find(number)
    if record is None:
        msg = f"There is no run {number}: %tool_history shows the last ones."
        raise UsageError(msg)
    return record


for _magic, _parser in (("tools", TOOLS), ("tool", TOOL), ("tool_history", HISTORY)):
    getattr(ToolMagics, _magic).__doc__ = _parser.help_text()
