"""Read cases from the rows of a table."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toolbench.errors import CaseError
from toolbench.evals.cases.case import Case
from toolbench.values import clip

_COLUMNS = ("prompt", "tool", "arguments", "forbid", "match", "name", "tags")


def cases_of_rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[Case]:
    """Return the cases of *rows*; rows with the same name and prompt are one case.

    Raises:
        CaseError: If the column `prompt` is missing, or a row is not a case.
    """
    groups: dict[Any, list[dict[str, Any]]] = {}
    for number, row in enumerate(rows):
        if "prompt" not in row:
            msg = (
                f"The table has no column `prompt`: its columns should be among "
                f"{', '.join(_COLUMNS)}."
            )
            raise CaseError(msg)
        known = {name: row[name] for name in _COLUMNS if not _is_missing(row.get(name))}
        key = (known["name"], known.get("prompt")) if "name" in known else number
        groups.setdefault(key, []).append(known)
    return map(_case, groups.values())


def _case(rows: list[dict[str, Any]]) -> Case:
    calls = [
        {"name": row["tool"], "arguments": _json(row.get("arguments", {}), "arguments")}
        for row in rows
        if row.get("tool")
    ]
    first = rows[0]
    return Case(
        first.get("prompt", ""),
        calls or None,
        forbid=_names(first.get("forbid", ())),
        match=_json(first.get("match", {}), "match"),
        name=first.get("name"),
        tags=_names(first.get("tags", ())),
    )


def _is_missing(value: Any) -> bool:
    """Tell whether a cell is empty: None, NaN or an empty text."""
    return value is None or value == "" or (isinstance(value, float) and value != value)


def _json(value: Any, column: str) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        msg = f"The column {column} holds objects, or JSON text of one, not {clip(value)}."
        raise CaseError(msg) from None


def _names(value: Any) -> list[str]:
    parts = value.replace(",", " ").split() if isinstance(value, str) else value
    return [*parts]
