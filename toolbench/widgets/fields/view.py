"""Read a JSON Schema the way a form sees it: references followed, `null` and `allOf` folded in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolbench.core.references import MISSING, follow
from toolbench.core.validation import SchemaValidator, validator_of
from toolbench.errors import Problem, SchemaError
from toolbench.widgets.fields.folding import fold_all_of, fold_alternatives, guess_type

_HOPS = 40


@dataclass(frozen=True)
class Node:
    """One position of a schema, simplified.

    Attributes:
        schema: The schema without `$ref`, `allOf` and the `null` alternative. Its
            `anyOf`, if any, holds at least two real alternatives.
        nullable: Whether `null` is accepted beside *schema*.
        notice: What could not be read, in words; empty when all is well.
    """

    schema: dict[str, Any]
    nullable: bool = False
    notice: str = ""


class SchemaView:
    """A whole schema and its parts, simplified on demand; it never raises and never recurses."""

    def __init__(self, root: Any) -> None:
        """Look at *root*, whatever it is: a broken schema reads as "anything goes"."""
        self.root = root
        self._broken: str | None = None
        # by the id of the schema, which is kept so that no other gets the same
        self._nodes: dict[int, tuple[Any, Node]] = {}
        self._validators: dict[int, tuple[Any, SchemaValidator]] = {}

    def node(self, schema: Any) -> Node:
        """Return *schema*, a part of the root, simplified."""
        known = self._nodes.get(id(schema))
        if known is None:
            known = self._nodes[id(schema)] = (schema, self._simplify(schema, _HOPS))
        return known[1]

    def resolve(self, schema: Any) -> tuple[Any, str]:
        """Follow the references of *schema*; return where they end, and what went wrong."""
        for _ in range(_HOPS):
            if not isinstance(schema, dict) or "$ref" not in schema:
                return schema, ""
            beside = {key: item for key, item in schema.items() if key != "$ref"}
            target = follow(self.root, schema["$ref"])
            if target is MISSING:
                return beside, f"refers to {schema['$ref']!r}, which is not there"
            schema = {**target, **beside} if isinstance(target, dict) else target
        return {}, "refers to itself"

    @property
    def broken(self) -> str:
        """Why the whole schema cannot be used to validate; empty when it can."""
        if self._broken is None:
            try:
                self._validator(self.root)
                self._broken = ""
            except SchemaError as error:
                self._broken = str(error)
        return self._broken

    def problems(self, schema: Any, value: Any) -> list[Problem]:
        """List what is wrong with *value* under *schema*, as far as that can be told."""
        try:
            return self._validator(schema).problems(value)
        except SchemaError:
            return []

    def fits(self, schema: Any, value: Any) -> bool:
        """Tell whether *value* is valid under *schema*, as far as that can be told."""
        try:
            return self._validator(schema).is_valid(value)
        except SchemaError:
            return False

    def _validator(self, schema: Any) -> SchemaValidator:
        """Return the validator of a part of the root: it comes with the definitions."""
        known = self._validators.get(id(schema))
        if known is None:
            whole = schema
            if isinstance(schema, dict) and isinstance(self.root, Mapping):
                shared = ("$schema", "$defs", "definitions")
                named = {key: self.root[key] for key in shared if key in self.root}
                whole = {**named, **schema}
            known = self._validators[id(schema)] = (schema, validator_of(whole))
        return known[1]

    def _simplify(self, schema: Any, fuel: int) -> Node:
        schema, notice = self.resolve(schema)
        if schema is True or schema == {}:
            return Node({}, notice=notice)
        if schema is False:
            return Node({"not": {}}, notice="allows no value")
        if not isinstance(schema, dict):
            return Node({}, notice=f"is no schema: {schema!r:.60}")
        schema = fold_all_of(schema, lambda part: self.resolve(part)[0])
        folded = fold_alternatives(schema, lambda part: self.resolve(part)[0])
        if folded.only is not None and fuel > 0:
            inner = self._simplify(folded.only, fuel - 1)
            nullable = inner.nullable or folded.nullable
            return Node(inner.schema, nullable, notice or inner.notice)
        schema, unknown = guess_type(folded.schema)
        if unknown:
            notice = notice or f"has a type no JSON Schema knows: {unknown!r:.60}"
        return Node(schema, folded.nullable, notice)
