"""The line of a slot: name, presence box, editor or the button in its place, help, errors."""

from collections.abc import Callable

from ipywidgets import Widget

from toolbench.display.escape import Html
from toolbench.jsonschema.validation.problems import REQUIRED
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import Container
from toolbench.widgets.fields.grid import Entry
from toolbench.widgets.fields.position import Position
from toolbench.widgets.fields.slot.editor_choice import EditorChoice
from toolbench.widgets.fields.slot.expander import Fold
from toolbench.widgets.fields.slot.presence import Presence, State
from toolbench.widgets.fields.slot.presence_box import PresenceBox


class SlotDisplay:
    """The view of one slot.

    Attributes:
        errors: The errors that are shown, in sentences.
    """

    def __init__(
        self,
        position: Position,
        choice: EditorChoice,
        presence: Presence,
        switch: Callable[[State], None],
    ) -> None:
        """Show these parts; call *switch* with the state that a person chooses."""
        self.errors: list[str] = []
        self._position, self._choice, self._presence = position, choice, presence
        self._switch = switch
        self._presence_box: PresenceBox | None = None
        self._fold: Fold | None = None

    def entry(self) -> Entry:
        """Return the line."""
        position, editor = self._position, self._choice.current
        if position.hidden:
            return Entry(Html(""), (), Html(""))
        has_presence_box = self._presence.has_presence_box
        cells = (self._shown_presence_box(),) if has_presence_box else self.body
        headless = has_presence_box or (editor.labelled and not editor.static)
        head = Html("") if headless else notes.heading(position, editor.static)
        inside = (
            self._presence.is_open and editor.notes_itself and not self._fold_is_shut
        )
        is_short = (
            headless and not has_presence_box and editor.is_short and len(cells) == 1
        )
        return Entry(head, cells, Html("") if inside else self.remarks(), is_short)

    @property
    def body(self) -> tuple[Widget, ...]:
        """The editor, or the button in its place."""
        if self._fold_is_shut and self._fold is not None:
            return (self._fold.widget,)
        return self._choice.current.cells

    def remarks(self) -> Html:
        """Return help and errors; an editor may show them itself."""
        hints = [self._choice.current.hint]
        if self._presence.is_null and not self._presence.has_presence_box:
            hints.insert(0, "null is sent")
        missing = self._choice.current.missing
        errors = (missing if error == REQUIRED else error for error in self.errors)
        return notes.remarks(self._position, filter(None, hints), errors)

    def show_errors(self, errors: list[str]) -> None:
        """Show *errors* in place of the old ones."""
        if errors != self.errors:
            self.errors = errors
            self.draw()

    def draw(self) -> None:
        """Redraw everything that depends on the state of the slot."""
        self._position.frame.stale(self._position.parent)
        editor = self._choice.built
        if editor is not None:
            editor.refresh()
            if isinstance(editor, Container):
                editor.stale()
        if self._presence_box is not None:
            self._presence_box.show(*self._box_content())

    # --- the presence box and the fold ------------------------------------------------

    @property
    def _fold_is_shut(self) -> bool:
        """Whether a button is shown in place of the editor, to keep a large form fast."""
        editor = self._choice.current
        if not isinstance(editor, Container) or editor.built:
            return False
        if self._fold is None:
            self._fold = Fold(self._position, self.draw)
        return self._fold.is_shut

    def unfold(self) -> None:
        """Show the editor in place of the button."""
        if self._fold_is_shut and self._fold is not None:
            self._fold.open()

    def _shown_presence_box(self) -> Widget:
        if self._presence_box is None:
            self._presence_box = PresenceBox(
                self._position, self._switch, *self._box_content()
            )
        return self._presence_box.widget

    def _box_content(self) -> tuple[State, tuple[Widget, ...]]:
        state = self._presence.state
        return state, self.body if state is State.VALUE else ()

    def forget_presence_box(self) -> None:
        """Close the presence box; the next line gets a new one, if it needs one."""
        if self._presence_box is not None:
            self._presence_box.close()
            self._presence_box = None

    def close(self) -> None:
        """Close the presence box and the fold."""
        self.forget_presence_box()
        if self._fold is not None:
            self._fold.close()
