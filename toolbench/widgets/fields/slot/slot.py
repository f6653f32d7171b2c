"""A slot: one position of a form, with its value (which may be unset or null) and its editor."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from toolbench.errors import Problem
from toolbench.widgets.fields.editor import Container, Editor
from toolbench.widgets.fields.position import Position
from toolbench.widgets.fields.slot.editor_choice import EditorChoice
from toolbench.widgets.fields.slot.presence import Presence, State
from toolbench.widgets.fields.slot.slot_view import SlotDisplay
from toolbench.widgets.fields.unset import UNSET


class Slot(Position):
    """A position of the form with its value and an editor that can hold it.

    Attributes:
        choice: The editor.
        presence: Whether there is a value, and whether it is null.
        display: Its line in the form, with its errors.
        touched: Whether a person has edited it since the last `write`.
    """

    parent: Container | None

    def __init__(self, *args: Any, **options: Any) -> None:
        """Start without a value; the arguments are those of `Position`."""
        super().__init__(*args, **options)
        self.touched = False
        self.choice = EditorChoice(self, self._make)
        self.presence = Presence(self, self.choice)
        self.display = SlotDisplay(self, self.choice, self.presence, self._switch)

    def _make(self, kind: type[Editor] | None) -> Editor:
        editor: Editor = (
            self.frame.registry.editor(self) if kind is None else kind(self)
        )
        return editor

    @property
    def editor(self) -> Editor:
        """The editor, chosen on first use."""
        return self.choice.current

    @property
    def errors(self) -> list[str]:
        """The shown errors, in sentences."""
        return self.display.errors

    # --- the value ------------------------------------------------------------------

    def read(self) -> Any:
        """Return the value, None, or `UNSET`."""
        return self._ask(lambda editor: editor.read())

    def masked(self) -> Any:
        """Return the value without its secrets."""
        return self._ask(lambda editor: editor.masked())

    def _ask(self, value_of: Callable[[Editor], Any]) -> Any:
        if self.presence.is_null:
            return None
        if not self.presence.is_there:
            return UNSET
        value = value_of(self.editor)
        return value if self.presence.counts(value) else UNSET

    def secrets(self) -> Iterable[str]:
        """Return the secrets here and inside."""
        return self.editor.secrets() if self.presence.is_there else ()

    def write(self, value: Any) -> None:
        """Set exactly *value*, in an editor that can hold it; every value is accepted."""
        self.touched = False
        if value is UNSET:
            return self.clear()
        self.choice.narrow()
        if value is None and self.node.nullable and not self.editor.owns_null:
            self.editor.clear()
            self.presence.hold_null()
        else:
            self.presence.hold()
            self.choice.hold(value)
        return self.display.draw()

    def clear(self) -> None:
        """Set no value."""
        self.presence.drop()
        opens = self.required and not self.presence.is_too_deep
        if self.choice.built is not None or opens:
            self.editor.clear()
        self.display.draw()

    # --- acts of a person -------------------------------------------------------------

    def edited(self) -> None:
        """Note that a person changed the editor: the slot has a value again."""
        self.presence.wake()
        self.touch()

    def touch(self) -> None:
        """Note that a person changed this slot, and so all slots around it."""
        self.frame.touched(self.path)
        for slot in self.outward():
            if slot is not self:
                slot.presence.wake()
            slot.touched = True
            slot.display.draw()

    def open(self) -> None:
        """Give the slot a value from now on, even if it is empty."""
        self.presence.hold()
        self.display.draw()

    def shut(self) -> None:
        """Set no value; the typed text comes back when the presence box is ticked."""
        self.presence.drop()
        self.display.draw()

    def _switch(self, state: State) -> None:
        if state is State.NULL:
            self.write(None)
        elif state is State.VALUE:
            self.unfold()
            self.open()
        else:
            self.shut()
        self.touch()

    def send_empty(self) -> bool:
        """Set the empty value of this type; return False if it has none."""
        if not self.editor.send_empty():
            return False
        self.open()
        return True

    def show_json(self, *, as_json: bool) -> None:
        """Turn editing as JSON text on or off; it stays on while the text is not valid."""
        if as_json == self.choice.as_json or (not as_json and self.editor.trouble):
            return
        value = self.read()
        self.choice.show_json(as_json=as_json)
        self.write(value)
        self.display.forget_presence_box()

    def unfold(self) -> None:
        """Show the editor and all slots around it, without folds."""
        for slot in self.outward():
            slot.display.unfold()

    def rename(self, key: Any, label: str) -> None:
        """Change the key and the label."""
        self.key, self.label = key, label
        self.display.draw()

    # --- the whole tree ---------------------------------------------------------------

    def outward(self) -> Iterator["Slot"]:
        """Yield this slot and those around it, up to the root."""
        slot: Slot | None = self
        while slot is not None:
            yield slot
            slot = slot.parent.slot if slot.parent is not None else None

    def walk(self) -> Iterator["Slot"]:
        """Yield this slot and all existing slots inside."""
        yield self
        for slot in self.choice.built.slots() if self.choice.built is not None else ():
            yield from slot.walk()

    def child(self, step: Any) -> "Slot | None":
        """Return the slot inside for one *step* of a path."""
        return self.choice.built.child(step) if self.choice.built is not None else None

    def troubles(self) -> Iterator[Problem]:
        """Yield a problem for each typed text that cannot be read, here and inside."""
        editor = self.choice.built
        if editor is None or not self.presence.is_there:
            return
        if editor.trouble:
            yield Problem(self.path, editor.trouble)
        inner = [p for slot in editor.slots() for p in slot.troubles()]
        yield from inner
        silent = not inner and not editor.trouble
        if silent and self.settled and self.key is not None and self.read() is UNSET:
            yield Problem(self.path, "has no value yet")

    def close(self) -> None:
        """Close every widget of this slot."""
        self.display.close()
        self.choice.close()
