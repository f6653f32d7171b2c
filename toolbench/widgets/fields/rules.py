"""The choice of an editor for a schema: the table of rules, and the registry for users' rules."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ipywidgets import Widget
from traitlets import TraitError

from toolbench.errors import Path
from toolbench.jsonschema.node import Node, SchemaView
from toolbench.redaction.detect import is_secret
from toolbench.redaction.names import name_at
from toolbench.values import same_json
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.choice import Choice, Search, Segments, Switch, Tick, labels_of
from toolbench.widgets.fields.editor import UNSET, Editor
from toolbench.widgets.fields.file import File
from toolbench.widgets.fields.items import Items, Marks
from toolbench.widgets.fields.object import ObjectEditor
from toolbench.widgets.fields.raw_json import Raw
from toolbench.widgets.fields.rows import Map, Positions, Rows
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.fields.text_box import Area, Line, Number, Secret, Suggested, wants_lines
from toolbench.widgets.fields.text_formats import Formatted, is_known_format
from toolbench.widgets.fields.union import NumberOrText, Union, is_number_or_text

# A choice of this many values or more has a search field
_MANY = 50

# This many values or fewer are shown as a row of buttons, if they are short
_FEW = 5
# The total number of characters of their labels
_SHORT = 32

# Types that are edited as a line of text
_TYPED = ("string", "integer", "number")


class WidgetEditor(Editor):
    """An editor made from a user's widget. It has no value until one is written or chosen."""

    def __init__(self, slot: Any, widget: Widget) -> None:
        """Edit *slot* with *widget*.

        Raises:
            TypeError: If *widget* has no `value`.
        """
        super().__init__(slot)
        if not isinstance(widget, Widget) or not widget.has_trait("value"):
            msg = f"A field's editor needs a widget with a value, not {widget!r:.80}."
            raise TypeError(msg)
        self._inner = widget
        self._blank = widget.value
        self._there = slot.settled
        self.frame.pool.adopt(widget)
        self._parts_made.append(widget)
        self.hear(widget, "value", self._changed)

    def build(self) -> Widget:
        """Return the widget, with the field's name if it has no description."""
        if self._inner.has_trait("description") and not self._inner.description:
            self._inner.description = notes.label(self.slot.label)
        return self._inner

    def read(self) -> Any:
        """Return the widget's value, or `UNSET` before it is set or changed."""
        if not self._there:
            return UNSET
        return self._inner.value

    def write(self, value: Any) -> bool:
        """Set the widget to *value*. Return False if the widget refuses or alters *value*."""
        try:
            self._inner.value = value
        except (TraitError, TypeError, ValueError):
            return False
        self._there = True
        return same_json(self._inner.value, value)

    def clear(self) -> None:
        """Remove the value, and show the widget's initial value again."""
        self._inner.value = self._blank
        self._there = False

    def _changed(self) -> None:
        self._there = True


Predicate = Callable[[SchemaView, dict[str, Any], Path], bool]
Test = Callable[[Node, Path], bool]
Factory = Callable[[Slot], Editor | Widget]


class Rule(NamedTuple):
    """A rule: if *test* returns True for a field, *factory* makes its editor.

    Rules with a higher *rank* are tried first.
    """

    rank: float
    test: Test
    factory: Factory


class Registry:
    """The rules that choose the editor of a field, and editors that a schema can choose by name.

    Examples:
        >>> from ipywidgets import ColorPicker
        >>> from toolbench.widgets.fields import registry
        >>> from toolbench.widgets.form import SchemaForm
        >>> def is_color(view, schema, path):
        ...     return path[-1:] == ("color",)
        >>> mine = registry.copy()
        >>> mine.add(95, is_color, lambda slot: ColorPicker())
        >>> schema = {"type": "object", "properties": {"color": {"type": "string"}}}
        >>> SchemaForm(schema, {"color": "#ff0000"}, registry=mine).value
        {'color': '#ff0000'}
    """

    def __init__(
        self, rules: tuple[Rule, ...] = (), by_name: Mapping[str, Factory] | None = None
    ) -> None:
        """Make a registry.

        Args:
            rules: The rules that choose the editor of a field.
            by_name: The functions that make the editors which a schema chooses by name, with
                `{"widget": name}`.
        """
        self._rules = sorted(rules, key=lambda rule: -rule.rank)
        self._by_name = dict(by_name or {})

    def add(self, rank: float, predicate: Predicate, factory: Factory) -> None:
        """Add a rule: if `predicate(view, schema, path)` is true, *factory* makes the editor.

        The built-in rules have ranks from 0 to 90. Among rules of equal rank, the newest wins.

        Args:
            rank: The rank of the rule. Rules are tried from the highest rank down.
            predicate: A function that tells whether the rule applies to a field. `view` is the
                whole schema. `schema` is the part of the schema for the field, with references
                resolved and without `null`. `path` is the path of the field.
            factory: A function that takes the field, a `Slot`. It returns an `Editor`, or any
                ipywidget with a `value`.
        """

        def test(node: Node, path: Path) -> bool:
            return predicate(node.view, node.schema, path)

        rules = [Rule(rank, test, factory), *self._rules]
        self._rules = sorted(rules, key=lambda rule: -rule.rank)

    def remove(self, factory: Factory) -> None:
        """Remove every rule that uses *factory*."""
        self._rules = [rule for rule in self._rules if rule.factory is not factory]

    def copy(self) -> "Registry":
        """Return a new registry with the same rules. Rules added to it affect only its forms."""
        return Registry(tuple(self._rules), self._by_name)

    def editor(self, slot: Slot) -> Editor:
        """Make the editor for *slot*. If a rule or the editor raises an error, edit JSON text."""
        try:
            editor = self._factory(slot)(slot)
            if not isinstance(editor, Editor):
                editor = WidgetEditor(slot, editor)
            return editor
        except Exception as error:  # noqa: BLE001 - a user's rule must not break the form
            slot.complain(f"has an editor that failed ({type(error).__name__}: {error})")
            return Raw(slot)

    def _factory(self, slot: Slot) -> Factory:
        widget_name = slot.extra.get("widget")
        if isinstance(widget_name, str) and widget_name in self._by_name:
            return self._by_name[widget_name]
        if slot.too_deep:
            return Raw
        path = slot.judged_path
        for rule in self._rules:
            if rule.test(slot.node, path):
                return rule.factory
        return Raw


def _typed(kind: str) -> Test:
    return lambda node, path: node.type == kind


def _is_root(node: Node, path: Path) -> bool:
    """Return whether *node* is the whole form's schema, allows objects, and is not a union."""
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


def _is_number_or_text(node: Node, path: Path) -> bool:
    return is_number_or_text(node) and not is_secret(name_at(path), node)


def _is_union(node: Node, path: Path) -> bool:
    return bool(node.branches)


def _has_fields(node: Node, path: Path) -> bool:
    return node.type == "object" and bool(node.properties)


def _is_map(node: Node, path: Path) -> bool:
    """Return whether *node* is an object with arbitrary keys whose values have a known schema."""
    beside = node.additional
    known = beside is not None and not beside.is_blank
    return node.type == "object" and (known or bool(node.patterns))


def _is_tuple(node: Node, path: Path) -> bool:
    return node.type == "array" and bool(node.prefix_items)


def _is_list(node: Node, path: Path) -> bool:
    return node.type == "array" and node.items is not None


def _is_item_list(node: Node, path: Path) -> bool:
    item = node.items
    if node.type != "array" or item is None or item.is_constant or item.is_bytes:
        return False
    if item.extension or item.branches or item.nullable or is_secret(name_at(path), item):
        return False
    return item.type in _TYPED or bool(item.values)


def _is_mark_list(node: Node, path: Path) -> bool:
    if node.items is None or not _is_item_list(node, path):
        return False
    return 0 < len(node.items.values) < _MANY


def _is_file(node: Node, path: Path) -> bool:
    return node.is_bytes


def _is_formatted(node: Node, path: Path) -> bool:
    return node.type == "string" and is_known_format(node)


def _text(slot: Slot) -> Editor:
    if wants_lines(slot):
        return Area(slot)
    return Line(slot)


def _boolean(slot: Slot) -> Editor:
    if slot.settled:
        return Tick(slot)
    return Switch(slot)


RULES = (
    Rule(90, _is_root, ObjectEditor),
    Rule(80, _is_secret, Secret),
    Rule(75, _is_long_choice, Search),
    Rule(72, _is_short_choice, Segments),
    Rule(70, _is_choice, Choice),
    Rule(62, _is_number_or_text, NumberOrText),
    Rule(60, _is_union, Union),
    Rule(50, _has_fields, ObjectEditor),
    Rule(48, _is_map, Map),
    Rule(46, _is_mark_list, Marks),
    Rule(44, _is_item_list, Items),
    Rule(42, _is_tuple, Positions),
    Rule(40, _is_list, Rows),
    Rule(30, _is_file, File),
    Rule(26, _is_formatted, Formatted),
    Rule(20, _typed("boolean"), _boolean),
    Rule(20, _typed("integer"), Number),
    Rule(20, _typed("number"), Number),
    Rule(10, _typed("string"), _text),
)
"""The rules by rank. A schema that matches no rule is edited as JSON text."""

BY_NAME: dict[str, Factory] = {
    "checkbox": Tick,
    "combobox": Suggested,
    "date": Formatted,
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
"""The registry for every form that is made without another one."""
