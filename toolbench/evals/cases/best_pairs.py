"""Make as many pairs of fitting things as possible; a greedy choice may find fewer."""

from collections.abc import Callable


def most_pairs(
    rows: int, columns: int, fits: Callable[[int, int], bool]
) -> dict[int, int]:
    """Return a fitting column for as many rows as possible, by their indexes; no column twice.

    Source: Kuhn's algorithm for matchings in bipartite graphs, without recursion.
    """
    owner: dict[int, int] = {}
    for row in range(rows):
        # for each column the one it was reached from: along this path the pairs are swapped
        via: dict[int, int | None] = {}
        todo: list[tuple[int, int | None]] = [(row, None)]
        while todo:
            want, through = todo.pop()
            end = _reach(want, through, columns, fits, owner, via, todo)
            if end is not None:
                _swap(row, end, owner, via)
                break
    return {row: column for column, row in owner.items()}


def _reach(
    want: int,
    through: int | None,
    columns: int,
    fits: Callable[[int, int], bool],
    owner: dict[int, int],
    via: dict[int, int | None],
    todo: list[tuple[int, int | None]],
) -> int | None:
    """Return a free column for the row *want*; else note whose columns it could take."""
    owned: list[int] = []
    for column in range(columns):
        if column in via:
            continue
        if column in owner:
            owned.append(column)
        elif fits(want, column):
            via[column] = through
            return column
    for column in owned:
        if fits(want, column):
            via[column] = through
            todo.append((owner[column], column))
    return None


def _swap(
    row: int, end: int, owner: dict[int, int], via: dict[int, int | None]
) -> None:
    """Give each row on the way to the column *end* the next column, and *row* the first."""
    column: int | None = end
    while column is not None:
        before = via[column]
        owner[column] = row if before is None else owner[before]
        column = before
