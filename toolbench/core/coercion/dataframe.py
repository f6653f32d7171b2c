"""Turn a result that holds a list of objects into a pandas DataFrame."""

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from toolbench.errors import MissingExtraError
from toolbench.values import clip

if TYPE_CHECKING:
    import pandas as pd

_EXTRA = "pandas"


def data_frame_class() -> "type[pd.DataFrame]":
    """Return the class `pandas.DataFrame`; this imports pandas, which is slow.

    Raises:
        MissingExtraError: If pandas is not installed.
    """
    try:
        import pandas as pd  # noqa: PLC0415 - optional, and slow to load
    except ImportError as error:
        raise MissingExtraError(_EXTRA) from error
    return pd.DataFrame


def frame_of(data: Any) -> Any:
    """Return *data* as a pandas DataFrame: a list of objects becomes a table with a row for each.

    An object is a mapping, a pydantic model or a dataclass. If *data* is an object that holds
    exactly one list, this list becomes the table; any other object becomes a table of one row. A
    member of an enum becomes its value, as in the text that a model reads.

    Raises:
        MissingExtraError: If pandas is not installed.
        TypeError: If *data* is something else.
    """
    frame = data_frame_class()
    if isinstance(data, frame):
        return data
    rows = _rows(data)
    if rows is None:
        way = ".text" if isinstance(data, str) else ".data"
        msg = f"The result isn't a list of objects (got {clip(data)}): use {way}."
        raise TypeError(msg)
    return frame([{k: _cell(value) for k, value in row.items()} for row in rows])


def _cell(value: Any) -> Any:
    # by the type: the `__class__` of an object may run code
    return value.value if issubclass(type(value), Enum) else value


def _rows(data: Any) -> list[Mapping[str, Any]] | None:
    whole = _object(data)
    if whole is not None:
        lists = [value for value in whole.values() if isinstance(value, list)]
        data = lists[0] if len(lists) == 1 else [whole]
    if not isinstance(data, list | tuple):
        return None
    rows = [row for item in data if (row := _object(item)) is not None]
    return rows if rows and len(rows) == len(data) else None


def _object(item: Any) -> Mapping[str, Any] | None:
    if isinstance(item, BaseModel):
        return item.model_dump()
    if is_dataclass(item) and not isinstance(item, type):
        return asdict(item)
    return item if isinstance(item, Mapping) else None
