"""A slot: one position of a form with its value, in three parts.

- `value`: the value, and the editor that holds the value;
- `presence`: whether there is a value, and whether the value is null;
- `display`: the line of the slot in the form: name, presence box, fold, help, errors.
"""

from toolbench.widgets.fields.slot.slot import Slot

__all__ = ["Slot"]
