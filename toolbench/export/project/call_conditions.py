"""Decide whether a recorded call can test the exported tool: what the tool needs and keeps."""

from collections.abc import Sequence
from dataclasses import dataclass

from toolbench.export.code.effects import Effects
from toolbench.export.code.needed_statements import needed_by
from toolbench.export.code.statements import Statement
from toolbench.export.code.symbol_names import used_in
from toolbench.export.tool_code.tool_parts import ToolParts


@dataclass(frozen=True)
class CallConditions:
    """The conditions of the calls of one tool.

    Attributes:
        last_change: The number of the newest cell that defines a part which the tool needs.
        state: The names in a person's code in which a call keeps values for later calls.
    """

    last_change: int = 0
    state: frozenset[str] = frozenset()


def conditions_of(part: ToolParts) -> CallConditions:
    """Return the conditions of the calls of the tool of *part*."""
    statements = part.statements
    names = used_in("\n\n".join((part.definition, part.implementation, part.create)))
    names |= part.types | part.lazy
    needed = needed_by(statements, (), part.tool.name, maybe=names)
    cells = (_first_cell(statements, place) for place in needed.places)
    state = Effects(statements).kept_by(needed.places) & needed.names
    return CallConditions(max(cells, default=0), state)


def _first_cell(statements: Sequence[Statement], place: int) -> int:
    """Return the first cell after which the names of the statement at *place* keep their meaning."""
    statement = statements[place]
    cell = statement.cell
    for earlier in reversed(statements[:place]):
        if earlier.names.gives & statement.names.gives:
            if earlier.code != statement.code:
                break
            cell = earlier.cell
    return cell
