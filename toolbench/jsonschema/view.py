"""`SchemaView`: gives the normal form of a JSON Schema and of its parts; each part is read once."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from toolbench.errors import Problem, SchemaError
from toolbench.jsonschema.composition.fold import (
    fold_all_of,
    fold_alternatives,
    guess_type,
)
from toolbench.jsonschema.composition.merge import with_limits_as_numbers
from toolbench.jsonschema.normal import Node
from toolbench.jsonschema.refs import definitions_of, leads_out, resolve
from toolbench.jsonschema.types import TYPES
from toolbench.jsonschema.validation.validator import SchemaValidator, validator_of
from toolbench.jsonschema.walk import TOGETHER, alternatives_in, every

_HOPS = 40
_FOLDED = frozenset({"$ref", *TOGETHER, "enum", "nullable"})


def read(schema: Any) -> Node:
    """Return the normal form of *schema*, a whole JSON Schema."""
    return SchemaView(schema).whole


class SchemaView:
    """A whole JSON Schema, and the nodes of its parts, made when they are needed; it never raises.

    Keep the view as long as you read the schema: each part is read only once.
    """

    def __init__(self, root: Any) -> None:
        """Make a view of *root*, the whole schema. It may be any object; a broken schema allows any value."""
        self.root = root
        self._broken: str | None = None
        # by the id of the schema, which is kept alive so that the id stays unique
        self._nodes: dict[int, tuple[Any, Node]] = {}
        self._validators: dict[int, tuple[Any, SchemaValidator]] = {}

    @property
    def whole(self) -> Node:
        """The node of the whole value."""
        return self.node(self.root)

    @cached_property
    def anything(self) -> Node:
        """The node of the empty schema, which allows any value."""
        return self.node({})

    def every(self) -> Iterator[tuple[str, Node]]:
        """Yield the whole schema and every schema in it: the place in the value, and the node."""
        return ((place, self.node(part)) for place, part in every(self.root))

    def node(self, schema: Any) -> Node:
        """Return the node of *schema*, which is a part of the whole schema or made of such parts."""
        known = self._nodes.get(id(schema))
        if known is None:
            known = self._nodes[id(schema)] = (schema, self._read(schema, _HOPS))
        return known[1]

    def by_name(self, schemas: Mapping[str, Any]) -> "NodesByName":
        """Return the nodes of *schemas*, parts of the whole schema, by name; each is read when needed."""
        return NodesByName(self, schemas)

    def resolve(self, schema: Any) -> tuple[Any, str]:
        """Follow the references of *schema*; return the target, and a problem, which may be empty."""
        return resolve(self.root, schema)

    @property
    def broken(self) -> str:
        """The reason why the whole schema cannot check values; empty if it can."""
        if self._broken is None:
            try:
                self._validator(self.root)
                self._broken = ""
            except SchemaError as error:
                self._broken = str(error)
        return self._broken

    def problems(self, schema: Any, value: Any) -> list[Problem]:
        """List the problems of *value* with *schema*, a part of the whole schema; none if it is broken."""
        try:
            return self._validator(schema).problems(value)
        except SchemaError:
            return []

    def fits(self, schema: Any, value: Any) -> bool:
        """Tell whether *value* fits *schema*, a part of the whole schema; False if the schema is broken."""
        try:
            return self._validator(schema).is_valid(value)
        except SchemaError:
            return False

    def _validator(self, schema: Any) -> SchemaValidator:
        """Return the validator of *schema*, a part of the whole schema, with all its definitions."""
        known = self._validators.get(id(schema))
        if known is None:
            known = self._validators[id(schema)] = (schema, self._compiled(schema))
        return known[1]

    def _compiled(self, schema: Any) -> SchemaValidator:
        root = self.root
        if schema is root or not (isinstance(schema, dict) and isinstance(root, dict)):
            return validator_of(schema)
        if self._leads_out and not self.broken:
            return validator_of(schema, root)
        return validator_of({**definitions_of(root), **schema})

    @cached_property
    def _leads_out(self) -> bool:
        return leads_out(self.root)

    def _read(self, raw: Any, fuel: int) -> Node:
        # Most schemas are, and reading must be quick
        if _is_plain(raw):
            return Node(self, raw, raw)
        schema, notice = self.resolve(raw)
        if schema is True or schema == {}:
            return Node(self, raw, {}, notice=notice)
        if schema is False:
            return Node(self, raw, {"not": {}}, notice="allows no value")
        if not isinstance(schema, Mapping):
            return Node(self, raw, {}, notice=f"is not a schema: {schema!r:.60}")
        schema = dict(with_limits_as_numbers(schema))
        schema = fold_all_of(schema, self._target)
        folded = fold_alternatives(schema, self._target)
        if folded.only is not None and fuel > 0:
            inner = self._read(folded.only, fuel - 1)
            return Node(
                self,
                raw,
                inner.schema,
                nullable=inner.nullable or folded.nullable,
                merged=inner.merged,
                notice=notice or inner.notice,
            )
        schema, unknown = guess_type(folded.schema)
        if unknown:
            notice = notice or f"has an unknown type: {unknown!r:.60}"
        return Node(
            self,
            raw,
            schema,
            nullable=folded.nullable,
            merged=folded.merged,
            notice=notice,
        )

    def _target(self, schema: Any) -> Any:
        return self.resolve(schema)[0]


def _is_plain(schema: Any) -> bool:
    """Tell whether *schema* is in normal form already."""
    return (
        isinstance(schema, dict)
        and isinstance(schema.get("type"), str)
        and schema["type"] in TYPES
        and schema.keys().isdisjoint(_FOLDED)
        and not isinstance(schema.get("items"), list)
        and with_limits_as_numbers(schema) is schema
    )


class NodesByName(Mapping[str, Node]):
    """A mapping of nodes by name; each node is read when it is needed."""

    def __init__(self, view: SchemaView, schemas: Mapping[str, Any]) -> None:
        """Make the mapping for *schemas*, which are parts of the whole schema of *view*."""
        self._view = view
        self.raw = schemas
        """The schemas as they are written."""

    def __getitem__(self, name: str) -> Node:
        return self._view.node(self.raw[name])

    def __contains__(self, name: object) -> bool:
        # Without reading it
        return name in self.raw

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def __len__(self) -> int:
        return len(self.raw)


_OF_THE_WHOLE = frozenset({*TOGETHER, "title", "description", "default"})


def one_of(schemas: Sequence[Any]) -> dict[str, Any]:
    """Return the schema of a value that fits exactly one of *schemas*."""
    return {"oneOf": list(schemas)}


def keyword_of(node: Node) -> str:
    """Return the keyword with which *node*, as it is written, lists alternatives; empty if with none."""
    return alternatives_in(node.raw)[0] if isinstance(node.raw, Mapping) else ""


def merged_alternatives(node: Node) -> list[Node]:
    """Return the nodes of the alternatives that were merged into *node*.

    An alternative without a type gets the limits that *node* has for all alternatives.
    """
    return [node.view.node(_with_limits(node, part)) for part in node.merged]


def _with_limits(node: Node, part: Any) -> Any:
    if not isinstance(part, Mapping) or "type" in part:
        return part
    beside = {k: v for k, v in node.schema.items() if k not in _OF_THE_WHOLE}
    return {**beside, **part}
