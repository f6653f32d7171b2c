"""A button in the place of a large part of a form that nobody has asked to see yet."""

from typing import TYPE_CHECKING, Any

from ipywidgets import Button, Widget

from toolbench.widgets.fields import notes

if TYPE_CHECKING:  # a slot may be folded
    from toolbench.widgets.fields.slot import Slot

_BUDGET = 80  # widgets a form shows before it folds what comes next


class Fold:
    """Decides whether a container is shown at once, and stands in for it where it is not.

    A value of a thousand parts would cost the page seconds. What was folded opens when it
    is clicked, and by itself when something in it is wrong.
    """

    def __init__(self, slot: "Slot") -> None:
        self._slot = slot
        self._shut = len(slot.frame.pool) > _BUDGET
        self._button: Any = None

    @property
    def is_shut(self) -> bool:
        """Whether the button is shown instead of the container."""
        return self._shut

    @property
    def widget(self) -> Widget:
        """The button."""
        if self._button is None:
            slot = self._slot
            name = f"Show {notes.line(slot.label)}"
            self._button = slot.frame.pool.make(Button, "tb-add", description=name)
            slot.frame.hear(self._button, "", self._opened)
        return self._button

    def _opened(self) -> None:
        self.open()
        self._slot.draw()

    def open(self) -> None:
        """Show the container from now on."""
        self._shut = False
        self.close()

    def close(self) -> None:
        """Close the button."""
        if self._button is not None:
            self._slot.frame.pool.drop((self._button,))
            self._button = None
