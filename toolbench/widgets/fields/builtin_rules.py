"""The built-in rules that choose an editor for a schema, one line each."""

from toolbench.errors import Path
from toolbench.jsonschema.node import Node
from toolbench.redaction.detect import is_secret
from toolbench.redaction.names import name_at
from toolbench.widgets.fields.choice import (
    Choice,
    Search,
    Segments,
    Switch,
    Tick,
    labels_of,
)
from toolbench.widgets.fields.containers.items import Items, Marks
from toolbench.widgets.fields.containers.map import Map
from toolbench.widgets.fields.containers.object import ObjectEditor
from toolbench.widgets.fields.containers.rows import Positions, Rows
from toolbench.widgets.fields.containers.union import Union
from toolbench.widgets.fields.editor import Editor
from toolbench.widgets.fields.rules import Factory, Registry, Rule, Test
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.fields.text.date import Day
from toolbench.widgets.fields.text.file import File
from toolbench.widgets.fields.text.raw_json import Raw
from toolbench.widgets.fields.text.secret import Secret
from toolbench.widgets.fields.text.text_box import (
    Area,
    Line,
    Number,
    Suggested,
    wants_lines,
)
from toolbench.widgets.fields.text.text_formats import Formatted, is_known_format

# A list with so many values or more has a search
_MANY = 50

# So many values or fewer are buttons in a row, if they are short
_FEW = 5
# Characters of their labels together
_SHORT = 32

# Types edited on a line of text
_TYPED = ("string", "integer", "number")


def _typed(kind: str) -> Test:
    return lambda node, path: node.type == kind


def _is_root(node: Node, path: Path) -> bool:
    """Return whether *path* is the root, and *node* is an object or has no type, and is no union."""
    return path == () and node.type in ("object", None) and not node.branches


def _is_secret(node: Node, path: Path) -> bool:
    return node.type in _TYPED and is_secret(name_at(path), node)


def _is_choice(node: Node, path: Path) -> bool:
    return bool(node.values) or node.type == "null"


def _is_long_choice(node: Node, path: Path) -> bool:
    return len(node.values) >= _MANY


def _is_short_choice(node: Node, path: Path) -> bool:
    if not 1 < len(node.values) <= _FEW:
        return False
    return sum(len(label) + 1 for label in labels_of(node, node.values)) <= _SHORT


def _is_union(node: Node, path: Path) -> bool:
    return bool(node.branches)


def _has_fields(node: Node, path: Path) -> bool:
    return node.type == "object" and bool(node.properties)


def _is_map(node: Node, path: Path) -> bool:
    """Return whether *node* is an object with any keys, whose values have a known schema."""
    beside = node.additional
    known = beside is not None and not beside.is_blank
    return node.type == "object" and (known or bool(node.patterns))


def _is_tuple(node: Node, path: Path) -> bool:
    return node.type == "array" and bool(node.prefix_items)


def _is_list(node: Node, path: Path) -> bool:
    return node.type == "array" and node.items is not None


def _is_item_list(node: Node, path: Path) -> bool:
    item = node.items if node.type == "array" else None
    if item is None or item.is_constant or item.is_bytes or item.extension:
        return False
    if item.branches or item.nullable or is_secret(name_at(path), item):
        return False
    return item.type in _TYPED or bool(item.values)


def _is_mark_list(node: Node, path: Path) -> bool:
    if node.items is None or not _is_item_list(node, path):
        return False
    return 0 < len(node.items.values) < _MANY


def _is_file(node: Node, path: Path) -> bool:
    return node.is_bytes


def _is_day(node: Node, path: Path) -> bool:
    return node.type == "string" and node.format == "date"


def _is_formatted(node: Node, path: Path) -> bool:
    return node.type == "string" and is_known_format(node)


def _text(slot: Slot) -> Editor:
    return Area(slot) if wants_lines(slot) else Line(slot)


def _boolean(slot: Slot) -> Editor:
    return Tick(slot) if slot.settled else Switch(slot)


RULES = (
    Rule(90, _is_root, ObjectEditor),
    Rule(80, _is_secret, Secret),
    Rule(75, _is_long_choice, Search),
    Rule(72, _is_short_choice, Segments),
    Rule(70, _is_choice, Choice),
    Rule(60, _is_union, Union),
    Rule(50, _has_fields, ObjectEditor),
    Rule(48, _is_map, Map),
    Rule(46, _is_mark_list, Marks),
    Rule(44, _is_item_list, Items),
    Rule(42, _is_tuple, Positions),
    Rule(40, _is_list, Rows),
    Rule(30, _is_file, File),
    Rule(28, _is_day, Day),
    Rule(26, _is_formatted, Formatted),
    Rule(20, _typed("boolean"), _boolean),
    Rule(20, _typed("integer"), Number),
    Rule(20, _typed("number"), Number),
    Rule(10, _typed("string"), _text),
)
"""The rules by rank; a schema that no rule accepts is edited as JSON text."""

BY_NAME: dict[str, Factory] = {
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
    "segments": Segments,
    "switch": Switch,
    "text": Line,
    "textarea": Area,
}
"""The editors for `json_schema_extra={"toolbench": {"widget": name}}`, by name."""

registry = Registry(RULES, BY_NAME)
"""The rules for every form that has no registry of its own."""
