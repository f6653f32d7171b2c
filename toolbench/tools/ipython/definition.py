"""The definition of the tool for Python cells: action, observation, description."""

from collections.abc import Sequence
from typing import Any, Self

from pydantic import Field
from rich.console import RenderableType
from rich.text import Text

from toolbench.core.declarations import ToolAnnotations
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition


class IPythonAction(Action):
    """A cell of Python code."""

    code: str = Field(
        description=(
            "The Python code of the cell. Magics (%pip install ..., %timeit) and !commands "
            "work; the value of the last expression is shown."
        )
    )
    timeout: float | None = Field(
        default=None,
        gt=0,
        description="Seconds after which the code is interrupted; no limit if left out.",
    )

    @property
    def visualize(self) -> RenderableType:
        """The code, line by line after a prompt."""
        view = Text()
        for number, line in enumerate(self.code.splitlines() or [""]):
            view.append("\n" if number else "")
            view.append("... " if number else ">>> ", style="bold green").append(line)
        return view


class IPythonObservation(Observation):
    """The printed and displayed output of a cell and its value, or its error."""

    error: str | None = Field(
        default=None, description="The class of the exception that ended the cell."
    )
    timeout: bool = Field(
        default=False, description="Whether the cell was interrupted by its timeout."
    )


_DESCRIPTION = """\
Runs a cell of Python in a persistent session: variables, imports and functions of one call \
are there in the next.

- It returns what the cell prints and displays, then the value of the last expression unless \
a semicolon follows; images and plots come as images. If the cell raises, you get the \
traceback, and what was assigned before stays.
- Magics work (`%pip install pandas`, `%timeit f()`), so do `!ls` and top-level `await`.
- Set `timeout` for code that may take long; the code is then interrupted, and variables stay. A \
call that blocks outside Python ends first.
- Of long output, the first and last 15,000 bytes are shown.

Use it to compute, to look at data and to try out a library. Do not use it for long shell \
work, which belongs in a terminal, or expect its variables in a terminal. Nobody can answer \
`input()`.

Examples:
{"code": "import math\\nmath.comb(49, 6)"}
{"code": "df = pd.read_csv('sales.csv')\\ndf.describe()"}
{"code": "%pip install -q networkx", "timeout": 120}"""

_WHERE = {
    "kernel": "Cells run in the namespace of the user's notebook: its variables are there.",
    "fresh": "Cells run in a namespace of their own, which starts empty.",
}


class IPythonTool(ToolDefinition[IPythonAction, IPythonObservation]):
    r"""A tool that runs Python cells.

    Examples:
        >>> from toolbench.tools import IPythonTool
        >>> [ipython] = IPythonTool.create()
        >>> with ipython.executor:
        ...     ipython(code="import math\nmath.comb(49, 6)").text
        '13983816'
    """

    name = "execute_ipython_cell"

    @classmethod
    def create(cls, conv_state: Any = None, **params: Any) -> Sequence[Self]:
        """Return a list with this tool.

        Args:
            conv_state: Not used.
            **params: The parameters of `IPythonExecutor`.
        """
        from toolbench.tools.ipython.impl import (  # noqa: PLC0415 - as in OpenHands: a definition does not import its implementation
            IPythonExecutor,
        )

        executor = IPythonExecutor(**params)
        return [
            cls(
                description=f"{_DESCRIPTION}\n\n{_WHERE[executor.namespace]}",
                action_type=IPythonAction,
                observation_type=IPythonObservation,
                annotations=ToolAnnotations(
                    title="Python cell",
                    readOnlyHint=False,
                    destructiveHint=True,
                    idempotentHint=False,
                    openWorldHint=True,
                ),
                executor=executor,
            )
        ]
