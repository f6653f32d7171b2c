"""A button in place of a large part of a form; a click shows the part."""

from collections.abc import Callable
from typing import Any

from ipywidgets import Button, Widget

from toolbench.widgets.fields import notes
from toolbench.widgets.fields.position import Position

_BUDGET = 80  # widgets of a form; later containers are folded


class Fold:
    """A button in place of a container, if the form is already large.

    To draw a value of a thousand parts would take the page seconds. A folded container opens on a
    click, and by itself if there is an error in it.

    Attributes:
        is_shut: Whether the button is shown instead of the container.
    """

    def __init__(self, position: Position, opened: Callable[[], None]) -> None:
        """Fold *position* if the form is large; call *opened* when it was opened."""
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
