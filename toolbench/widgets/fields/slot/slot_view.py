"""The line of a slot: name, presence box, editor or the button in its place, help, errors."""

from typing import TYPE_CHECKING, Any

from ipywidgets import Button, RadioButtons, VBox, Widget

from toolbench.display.escape import Html
from toolbench.jsonschema.problems import REQUIRED
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import Container
from toolbench.widgets.fields.grid import Entry
from toolbench.widgets.fields.slot.slot_value import State
from toolbench.widgets.kit.parts import INVALID, mark

# A slot makes its view
if TYPE_CHECKING:
    from toolbench.widgets.fields.slot.slot import Slot

_STATES = {State.UNSET: "not sent", State.NULL: "null", State.VALUE: "a value"}
_NOT_IN_THE_FIELD = (
    "JSON, because the field cannot show this value: empty it to use the field again"
)
# Widgets; if a form has more, new containers are folded
_BUDGET = 80


class SlotDisplay:
    """The line of one slot in the form.

    Attributes:
        errors: The errors that are shown, in sentences.
    """

    def __init__(self, slot: "Slot") -> None:
        """Show *slot*; its widgets are made when they are first needed."""
        self.errors: list[str] = []
        self._slot = slot
        self._presence_box: PresenceBox | None = None
        self._fold: Fold | None = None

    def entry(self) -> Entry:
        """Return the line of the slot, for the container that shows it."""
        slot, editor = self._slot, self._slot.editor
        if slot.hidden:
            return Entry(Html(""), (), Html(""))
        has_presence_box = slot.presence.has_presence_box
        cells = (self._shown_presence_box(),) if has_presence_box else self.body
        headless = has_presence_box or (editor.labelled and not editor.static)
        head = Html("") if headless else notes.heading(slot, editor.static)
        inside = slot.presence.is_open and editor.notes_itself and not self._fold_is_shut
        is_short = headless and not has_presence_box and editor.is_short and len(cells) == 1
        return Entry(head, cells, Html("") if inside else self.remarks(), is_short)

    @property
    def body(self) -> tuple[Widget, ...]:
        """The widgets of the editor, or the button that a fold shows in place of the editor."""
        if self._fold_is_shut and self._fold is not None:
            return (self._fold.widget,)
        return self._slot.editor.cells

    def remarks(self) -> Html:
        """Return the help and the errors of the slot."""
        editor, presence = self._slot.editor, self._slot.presence
        hints = [editor.hint]
        if presence.is_null and not presence.has_presence_box:
            hints.insert(0, "null is sent")
        if self._slot.value.is_json_for_now:
            hints.insert(0, _NOT_IN_THE_FIELD)
        missing = editor.missing if presence.is_open else "choose one"
        errors = (missing if e == REQUIRED else e for e in self.errors)
        return notes.remarks(self._slot, filter(None, hints), errors)

    def show_errors(self, errors: list[str]) -> None:
        """Replace the shown errors by *errors*."""
        if errors != self.errors:
            self.errors = errors
            self.draw()

    def draw(self) -> None:
        """Redraw everything that depends on the state of the slot."""
        self._slot.frame.stale(self._slot.parent)
        editor = self._slot.value.built
        if editor is not None:
            editor.refresh()
            if isinstance(editor, Container):
                editor.stale()
        if self._presence_box is not None:
            self._presence_box.show(*self._box_content())
            is_open = self._slot.presence.is_open
            self._presence_box.blame(is_wrong=bool(self.errors) and not is_open)

    # --- the presence box and the fold ------------------------------------------------

    @property
    def _fold_is_shut(self) -> bool:
        """Whether a button is shown in place of the editor. This keeps a large form fast."""
        editor = self._slot.editor
        if not isinstance(editor, Container) or editor.built:
            return False
        if self._fold is None:
            self._fold = Fold(self._slot)
        return self._fold.is_shut

    def unfold(self) -> None:
        """Show the editor in place of the button."""
        if self._fold_is_shut and self._fold is not None:
            self._fold.open()

    def _shown_presence_box(self) -> Widget:
        if self._presence_box is None:
            self._presence_box = PresenceBox(self._slot, *self._box_content())
        return self._presence_box.widget

    def _box_content(self) -> tuple[State, tuple[Widget, ...]]:
        state = self._slot.presence.state
        return state, self.body if state is State.VALUE else ()


    def close(self) -> None:
        """Close the presence box and the fold."""
        if self._presence_box is not None:
            self._presence_box.close()
            self._presence_box = None
        if self._fold is not None:
            self._fold.close()


class PresenceBox:
    """A box that shows the editor of a slot only if there is a value.

    Buttons choose between no value, null if the schema allows it, and a value. A required value
    that may be null has no button for no value: at first none of its buttons is chosen.
    """

    def __init__(self, slot: "Slot", state: State, body: tuple[Widget, ...]) -> None:
        """Make the box for *slot*. *state* and *body* are as in `show`."""
        self._slot = slot
        make = slot.frame.pool.make
        nullable = slot.node.nullable
        left_out = {State.NULL} if not nullable else set()
        left_out |= {State.UNSET} if nullable and slot.required else set()
        self._states = [each for each in State if each not in left_out]
        self._switch = make(
            RadioButtons,
            *("tb-field", "tb-switch"),
            *slot.classes,
            description=notes.label(slot.label),
            options=[_STATES[each] for each in self._states],
            index=None,
        )
        self.widget: Widget = make(VBox, "tb-gated", children=(self._switch,))
        self.show(state, body)
        slot.frame.hear(self._switch, "index", self._switched)

    def _switched(self) -> None:
        place = self._switch.index
        self._slot.choose(State.UNSET if place is None else self._states[place])

    def show(self, state: State, body: tuple[Widget, ...]) -> None:
        """Show *state*, and below it *body*: the editor, if there is a value."""
        there = state in self._states
        self._switch.index = self._states.index(state) if there else None
        if self.widget.children[1:] != body:
            self.widget.children = (self._switch, *body)

    def blame(self, *, is_wrong: bool) -> None:
        """Mark the buttons if a person must still choose one of them."""
        mark(self._switch, INVALID, is_marked=is_wrong)

    def close(self) -> None:
        """Close the box, but not the editor inside, which belongs to the slot."""
        self._slot.frame.pool.drop((self._switch, self.widget))


class Fold:
    """A button in place of the container in a slot, if the form is already large.

    The page needs seconds to draw a value of a thousand parts. A folded container opens
    after a click, and when there is an error inside.

    Attributes:
        is_shut: Whether the button is shown instead of the container.
    """

    def __init__(self, slot: "Slot") -> None:
        """Fold *slot* if the form is large."""
        self._slot = slot
        self.is_shut = len(slot.frame.pool) > _BUDGET
        self._button: Any = None

    @property
    def widget(self) -> Widget:
        """The button. It is made on first use."""
        if self._button is None:
            name = f"Show {notes.line(self._slot.label)}"
            frame = self._slot.frame
            self._button = frame.pool.make(Button, "tb-add", description=name)
            frame.hear(self._button, "", self.open)
        return self._button

    def open(self) -> None:
        """Show the container from now on."""
        self.is_shut = False
        self.close()
        self._slot.display.draw()

    def close(self) -> None:
        """Close the button."""
        if self._button is not None:
            self._slot.frame.pool.drop((self._button,))
            self._button = None
