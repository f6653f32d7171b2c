"""Say which recorded calls of a tool give the same result in a package, as far as the code shows it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from toolbench.core.executor import FunctionCall, innermost
from toolbench.export.code.effects import Effects, is_executor
from toolbench.export.code.outside import outside_of
from toolbench.export.code.statements import Statement
from toolbench.export.project.preparation import needed_by_tool
from toolbench.export.tool_code.tool_parts import ToolParts
from toolbench.runs.record import RunRecord

_NONE = frozenset[str]()
_ENDS_WITHOUT_WORK = ("denied",)


@dataclass(frozen=True)
class CallConditions:
    """The conditions under which recorded calls of one tool can be repeated.

    Attributes:
        last_change: The number of the last cell that changed code which the tool needs.
        causes: Why a result of the tool may differ in the package, as the ends of sentences that
            begin with its name; empty if it does not differ.
        files: The files that the code of the tool names and that are there.
        has_files: Whether the code of the tool uses files.
        state: The names that other tools change and this tool needs.
        changers: The functions and classes of the tools that change them.
        first_change: The number of the first cell whose code calls one of *changers*, if any does.
    """

    last_change: int = 0
    causes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    has_files: bool = False
    state: frozenset[str] = _NONE
    changers: frozenset[str] = _NONE
    first_change: int | None = None

    def before_changes(self, records: Sequence[RunRecord]) -> int | None:
        """Return the number of runs, from the start of *records*, before another tool changed the state.

        Return None if no tool changes it.
        """
        if not self.changers:
            return None
        # Of the run that is expected next: a run that is missing may have changed it
        session, number = "", 0
        for place, record in enumerate(records):
            # The numbers of another session begin anywhere
            if session and record.session != session:
                number = record.id - 1
            session = record.session
            is_later = record.cell is not None and self._is_after(record.cell)
            if is_later or (record.id != number + 1 and not self._is_start(record)):
                return place
            if self._may_change(record):
                return place
            number = record.id
        return len(records)

    def _is_after(self, cell: int) -> bool:
        return self.first_change is not None and cell >= self.first_change

    def _is_start(self, record: RunRecord) -> bool:
        """Tell whether *record* is of a run before the state was made: runs before it do not count."""
        return record.cell is not None and record.cell < self.last_change

    def _may_change(self, record: RunRecord) -> bool:
        if record.refused or record.state in _ENDS_WITHOUT_WORK:
            return False
        return not self.changers.isdisjoint(_names_of(record)) and not self._is_start(record)


def conditions_of(part: ToolParts) -> CallConditions:
    """Return the conditions for calls of the tool in *part*."""
    statements, needed = part.statements, needed_by_tool(part)
    cells = (_first_cell(statements, place) for place in needed.places)
    last_change = max(cells, default=0)
    effects, outside = Effects(statements), outside_of(needed)
    own = effects.kept_by(needed.places) & needed.names
    state, changers = _changed_by_others(part, effects, needed.names, needed.places)
    calls = (_calls_of(s, changers) for s in statements)
    cells_of_calls = [s.cell for s, called in zip(statements, calls, strict=True) if called]
    return CallConditions(
        last_change=last_change,
        causes=tuple(_causes(part, own, outside.files, outside.uses)),
        files=outside.files,
        has_files=outside.has_files,
        state=state,
        changers=changers,
        first_change=min((c for c in cells_of_calls if c > last_change), default=None),
    )


def _causes(
    part: ToolParts,
    own: frozenset[str],
    files: Iterable[str],
    uses: Iterable[str],
) -> Iterator[str]:
    if own:
        names = ", ".join(f"`{name}`" for name in sorted(own))
        yield f"changes {names} while the program runs"
    for file in files:
        yield f"uses the file `{file}`, which is not in the package"
    yield from uses
    hints = part.tool.annotations
    declared = set[str]() if hints is None else hints.model_fields_set
    if hints is not None and "destructiveHint" in declared and hints.destructiveHint:
        yield "is destructive, as its annotations say"
    if hints is not None and "openWorldHint" in declared and hints.openWorldHint:
        yield "reaches an open world, as its annotations say"


def _changed_by_others(
    part: ToolParts, effects: Effects, names: frozenset[str], own: Iterable[int]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names among *names* that other tools change, and the functions and classes of these tools."""
    own = set(own)
    state, changers = _NONE, _NONE
    for place, statement in enumerate(part.statements):
        is_work = statement.is_tool or is_executor(statement.node)
        changes = effects.kept_by([place]) & names if is_work and place not in own else _NONE
        if changes:
            state, changers = state | changes, changers | statement.names.gives
    return state, changers


def _calls_of(statement: Statement, names: frozenset[str]) -> bool:
    """Tell whether *statement* calls one of *names*, or passes one to a call, when it runs."""
    if statement.is_definition:
        return False
    calls = statement.names.effect.calls
    return any(not names.isdisjoint({c.function, c.base, *c.arguments}) for c in calls)


def _names_of(record: RunRecord) -> Iterator[str]:
    """Yield the names under which the code of the tool of *record* may be defined."""
    yield record.tool
    executor: Any = getattr(record.definition, "executor", None)
    if isinstance(executor, FunctionCall):
        yield getattr(innermost(executor.function), "__name__", "")
    else:
        yield type(executor).__name__


def _first_cell(statements: Sequence[Statement], place: int) -> int:
    """Return the cell that gave the names of the statement at *place* their present definition.

    If equal definitions ran in several cells, return the first of these cells.
    """
    statement = statements[place]
    cell = statement.cell
    for earlier in reversed(statements[:place]):
        if earlier.names.gives & statement.names.gives:
            if earlier.code != statement.code:
                break
            cell = earlier.cell
    return cell
