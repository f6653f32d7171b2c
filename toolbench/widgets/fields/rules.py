"""Choose the editor for a schema: use the rule of the highest rank that applies."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ipywidgets import Widget
from traitlets import TraitError

from toolbench.errors import Path
from toolbench.jsonschema.node import Node, SchemaView
from toolbench.values import same_json
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import Editor
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.fields.text.raw_json import Raw
from toolbench.widgets.fields.unset import UNSET


class WidgetEditor(Editor):
    """An editor that uses a given widget. It has no value until the widget is set or changed."""

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
        return self._inner.value if self._there else UNSET

    def write(self, value: Any) -> bool:
        """Set the widget; return False if the widget refuses or changes *value*."""
        try:
            self._inner.value = value
        except (TraitError, TypeError, ValueError):
            return False
        self._there = True
        return same_json(self._inner.value, value)

    def clear(self) -> None:
        """Set no value, and show the widget's first value again."""
        self._inner.value = self._blank
        self._there = False

    def _changed(self) -> None:
        self._there = True


Predicate = Callable[[SchemaView, dict[str, Any], Path], bool]
Test = Callable[[Node, Path], bool]
Factory = Callable[[Slot], Editor | Widget]


class Rule(NamedTuple):
    """A rule: use the editor of *factory* if *test* is true. Rules of a higher *rank* go first."""

    rank: float
    test: Test
    factory: Factory


class Registry:
    """A table of rules, and of editors that a schema can choose by name."""

    def __init__(
        self, rules: tuple[Rule, ...] = (), by_name: Mapping[str, Factory] | None = None
    ) -> None:
        """Make a registry with *rules*, and with editors *by_name* for `{"widget": name}` in a schema."""
        self._rules = sorted(rules, key=lambda rule: -rule.rank)
        self._by_name = dict(by_name or {})

    def add(self, rank: float, predicate: Predicate, factory: Factory) -> None:
        """Add a rule: if *predicate* is true for a field, *factory* makes the editor of the field.

        The built-in rules have ranks from 0 to 90; if ranks are equal, the newest rule wins.

        Args:
            rank: Rules are tried from the highest rank down.
            predicate: A function with three arguments: the view of the whole schema, the
                simplified schema of the field (references followed, `null` taken out), and the
                path of the field.
            factory: A function of the slot. It returns an `Editor`, or any ipywidget with a
                `value`, which then belongs to the field.
        """
        place = next(
            (i for i, rule in enumerate(self._rules) if rule.rank <= rank),
            len(self._rules),
        )

        def test(node: Node, path: Path) -> bool:
            return predicate(node.view, node.schema, path)

        self._rules.insert(place, Rule(rank, test, factory))

    def remove(self, factory: Factory) -> None:
        """Remove every rule that uses *factory*."""
        self._rules = [rule for rule in self._rules if rule.factory is not factory]

    def copy(self) -> "Registry":
        """Return a registry with the same rules, to change them for one form only."""
        return Registry(tuple(self._rules), self._by_name)

    def editor(self, slot: Slot) -> Editor:
        """Return the editor for *slot*. If a rule or an editor raises an error, return a JSON editor."""
        try:
            editor = self._factory(slot)(slot)
            return editor if isinstance(editor, Editor) else WidgetEditor(slot, editor)
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
