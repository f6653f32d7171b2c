"""Properties that an object has only in some cases: what `if`, `then` and `else` say of it."""

from collections.abc import Iterator
from typing import Any

from toolbench.widgets.fields.view import SchemaView

_INSIDE = ("allOf", "anyOf", "oneOf")


class Conditions:
    """The `if`s of an object schema, wherever in it they stand."""

    def __init__(self, view: SchemaView, schema: Any) -> None:
        """Read the conditions of *schema*."""
        self._view = view
        self._all = list(_conditions(view, schema, set()))

    @property
    def properties(self) -> dict[str, Any]:
        """Every property some case declares, with the schema it has there first."""
        found: dict[str, Any] = {}
        for condition in self._all:
            for case in ("then", "else"):
                found = {**found, **self._declared(condition.get(case)), **found}
        return found

    def properties_of(self, value: Any) -> set[str]:
        """Return the names of the properties that the case of *value* declares."""
        names: set[str] = set()
        for condition in self._all:
            holds = self._view.fits(condition["if"], value)
            names |= self._declared(condition.get("then" if holds else "else")).keys()
        return names

    def _declared(self, case: Any) -> dict[str, Any]:
        schema, _ = self._view.resolve(case)
        properties = schema.get("properties") if isinstance(schema, dict) else None
        return properties if isinstance(properties, dict) else {}


def _conditions(
    view: SchemaView, schema: Any, seen: set[int]
) -> Iterator[dict[str, Any]]:
    found, _ = view.resolve(schema)
    if not isinstance(found, dict):
        return
    if "if" in found:
        yield found
    for key in _INSIDE:
        parts = found.get(key)
        for part in parts if isinstance(parts, list) else []:
            if id(part) not in seen:  # a hostile schema repeats itself without end
                seen.add(id(part))
                yield from _conditions(view, part, seen)
