"""A position and its value: unset, null or a value, in the editor that can hold it."""

from collections.abc import Iterable, Iterator
from typing import Any

from ipywidgets import Widget

from toolbench.display.escape import Html
from toolbench.errors import Problem
from toolbench.widgets.equality import same
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import UNSET, Container, Editor
from toolbench.widgets.fields.fold import Fold
from toolbench.widgets.fields.gate import Gate
from toolbench.widgets.fields.grid import Entry
from toolbench.widgets.fields.position import Position
from toolbench.widgets.fields.raw import Raw

_OPEN_DEPTH = 4  # required objects nested deeper start closed, so recursion ends


class Slot(Position):
    """A position of the form with its value, in the editor that can hold it.

    Attributes:
        errors: What is wrong with it, in sentences, as far as it may be shown.
        touched: Whether a person has edited it since it was set.
        as_json: Whether a person asked for it as JSON text.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        """Stand for a position, as `Position` does, without a value."""
        super().__init__(*args, **options)
        self.errors: list[str] = []
        self.touched = False
        self.as_json = False
        self._null = False
        self._open: bool | None = True if self.settled else None
        self._editor: Editor | None = None
        self._escalated = False
        self._gate: Gate | None = None
        self._fold: Fold | None = None

    # --- the value ------------------------------------------------------------------

    @property
    def editor(self) -> Editor:
        """The editor, chosen on first use."""
        if self._editor is None:
            self._editor = self._choose()
        return self._editor

    @property
    def gated(self) -> bool:
        """Whether a box stands before the editor that says if there is a value at all."""
        editor = self.editor
        if self.required and self.node.nullable and not editor.owns_null:
            return True
        late = not self.required or (self.depth > _OPEN_DEPTH and not self.settled)
        return editor.structured and late

    @property
    def folded(self) -> bool:
        """Whether a button stands in for the editor, to keep a large form light."""
        if not isinstance(self.editor, Container) or self.editor.built:
            return False
        if self._fold is None:
            self._fold = Fold(self)
        return self._fold.is_shut

    def unfold(self) -> None:
        """Show the editor, and all around it."""
        here: Slot | None = self
        while here is not None:
            if here.folded and here._fold is not None:
                here._fold.open()
                here.draw()
            here = here.parent.slot if here.parent is not None else None

    @property
    def is_null(self) -> bool:
        """Whether the value is null, held beside the editor."""
        return self._null

    @property
    def is_open(self) -> bool:
        """Whether the editor is shown: always, unless a gate is shut."""
        return not self.gated or (self._open is True and not self._null)

    @property
    def is_there(self) -> bool:
        """Whether the editor is asked for the value: not while it was never needed, or shut."""
        if self._editor is None and not self.required:
            return False
        return self.is_open and not self._null

    def read(self) -> Any:
        """Return the value, None, or `UNSET`."""
        return self._read(lambda editor: editor.read())

    def masked(self) -> Any:
        """Return the value without its secrets."""
        return self._read(lambda editor: editor.masked())

    def _read(self, ask: Any) -> Any:
        if self._null:
            return None
        if not self.is_there:
            return UNSET
        if self.gated:
            return ask(self.editor)
        value = ask(self.editor)
        if self._open is not True and self.editor.structured and not value:
            wanted = self._open is False or self.editor.wants_more
            return UNSET if wanted else value
        return value

    def write(self, value: Any) -> None:
        """Hold exactly *value*, in the editor that can: none is ever refused."""
        self.touched = False
        if value is UNSET:
            return self.clear()
        if self._escalated and not self.as_json:
            self._swap(self._choose())
            self._escalated = False
        if value is None and self.node.nullable and not self.editor.owns_null:
            self.editor.clear()
            self._null, self._open = True, False
        else:
            self._null, self._open = False, True
            self._hold(value)
        return self.draw()

    def clear(self) -> None:
        """Hold no value."""
        self._null, self._open = False, False
        if self._editor is not None or self.required:
            self.editor.clear()
        self.draw()

    def rename(self, key: Any, label: str) -> None:
        """Stand under another key from now on."""
        self.key, self.label = key, label
        self.draw()

    def _hold(self, value: Any) -> None:
        while not self._holds(value):
            wider = self.editor.wider or Raw
            self._escalated = True
            self._swap(wider(self))

    def _holds(self, value: Any) -> bool:
        editor = self.editor
        if not editor.write(value):
            return False
        # containers ask their own slots; what any other editor claims to hold is checked
        if isinstance(editor, Container) or type(editor) is Raw:
            return True
        return same(editor.read(), value)

    def _choose(self) -> Editor:
        return self.frame.registry.editor(self)

    def _swap(self, editor: Editor) -> None:
        if self._editor is not None:
            self._editor.close()
        self._editor = editor
        self.frame.stale(self.parent)

    # --- what a person asks for -------------------------------------------------------

    def edited(self) -> None:
        """Note that a person changed what is inside: the slot has a value again."""
        self._come_alive()
        self.touch()

    def _come_alive(self) -> None:
        self._null = False
        if self._open is False and not self.gated:
            self._open = None

    def touch(self) -> None:
        """Note that a person changed this slot, and with it everything above."""
        self.frame.touched(self.path)
        here: Slot | None = self
        while here is not None:
            here.touched = True
            here.draw()
            here = here.parent.slot if here.parent is not None else None
            if here is not None:
                here._come_alive()

    def open(self) -> None:
        """Hold a value from now on, even an empty one."""
        self._null, self._open = False, True
        self.draw()

    def shut(self) -> None:
        """Hold no value; what was typed is there again when the gate opens."""
        self._null, self._open = False, False
        self.draw()

    def set_null(self) -> None:
        """Hold `null`, whatever the schema says of it."""
        self.write(None)

    @property
    def can_be_empty(self) -> bool:
        """Whether there is an empty value of this type."""
        return type(self.editor).send_empty is not Editor.send_empty

    def send_empty(self) -> bool:
        """Hold the empty value of this type; return False when it has none."""
        if not self.editor.send_empty():
            return False
        self.open()
        return True

    def show_json(self, *, wanted: bool) -> None:
        """Edit the value as JSON text, or no longer; text that does not parse stays as it is."""
        if wanted == self.as_json or (not wanted and self.editor.trouble):
            return
        value = self.read()
        self.as_json = wanted
        self._escalated = False
        self._swap(Raw(self) if wanted else self._choose())
        self.write(value)
        self._close_gate()

    # --- what is shown ----------------------------------------------------------------

    def entry(self) -> Entry:
        """Return the line of this slot."""
        if self.hidden:
            return Entry(Html(""), (), Html(""))
        if self.gated:
            cells: tuple[Widget, ...] = (self._gate_box(),)
        else:
            cells = self.body
        headless = self.gated or (self.editor.labelled and not self.editor.static)
        head = Html("") if headless else notes.heading(self)
        inside = self.is_open and self.editor.notes_itself and not self.folded
        return Entry(head, cells, Html("") if inside else notes.remarks(self))

    @property
    def body(self) -> tuple[Widget, ...]:
        """The editor, or the button that stands in for it."""
        if self.folded and self._fold is not None:
            return (self._fold.widget,)
        return self.editor.cells

    def note(self) -> Html:
        """Return help and errors, for an editor that shows them itself."""
        return notes.remarks(self)

    def fault(self, sentences: list[str]) -> None:
        """Show these errors, and no others."""
        if sentences != self.errors:
            self.errors = sentences
            self.draw()

    def draw(self) -> None:
        """Have everything that depends on the state of this slot drawn again."""
        self.frame.stale(self.parent)
        if self._editor is not None:
            self._editor.refresh()
            if isinstance(self._editor, Container):
                self._editor.stale()
        if self._gate is not None:
            self._gate.refresh()

    def _gate_box(self) -> Widget:
        if self._gate is None:
            self._gate = Gate(self)
        return self._gate.widget

    def _close_gate(self) -> None:
        if self._gate is not None:
            self._gate.close()
            self._gate = None

    # --- the whole tree ---------------------------------------------------------------

    def troubles(self) -> Iterator[Problem]:
        """Give everything that was typed and cannot be read, here and inside."""
        if self._editor is None or not self.is_there:
            return
        if self._editor.trouble:
            yield Problem(self.path, self._editor.trouble)
        inner = [p for slot in self._editor.slots() for p in slot.troubles()]
        yield from inner
        silent = not inner and not self._editor.trouble
        if silent and self.settled and self.key is not None and self.read() is UNSET:
            yield Problem(self.path, "has no value yet")

    def secrets(self) -> Iterable[str]:
        """Give the secrets held here and inside."""
        return self.editor.secrets() if self.is_there else ()

    def walk(self) -> Iterator["Slot"]:
        """Give this slot and those inside that exist."""
        yield self
        for slot in self._editor.slots() if self._editor is not None else ():
            yield from slot.walk()

    def child(self, step: Any) -> "Slot | None":
        """Return the slot inside for one *step* of a path."""
        return self._editor.child(step) if self._editor is not None else None

    def close(self) -> None:
        """Close every widget of this slot."""
        self._close_gate()
        if self._fold is not None:
            self._fold.close()
        if self._editor is not None:
            self._editor.close()
