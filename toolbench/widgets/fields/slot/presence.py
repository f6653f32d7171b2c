"""Whether a slot holds a value at all, and whether that is null: what no editor can say."""

from enum import Enum
from typing import Any

from toolbench.widgets.fields.position import Position
from toolbench.widgets.fields.slot.editor_choice import EditorChoice

_OPEN_DEPTH = 4  # required objects nested deeper start closed, so recursion ends


class State(Enum):
    """What a slot holds."""

    UNSET = 0
    NULL = 1
    VALUE = 2


class Presence:
    """Says if there is a value, as far as a person or `write` decided that.

    Attributes:
        is_null: Whether the value is null, held beside the editor.
    """

    def __init__(self, position: Position, choice: EditorChoice) -> None:
        """Start undecided; a slot that a person added holds a value from the start."""
        self._position, self._choice = position, choice
        self._decided: bool | None = True if position.settled else None
        self.is_null = False

    @property
    def state(self) -> State:
        """What is held: nothing, null or a value."""
        if self.is_null:
            return State.NULL
        return State.VALUE if self.is_open else State.UNSET

    @property
    def has_presence_box(self) -> bool:
        """Whether a box stands before the editor that says if there is a value at all."""
        position, editor = self._position, self._choice.current
        if position.required and position.node.nullable and not editor.owns_null:
            return True
        return editor.structured and (not position.required or self.is_too_deep)

    @property
    def is_too_deep(self) -> bool:
        """Whether a required object starts closed here, so that recursion ends."""
        return self._position.depth > _OPEN_DEPTH and not self._position.settled

    @property
    def is_open(self) -> bool:
        """Whether the editor is shown: always, unless its presence box is off."""
        return not self.has_presence_box or (self._decided is True and not self.is_null)

    @property
    def is_there(self) -> bool:
        """Whether the editor is asked for the value: not while it was never needed, or shut."""
        if self._choice.built is None and not self._position.required:
            return False
        return self.is_open and not self.is_null

    def counts(self, value: Any) -> bool:
        """Whether *value* of the editor is one: what is empty may only be untouched."""
        editor = self._choice.current
        if (
            value
            or self._decided is True
            or not editor.structured
            or self.has_presence_box
        ):
            return True
        return self._decided is None and not editor.wants_more

    def hold(self) -> None:
        """Hold what the editor holds from now on, even if it is empty."""
        self.is_null, self._decided = False, True

    def hold_null(self) -> None:
        """Hold null from now on."""
        self.is_null, self._decided = True, False

    def drop(self) -> None:
        """Hold no value from now on."""
        self.is_null, self._decided = False, False

    def wake(self) -> None:
        """Note an edit inside: there is a value again, if the editor has one."""
        self.is_null = False
        if self._decided is False and not self.has_presence_box:
            self._decided = None
