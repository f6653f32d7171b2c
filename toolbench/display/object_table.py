"""A list of objects, or an object with one such list, as a table with a column for each key."""

from collections.abc import Iterable
from functools import cached_property
from itertools import chain, repeat
from typing import Any

from toolbench.display.css import REMARK
from toolbench.display.escape import Html, escape
from toolbench.display.json_tree import json_text
from toolbench.display.page import short
from toolbench.display.tables import COLUMNS, ColumnType
from toolbench.wording import counted

# Characters of one value above the table, and the number of values
_LONGEST, _MOST = 200, 20
_KINDS = {"bool": "b", "int": "i", "float": "f"}


class _Absent:
    """The value of a key that an object does not have. Like NaN, it differs from itself."""

    def __str__(self) -> str:
        return ""

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]


_ABSENT = _Absent()


class ObjectTable:
    """A table (see `Frame`) whose rows are JSON objects.

    Attributes:
        objects: The rows.
        above: The other keys and values of the object that contains the list of rows, if there is
            such an object. They are shown above the table.
        name: The key of the list of rows in that object; empty if there is no such object.
    """

    def __init__(self, objects: list[dict[str, Any]], above: dict[str, Any], name: str) -> None:
        """Make a table whose rows are *objects*. Not every object needs to have every key."""
        self.objects = objects
        self.above, self.name, self.label = above, name, ""

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The keys of all objects, in order of first appearance."""
        first = tuple(self.objects[0])
        # As most lists are: three times faster
        if len(first) == len(set().union(*self.objects)):
            return first
        return tuple(dict.fromkeys(chain.from_iterable(self.objects)))

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return len(self.objects), len(self.columns)

    @cached_property
    def dtypes(self) -> tuple[ColumnType, ...]:
        """The type of each column."""
        # No page shows those of the others
        columns = self.columns[:COLUMNS]
        values = (map(dict.get, self.objects, repeat(column)) for column in columns)
        # Row by row, since the values of a row are near to each other in memory
        kinds_of_rows = set(zip(*(map(type, each) for each in values), strict=True))
        shown = [_type_of(set(kinds)) for kinds in zip(*kinds_of_rows, strict=True)]
        return (*shown, *[ColumnType("object", "O")] * (len(self.columns) - len(shown)))

    def row(self, place: int) -> tuple[Any, ...]:
        """Return the row at the index *place*: first the index, then the displayed values."""
        item = self.objects[place]
        return (place, *[item.get(column, _ABSENT) for column in self.columns[:COLUMNS]])

    def itertuples(
        self,
        index: bool = True,  # noqa: FBT001, FBT002 - pandas' signature
        name: None = None,
    ) -> Iterable[Any]:
        """Return the rows, each preceded by its number."""
        return map(self.row, range(len(self.objects)))

    @property
    def above_html(self) -> Html:
        """The other keys and their values, on a line above the table; empty if there are none."""
        said = []
        for key, value in list(self.above.items())[:_MOST]:
            text = " ".join(json_text(value).split())
            said.append(f"<span>{short(key)}: <strong>{short(text, _LONGEST)}</strong></span>")
        if len(self.above) > _MOST:
            said.append(f"<span>{len(self.above) - _MOST:,} more</span>")
        if not said:
            return Html("")
        said.append(f"<span>{short(self.name)}: {escape(counted(self.shape[0], 'row'))}</span>")
        style = f"{REMARK};display:flex;flex-wrap:wrap;gap:2px 14px;margin:0 0 6px"
        return Html(f'<div data-toolbench-above style="{style}">{"".join(said)}</div>')


def _type_of(kinds: set[type]) -> ColumnType:
    """Return the type of a column with values of these *kinds*; `object` if they differ."""
    kinds.discard(type(None))
    if kinds == {int, float}:
        kinds = {float}
    name = "object"
    if len(kinds) == 1 and not kinds & {dict}:
        [kind] = kinds
        name = kind.__name__
    return ColumnType(name, _KINDS.get(name, "O"))


def object_table(value: Any) -> ObjectTable | None:
    """Return the JSON data *value* as a table; None if it contains no list of objects.

    The list is *value* itself, or a value in the object *value*. In the second case, all other
    lists and objects in *value* must be empty. For example, `{"items": [{"id": 1}], "total": 1}` is
    a table with one row.
    """
    if _is_of_objects(value):
        return ObjectTable(value, {}, "")
    if not isinstance(value, dict):
        return None
    filled = [key for key, item in value.items() if isinstance(item, dict | list) and item]
    if len(filled) != 1 or not _is_of_objects(value[filled[0]]):
        return None
    above = {key: item for key, item in value.items() if key != filled[0]}
    return ObjectTable(value[filled[0]], above, filled[0])


def _is_of_objects(value: Any) -> bool:
    return isinstance(value, list) and set(map(type, value)) == {dict} and any(value)
