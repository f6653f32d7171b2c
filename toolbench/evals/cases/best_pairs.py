"""Find as many pairs as possible of a row and a column that fit.

A greedy search may find fewer pairs.
"""

from collections.abc import Callable


def most_pairs(
    rows: int, columns: int, fits: Callable[[int, int], bool]
) -> dict[int, int]:
    """Return a fitting column for as many rows as possible, as indexes. No column is used twice.

    Source: Kuhn's algorithm for matchings in bipartite graphs, without recursion.
    """
    owner: dict[int, int] = {}
    for row in range(rows):
        # for each column, the column before it on the path along which pairs are swapped
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
    """Return a free column that fits the row *want*.

    If there is none, add the rows that own fitting columns to *todo*.
    """
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
    """Move each row on the path to its next column, up to the free column *end*.

    *row* gets the first column.
    """
    column: int | None = end
    while column is not None:
        before = via[column]
        owner[column] = row if before is None else owner[before]
        column = before
