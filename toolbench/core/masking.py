"""Replace secret values wherever they stand in what a tool returned."""

import re
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import fields, is_dataclass
from json import dumps
from typing import Any

from pydantic import BaseModel

MASK = "<secret-hidden>"
_NOTHING = r"(?!)"  # matches nowhere


class Masking:
    """Replaces some strings in text, and in everything that holds text.

    Lists, tuples, sets, mappings (keys too), models and dataclasses are looked into, bytes as
    well. What holds none of the strings is returned as it is, not as a copy.
    """

    def __init__(self, values: Iterable[str]) -> None:
        """Replace *values*, as they are and as JSON writes them."""
        plain = set(values) - {""}
        written = {
            dumps(value, ensure_ascii=ascii_only)[1:-1]
            for value in plain
            for ascii_only in (True, False)
        }
        # longest first: one value may be part of another
        either = sorted(map(re.escape, plain | written), key=len, reverse=True)
        self._text = re.compile("|".join(either) or _NOTHING)
        self._data = re.compile(self._text.pattern.encode())

    def text(self, text: str) -> str:
        """Return *text* with every value replaced."""
        return self._text.sub(MASK, text)

    def anything(self, value: Any) -> Any:
        """Return *value*, or a copy of it with every value replaced."""
        match value:
            case str():
                return self.text(value) if self._text.search(value) else value
            case bytes() | bytearray():
                found = self._data.search(value)
                return self._data.sub(MASK.encode(), value) if found else value
            case list() | tuple() | set() | frozenset():
                return self._items(value)
            case Mapping():
                return self._mapping(value)
            case BaseModel():
                hidden = self._changed(dict(value))
                return value.model_copy(update=hidden) if hidden else value
            case _ if is_dataclass(value) and not isinstance(value, type):
                return self._dataclass(value)
        return value

    def _items(self, items: Any) -> Any:
        masked = [self.anything(item) for item in items]
        if all(new is old for new, old in zip(masked, items, strict=True)):
            return items
        kind = type(items)
        return kind(*masked) if hasattr(items, "_fields") else kind(masked)

    def _mapping(self, mapping: Mapping[Any, Any]) -> Mapping[Any, Any]:
        masked = {self.anything(k): v for k, v in mapping.items()}
        changed = self._changed(masked)
        if masked.keys() == mapping.keys() and not changed:
            return mapping
        return masked | changed

    def _dataclass(self, value: Any) -> Any:
        hidden = self._changed({f.name: getattr(value, f.name) for f in fields(value)})
        masked = copy(value) if hidden else value
        for name, new in hidden.items():
            object.__setattr__(masked, name, new)  # it may be frozen
        return masked

    def _changed(self, values: Mapping[Any, Any]) -> dict[Any, Any]:
        masked = {name: self.anything(value) for name, value in values.items()}
        return {name: new for name, new in masked.items() if new is not values[name]}
