"""%%tool_call: show the calls in a model's message, ready to run."""

from typing import TYPE_CHECKING, Any

from IPython.core.magic import Magics, cell_magic, magics_class, no_var_expand

# Its names are imported with their first use
from toolbench import llm
from toolbench.llm.wire import WIRES
from toolbench.magics.call_arguments import fill_in
from toolbench.magics.catalog import Catalog
from toolbench.magics.commands import Argument, LineParser, parsed
from toolbench.magics.line import variable

if TYPE_CHECKING:
    from toolbench.widgets.tool_calls import CallsView


TOOL_CALL = LineParser(
    "tool_call",
    (
        Argument(
            "-p",
            "--provider",
            choices=tuple(WIRES),
            help="the provider of the message, if its form does not show it",
        ),
        Argument(
            "-o", "--out", metavar="VAR", type=variable, help="keep the calls in the variable VAR"
        ),
    ),
    mark="%%",
    description="Paste what a model sent: each of its calls is shown as a filled "
    "panel, with what was repaired, what is wrong, and the answer for the model. "
    "The body is JSON, alone or in a text; ${name} alone is the object of that name.",
    examples=(
        '%%tool_call\n  {"name": "split_bill", "arguments": {"total": 84}}',
        "%%tool_call -p gemini -o calls\n  ${response}",
    ),
)


@magics_class
class CallMagics(Magics):
    """The magic `%%tool_call`."""

    def __init__(self, shell: Any, catalog: Catalog) -> None:
        """Prepare the magic for *shell*; *catalog* has the tools that can be called."""
        super().__init__(shell)
        self.catalog = catalog
        self._namespace = shell.user_ns

    @no_var_expand
    @cell_magic
    def tool_call(self, line: str, cell: str) -> "CallsView | None":
        """Show the calls of a message."""
        options = parsed(TOOL_CALL, line)
        if options is None:
            return None
        message = fill_in(cell.strip(), self._namespace)
        # A person looks at them before one runs
        calls = llm.parse_tool_calls(
            message, self.catalog.tools(), provider=options.provider, written_calls=True
        )
        if options.out:
            self._namespace[options.out] = calls
        from toolbench.widgets.tool_calls import (  # noqa: PLC0415 - heavy
            CallsView,
        )

        return CallsView(calls)


CallMagics.tool_call.__doc__ = TOOL_CALL.help_text()
