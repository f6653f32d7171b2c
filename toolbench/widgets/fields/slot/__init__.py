"""A slot: one position of a form with its value, in three parts.

- `choice`: which editor it is, and when it gives way to another one;
- `presence`: whether there is a value at all, and whether it is null;
- `display`: the line that is shown: name, presence box, fold, help, errors.
"""

from toolbench.widgets.fields.slot.slot import Slot

__all__ = ["Slot"]
