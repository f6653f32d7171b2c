"""Use any ipywidget that has a `value` as an editor, in the rules that a user adds."""

from typing import Any

from ipywidgets import Widget
from traitlets import TraitError

from toolbench.values import same_json
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import Editor
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
