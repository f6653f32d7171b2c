"""%tools: list, describe, check, sweep and export tools, and repeat their runs."""

import json
import re
import shlex
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from IPython.core.magic import line_magic, magics_class, no_var_expand

# Their names are imported with their first use
from toolbench import checks, evals, export, llm
from toolbench.display.filter import help_line, text_of
from toolbench.errors import did_you_mean
from toolbench.evals.progress import ProgressLine
from toolbench.files import write_named
from toolbench.jsonschema.node import Node
from toolbench.llm import formats
from toolbench.llm.names import PROVIDERS
from toolbench.magics.call_arguments import WordError, fill_in, from_words, in_lines
from toolbench.magics.catalog import AnyTool, matching
from toolbench.magics.commands import (
    OVERWRITE,
    Argument,
    Command,
    Family,
    check_overwrite,
    filter_words,
    refuse_moved,
)
from toolbench.magics.line import (
    NotebookMagics,
    UsageError,
    answers_in_cell,
    count,
    quote_json,
    split,
    words_with_quotes,
)
from toolbench.magics.table import Listing
from toolbench.magics.tool_magics import OUT, YES, newest, tell_if_outdated
from toolbench.runs.history import ListedRuns, history
from toolbench.runs.kernel import has_kernel
from toolbench.runs.perform import perform
from toolbench.runs.record import RunRecord
from toolbench.runs.run_rows import RUN_KEYS
from toolbench.values import clip
from toolbench.widgets.live_view import announced
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.llm.lint import Finding, Severity

_SEVERITIES: "tuple[Severity, ...]" = ("error", "warning", "hint")
# Runs that a line without a count shows
_LAST = 20
# A number, even a wrong one
_COUNT = re.compile(r"-?\d+(\.\d+)?")


@magics_class
class ToolsMagics(NotebookMagics):
    """The magic `%tools`, and `%tool_history`, which says what to write instead."""

    @no_var_expand
    @line_magic
    @answers_in_cell
    def tools(self, line: str) -> Any:
        """List tools, and more."""
        if line.split()[:1] == ["history"]:
            return TOOLS.run(self, words_with_quotes(line))
        return TOOLS.run(self, split(quote_json(line)))

    @line_magic
    def tool_history(self, line: str) -> None:
        """`%tools history` shows the last runs."""
        refuse_moved("%tool_history")

    def check_source(self, kind: str) -> None:
        """Check that *kind* is a source of tools; an empty string means any source.

        Raises:
            UsageError: If no tool can come from *kind*.
        """
        sources = self.catalog.sources()
        if not any(map(matching(kind), sources)):
            msg = f"No tools come from {kind!r}: --source takes {' or '.join(sources)}."
            raise UsageError(msg)

    def nothing_like(self, asked: str) -> str:
        """Return the message for a pattern that matches no tool.

        The pattern may also be a misspelt command, so the message suggests commands too.
        """
        near = did_you_mean(asked, [*TOOLS.commands, *self.catalog.names(asked)])
        return f"No tool matches {asked!r}.{near} %tools lists them all."


def _list(magics: ToolsMagics, options: Namespace) -> Listing:
    magics.check_source(options.source)
    catalog = magics.catalog
    entries = catalog.entries(options.pattern, options.source)
    nothing = "No tools yet. Define one with @tool, or connect a server with %mcp."
    if not entries and (options.pattern or options.source):
        nothing = magics.nothing_like(options.pattern or f"--source {options.source}")
    return Listing(
        ("tool", "from", "what it does"),
        [(entry.name, entry.source, entry.summary) for entry in entries],
        nothing,
        notes=[
            *catalog.outdated(entries),
            *catalog.clashes(entries),
            *catalog.advice(options.pattern, options.source),
        ],
    )


def _schema(magics: ToolsMagics, options: Namespace) -> dict[str, Any] | str:
    check_overwrite(options, "--to")
    tool = newest(magics.catalog, options.name)
    tell_if_outdated(tool)
    schema = formats.to_format(tool, options.format)
    if options.to is None:
        return schema
    text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    path = write_named(options.to, text, overwrite=options.overwrite)
    return f"Wrote {path}."


def _lint(magics: ToolsMagics, options: Namespace) -> "LintReport":
    magics.check_source(options.source)
    tools = magics.catalog.tools(options.pattern, options.source)
    if options.pattern and not tools:
        raise UsageError(magics.nothing_like(options.pattern))
    return LintReport(tools.values())


class LintReport:
    """A sequence of the findings of several tools, the worst first."""

    def __init__(self, tools: Iterable[AnyTool]) -> None:
        """Lint each of *tools*, and all of them as the set of tools that a model gets."""
        looked_at = list(tools)
        self.findings: list[Finding] = sorted(
            llm.lint.lint_tools(looked_at), key=lambda finding: _SEVERITIES.index(finding.severity)
        )
        self.cost = llm.lint.cost_of(looked_at)
        """The cost, in each request, of offering the tools to a model."""
        self._count = len(looked_at)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, index: int) -> "Finding":
        return self.findings[index]

    def __repr__(self) -> str:
        return self._repr_mimebundle_()["text/plain"]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        times = Counter(finding.severity for finding in self.findings)
        kinds = [counted(times[kind], kind) for kind in _SEVERITIES if times[kind]]
        found = ", ".join(kinds) or "No findings"
        tools = counted(self._count, "tool")
        summary = f"{found} in {tools}. Offering them costs {self.cost} in every request."
        rows = []
        for finding in self.findings:
            advice = f"{finding.message} {finding.fix}"
            rows.append((finding.tool, finding.severity, finding.where, advice, finding.rule))
        columns = ("tool", "severity", "where", "issue and fix", "rule")
        return Listing(columns, rows, "", head=summary)._repr_mimebundle_()


def _sweep(magics: ToolsMagics, options: Namespace) -> Any:
    tool = newest(magics.catalog, options.name)
    grid = fill_in(grid_from_words(options.arguments, tool.input_node), magics.namespace)
    tell_if_outdated(tool)
    report = evals.sweep(tool, grid, confirm=not options.yes)
    if not options.out:
        return report
    magics.namespace[options.out] = report
    return None


def _check(magics: ToolsMagics, options: Namespace) -> Any:
    if options.add:
        return _added(options.file, options.add, options.name)
    if options.name:
        msg = "--name is the name of the check that --add adds."
        raise UsageError(msg)
    found = checks.Checks.read(options.file)
    line = ProgressLine(f"Checks of {options.file}", len(found))

    def count_one(result: checks.CheckResult) -> None:
        line.done += 1
        line.draw()

    try:
        return found.run(confirm=not options.yes, on_result=count_one)
    finally:
        line.erase()


def _added(file: str, number: int, name: str) -> str:
    from toolbench.checks.check_file import CheckFile  # noqa: PLC0415 - only for a check
    from toolbench.checks.checks import check_of  # noqa: PLC0415 - the same

    record = _record(number)
    check = CheckFile(file).add(check_of(record, name))
    return f"{file}: the check {clip(check.name, 100)} was added. %tools check {shlex.quote(file)} runs all."


def _cells(text: str) -> list[int]:
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        msg = f"--cells takes numbers of cells with commas between them, as in --cells 2,5, not {text!r}."
        raise UsageError(msg) from None


def _export(magics: ToolsMagics, options: Namespace) -> Any:
    from toolbench.export.installation import (  # noqa: PLC0415 - only for an export
        how_to_install_for_openhands,
        how_to_install_from_a_cell,
    )

    tools = [magics.catalog.find(name) for name in options.names]
    with announced("Reading the notebook …"):
        package = export.export_package(
            tools,
            options.to,
            cells=options.cells,
            openhands=options.openhands,
            overwrite=options.overwrite,
        )
    how_to = how_to_install_from_a_cell
    if options.openhands:
        how_to = how_to_install_for_openhands
    names = ", ".join(tool.name for tool in tools)
    text = f"Wrote the package {package} with {names}. {how_to(package)}{package.to_look_at()}"
    if not has_kernel():
        return text
    from toolbench.widgets.export_card import ExportCard  # noqa: PLC0415 - as above

    return ExportCard(package, text)


def _history(magics: ToolsMagics, options: Namespace) -> Any:
    if options.rerun is not None:
        if options.json or options.filter:
            msg = "--rerun N repeats one run: a count, a filter or --json has no meaning there."
            raise UsageError(msg)
        return _again(options.rerun)
    most, words = _LAST, text_of(options.filter)
    if len(options.filter) == 1 and _COUNT.fullmatch(words):
        most, words = count(words), ""
    listed = ListedRuns(history(), most, words)
    if options.json:
        return [record.to_dict() for record in listed]
    return listed


def _record(number: int) -> RunRecord:
    record = history().find(number)
    if record is None:
        msg = f"There is no run {number}: %tools history shows the last ones."
        raise UsageError(msg)
    return record


def _again(number: int) -> Any:
    record = _record(number)
    run = record.again("magic")
    tell_if_outdated(run.tool)
    return perform(run)


_NUMBER = r"-?\d+(?:\.\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:\.\.({_NUMBER}))?")
# Values of one range
_MOST = 1_000_000


def grid_from_words(words: Iterable[str], node: Node) -> dict[str, Any]:
    """Read the `name=values` words of a sweep, and return the values of each argument, by name.

    The values of an argument are written in one of these forms:

    - A range such as `1..5`, or `0..1..0.25` with a step. It includes both ends.
    - A list such as `[a,b]`.
    - A single value.

    Args:
        words: The words of the line.
        node: The schema of the arguments. If it requires a string, the values are strings.
            Otherwise, a value is read as JSON if possible.

    Raises:
        UsageError: If a word is not valid, repeats an argument, or has an endless or too long
            range. The message lists all mistakes.
    """
    grid, mistakes = dict[str, Any](), dict[str, str]()
    for word in words:
        name = word.partition("=")[0]
        if name in grid:
            mistakes[name] = f"{name!r} is given twice."
            continue
        try:
            grid[name] = _values(word, node)
        except (UsageError, WordError) as error:
            mistakes[name] = str(error)
    if mistakes:
        raise UsageError(in_lines([*mistakes.values()]))
    return grid


def _values(word: str, node: Node) -> list[Any]:
    """Return the values in a word `name=values`: a range, a list, or a single value.

    If the argument itself takes a list, `[a,b]` is a single value, and `[[a,b],[c]]` has two.
    """
    name, _, text = word.partition("=")
    if match := _RANGE.fullmatch(text):
        return _range(name, *match.groups())
    kind, items = node.at(name), None
    if text.startswith("[") and text.endswith("]"):
        try:
            items = json.loads(text)
        except ValueError:
            items = [item.strip() for item in text[1:-1].split(",") if item.strip()]
        if kind.type == "array" and not (items and all(map(kind.fits, items))):
            items = None
    if items is None:
        return [from_words([word], node)[name]]
    return [_item(name, item, node) for item in items]


def _item(name: str, item: Any, node: Node) -> Any:
    """Return *item* as the value that the argument *name* takes."""
    if isinstance(item, str):
        return from_words([f"{name}={item}"], node)[name]
    if node.at(name).is_text and item is not None:
        return str(item)
    return item


def _range(name: str, first: str, last: str, step: str | None) -> list[Any]:
    low, high = Decimal(first), Decimal(last)
    width = Decimal(1)
    if step:
        width = Decimal(step)
    elif high < low:
        width = Decimal(-1)
    if not width or (high - low) / width < 0 or (high - low) / width > _MOST:
        msg = f"{name}={first}..{last}..{step or width} never ends, or has too many values."
        raise UsageError(msg)
    count = int((high - low) / width) + 1
    numbers = [low + width * place for place in range(count)]
    if any("." in text for text in (first, last, step or "")):
        return [float(number) for number in numbers]
    return [int(number) for number in numbers]


_PATTERN = Argument(
    "pattern", nargs="?", default="", offers="tool", help="part of a name, or a * pattern"
)
_SOURCE = Argument(
    "--source", default="", offers="source", help="only tools from notebook, registry or mcp"
)
_NAME = Argument("name", offers="tool", help="the tool")
TOOLS = Family(
    "tools",
    {
        "list": Command("the tools this notebook knows", _list, (_PATTERN, _SOURCE)),
        "schema": Command(
            "a tool as a model gets it",
            _schema,
            (
                _NAME,
                Argument("format", choices=PROVIDERS, help="whose format"),
                Argument("--to", metavar="FILE", help="write JSON to this file"),
                OVERWRITE,
            ),
        ),
        "lint": Command("what may confuse a model", _lint, (_PATTERN, _SOURCE)),
        "sweep": Command(
            "call a tool with every combination of values",
            _sweep,
            (
                _NAME,
                Argument(
                    "arguments",
                    nargs="+",
                    offers="argument",
                    metavar="key=values",
                    help="x=1..5, x=0..1..0.25, y=[a,b], or one value",
                ),
                OUT,
                YES,
            ),
        ),
        "check": Command(
            "run the checks of a file, or add one to it",
            _check,
            (
                Argument("file", help="a file of checks, NAME.checks.yaml"),
                Argument("--add", type=int, metavar="N", help="add run number N of the history"),
                Argument("--name", default="", metavar="NAME", help="the name of what --add adds"),
                YES,
            ),
        ),
        "export": Command(
            "write tools as a package that can be installed",
            _export,
            (
                Argument("names", nargs="+", offers="tool", metavar="NAME", help="the tools"),
                Argument("--to", required=True, metavar="DIR", help="the folder of the package"),
                Argument(
                    "--cells",
                    type=_cells,
                    default=(),
                    metavar="N,N",
                    help="take all that these cells do, by the numbers in their brackets",
                ),
                Argument("--openhands", action="store_true", help="for the OpenHands SDK"),
                OVERWRITE,
            ),
        ),
        "history": Command(
            "the last runs, or one of them again",
            _history,
            (
                filter_words(f"how many runs ({_LAST} by default), or {help_line(RUN_KEYS)}"),
                Argument("--json", action="store_true", help="as JSON"),
                Argument("--rerun", type=int, metavar="N", help="run number N again"),
            ),
        ),
    },
    description="The tools this notebook knows. A line without a command lists them.",
    default="list",
    takes_other_words=True,
    examples=(
        "%tools",
        "%tools file*",
        "%tools --source mcp",
        "%tools schema split_bill openai",
        "%tools lint",
        "%tools sweep split_bill total=80..90 people=[2,4]",
        "%tools check bills.checks.yaml --add 12",
        "%tools check bills.checks.yaml",
        "%tools export split_bill add_tip --to bills",
        "%tools history 5",
        "%tools history tool:split_bill failed",
        "%tools history --rerun 12",
    ),
)
ToolsMagics.tools.__doc__ = TOOLS.help_text()
