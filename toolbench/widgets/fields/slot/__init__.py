"""A slot: one position of a form with its value, in three parts.

- `choice`: its editor, and when another editor replaces it;
- `presence`: whether the slot has a value, and whether the value is null;
- `display`: its line in the form: name, presence box, fold, help, errors.
"""

from toolbench.widgets.fields.slot.slot import Slot

__all__ = ["Slot"]
