"""The editor of a date: a calendar."""

from datetime import date
from typing import Any

from ipywidgets import DatePicker, Widget

from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import Editor
from toolbench.widgets.fields.text.text_formats import Formatted
from toolbench.widgets.fields.unset import UNSET

# Year; in the browser, earlier years lose digits
_FIRST = 1000


class Day(Editor):
    """A DatePicker. Values that are not plain dates get a text editor, `wider`."""

    wider = Formatted
    is_short = True

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        self._day: date | None = None

    def read(self) -> Any:
        """Return the day as in ISO 8601, such as `2026-11-24`; `UNSET` if no day is chosen."""
        return UNSET if self._day is None else self._day.isoformat()

    def write(self, value: Any) -> bool:
        """Show *value*; return False if it is not a date as `2026-11-24`, or too early for a calendar."""
        try:
            day = date.fromisoformat(value)
        except (TypeError, ValueError):
            return False
        if day.isoformat() != value or day.year < _FIRST:
            return False
        self._put(day)
        return True

    def clear(self) -> None:
        """Show no day."""
        self._put(None)

    def _put(self, day: date | None) -> None:
        self._day = day
        if self._widget is not None:
            self._widget.value = day

    def _picked(self) -> None:
        self._day = self.widget.value

    @property
    def hint(self) -> str:
        """The default in words, because a calendar has no placeholder; empty if there is no default."""
        default = self.slot.default
        return "" if default in (UNSET, "") else f"default {notes.ghost(default)}"

    def build(self) -> Widget:
        """Make the calendar."""
        widget = self.make(
            DatePicker,
            "tb-field",
            "tb-short",
            *self.slot.classes,
            description=notes.label(self.slot.label),
            value=self._day,
            # Otherwise the front end shows "null"
            tooltip="",
        )
        self.hear(widget, "value", self._picked)
        return widget
