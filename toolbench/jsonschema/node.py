"""`Node`, the normal form of a schema for one value, and `SchemaView`, which reads each part once."""

from collections import deque
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

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
from toolbench.jsonschema.types import CLASSES, TYPES, Json, Schema, type_of
from toolbench.jsonschema.validate import SchemaValidator, validator_of
from toolbench.jsonschema.walk import (
    COMPOSITION,
    DEFINITIONS,
    DEPENDENT,
    LISTS,
    MAPPINGS,
    REFERENCES,
    SINGLE,
    TOGETHER,
    alternatives_in,
    children,
    definition_name,
    definitions_of,
    every,
    follow,
    leads_out,
    mapping,
    required_of,
    says_secret,
    sequence,
    types_of,
)
from toolbench.jsonschema.words import LIMITING

# Of JSON Schema, of pydantic, of OpenAPI
_ENCODINGS = frozenset({"base64", "binary", "byte"})
# The most alternatives, and the most cases, to read: a hostile schema has any number
_MOST = 200
# The most alternatives inside of each other of which only one is left
_HOPS = 40
# The most schemas to search for secrets
_MOST_PLACES = 10_000
# A schema without these is in normal form already, if it has one known type
_FOLDED = frozenset({"$ref", *TOGETHER, "enum", "nullable"})
# If the schema has one of these keywords, it may refuse a value that it lists
_JUDGING = frozenset((*MAPPINGS, *LISTS, *SINGLE, *LIMITING, "required")) - {
    "$defs",
    "definitions",
}
# A schema has cases only if it has one of these, or is made of schemas that may have cases
_COMPOSITION = frozenset(COMPOSITION)
_CASES = frozenset(("if", *DEPENDENT, *COMPOSITION))
_OF_THE_WHOLE = frozenset({*TOGETHER, "title", "description", "default"})

# Since a node has another `type`
PythonType = type


class Node:
    """The normal form of a schema for one value, such as a property or an item.

    Attributes:
        view: The view of the whole schema to which this node belongs.
        raw: The schema of the value in its original form.
        schema: The schema of the value in normal form. References are replaced by their targets,
            `allOf` is merged, and the alternative `null` is removed. An `anyOf` has at least two
            alternatives. An `allOf` remains only for rules that do not fit into one keyword, such
            as a second pattern. Extensions (`toolbench`, `x-...`) are kept.
        nullable: Whether the value may also be `null`. The attribute `schema` does not contain this
            information.
        merged: The original forms of the alternatives that were merged into `schema`.
        notice: The problem that was found in the schema, such as an unknown type. It is empty if
            there is no problem.
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
        """The types that a value may have; empty for any type. For `null`, use `takes_null`."""
        if self.type is not None:
            return (self.type,)
        types: dict[str, None] = {}
        for node in self.alternatives:
            own = node._own_types
            if not own:
                return ()
            types.update(dict.fromkeys(own))
        return tuple(types)

    @property
    def _own_types(self) -> list[str]:
        if self.type is not None:
            return [self.type]
        types = list(filter(None, map(type_of, self.values)))
        # Null is a type only if there is no other
        return [kind for kind in types if kind != "null"] or types

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
        if self.nullable:
            return True
        return any(node.nullable or node.type == "null" for node in self.alternatives)

    @property
    def is_text(self) -> bool:
        """Whether the value is always a string or null."""
        return self.types == ("string",)

    @property
    def is_bytes(self) -> bool:
        """Whether the value is a string that stands for bytes, such as the base64 of a file."""
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
        """The title in the schema itself. The title of a definition it refers to is ignored."""
        return _text(self.raw, "title")

    @property
    def description(self) -> str:
        """The description in the schema or its merged alternatives; empty if none."""
        return self.text("description") or _descriptions(self.merged)

    @property
    def explanation(self) -> str:
        """The description; if there is none, the descriptions of the alternatives."""
        return self.description or _descriptions([node.schema for node in self.alternatives])

    @property
    def definition(self) -> str:
        """The name of the definition that the schema refers to; empty if there is none."""
        return definition_name(self.raw)

    @property
    def format(self) -> str:
        """The format; empty if there is none."""
        return self.text("format")

    def text(self, keyword: str) -> str:
        """Return the value of *keyword*, such as `contentEncoding`; empty if it is not a string."""
        return _text(self.schema, keyword)

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
        limit: int | float | None = self.schema.get(keyword)
        if type_of(limit) not in ("integer", "number"):
            return None
        return limit

    @property
    def extension(self) -> Mapping[str, Any]:
        """The options of toolbench for this value; they may be empty.

        They come from `json_schema_extra={"toolbench": ...}` of a pydantic field.
        """
        return mapping(self.schema, "toolbench")

    def says(self, *keywords: str) -> bool:
        """Tell whether the schema or one of its alternatives has one of *keywords*."""
        schemas = [self.schema, *self.merged]
        schemas += [node.schema for node in self.alternatives]
        for schema in schemas:
            if isinstance(schema, Mapping) and not schema.keys().isdisjoint(keywords):
                return True
        return False

    @property
    def is_secret(self) -> bool:
        """Whether the schema or an alternative is secret by `format: password` or `writeOnly`."""
        schemas = list(self.merged)
        for node in self.alternatives:
            schemas += [node.schema, *node.merged]
        return any(map(says_secret, schemas))

    # --- its values -----------------------------------------------------------------

    @cached_property
    def _named_values(self) -> list[tuple[Any, str]]:
        """The listed values that the schema accepts, each with its name, which may be empty."""
        values = listed_values(self.schema)
        if not values:
            return []
        names = sequence(self.schema, "enumNames")
        if len(names) != len(values):
            names = [""] * len(values)
        types = types_of(self.schema)
        pairs = []
        for value, name in zip(values, names, strict=True):
            if has_type(value, types):
                pairs.append((value, name if isinstance(name, str) else ""))
        if self._may_refuse_listed:
            pairs = [pair for pair in pairs if not self.problems(pair[0])]
        return pairs

    @property
    def _may_refuse_listed(self) -> bool:
        """Whether other rules of the schema may refuse a listed value. This check is quick."""
        is_composed = isinstance(self.raw, dict) and not _COMPOSITION.isdisjoint(self.raw)
        return is_composed or not _JUDGING.isdisjoint(self.schema)

    @property
    def values(self) -> list[Any]:
        """The values that the schema lists (`const` or `enum`) and accepts; may be empty."""
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
        """The default; None if there is none."""
        return self.schema.get("default")

    @property
    def examples(self) -> list[Any]:
        """The examples; empty if there are none."""
        return sequence(self.schema, "examples")

    @property
    def choices(self) -> list[Any]:
        """The listed values of the schema and its alternatives; for a boolean, true and false."""
        choices: list[Any] = []
        booleans: list[Any] = []
        for node in self.alternatives:
            choices += node.values
            if node.type == "boolean" and not node.values:
                booleans = [True, False]
        choices += booleans
        if self._may_refuse_listed:
            choices = [choice for choice in choices if not self.problems(choice)]
        return choices

    def fits(self, value: Any) -> bool:
        """Tell whether *value* fits this node. The result is False if the schema is not valid."""
        return self.view.fits(self.raw, value)

    def problems(self, value: Any) -> list[Problem]:
        """List the reasons why *value* does not fit this node; empty if the schema is not valid."""
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
        """All alternatives, at any depth, that have no alternatives themselves.

        If this node has no alternatives, the result is only this node.
        """
        if self.schema.get("anyOf"):
            return self._ends
        return (self,)

    @cached_property
    def _ends(self) -> tuple["Node", ...]:
        ends: list[Node] = []
        todo = deque(self.branches)
        for _ in range(_MOST):
            if not todo:
                break
            node = todo.popleft()
            todo.extend(node.branches)
            if not node.branches:
                ends.append(node)
        return tuple(ends)

    # --- the parts of an object -----------------------------------------------------

    @cached_property
    def properties(self) -> Mapping[str, "Node"]:
        """The properties by name, in the order of the schema.

        Properties that are required, but not declared, are included too. Their nodes come from
        keywords such as `additionalProperties`.
        """
        missing = [name for name in self.required if name not in self.declared]
        if not missing:
            return self.declared
        properties = dict(self.declared)
        for name in missing:
            properties[name] = self.of_other_key(name) or self.view.anything
        return properties

    @cached_property
    def declared(self) -> "NodesByName":
        """The properties that the schema itself declares."""
        return self.view.by_name(mapping(self.schema, "properties"))

    @cached_property
    def required(self) -> KeysView[str]:
        """The names of required properties, declared or not."""
        return dict.fromkeys(required_of(self.schema)).keys()

    @property
    def conditional(self) -> Mapping[str, "Node"]:
        """The properties that exist only in some cases (`if`, `dependentSchemas`).

        If several cases declare the same property, the node is made from the first of these cases.
        """
        # Most nodes have no cases: this check is quicker than reading them
        if not isinstance(self.raw, Mapping) or _CASES.isdisjoint(self.raw):
            return {}
        return self._conditional

    @cached_property
    def _conditional(self) -> Mapping[str, "Node"]:
        properties: dict[str, Node] = {}
        for case in self._cases:
            for name, node in self.view.node(case.schema).declared.items():
                properties.setdefault(name, node)
        for node in self.alternatives:
            for name in node.properties:
                properties.pop(name, None)
        return properties

    def names_of_cases(self, value: Any) -> set[str]:
        """Return the names of the properties declared by the cases that apply to *value*."""
        names: set[str] = set()
        for case in self._cases:
            if all(self._holds(what, value) is expected for what, expected in case.tests):
                names.update(self.view.node(case.schema).declared)
        return names

    def _holds(self, what: Any, value: Any) -> bool:
        """Tell whether *value* fits *what*, if this is a schema, or has *what* as a key."""
        if isinstance(what, str):
            return isinstance(value, Mapping) and what in value
        return self.view.fits(what, value)

    @cached_property
    def _cases(self) -> list["_Case"]:
        return list(islice(_cases(self.view, self.raw, (), set()), _MOST))

    @property
    def patterns(self) -> Mapping[str, "Node"]:
        """The nodes for the values of undeclared keys, by the regular expression of the keys."""
        return self.view.by_name(mapping(self.schema, "patternProperties"))

    def of_other_key(self, key: str) -> "Node | None":
        """Return the node for the value of the undeclared *key*; None if it has no schema."""
        for pattern, node in self.patterns.items():
            # Not a regular expression
            with suppress(SchemaError):
                # patterns take linear time in the validator, but not in Python
                if validator_of({"pattern": pattern}).is_valid(key):
                    return node
        return self.additional

    @property
    def additional(self) -> "Node | None":
        """The node for the values of undeclared keys; None if the schema does not describe them."""
        return self._under("additionalProperties")

    @property
    def is_closed(self) -> bool:
        """Whether undeclared keys are forbidden."""
        return self.schema.get("additionalProperties") is False

    @property
    def is_open(self) -> bool:
        """Whether a form lets the user add keys.

        This is true if `additionalProperties` allows other keys, or if no properties are declared.
        """
        if "additionalProperties" in self.schema:
            return not self.is_closed
        return not isinstance(self.schema.get("properties"), Mapping)

    @property
    def key_names(self) -> "Node | None":
        """The node for the keys themselves (`propertyNames`); None if there is none."""
        return self._under("propertyNames")

    @property
    def names(self) -> list[str]:
        """The names of the properties in all alternatives and all cases."""
        names: list[str] = []
        for node in self.alternatives:
            names += node.properties
        names += self.conditional
        return list(dict.fromkeys(names))

    # --- the parts of a list --------------------------------------------------------

    @property
    def items(self) -> "Node | None":
        """The node for the items of a list after `prefix_items`; None if there is none."""
        return self._under("items")

    @cached_property
    def prefix_items(self) -> tuple["Node", ...]:
        """The nodes for the first items of a list, if each has its own schema, as in a tuple."""
        return tuple(map(self.view.node, sequence(self.schema, "prefixItems")))

    # --- any part -------------------------------------------------------------------

    def at(self, *path: Any) -> "Node":
        """Return the node for the part at *path*; if it has no schema, a node for any value."""
        node = self
        for step in path:
            node = node._part(step)
        return node

    def _part(self, step: Any) -> "Node":
        if isinstance(step, str) and step in self.conditional:
            return self.conditional[step]
        if not self.branches:
            return self._own_part(step) or self.view.anything
        if step not in self._parts:
            self._parts[step] = self._part_of_all(step)
        return self._parts[step]

    def _part_of_all(self, step: Any) -> "Node":
        parts: dict[Node, None] = {}
        for node in self.alternatives:
            own = node._own_part(step)
            if own is not None:
                parts[own] = None
        nodes = list(parts)
        if not nodes:
            return self.view.anything
        if len(nodes) == 1:
            return nodes[0]
        return self.view.node({"anyOf": [node.raw for node in nodes]})

    def _own_part(self, step: Any) -> "Node | None":
        if isinstance(step, str):
            return self.properties.get(step) or self.of_other_key(step)
        place: int = min(step, len(self.prefix_items))
        return (*self.prefix_items, self.items)[place]

    def _under(self, keyword: str) -> "Node | None":
        """Return the node of the schema under *keyword*; None if there is none."""
        schema = self.schema.get(keyword)
        if not isinstance(schema, Mapping):
            return None
        return self.view.node(schema)


def _text(schema: Any, keyword: str) -> str:
    """Return the string under *keyword* in *schema*; empty if there is none."""
    if isinstance(schema, Mapping) and isinstance(schema.get(keyword), str):
        return str(schema[keyword])
    return ""


def _descriptions(schemas: Iterable[Any]) -> str:
    """Return the different descriptions of *schemas*. That of a constant begins with its value."""
    texts: dict[str, None] = {}
    for schema in schemas:
        text = _text(schema, "description")
        if text and "const" in schema:
            text = f"{schema['const']}: {text}"
        texts[text] = None
    return " ".join(filter(None, texts))


def lists_null(node: Node) -> bool:
    """Tell whether *node*, as it is written, has null among its listed values."""
    return isinstance(node.raw, dict) and None in (listed_values(node.raw) or ())


def takes_nothing(node: Node) -> bool:
    """Tell whether *node* accepts no value at all; only simple cases are recognised."""
    if "const" in node.schema or "enum" in node.schema:
        return not node.values
    return node.schema == {"not": {}}


# --- the cases of an object ---------------------------------------------------------


_Test = tuple[Any, bool]
"""A condition for an object: a schema that it must fit, or a key that it must have.

If the second value is False, the object must not fit the schema, or must not have the key.
"""


class _Case(NamedTuple):
    """A schema that an object has to fit only if it passes all `tests`."""

    tests: tuple[_Test, ...]
    schema: Any


def _cases(
    view: "SchemaView", schema: Any, tests: tuple[_Test, ...], visited: set[Any]
) -> Iterator[_Case]:
    """Yield the cases of *schema*: schemas that apply only under a condition, at any depth.

    *tests* are the conditions under which *schema* itself applies. They are added to those of each
    yielded case.
    """
    schema, _ = view.resolve(schema)
    if not isinstance(schema, Mapping):
        return
    cases = _own_cases(schema, tests)
    for case in cases:
        # A hostile schema repeats itself for ever
        place = (id(case.schema), *((id(what), expected) for what, expected in case.tests))
        if place not in visited:
            visited.add(place)
            if case.tests:
                yield case
            yield from _cases(view, case.schema, case.tests, visited)


def _own_cases(schema: Schema, tests: tuple[_Test, ...]) -> list[_Case]:
    """List the parts of *schema* that apply under *tests*, or only under one more condition."""
    cases = []
    for keyword in TOGETHER:
        for part in sequence(schema, keyword):
            cases.append(_Case(tests, part))
    own: list[tuple[_Test, Any]] = []
    if "if" in schema:
        own.append(((schema["if"], True), schema.get("then")))
        own.append(((schema["if"], False), schema.get("else")))
    for keyword in DEPENDENT:
        for name, part in mapping(schema, keyword).items():
            own.append(((name, True), part))
    known = {id(what) for what, _ in tests}
    for test, part in own:
        if isinstance(part, Mapping) and id(test[0]) not in known:
            cases.append(_Case((*tests, test), part))
    return cases


# --- the view of the whole schema ---------------------------------------------------


def read(schema: Any) -> Node:
    """Return the normal form of *schema*, a whole JSON Schema."""
    return SchemaView(schema).whole


class SchemaView:
    """Gives access to the parts of one JSON Schema as nodes. An invalid schema raises no error.

    Use one view for all parts of a schema, because the view caches the nodes that it has made.

    Examples:
        >>> from toolbench.widgets.fields import SchemaView
        >>> age = {"type": "integer", "minimum": 0}
        >>> view = SchemaView({"type": "object", "properties": {"age": age}})
        >>> view.fits(age, 30), [str(problem) for problem in view.problems(age, -1)]
        (True, ['should be at least 0'])
    """

    def __init__(self, root: Any) -> None:
        """Make a view of the whole schema *root*. If it is broken, its nodes allow any value."""
        self.root = root
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
        """Yield a node for the whole schema and for every schema in it, with a path.

        The path, such as `items[].name`, says which part of a value the schema describes.
        """
        for place, part in every(self.root):
            yield place, self.node(part)

    def names_of_secrets(self, schema: Any) -> frozenset[str]:
        """Return the names of the properties that *schema* declares as secrets, at any depth.

        *schema* is a part of the whole schema. Schemas that apply only to some values, such as
        `then` and `contains`, are searched too.
        """
        names, visited = set[str](), set[tuple[str, int]]()
        todo: list[tuple[str, Any]] = [("", schema)]
        while todo and len(visited) < _MOST_PLACES:
            name, part = todo.pop()
            if not isinstance(part, Mapping) or (name, id(part)) in visited:
                continue
            visited.add((name, id(part)))
            if name and says_secret(part):
                names.add(name)
            for key in REFERENCES:
                if key in part:
                    todo.append((name, follow(self.root, part[key])))
            for key, place, inner in children(part, ""):
                if key == "properties":
                    todo.append((place, inner))
                elif key not in DEFINITIONS:
                    todo.append((name, inner))
        return frozenset(names)

    def node(self, schema: Any) -> Node:
        """Return the node of *schema*, which is a part of the whole schema or made from parts."""
        known = self._nodes.get(id(schema))
        if known is None:
            known = self._nodes[id(schema)] = (schema, self._read(schema, _HOPS))
        return known[1]

    def by_name(self, schemas: Mapping[str, Any]) -> "NodesByName":
        """Return the nodes of *schemas* by name. *schemas* are parts of the whole schema."""
        return NodesByName(self, schemas)

    def resolve(self, schema: Any) -> tuple[Any, str]:
        """Follow the references of *schema*; return the target, and the problem (may be empty)."""
        return resolve(self.root, schema)

    @cached_property
    def broken(self) -> str:
        """The reason why the whole schema cannot check values; empty if it can."""
        try:
            self._validator(self.root)
        except SchemaError as error:
            return str(error)
        return ""

    def problems(self, schema: Any, value: Any) -> list[Problem]:
        """List the reasons why *value* does not fit *schema*, a part of the whole schema.

        The list is empty if the schema is broken.
        """
        try:
            return self._validator(schema).problems(value)
        except SchemaError:
            return []

    def fits(self, schema: Any, value: Any) -> bool:
        """Tell whether *value* fits *schema*, a part of the whole schema.

        The result is False if the schema is broken.
        """
        try:
            return self._validator(schema).is_valid(value)
        except SchemaError:
            return False

    def _validator(self, schema: Any) -> SchemaValidator:
        """Return the validator of *schema*, which may refer to parts of the whole schema."""
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
        nullable, merged = folded.nullable, folded.merged
        if folded.only is not None and fuel > 0:
            inner = self._read(folded.only, fuel - 1)
            schema, merged = inner.schema, inner.merged
            nullable = nullable or inner.nullable
            notice = notice or inner.notice
        else:
            schema, unknown = guess_type(folded.schema)
            if unknown and not notice:
                notice = f"has an unknown type: {unknown!r:.60}"
        return Node(self, raw, schema, nullable=nullable, merged=merged, notice=notice)

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
    """A mapping of nodes by name, which makes each node when it is first used."""

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


def one_of(schemas: Sequence[Any]) -> dict[str, Any]:
    """Return the schema of a value that fits exactly one of *schemas*."""
    return {"oneOf": list(schemas)}


def keyword_of(node: Node) -> str:
    """Return the keyword with which *node*, as written, lists alternatives; empty if none."""
    if not isinstance(node.raw, Mapping):
        return ""
    return alternatives_in(node.raw)[0]


def takes_exactly_one(node: Node) -> bool:
    """Tell whether *node* may have a `oneOf`, which refuses a value that fits two alternatives.

    The schemas in `allOf`, `anyOf` and `oneOf` are searched too, but not the schemas of properties
    and items. The result is also true if there are too many schemas to search.
    """
    visited: dict[int, Any] = {}
    todo = [node.raw]
    while todo and len(visited) < _MOST:
        part, _ = node.view.resolve(todo.pop())
        if not isinstance(part, Mapping) or id(part) in visited:
            continue
        if "oneOf" in part:
            return True
        # It is kept, so that its id stays its own
        visited[id(part)] = part
        for keyword in TOGETHER:
            todo += sequence(part, keyword)
    # With more of them there may be one
    return bool(todo)


def merged_alternatives(node: Node) -> list[Node]:
    """Return the nodes of the alternatives that were merged into *node*.

    If an alternative has no `type`, its node gets the type and the limits of *node*.
    """
    limits = {key: item for key, item in node.schema.items() if key not in _OF_THE_WHOLE}
    nodes = []
    for part in node.merged:
        if isinstance(part, Mapping) and "type" not in part:
            part = {**limits, **part}
        nodes.append(node.view.node(part))
    return nodes
