"""The state of a slot that its editor cannot know: whether it has a value, and whether that is null."""

from enum import Enum
from typing import Any

from toolbench.widgets.fields.position import Position
from toolbench.widgets.fields.slot.editor_choice import EditorChoice

_OPEN_DEPTH = 4  # required objects nested deeper start closed, so recursion ends


class State(Enum):
    """The three states of a slot."""

    UNSET = 0
    NULL = 1
    VALUE = 2


class Presence:
    """The state of a slot: unset, null or a value, as a person or `write` decided.

    Attributes:
        is_null: Whether the value is null, without the editor.
    """

    def __init__(self, position: Position, choice: EditorChoice) -> None:
        """Start without a decision; a slot that a person added has a value from the start."""
        self._position, self._choice = position, choice
        self._decided: bool | None = True if position.settled else None
        self.is_null = False

    @property
    def state(self) -> State:
        """The state: unset, null or a value."""
        if self.is_null:
            return State.NULL
        return State.VALUE if self.is_open else State.UNSET

    @property
    def has_presence_box(self) -> bool:
        """Whether there is a box before the editor to choose if there is a value."""
        position, editor = self._position, self._choice.current
        if position.required and position.node.nullable and not editor.owns_null:
            return True
        return editor.structured and (not position.required or self.is_too_deep)

    @property
    def is_too_deep(self) -> bool:
        """Whether a required object at this depth starts closed, to end a recursion."""
        return self._position.depth > _OPEN_DEPTH and not self._position.settled

    @property
    def is_open(self) -> bool:
        """Whether the editor is shown: always, unless there is a presence box and it is off."""
        return not self.has_presence_box or (self._decided is True and not self.is_null)

    @property
    def is_there(self) -> bool:
        """Whether the slot takes its value from the editor: the editor is needed, open, and not null."""
        if self._choice.built is None and not self._position.required:
            return False
        return self.is_open and not self.is_null

    def counts(self, value: Any) -> bool:
        """Return whether the editor's *value* counts: an empty value may mean "not touched yet"."""
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
        """Use the editor's value from now on, even if it is empty."""
        self.is_null, self._decided = False, True

    def hold_null(self) -> None:
        """Set the state to null."""
        self.is_null, self._decided = True, False

    def drop(self) -> None:
        """Set the state to unset."""
        self.is_null, self._decided = False, False

    def wake(self) -> None:
        """Note an edit inside the editor: use its value again, if it has one."""
        self.is_null = False
        if self._decided is False and not self.has_presence_box:
            self._decided = None
