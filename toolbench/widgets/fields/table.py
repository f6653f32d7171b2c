"""The built-in rules: a new case is one line."""

from typing import Any

from toolbench.core.secrecy import is_secret
from toolbench.errors import Path
from toolbench.widgets.fields.choice import Choice, Search, Tick, values_of
from toolbench.widgets.fields.dates import Day
from toolbench.widgets.fields.editor import Editor
from toolbench.widgets.fields.files import File, is_file
from toolbench.widgets.fields.formats import Formatted, is_known_format
from toolbench.widgets.fields.items import Items, Marks
from toolbench.widgets.fields.maps import Map
from toolbench.widgets.fields.number import Number
from toolbench.widgets.fields.objects import ObjectEditor
from toolbench.widgets.fields.raw import Raw
from toolbench.widgets.fields.rows import Positions, Rows
from toolbench.widgets.fields.rules import Factory, Registry, Rule
from toolbench.widgets.fields.secret import Secret
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.fields.text import Area, Line, Suggested, wants_lines
from toolbench.widgets.fields.unions import Union
from toolbench.widgets.fields.view import SchemaView

_MANY = 50  # values, from which on a list is searched and not scrolled

Schema = dict[str, Any]


def _typed(kind: str) -> Any:
    return lambda view, schema, path: schema.get("type") == kind


def _is_root(view: SchemaView, schema: Schema, path: Path) -> bool:
    """Arguments are an object, even where the schema forgets to say so."""
    kinds = ("object", None)
    return path == () and schema.get("type") in kinds and "anyOf" not in schema


def _is_secret(view: SchemaView, schema: Schema, path: Path) -> bool:
    name = path[-1] if path and isinstance(path[-1], str) else ""
    kinds = ("string", "integer", "number")
    return schema.get("type") in kinds and is_secret(name, schema)


def _is_choice(view: SchemaView, schema: Schema, path: Path) -> bool:
    listed = schema.get("enum")
    fixed = "const" in schema or schema.get("type") == "null"
    return fixed or (isinstance(listed, list) and bool(listed))


def _is_long_choice(view: SchemaView, schema: Schema, path: Path) -> bool:
    return _is_choice(view, schema, path) and len(values_of(schema)) >= _MANY


def _is_union(view: SchemaView, schema: Schema, path: Path) -> bool:
    return isinstance(schema.get("anyOf"), list) and bool(schema["anyOf"])


def _has_fields(view: SchemaView, schema: Schema, path: Path) -> bool:
    asked = schema.get("properties") or schema.get("required")
    return schema.get("type") == "object" and bool(asked)


def _is_map(view: SchemaView, schema: Schema, path: Path) -> bool:
    """Values of a known kind make a map; a free object is easier to paste as JSON."""
    beside, patterns = (
        schema.get("additionalProperties"),
        schema.get("patternProperties"),
    )
    known = isinstance(beside, dict) and bool(view.node(beside).schema)
    return schema.get("type") == "object" and (known or bool(patterns))


def _is_tuple(view: SchemaView, schema: Schema, path: Path) -> bool:
    first = schema.get("prefixItems")
    return schema.get("type") == "array" and isinstance(first, list) and bool(first)


def _is_list(view: SchemaView, schema: Schema, path: Path) -> bool:
    items = schema.get("items")
    return schema.get("type") == "array" and isinstance(items, dict)


def _is_item_list(view: SchemaView, schema: Schema, path: Path) -> bool:
    if not _is_list(view, schema, path):
        return False
    item = view.node(schema["items"])
    kind = item.schema.get("type")
    plain = kind in ("string", "integer", "number") or "enum" in item.schema
    odd = item.schema.keys() & {"const", "anyOf", "contentEncoding", "toolbench"}
    return plain and not odd and not item.nullable and not is_secret("", item.schema)


def _is_mark_list(view: SchemaView, schema: Schema, path: Path) -> bool:
    if not _is_item_list(view, schema, path):
        return False
    return 0 < len(view.node(schema["items"]).schema.get("enum", ())) < _MANY


def _text(slot: Slot) -> Editor:
    return Area(slot) if wants_lines(slot) else Line(slot)


def _boolean(slot: Slot) -> Editor:
    return Tick(slot) if slot.settled else Choice(slot)


RULES = (
    Rule(90, _is_root, ObjectEditor),
    Rule(80, _is_secret, Secret),
    Rule(75, _is_long_choice, Search),
    Rule(70, _is_choice, Choice),
    Rule(60, _is_union, Union),
    Rule(50, _has_fields, ObjectEditor),
    Rule(48, _is_map, Map),
    Rule(46, _is_mark_list, Marks),
    Rule(44, _is_item_list, Items),
    Rule(42, _is_tuple, Positions),
    Rule(40, _is_list, Rows),
    Rule(30, lambda v, s, p: s.get("type") == "string" and is_file(s), File),
    Rule(
        28, lambda v, s, p: s.get("format") == "date" and s.get("type") == "string", Day
    ),
    Rule(
        26, lambda v, s, p: s.get("type") == "string" and is_known_format(s), Formatted
    ),
    Rule(20, _typed("boolean"), _boolean),
    Rule(20, _typed("integer"), Number),
    Rule(20, _typed("number"), Number),
    Rule(10, _typed("string"), _text),
)
"""Whatever no rule wants is edited as JSON text."""

NAMED: dict[str, Factory] = {
    "checkbox": Tick,
    "combobox": Suggested,
    "date": Day,
    "dropdown": Choice,
    "file": File,
    "items": Items,
    "json": Raw,
    "map": Map,
    "number": Number,
    "password": Secret,
    "rows": Rows,
    "search": Search,
    "text": Line,
    "textarea": Area,
}
"""What `json_schema_extra={"toolbench": {"widget": name}}` may ask for."""

registry = Registry(RULES, NAMED)
"""The rules of every form that is not given its own."""
