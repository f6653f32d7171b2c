"""`Node`: the normal form of a schema for one value, such as a property or an item."""

from collections import deque
from collections.abc import KeysView, Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from toolbench.errors import Problem, SchemaError
from toolbench.jsonschema.conditions import SOURCES, Conditions
from toolbench.jsonschema.enumeration import accepted, accepted_values
from toolbench.jsonschema.refs import definition_name
from toolbench.jsonschema.types import CLASSES, Json, type_of
from toolbench.jsonschema.validation.validator import validator_of
from toolbench.jsonschema.walk import mapping, required_of, sequence

# The view module imports this one
if TYPE_CHECKING:
    from toolbench.jsonschema.view import NodesByName, SchemaView

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
