"""Pair rows with columns that fit them, so that there are as many pairs as possible.

If each row simply took the first column that fits, there might be fewer pairs.
"""

from collections.abc import Callable


def most_pairs(rows: int, columns: int, fits: Callable[[int, int], bool]) -> dict[int, int]:
    """Return the index of a fitting column for as many rows as possible; no column is used twice.

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
    """Return a free column that fits the row *want*; None if no free column fits.

    In that case, add to *todo* the rows that own a fitting column. *through* is the column that
    leads to *want*.
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


def _swap(row: int, end: int, owner: dict[int, int], via: dict[int, int | None]) -> None:
    """Move each row on the path to its next column, up to the free column *end*.

    *row* gets the first column.
    """
    column: int | None = end
    while column is not None:
        before = via[column]
        owner[column] = row if before is None else owner[before]
        column = before
