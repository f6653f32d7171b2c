"""The value of a slot: whether there is one, whether it is null, and the editor that holds it."""

from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any

from toolbench.values import same_json
from toolbench.widgets.fields.editor import Container, Editor
from toolbench.widgets.fields.text.raw_json import Raw
from toolbench.widgets.fields.text.text_box import TextBox
from toolbench.widgets.fields.unset import UNSET

# A slot makes its value
if TYPE_CHECKING:
    from toolbench.widgets.fields.slot.slot import Slot

# Required objects nested deeper start closed, so recursion ends
_OPEN_DEPTH = 4


class SlotValue:
    """The value of one slot. An editor holds the value: from the registry, a wider one, or JSON text.

    Attributes:
        built: The editor; None until it is needed.
    """

    def __init__(self, slot: "Slot") -> None:
        """Make the value of *slot*. At first there is no value."""
        self._slot = slot
        self.built: Editor | None = None
        self._is_wider = False

    @property
    def editor(self) -> Editor:
        """The editor. It is chosen on first use."""
        if self.built is None:
            self.built = self._new_editor()
        return self.built

    def read(self) -> Any:
        """Return the value: None for null, `UNSET` if there is no value."""
        return self._ask(lambda editor: editor.read())

    def masked(self) -> Any:
        """Return the value with its secrets hidden."""
        return self._ask(lambda editor: editor.masked())

    def typed(self) -> Any:
        """Return the value for another form, with the text boxes of typed texts; see `write`."""
        return self._ask(lambda editor: editor.typed())

    def _ask(self, value_of: Callable[[Editor], Any]) -> Any:
        presence = self._slot.presence
        if presence.is_null:
            return None
        if not presence.is_there:
            return UNSET
        value = value_of(self.editor)
        return value if presence.counts(value) else UNSET

    def secrets(self) -> Iterable[str]:
        """Return the secrets in the value, also in the slots inside."""
        return self.editor.secrets() if self._slot.presence.is_there else ()

    def write(self, value: Any) -> None:
        """Set exactly *value*. If the editor cannot hold *value*, use a wider editor, or JSON text.

        In place of each value, *value* may have the text box of an earlier form; see `typed`. Its text
        stays as it was typed, where the field has a text box too.
        """
        self._slot.touched = False
        if value is UNSET:
            return self.clear()
        self._narrow()
        if value is None and self._slot.node.nullable and not self.editor.owns_null:
            self.editor.clear()
            self._slot.presence.hold_null()
        else:
            self._slot.presence.hold()
            while not self._holds(value):
                self._is_wider = True
                self._use(self.editor.wider or Raw)
        return self._slot.display.draw()

    def _narrow(self) -> None:
        """Replace a wider editor by the editor of the registry."""
        if self._is_wider:
            self._use(None)
            self._is_wider = False

    @property
    def is_json_for_now(self) -> bool:
        """Whether the value is edited as JSON text only because the field cannot hold it."""
        is_field = self._slot.parent is not None
        return is_field and self._is_wider and type(self.built) is Raw

    def _holds(self, value: Any) -> bool:
        editor = self.editor
        if isinstance(value, TextBox):
            return self._holds_text(editor, value)
        if not editor.write(value):
            return False
        # slots in a container check themselves; other editors are checked here
        if isinstance(editor, Container) or type(editor) is Raw:
            return True
        return same_json(editor.read(), value)

    def _holds_text(self, editor: Editor, earlier: TextBox) -> bool:
        """Show what was typed in *earlier*; return False if *editor* cannot."""
        if type(editor) is not type(earlier):
            value = earlier.read()
            if value is not UNSET and self._holds(value):
                return True
            if not isinstance(editor, TextBox) or not editor.fits(earlier.text):
                return False
        editor.take(earlier)
        return True

    def clear(self) -> None:
        """Set no value."""
        self._narrow()
        presence = self._slot.presence
        presence.drop()
        # a required constant would stay in an editor that is built later
        opens = self._slot.required and (self._slot.node.is_constant or not presence.is_too_deep)
        if self.built is not None or opens:
            self.editor.clear()
        self._slot.display.draw()

    def _use(self, kind: type[Editor] | None) -> None:
        """Replace the editor by an editor of class *kind*; None means the registry's editor."""
        editor = self._new_editor() if kind is None else kind(self._slot)
        self.close()
        self.built = editor
        self._slot.frame.stale(self._slot.parent)

    def _new_editor(self) -> Editor:
        editor: Editor = self._slot.frame.registry.editor(self._slot)
        return editor

    def close(self) -> None:
        """Close the widgets of the editor; the value can still be read."""
        if self.built is not None:
            self.built.close()


class State(Enum):
    """The three states of a slot: unset, null, or a value."""

    UNSET = 0
    NULL = 1
    VALUE = 2


class Presence:
    """The state of a slot: unset, null or a value. A person decides the state, or `SlotValue.write`.

    Attributes:
        is_null: Whether the value is null and the editor is not used.
    """

    def __init__(self, slot: "Slot") -> None:
        """Decide no state yet; but a slot that a person added has a value from the start."""
        self._slot = slot
        self._decided: bool | None = True if slot.settled else None
        self.is_null = False

    @property
    def state(self) -> State:
        """The state: unset, null or a value."""
        if self.is_null:
            return State.NULL
        return State.VALUE if self.is_open else State.UNSET

    @property
    def has_presence_box(self) -> bool:
        """Whether there is a box above the editor, to choose between a value and no value."""
        slot, editor = self._slot, self._slot.value.editor
        if slot.required and slot.node.nullable and not editor.owns_null:
            return True
        return editor.structured and (not slot.required or self.is_too_deep)

    @property
    def is_too_deep(self) -> bool:
        """Whether an object at this depth starts closed, even if it is required.

        Without this, a form for a recursive schema would have no end.
        """
        return self._slot.depth > _OPEN_DEPTH and not self._slot.settled

    @property
    def is_open(self) -> bool:
        """Whether the editor is shown. Only a presence box can hide it, for the states unset and null."""
        return not self.has_presence_box or (self._decided is True and not self.is_null)

    @property
    def is_there(self) -> bool:
        """Whether the value of the editor is used as the value of the slot.

        The editor must be open, and the slot must not be null. The editor must also be
        built already, unless the slot is required.
        """
        if self._slot.value.built is None and not self._slot.required:
            return False
        return self.is_open and not self.is_null

    def counts(self, value: Any) -> bool:
        """Return True if *value* is the value of the slot, and False if *value* means "unset".

        *value* is what the editor holds. Only an empty object or list can mean "unset", and only in a
        slot without a presence box. There it is a value if a person added the slot, if `hold` was
        called, or if no state was decided and the editor accepts an empty value.
        """
        editor = self._slot.value.editor
        if self._decided is True or not editor.structured or self.has_presence_box:
            # Also an array, which is neither true nor false
            return True
        return bool(value) or (self._decided is None and not editor.wants_more)

    def hold(self) -> None:
        """Set the state to "a value": use the editor's value, even if it is empty."""
        self.is_null, self._decided = False, True

    def hold_null(self) -> None:
        """Set the state to null."""
        self.is_null, self._decided = True, False

    def drop(self) -> None:
        """Set the state to unset."""
        self.is_null, self._decided = False, False

    def wake(self) -> None:
        """React to an edit in the editor: the slot is not null any more.

        If the slot was unset and has no presence box, the editor's value decides again.
        """
        self.is_null = False
        if self._decided is False and not self.has_presence_box:
            self._decided = None
