"""%tool and %%tool open or run a tool; %%tool_call shows the calls in a model's message."""

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from IPython.core.magic import (
    cell_magic,
    line_cell_magic,
    magics_class,
    no_var_expand,
)

# Their names are imported with their first use
from toolbench import llm, widgets
from toolbench.core.tool_advice import remake_advice
from toolbench.errors import (
    ToolbenchError,
    ToolFailedError,
    ToolNotFoundError,
    ToolStoppedError,
)
from toolbench.llm.names import PROVIDERS
from toolbench.magics.call_arguments import (
    FORMS,
    fill_in,
    read_arguments,
)
from toolbench.magics.catalog import AnyTool, Catalog
from toolbench.magics.commands import Argument, LineParser
from toolbench.magics.line import (
    NotebookMagics,
    UsageError,
    answers_in_cell,
    cut_json,
    quote_json,
    seconds,
    split,
    variable,
)
from toolbench.mcp.servers import connected
from toolbench.runs.perform import perform
from toolbench.runs.progress import connecting_stages
from toolbench.runs.run import run_here

if TYPE_CHECKING:
    from toolbench.mcp.server_session import MCPServerSession
    from toolbench.widgets.tool_calls import CallsView


YES = Argument("--yes", action="store_true", help="approve the run in advance: do not ask")
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


TOOL_CALL = LineParser(
    "tool_call",
    (
        Argument(
            "-p",
            "--provider",
            choices=PROVIDERS,
            help="the provider of the message, if its form does not show it",
        ),
        Argument(
            "-o", "--out", metavar="VAR", type=variable, help="keep the calls in the variable VAR"
        ),
    ),
    mark="%%",
    description="Paste what a model sent: each of its calls is shown as a filled "
    "panel, with what was repaired, what is wrong, and the answer for the model. "
    "The body is JSON, alone or within text; ${name} alone is the object of that name.",
    examples=(
        '%%tool_call\n  {"name": "split_bill", "arguments": {"total": 84}}',
        "%%tool_call -p gemini -o calls\n  ${response}",
    ),
)


@magics_class
class ToolMagics(NotebookMagics):
    """The magics `%tool`, `%%tool` and `%%tool_call`."""

    @no_var_expand
    @line_cell_magic
    @answers_in_cell
    def tool(self, line: str, cell: str | None = None) -> Any:
        """Open or run a tool."""
        words, literal = cut_json(quote_json(line))
        options = TOOL.parse_words(split(words))
        if not options.name:
            msg = "Which tool? %tool NAME opens one; %tools lists them all."
            raise UsageError(msg)
        tool = newest(self.catalog, options.name)
        if options.format and cell is None:
            msg = "-f is the format of the body of %%tool, but %tool has no body."
            raise UsageError(msg)
        if options.bg and options.out:
            msg = "-o keeps the result of a run, --bg does not wait for it: give only one of them."
            raise UsageError(msg)
        arguments = read_arguments(
            tool, self.namespace, options.arguments, literal, cell, options.format
        )
        asks_to_run = options.bg or options.out or options.yes
        if not (arguments or asks_to_run) and literal is None and cell is None:
            return widgets.ToolPanel(tool, timeout=options.timeout)
        return self._run(tool, arguments, options)

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
            self.namespace[options.out] = observation
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

    @no_var_expand
    @cell_magic
    @answers_in_cell
    def tool_call(self, line: str, cell: str) -> "CallsView":
        """Show the calls of a message."""
        options = TOOL_CALL.parse_words(split(line))
        message = fill_in(cell.strip(), self.namespace)
        # A person looks at them before one runs
        calls = llm.parse_tool_calls(
            message, self.catalog.tools(), provider=options.provider, written_calls=True
        )
        if options.out:
            self.namespace[options.out] = calls
        from toolbench.widgets.tool_calls import CallsView  # noqa: PLC0415 - heavy

        return CallsView(calls)


def newest(catalog: Catalog, name: str) -> AnyTool:
    """Return the newest version of the tool *name*.

    If the tool's server is under development and its source has changed, restart it first.

    Raises:
        ToolNotFoundError: If there is no such tool.
        ServerError: If the server does not start with its newest source.
    """
    try:
        tool = catalog.find(name)
    except ToolNotFoundError:
        # A server under development may have it by now
        for session in connected.developed:
            tell_changes(session)
        return catalog.find(name)
    if tool.is_in_development:
        tell_changes(tool.executor.client)
        tool = tool.as_listed()
    return tool


def tell_changes(session: "MCPServerSession") -> None:
    """Restart a server under development if its source has changed, and print the changes.

    Raises:
        ServerError: If the server does not start with its newest source.
    """
    with connecting_stages([session]):
        notes = session.catch_up()
    for note in notes:
        print(note)  # noqa: T201 - in the cell that asked


def tell_if_outdated(tool: AnyTool) -> None:
    """Print a message if *tool* uses an old version of a class that was defined again."""
    if tool.is_stale and (advice := remake_advice(tool)):
        print(advice)  # noqa: T201 - in the cell that asked


ToolMagics.tool.__doc__ = TOOL.help_text()
ToolMagics.tool_call.__doc__ = TOOL_CALL.help_text()
