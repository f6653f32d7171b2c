"""`Node`, the normal form of a schema for one value, and `SchemaView`, which reads each part once."""

from collections import deque
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from toolbench.errors import Problem, SchemaError
from toolbench.jsonschema.compose import (
    fold_all_of,
    fold_alternatives,
    guess_type,
    has_type,
    listed_values,
    resolve,
    with_limits_as_numbers,
)
from toolbench.jsonschema.refs import definition_name, definitions_of, leads_out
from toolbench.jsonschema.types import CLASSES, TYPES, Json, Schema, type_of
from toolbench.jsonschema.validate import SchemaValidator, validator_of
from toolbench.jsonschema.walk import (
    COMPOSITION,
    DEPENDENT,
    LISTS,
    MAPPINGS,
    SINGLE,
    TOGETHER,
    alternatives_in,
    every,
    mapping,
    required_of,
    sequence,
    types_of,
)
from toolbench.jsonschema.words import LIMITING

SOURCES = frozenset(("if", *DEPENDENT, *COMPOSITION))
"""The keywords by which a schema has cases, or is made of schemas that may have cases."""
# The most cases to read: a hostile schema has any number
_MOST_CASES = 200

_Test = tuple[Any, bool]
"""A test of an object: a schema or a key, and whether the object must fit it (have it) or must not."""


@dataclass(frozen=True)
class _Case:
    """A schema that an object has to fit only if it passes all *tests*.

    Attributes:
        tests: The tests of this case and of the cases around it.
        schema: The schema that the object then has to fit.
    """

    tests: tuple[_Test, ...]
    schema: Any


class Conditions:
    """The cases (`if`, `then`, `else`) in the schema of an object, also nested cases; at most 200."""

    def __init__(self, node: "Node") -> None:
        """Read the cases in the schema of *node*."""
        self._view = node.view
        self._cases = list(islice(_cases(node.view, node.raw, (), set()), _MOST_CASES))

    def properties_beside(self, nodes: Iterable["Node"]) -> "dict[str, Node]":
        """Return the properties that cases declare, without the properties that *nodes* have.

        If several cases declare a property, the first of these cases counts.
        """
        properties: dict[str, Node] = {}
        for case in self._cases:
            for name, node in self._declared(case).items():
                properties.setdefault(name, node)
        known = {name for node in nodes for name in node.properties}
        return {n: node for n, node in properties.items() if n not in known}

    def properties_of(self, value: Any) -> set[str]:
        """Return the names of the properties in all cases that apply to *value*."""
        names: set[str] = set()
        for case in self._cases:
            if all(self._holds(test, value) for test in case.tests):
                names |= self._declared(case).keys()
        return names

    def _holds(self, test: _Test, value: Any) -> bool:
        schema, expected = test
        if isinstance(schema, str):
            return isinstance(value, Mapping) and schema in value
        return self._view.fits(schema, value) is expected

    def _declared(self, case: _Case) -> "Mapping[str, Node]":
        return self._view.node(case.schema).declared


def _cases(
    view: "SchemaView",
    schema: Any,
    tests: tuple[_Test, ...],
    visited: set[tuple[Any, ...]],
) -> Iterator[_Case]:
    """Yield the cases in *schema* and in the schemas that it is made of.

    *tests* are the tests of the case to which *schema* belongs: each yielded case needs them too.
    """
    schema, _ = view.resolve(schema)
    if not isinstance(schema, Mapping):
        return
    parts = [_Case(tests, part) for key in TOGETHER for part in sequence(schema, key)]
    for case in [*parts, *_own(schema, tests)]:
        place = (id(case.schema), *map(_key, case.tests))
        # A hostile schema repeats itself for ever
        if place not in visited:
            visited.add(place)
            if case.tests:
                yield case
            yield from _cases(view, case.schema, case.tests, visited)


def _own(schema: Schema, tests: tuple[_Test, ...]) -> Iterator[_Case]:
    """Yield the cases that *schema* itself declares, except cases whose condition is in *tests* already."""
    own: list[tuple[_Test, Any]] = []
    if "if" in schema:
        own += [((schema["if"], True), schema.get("then"))]
        own += [((schema["if"], False), schema.get("else"))]
    for keyword in DEPENDENT:
        own += [((name, True), part) for name, part in mapping(schema, keyword).items()]
    known = {_key(test)[0] for test in tests}
    for test, part in own:
        if isinstance(part, Mapping) and _key(test)[0] not in known:
            yield _Case((*tests, test), part)


def _key(test: _Test) -> tuple[Any, bool]:
    """Return a key for *test*. Equal schemas that stand at two places have different keys."""
    schema, expected = test
    return (schema if isinstance(schema, str) else id(schema)), expected


# --- listed values -------------------------------------------------------------------

# if the schema has one of these keywords, it may refuse a listed value
_JUDGING = frozenset((*MAPPINGS, *LISTS, *SINGLE, *LIMITING, "required")) - {
    "$defs",
    "definitions",
}


def accepted_values(node: "Node") -> list[tuple[Any, str]]:
    """Return the listed values that *node* accepts, each with its name, which may be empty."""
    values = listed_values(node.schema)
    if not values:
        return []
    names = node.schema.get("enumNames")
    if not isinstance(names, list) or len(names) != len(values):
        names = [""] * len(values)
    pairs = [
        (value, name if isinstance(name, str) else "")
        for value, name in zip(values, names, strict=True)
        if has_type(value, types_of(node.schema))
    ]
    fitting = accepted(node, [value for value, _ in pairs])
    return pairs if len(fitting) == len(pairs) else _of(pairs, fitting)


def _of(pairs: list[tuple[Any, str]], fitting: list[Any]) -> list[tuple[Any, str]]:
    known = {id(value) for value in fitting}
    return [pair for pair in pairs if id(pair[0]) in known]


def accepted(node: "Node", values: list[Any]) -> list[Any]:
    """Return the items of *values* that *node* accepts; all items if the schema is broken."""
    raw = node.raw
    composed = isinstance(raw, dict) and not raw.keys().isdisjoint(COMPOSITION)
    if not composed and node.schema.keys().isdisjoint(_JUDGING):
        # There are no other rules: the usual case, quickly checked
        return values
    return [value for value in values if not node.problems(value)]


def lists_null(node: "Node") -> bool:
    """Tell whether *node*, as it is written, has null among its listed values."""
    return isinstance(node.raw, dict) and None in (listed_values(node.raw) or ())


def takes_nothing(node: "Node") -> bool:
    """Tell whether *node* accepts no value at all; only simple cases are recognised."""
    if node.schema.keys().isdisjoint(("const", "enum")):
        return bool(node.schema == {"not": {}})
    return not node.values


# --- the node ------------------------------------------------------------------------

# Of JSON Schema, of pydantic, of OpenAPI
_ENCODINGS = frozenset({"base64", "binary", "byte"})
# The most alternatives to read: a hostile schema has any number
_MOST = 200

# Since a node has another `type`
PythonType = type


class Node:
    """The normal form of a schema for one value, such as a property or an item.

    Attributes:
        view: The view of the whole schema.
        raw: The schema of the value as it was written.
        schema: The keywords, also those of references and of the parts of `allOf`, but without
            `$ref`, `allOf` and the `null` alternative. An `anyOf` has at least two real
            alternatives; an `allOf` stays for rules that no other keyword can express, such as a
            second pattern. Extensions (`toolbench`, `x-...`) are in it too.
        nullable: Whether `null` is accepted in addition to *schema*.
        merged: The similar alternatives that were merged, as they were written.
        notice: A sentence about a part that could not be read; empty if there is none.
    """

    def __init__(
        self,
        view: "SchemaView",
        raw: Any,
        schema: Json,
        *,
        nullable: bool = False,
        merged: tuple[Any, ...] = (),
        notice: str = "",
    ) -> None:
        """Make the node for *raw*; the other arguments are the attributes of the class."""
        self.view, self.raw, self.schema = view, raw, schema
        self.nullable, self.merged, self.notice = nullable, merged, notice
        self._parts: dict[Any, Node] = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {' or '.join(self.types) or 'anything'}>"

    # --- what it is -----------------------------------------------------------------

    @property
    def type(self) -> str | None:
        """The type of the value, if the schema names or implies exactly one; else None."""
        kind = self.schema.get("type")
        return kind if isinstance(kind, str) else None

    @property
    def types(self) -> tuple[str, ...]:
        """The types that a value may have; an empty tuple means any type. For `null` see `takes_null`."""
        if self.type is not None:
            return (self.type,)
        each = [node._own_types for node in self.alternatives]
        if not all(each):
            return ()
        return tuple(dict.fromkeys(kind for types in each for kind in types))

    @property
    def _own_types(self) -> list[str]:
        if self.type is not None:
            return [self.type]
        values = [value for value in self.values if value is not None] or self.values
        return [kind for kind in map(type_of, values) if kind is not None]

    @cached_property
    def classes(self) -> frozenset[PythonType] | None:
        """The Python classes that a value may have, including NoneType; None means any class."""
        if not self.types:
            return None
        known = {CLASSES[kind] for kind in self.types}
        if float in known:
            known.add(int)
        if self.takes_null:
            known.add(CLASSES["null"])
        return frozenset(known)

    @property
    def takes_null(self) -> bool:
        """Whether the value may be null, by this node or by an alternative."""
        return self.nullable or any(
            node.nullable or node.type == "null" for node in self.alternatives
        )

    @property
    def is_text(self) -> bool:
        """Whether the value is always a string or null."""
        return self.types == ("string",)

    @property
    def is_bytes(self) -> bool:
        """Whether the value is a text that stands for bytes, such as the base64 of a file."""
        is_encoded = not _ENCODINGS.isdisjoint((self.text("contentEncoding"), self.format))
        is_image = self.text("contentMediaType").startswith("image/")
        return self.type == "string" and (is_encoded or is_image)

    # --- texts and flags ------------------------------------------------------------

    @property
    def title(self) -> str:
        """The title; empty if there is none."""
        return self.text("title")

    @property
    def own_title(self) -> str:
        """The title in the schema itself, not in a definition that it refers to; empty if there is none."""
        return _text(self.raw.get("title")) if isinstance(self.raw, Mapping) else ""

    @property
    def description(self) -> str:
        """The description in the schema or its merged alternatives; empty if none."""
        own = _text(self.schema.get("description"))
        return own or _joined(part for part in self.merged if isinstance(part, Mapping))

    @property
    def explanation(self) -> str:
        """The description; if there is none, the descriptions of the alternatives."""
        return self.description or _joined(node.schema for node in self.alternatives)

    @property
    def definition(self) -> str:
        """The name of the definition that the schema refers to; empty if there is none."""
        return definition_name(self.raw)

    @property
    def format(self) -> str:
        """The format; empty if there is none."""
        return self.text("format")

    def text(self, keyword: str) -> str:
        """Return the value of *keyword*, such as `contentEncoding`, if it is a text; else an empty text."""
        return _text(self.schema.get(keyword))

    @property
    def is_deprecated(self) -> bool:
        """Whether callers should stop sending the value."""
        return self.schema.get("deprecated") is True

    @property
    def is_blank(self) -> bool:
        """Whether the schema has no keywords."""
        return not self.schema

    def limit(self, keyword: str) -> int | float | None:
        """Return the number that *keyword* sets as a limit; None if there is none."""
        value = self.schema.get(keyword)
        return value if type_of(value) in ("integer", "number") else None

    @property
    def extension(self) -> Mapping[str, Any]:
        """The options for this value, `json_schema_extra={"toolbench": ...}`; empty if there are none."""
        return mapping(self.schema, "toolbench")

    def says(self, *keywords: str) -> bool:
        """Tell whether the schema or one of its alternatives has one of *keywords*."""
        if not self.schema.keys().isdisjoint(keywords):
            return True
        nodes = self.alternatives
        schemas = [*(node.schema for node in nodes), *self.merged]
        return any(
            isinstance(schema, Mapping) and not schema.keys().isdisjoint(keywords)
            for schema in schemas
        )

    @property
    def is_secret(self) -> bool:
        """Whether the schema or an alternative says so, by `format: password` or `writeOnly`."""
        schemas = list(self.merged)
        for node in self.alternatives:
            schemas += [node.schema, *node.merged]
        for schema in schemas:
            own = schema if isinstance(schema, Mapping) else {}
            if own.get("format") == "password" or own.get("writeOnly") is True:
                return True
        return False

    # --- its values -----------------------------------------------------------------

    @cached_property
    def _named_values(self) -> list[tuple[Any, str]]:
        return accepted_values(self)

    @property
    def values(self) -> list[Any]:
        """The values that the schema lists (`const` or `enum`) and accepts; empty if it lists none."""
        return [value for value, _ in self._named_values]

    @property
    def value_names(self) -> list[str]:
        """The names of `values` (`enumNames`); the name of a value may be empty."""
        return [name for _, name in self._named_values]

    @property
    def is_constant(self) -> bool:
        """Whether the schema accepts exactly one value, its `const`."""
        return "const" in self.schema and len(self._named_values) == 1

    @property
    def has_default(self) -> bool:
        """Whether a default is declared; it may be None."""
        return "default" in self.schema

    @property
    def default(self) -> Any:
        """The default; None also if none is declared."""
        return self.schema.get("default")

    @property
    def examples(self) -> list[Any]:
        """The examples; empty if there are none."""
        return sequence(self.schema, "examples")

    @property
    def choices(self) -> list[Any]:
        """The listed values of the schema and its alternatives; for a boolean, both values."""
        choices = [value for node in self.alternatives for value in node.values]
        if any(node.type == "boolean" and not node.values for node in self.alternatives):
            choices += [True, False]
        return accepted(self, choices)

    def fits(self, value: Any) -> bool:
        """Tell whether *value* fits this node; false if the schema is broken."""
        return self.view.fits(self.raw, value)

    def problems(self, value: Any) -> list[Problem]:
        """List the reasons why *value* does not fit this node; none if the schema is broken."""
        return self.view.problems(self.raw, value)

    # --- its alternatives -----------------------------------------------------------

    @property
    def branches(self) -> tuple["Node", ...]:
        """The alternatives, at least two; empty if there is no choice between alternatives."""
        if "anyOf" not in self.schema:
            return ()
        return tuple(map(self.view.node, sequence(self.schema, "anyOf")))

    @property
    def alternatives(self) -> tuple["Node", ...]:
        """The alternatives, with their own alternatives in place of them; without any, only this node."""
        return self._ends if self.schema.get("anyOf") else (self,)

    @cached_property
    def _ends(self) -> tuple["Node", ...]:
        ends: list[Node] = []
        todo = deque(self.branches)
        for _ in range(_MOST):
            if not todo:
                break
            node = todo.popleft()
            if node.branches:
                todo.extend(node.branches)
            else:
                ends.append(node)
        return tuple(ends)

    # --- the parts of an object -----------------------------------------------------

    @cached_property
    def properties(self) -> Mapping[str, "Node"]:
        """The properties by name, in the order of the schema; each is read when it is needed.

        A required property that is not declared is included, with the schema for other keys.
        """
        declared = self.declared
        missing = [name for name in self.required if name not in declared]
        if not missing:
            return declared
        others = {n: self.of_other_key(n) or self.view.anything for n in missing}
        return {**declared, **others}

    @cached_property
    def declared(self) -> "NodesByName":
        """The properties that the schema itself declares."""
        return self.view.by_name(mapping(self.schema, "properties"))

    @cached_property
    def required(self) -> KeysView[str]:
        """The names of required properties, declared or not."""
        return dict.fromkeys(required_of(self.schema)).keys()

    @cached_property
    def conditions(self) -> Conditions:
        """The cases (`if`, `dependentSchemas`) in which an object has more properties."""
        return Conditions(self)

    @property
    def conditional(self) -> Mapping[str, "Node"]:
        """The properties that only some of the cases declare."""
        # most nodes have no cases: this check is quicker than reading them
        raw = self.raw
        may_have_cases = isinstance(raw, Mapping) and not SOURCES.isdisjoint(raw)
        return self._in_cases if may_have_cases else {}

    @cached_property
    def _in_cases(self) -> Mapping[str, "Node"]:
        return self.conditions.properties_beside(self.alternatives)

    @property
    def patterns(self) -> Mapping[str, "Node"]:
        """For each regular expression: the node for the values whose keys match it."""
        return self.view.by_name(mapping(self.schema, "patternProperties"))

    def of_other_key(self, key: str) -> "Node | None":
        """Return the node for the value of *key*, which is not declared; None if it has no schema."""
        for pattern, node in self.patterns.items():
            # Not a regular expression
            with suppress(SchemaError):
                # patterns take linear time in the validator, but not in Python
                if validator_of({"pattern": pattern}).is_valid(key):
                    return node
        return self.additional

    @property
    def additional(self) -> "Node | None":
        """The node for the values of undeclared keys; None if their schema is missing or only a boolean."""
        beside = self.schema.get("additionalProperties")
        return self.view.node(beside) if isinstance(beside, Mapping) else None

    @property
    def is_closed(self) -> bool:
        """Whether undeclared keys are forbidden."""
        return self.schema.get("additionalProperties") is False

    @property
    def is_open(self) -> bool:
        """Whether a form lets a person add keys: the schema allows this, or declares no keys."""
        if "additionalProperties" in self.schema:
            return not self.is_closed
        return not isinstance(self.schema.get("properties"), Mapping)

    @property
    def key_names(self) -> "Node | None":
        """The node for the keys themselves (`propertyNames`); None if there is none."""
        names = self.schema.get("propertyNames")
        return self.view.node(names) if isinstance(names, Mapping) else None

    @property
    def names(self) -> list[str]:
        """The names of the properties in all alternatives and all cases."""
        own = (name for node in self.alternatives for name in node.properties)
        return list(dict.fromkeys([*own, *self.conditional]))

    # --- the parts of a list --------------------------------------------------------

    @property
    def items(self) -> "Node | None":
        """The node for the items after `prefix_items`; None if there is none."""
        items = self.schema.get("items")
        return self.view.node(items) if isinstance(items, Mapping) else None

    @cached_property
    def prefix_items(self) -> tuple["Node", ...]:
        """The nodes for the first items, one by one, as in a tuple."""
        return tuple(map(self.view.node, sequence(self.schema, "prefixItems")))

    # --- any part -------------------------------------------------------------------

    def at(self, *path: Any) -> "Node":
        """Return the node for the part of the value at *path*; without a schema, a node for any value."""
        node = self
        for step in path:
            node = node._part(step)
        return node

    def _part(self, step: Any) -> "Node":
        if isinstance(step, str) and step in self.conditional:
            return self.conditional[step]
        if not self.branches:
            own = self._own_part(step)
            return self.view.anything if own is None else own
        if step not in self._parts:
            parts = [node._own_part(step) for node in self.alternatives]
            nodes = list(dict.fromkeys(node for node in parts if node is not None))
            if len(nodes) > 1:
                union = {"anyOf": [node.raw for node in nodes]}
                self._parts[step] = self.view.node(union)
            else:
                self._parts[step] = nodes[0] if nodes else self.view.anything
        return self._parts[step]

    def _own_part(self, step: Any) -> "Node | None":
        if isinstance(step, str):
            return self.properties.get(step) or self.of_other_key(step)
        places = self.prefix_items
        return places[step] if step < len(places) else self.items


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _joined(schemas: Any) -> str:
    """Return the descriptions of *schemas*, each once; a constant stands before its description."""
    texts = dict.fromkeys(
        f"{schema['const']}: {text}" if "const" in schema else text
        for schema in schemas
        if (text := _text(schema.get("description")))
    )
    return " ".join(texts)


# --- the view of the whole schema ----------------------------------------------------

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
