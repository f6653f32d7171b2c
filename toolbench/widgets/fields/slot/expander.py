"""A button in place of a large part of a form, which it opens."""

from collections.abc import Callable
from typing import Any

from ipywidgets import Button, Widget

from toolbench.widgets.fields import notes
from toolbench.widgets.fields.position import Position

_BUDGET = 80  # widgets a form shows before it folds what comes next


class Fold:
    """Decides whether a container is shown at once, and stands in for it where it is not.

    A value of a thousand parts would cost the page seconds. What was folded opens when it
    is clicked, and by itself when something in it is wrong.

    Attributes:
        is_shut: Whether the button is shown instead of the container.
    """

    def __init__(self, position: Position, opened: Callable[[], None]) -> None:
        """Stand for *position*; *opened* is called when the fold has been opened."""
        self._position, self._opened = position, opened
        self.is_shut = len(position.frame.pool) > _BUDGET
        self._button: Any = None

    @property
    def widget(self) -> Widget:
        """The button."""
        if self._button is None:
            name = f"Show {notes.line(self._position.label)}"
            frame = self._position.frame
            self._button = frame.pool.make(Button, "tb-add", description=name)
            frame.hear(self._button, "", self.open)
        return self._button

    def open(self) -> None:
        """Show the container from now on."""
        self.is_shut = False
        self.close()
        self._opened()

    def close(self) -> None:
        """Close the button."""
        if self._button is not None:
            self._position.frame.pool.drop((self._button,))
            self._button = None
