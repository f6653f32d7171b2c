"""A position and its value: unset, null or a value, in the editor that can hold it."""

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
    """A position of the form with its value, in the editor that can hold it.

    Attributes:
        choice: Which editor it is.
        presence: Whether there is a value at all, and whether it is null.
        display: The line that is shown, and the errors on it.
        touched: Whether a person has edited it since it was set.
    """

    parent: Container | None

    def __init__(self, *args: Any, **options: Any) -> None:
        """Stand for a position, as `Position` does, without a value."""
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
        """What is wrong with it, in sentences, as far as it may be shown."""
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
        """Give the secrets held here and inside."""
        return self.editor.secrets() if self.presence.is_there else ()

    def write(self, value: Any) -> None:
        """Hold exactly *value*, in the editor that can: none is ever refused."""
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
        """Hold no value."""
        self.presence.drop()
        opens = self.required and not self.presence.is_too_deep
        if self.choice.built is not None or opens:
            self.editor.clear()
        self.display.draw()

    # --- what a person asks for -------------------------------------------------------

    def edited(self) -> None:
        """Note that a person changed what is inside: the slot has a value again."""
        self.presence.wake()
        self.touch()

    def touch(self) -> None:
        """Note that a person changed this slot, and with it everything above."""
        self.frame.touched(self.path)
        for slot in self.outward():
            if slot is not self:
                slot.presence.wake()
            slot.touched = True
            slot.display.draw()

    def open(self) -> None:
        """Hold a value from now on, even an empty one."""
        self.presence.hold()
        self.display.draw()

    def shut(self) -> None:
        """Hold no value; what was typed is there again when its presence box is ticked."""
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
        """Hold the empty value of this type; return False when it has none."""
        if not self.editor.send_empty():
            return False
        self.open()
        return True

    def show_json(self, *, as_json: bool) -> None:
        """Edit the value as JSON text, or no longer; text that does not parse stays as it is."""
        if as_json == self.choice.as_json or (not as_json and self.editor.trouble):
            return
        value = self.read()
        self.choice.show_json(as_json=as_json)
        self.write(value)
        self.display.forget_presence_box()

    def unfold(self) -> None:
        """Show the editor, and all around it."""
        for slot in self.outward():
            slot.display.unfold()

    def rename(self, key: Any, label: str) -> None:
        """Stand under another key from now on."""
        self.key, self.label = key, label
        self.display.draw()

    # --- the whole tree ---------------------------------------------------------------

    def outward(self) -> Iterator["Slot"]:
        """Give this slot and those around it, up to the root."""
        slot: Slot | None = self
        while slot is not None:
            yield slot
            slot = slot.parent.slot if slot.parent is not None else None

    def walk(self) -> Iterator["Slot"]:
        """Give this slot and those inside that exist."""
        yield self
        for slot in self.choice.built.slots() if self.choice.built is not None else ():
            yield from slot.walk()

    def child(self, step: Any) -> "Slot | None":
        """Return the slot inside for one *step* of a path."""
        return self.choice.built.child(step) if self.choice.built is not None else None

    def troubles(self) -> Iterator[Problem]:
        """Give everything that was typed and cannot be read, here and inside."""
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
