"""Choose a slot's editor: the registry's, a wider one for unusual values, or JSON text."""

from collections.abc import Callable
from typing import Any

from toolbench.plain import same_json
from toolbench.widgets.fields.editor import Container, Editor
from toolbench.widgets.fields.position import Position
from toolbench.widgets.fields.text.raw_json import Raw

Make = Callable[[type[Editor] | None], Editor]


class EditorChoice:
    """The present editor of a slot.

    Attributes:
        built: The editor; None until it is needed.
        as_json: Whether a person chose to edit the value as JSON text.
    """

    def __init__(self, position: Position, make: Make) -> None:
        """Choose for *position*; *make* makes an editor of a given class, or the registry's for None."""
        self._position, self._make = position, make
        self.built: Editor | None = None
        self.as_json = False
        self._is_wider = False

    @property
    def current(self) -> Editor:
        """The editor, chosen on first use."""
        if self.built is None:
            self.built = self._make(None)
        return self.built

    def hold(self, value: Any) -> None:
        """Write *value* to the editor, or to the first wider one that can hold it exactly."""
        while not self._holds(value):
            self._is_wider = True
            self._swap(self.current.wider or Raw)

    def _holds(self, value: Any) -> bool:
        editor = self.current
        if not editor.write(value):
            return False
        # slots in a container check themselves; other editors are checked here
        if isinstance(editor, Container) or type(editor) is Raw:
            return True
        return same_json(editor.read(), value)

    def narrow(self) -> None:
        """Go back from a wider editor to the registry's."""
        if self._is_wider and not self.as_json:
            self._swap(None)
            self._is_wider = False

    def show_json(self, *, as_json: bool) -> None:
        """Switch to the editor of JSON text, or back to the registry's."""
        self.as_json, self._is_wider = as_json, False
        self._swap(Raw if as_json else None)

    def _swap(self, kind: type[Editor] | None) -> None:
        editor = self._make(kind)
        self.close()
        self.built = editor
        self._position.frame.stale(self._position.parent)

    def close(self) -> None:
        """Close the widgets of the editor; its value can still be read."""
        if self.built is not None:
            self.built.close()
