"""A slot: one position of a form with its value, in three parts.

- `choice`: its editor, and when another editor replaces it;
- `presence`: whether there is a value, and whether it is null;
- `display`: the line that is shown: name, presence box, fold, help, errors.
"""

from toolbench.widgets.fields.slot.slot import Slot

__all__ = ["Slot"]
