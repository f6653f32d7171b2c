"""A slot: one position of a form, with its value (which may be unset or null) and its editor."""

from collections.abc import Iterator
from typing import Any

from toolbench.errors import Problem
from toolbench.widgets.fields.editor import Container, Editor
from toolbench.widgets.fields.position import Position
from toolbench.widgets.fields.slot.slot_value import Presence, SlotValue, State
from toolbench.widgets.fields.slot.slot_view import SlotDisplay
from toolbench.widgets.fields.unset import UNSET


class Slot(Position):
    """A position of the form with its value and an editor that can hold it.

    Attributes:
        value: The value, to read and to write. The editor holds it.
        presence: Whether there is a value, and whether the value is null.
        display: The line of the slot in the form, with the errors of the slot.
        touched: Whether a person has edited the slot since the program last wrote the value.
    """

    parent: Container | None

    def __init__(self, *args: Any, **options: Any) -> None:
        """Make a slot that has no value yet. The arguments are the arguments of `Position`."""
        super().__init__(*args, **options)
        self.touched = False
        self.value = SlotValue(self)
        self.presence = Presence(self)
        self.display = SlotDisplay(self)

    @property
    def editor(self) -> Editor:
        """The editor. It is chosen on first use."""
        return self.value.editor

    # --- acts of a person -------------------------------------------------------------

    def edited(self) -> None:
        """React to an edit in the editor: the slot is not unset or null any more.

        Emptied JSON text gives way to the field that could not hold the value.
        """
        self.presence.wake()
        value = self.value
        if value.is_json_for_now and not self.editor.trouble and value.read() is UNSET:
            value.clear()
            self.frame.focus(lambda: self.display.body)
        self.touch()

    def touch(self) -> None:
        """Mark this slot and all slots around it as changed by a person."""
        self.frame.touched(self.path)
        for slot in self.outward():
            if slot is not self:
                slot.presence.wake()
            slot.touched = True
            slot.display.draw()

    def open(self) -> None:
        """Give the slot a value from now on, even if the value is empty."""
        self.presence.hold()
        self.display.draw()

    def choose(self, state: State) -> None:
        """Switch to *state*. In the state `VALUE`, the text that a person typed before returns."""
        if state is State.NULL:
            self.value.write(None)
        elif state is State.VALUE:
            self.unfold()
            self.open()
        else:
            self.presence.drop()
            self.display.draw()
        self.touch()

    def unfold(self) -> None:
        """Open the folds of this slot and of all slots around it, so that the editor is visible."""
        for slot in self.outward():
            slot.display.unfold()

    def rename(self, key: Any, label: str) -> None:
        """Change the key and the label of the slot."""
        self.key, self.label = key, label
        self.display.draw()

    # --- the whole tree ---------------------------------------------------------------

    def outward(self) -> Iterator["Slot"]:
        """Yield this slot and the slots around it, up to the root."""
        slot: Slot | None = self
        while slot is not None:
            yield slot
            slot = slot.parent.slot if slot.parent is not None else None

    def walk(self) -> Iterator["Slot"]:
        """Yield this slot and all slots inside it that exist now."""
        yield self
        for slot in self.value.built.slots() if self.value.built is not None else ():
            yield from slot.walk()

    def child(self, step: Any) -> "Slot | None":
        """Return the slot inside at *step*, a key or an index; None if there is no such slot."""
        return self.value.built.child(step) if self.value.built is not None else None

    def troubles(self) -> Iterator[Problem]:
        """Yield the problems of this slot and of the slots inside it.

        A problem is a typed text that cannot be read, or an added item or key without a
        value.
        """
        editor = self.value.built
        if editor is None or not self.presence.is_there:
            return
        if editor.trouble:
            yield Problem(self.path, editor.trouble)
        inner = [p for slot in editor.slots() for p in slot.troubles()]
        yield from inner
        silent = not inner and not editor.trouble and self.settled
        if silent and self.key is not None and self.value.read() is UNSET:
            yield Problem(self.path, "has no value yet")

    def close(self) -> None:
        """Close every widget of this slot."""
        self.display.close()
        self.value.close()
