"""The calls of a sweep: all combinations of a grid, lists of arguments, or rows of a table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

from toolbench.core.schema import Action
from toolbench.core.tool import ToolDefinition
from toolbench.display.tables import Frame, as_frame
from toolbench.errors import CaseError, did_you_mean
from toolbench.values import clip

# One value, although it is iterable
_SINGLE = (str, bytes, Mapping)


class Calls:
    """The sets of arguments of a sweep; a combination of a grid is only made when needed."""

    def __init__(self, tool: ToolDefinition[Any, Any], inputs: Any) -> None:
        """Read *inputs* for *tool*.

        Raises:
            CaseError: If *inputs* is not a grid, a list or a table, or if the tool lacks an
                argument that the grid or every row names.
        """
        self._axes: dict[str, list[Any]] | None = None
        self._rows: Sequence[Any] = ()
        if (table := as_frame(inputs)) is not None:
            self._rows = rows_of(table)
        elif isinstance(inputs, Mapping):
            self._axes = {str(name): _values(v) for name, v in inputs.items()}
        elif isinstance(inputs, Iterable) and not isinstance(inputs, str):
            self._rows = [_arguments(row) for row in inputs]
        else:
            msg = (
                "A sweep takes {argument: values}, a list of arguments or a DataFrame, not "
                f"{clip(inputs)}."
            )
            raise CaseError(msg)
        self._check(tool)

    def _check(self, tool: ToolDefinition[Any, Any]) -> None:
        names = self._axes if self._axes is not None else self._shared_names()
        known = tool.input_node.properties
        for name in names:
            if name not in known and not tool.input_node.is_open:
                msg = f"{tool.name} has no argument {name!r}.{did_you_mean(name, known)}"
                raise CaseError(msg)

    def _shared_names(self) -> set[str]:
        """Return the names of arguments that are in every row.

        A wrong name is refused only if it is in every row. Otherwise, only the rows with it fail.
        """
        if not self._rows:
            return set()
        return set.intersection(*map(set, self._rows))

    def __len__(self) -> int:
        if self._axes is None:
            return len(self._rows)
        return prod(map(len, self._axes.values()))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        if self._axes is None:
            return iter(self._rows)
        names = [*self._axes]
        values = product(*self._axes.values())
        return (dict(zip(names, row, strict=True)) for row in values)

    @property
    def axes(self) -> list[str]:
        """The arguments of the grid that have more than one value."""
        axes = self._axes or {}
        return [name for name, values in axes.items() if len(values) > 1]


def _values(value: Any) -> list[Any]:
    if isinstance(value, Iterable) and not isinstance(value, _SINGLE):
        return [_as_python(item) for item in value]
    return [_as_python(value)]


def _arguments(row: Any) -> dict[str, Any]:
    if isinstance(row, Action):
        return row.to_arguments()
    if isinstance(row, Mapping):
        return {str(name): _as_python(value) for name, value in row.items()}
    msg = f"Each call of a sweep is an object of arguments, not {clip(row)}."
    raise CaseError(msg)


def rows_of(frame: Frame) -> list[dict[str, Any]]:
    """Return the rows of a table as dicts by column name; empty cells are left out."""
    names = [str(name) for name in frame.columns]
    rows: list[dict[str, Any]] = []
    for cells in frame.itertuples(index=False, name=None):
        row: dict[str, Any] = {}
        for name, value in zip(names, cells, strict=True):
            if not _is_empty(value):
                row[name] = _as_python(value)
        rows.append(row)
    return rows


def _as_python(value: Any) -> Any:
    """Convert a NumPy number to a Python number."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        return value.item()
    return value


def _is_empty(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value
