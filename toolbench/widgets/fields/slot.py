"""A slot: one field of a form, with its editor and its value, which may be unset or null."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from enum import Enum
from typing import Any

from ipywidgets import Button, RadioButtons, VBox, Widget

from toolbench.display.escape import Html
from toolbench.errors import Path, Problem
from toolbench.jsonschema.node import Node
from toolbench.jsonschema.problems import REQUIRED
from toolbench.redaction.detect import is_secret
from toolbench.redaction.names import name_at, name_in_map
from toolbench.values import same_json
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import UNSET, Container, Editor, Entry, option_of
from toolbench.widgets.fields.form_context import Frame
from toolbench.widgets.fields.raw_json import Raw
from toolbench.widgets.fields.text_box import TextBox
from toolbench.widgets.kit.parts import INVALID, mark

# Values nested deeper are edited as JSON
_TYPED_DEPTH = 20
# Required objects nested deeper start closed, so recursion ends
_OPEN_DEPTH = 4
# If a form has more widgets than this, new containers are folded
_BUDGET = 80
_NOT_IN_THE_FIELD = (
    "JSON, because the field cannot show this value: empty it to use the field again"
)


class State(Enum):
    """The three states of a slot: unset, null, or a value."""

    UNSET = "not sent"
    NULL = "null"
    VALUE = "a value"


class Slot:
    """One field of a form: a property, an item of a list, or the chosen alternative of a union.

    The editor of the field holds its value. The registry chooses the editor. If the editor cannot
    hold a value exactly, a more general editor replaces it. The most general editor is a box for
    JSON text.

    Attributes:
        node: The schema of the field.
        notice: A problem in the schema, in words; empty if there is none.
        key: The name of the property, the index of the item in its list, or the key in its map. It
            is None for the whole form and for an alternative of a union.
        parent: The editor that contains the field; None for the whole form.
        label: The name that the user sees.
        required: Whether the field must have a value.
        settled: Whether the user has added or chosen the field, so that it cannot be unset. This is
            true for an item of a list, a key of a map, and an alternative of a union.
        depth: The number of fields that contain this one.
        mark: A CSS class that only this field has.
        built: The editor; None until it is needed.
        touched: Whether the user has edited the field since the program last set the value.
        display: The line of the form that shows the field and its errors.

    Examples:
        >>> from toolbench.widgets.fields import UNSET, Slot
        >>> from toolbench.widgets.form import SchemaForm
        >>> form = SchemaForm({"type": "object", "properties": {"age": {"type": "integer"}}})
        >>> age: Slot = form.slot.editor.child("age")
        >>> age.read() is UNSET
        True
        >>> age.write(30)
        >>> form.value
        {'age': 30}
    """

    def __init__(
        self,
        frame: Frame,
        node: Node,
        key: Any = None,
        *,
        parent: Container | None = None,
        label: str = "",
        required: bool = False,
        settled: bool = False,
    ) -> None:
        """Make a field without a value in the form of *frame*; see the attributes."""
        self.frame, self.node, self.key, self.parent = frame, node, key, parent
        self.notice, self.label, self.settled = node.notice, label, settled
        self.required = required or settled
        self.mark = frame.new_mark()
        self.depth = 0
        if parent is not None:
            self.depth = parent.slot.depth + 1
        self.built: Editor | None = None
        self.touched = False
        self._is_wider = False
        # None while neither the user nor the program has chosen a state: the editor's value decides
        self._state: State | None = None
        if settled:
            self._state = State.VALUE
        self.display = SlotDisplay(self)

    def __repr__(self) -> str:
        where = ".".join(map(str, self.path)) or "root"
        # Without its value, which may be secret
        return f"<{type(self).__name__} {where}>"

    # --- facts about the position -------------------------------------------------------

    @property
    def title(self) -> str:
        """The name of the field in messages: its key in a map, or else its label."""
        if self.settled and isinstance(self.key, str):
            return self.key
        return self.label

    @property
    def path(self) -> Path:
        """The keys and indexes that lead from the form's value to the value of this field."""
        steps = [slot.key for slot in self.outward() if slot.key is not None]
        return tuple(reversed(steps))

    @property
    def extra(self) -> Mapping[str, Any]:
        """The options of the field in `json_schema_extra={"toolbench": ...}`."""
        return self.node.extension

    @property
    def hidden(self) -> bool:
        """Whether the field is never shown; its value is still kept."""
        return self.extra.get("hidden") is True

    @property
    def secret(self) -> bool:
        """Whether the value must never be shown."""
        return is_secret(self.name, self.node)

    @property
    def name(self) -> str:
        """The name by which a value is recognized as a secret. For an item, that of its list."""
        if isinstance(self.key, str) and not self.settled:
            return self.key
        if self.parent is None:
            return ""
        above = self.parent.slot.name
        # An item, or a branch of a union
        if not isinstance(self.key, str):
            return above
        return name_in_map(self.key, above)

    @property
    def judged_path(self) -> Path:
        """The path of the field, but ending with `name`, for rules that look at the last name."""
        path = self.path
        if name_at(path) == self.name:
            return path
        return (*path[:-1], self.name)

    @property
    def help(self) -> str:
        """The author's description of the field."""
        help_text = self.extra.get("help", self.node.description)
        if not isinstance(help_text, str):
            return ""
        return help_text

    @property
    def default(self) -> Any:
        """The default in the schema, which is shown but not sent; `UNSET` if there is none.

        It is also `UNSET` if the field is secret, or if the default is null, because a default of
        null only means that the field is optional.
        """
        default = self.node.default
        if default is None or self.secret:
            return UNSET
        return default

    @property
    def classes(self) -> tuple[str, ...]:
        """The CSS classes of the widget that shows the name of the field."""
        if self.starred:
            return (self.mark, "tb-required")
        return (self.mark,)

    @property
    def starred(self) -> bool:
        """Whether the label has a star, which means that the user must enter a value."""
        return self.required and not self.settled and _lacks_input(self.node)

    @property
    def too_deep(self) -> bool:
        """Whether the value is nested too deep for fields, so that it is edited as JSON."""
        return self.depth > _TYPED_DEPTH

    def complain(self, notice: str) -> None:
        """Show *notice* under the field."""
        self.notice = notice

    # --- unset, null or a value -----------------------------------------------------------

    @property
    def state(self) -> State:
        """The state: unset, null or a value."""
        if self.is_null:
            return State.NULL
        if self.is_open:
            return State.VALUE
        return State.UNSET

    @property
    def is_null(self) -> bool:
        """Whether the value is null, and the editor is not used."""
        return self._state is State.NULL

    @property
    def is_set(self) -> bool:
        """Whether the field has a value even if its editor is empty."""
        return self._state is State.VALUE

    @property
    def has_presence_box(self) -> bool:
        """Whether buttons above the editor let the user choose between a value and no value."""
        editor = self.editor
        if self.required and self.node.nullable and not editor.owns_null:
            return True
        if isinstance(editor, Container) and editor.starts_empty:
            return False
        return editor.structured and (not self.required or self._is_too_deep)

    @property
    def _is_too_deep(self) -> bool:
        """Whether an object at this depth is hidden at first, even if it is required.

        Otherwise the form for a recursive schema would be infinite.
        """
        return self.depth > _OPEN_DEPTH and not self.settled

    @property
    def is_open(self) -> bool:
        """Whether the editor is shown. Only a presence box can hide it, for "unset" and null."""
        return self._state is State.VALUE or not self.has_presence_box

    @property
    def _is_there(self) -> bool:
        """Whether the value of the field is the editor's value.

        It is not if the field is null, or if the presence box hides the editor. An optional field
        whose editor was never made has no value.
        """
        if self.built is None and not self.required:
            return False
        return not self.is_null and self.is_open

    def _counts(self, value: Any) -> bool:
        """Return whether *value*, which the editor holds, is a value and does not mean "unset".

        Only an empty object or list can mean "unset", and only in a field without a presence box.
        There it is a value if the program wrote it or the user added it. It is also a value if no
        state was chosen, and an empty value is complete for the editor.
        """
        if self._state is State.VALUE or not self.editor.structured or self.has_presence_box:
            # Without testing its truth, because an array has none
            return True
        return bool(value) or (self._state is None and not self.editor.wants_more)

    def _wake(self) -> None:
        """React to an edit in the editor: the field is no longer null.

        Without a presence box, it is not unset either: the editor's value now tells whether there
        is a value.
        """
        if self._state in (State.NULL, State.UNSET):
            self._state = State.UNSET
            if not self.has_presence_box:
                self._state = None

    # --- the value --------------------------------------------------------------------------

    @property
    def editor(self) -> Editor:
        """The editor. It is chosen on first use."""
        if self.built is None:
            self.built = self.frame.registry.editor(self)
        return self.built

    def read(self) -> Any:
        """Return the value: None for null, `UNSET` if there is no value."""
        return self._present(lambda editor: editor.read())

    def masked(self) -> Any:
        """Return the value with its secrets hidden."""
        return self._present(lambda editor: editor.masked())

    def typed(self) -> Any:
        """Return the value for `write` in another form, with text boxes in place of typed text."""
        return self._present(lambda editor: editor.typed())

    def _present(self, value_of: Callable[[Editor], Any]) -> Any:
        if self.is_null:
            return None
        if self._is_there:
            value = value_of(self.editor)
            if self._counts(value):
                return value
        return UNSET

    def secrets(self) -> Iterable[str]:
        """Return the secrets in the value, including those of the fields inside."""
        if not self._is_there:
            return ()
        return self.editor.secrets()

    def write(self, value: Any) -> None:
        """Set the value of the field exactly to *value*.

        If the editor cannot hold *value*, a more general editor or JSON text replaces it.

        To take over typed text from an earlier form, *value* may contain text boxes of this earlier
        form, as `typed` returns them. A text box of this field then shows the same text, even if
        the text cannot be read.
        """
        self.touched = False
        if value is UNSET:
            self.clear()
            return
        self._narrow()
        if value is None and self.node.nullable and not self.editor.owns_null:
            self.editor.clear()
            self._state = State.NULL
        else:
            self._state = State.VALUE
            while not self._holds(value):
                self._is_wider = True
                wider = self.editor.wider or Raw
                self._replace_editor(wider(self))
        self.display.draw()

    def _holds(self, value: Any) -> bool:
        """Show *value*; return False if the editor cannot hold it exactly."""
        editor = self.editor
        if isinstance(value, TextBox):
            return self._holds_text(editor, value)
        if not editor.write(value):
            return False
        # Slots in a container check themselves; other editors are checked here
        if isinstance(editor, Container) or type(editor) is Raw:
            return True
        return same_json(editor.read(), value)

    def _holds_text(self, editor: Editor, earlier: TextBox) -> bool:
        """Show the text of the box *earlier* in *editor*; return False if that is impossible."""
        if type(editor) is not type(earlier):
            value = earlier.read()
            is_held = value is not UNSET and self._holds(value)
            if not isinstance(editor, TextBox):
                return is_held
            if is_held and not editor.shows_other:
                return True
            if not editor.fits(earlier.text):
                return False
        editor.take(earlier)
        return True

    def clear(self) -> None:
        """Set no value."""
        self._narrow()
        self._state = State.UNSET
        # An editor that is built later would still hold a required constant
        opens = self.required and (self.node.is_constant or not self._is_too_deep)
        if self.built is not None or opens:
            self.editor.clear()
        self.display.draw()

    @property
    def is_json_for_now(self) -> bool:
        """Whether the value is edited as JSON only because the field's editor cannot hold it."""
        return self._is_wider and self.parent is not None and type(self.built) is Raw

    def _narrow(self) -> None:
        """If a more general editor is used, return to the editor that the registry chooses."""
        if self._is_wider:
            self._is_wider = False
            self._replace_editor(self.frame.registry.editor(self))

    def _replace_editor(self, editor: Editor) -> None:
        self.editor.close()
        self.built = editor
        self.frame.stale(self.parent)

    # --- acts of the user -------------------------------------------------------------

    def edited(self) -> None:
        """React to an edit by the user: the field is no longer unset or null.

        If a box for JSON text has replaced the usual editor of the field, and the user has emptied
        the box, the usual editor is shown again.
        """
        self._wake()
        if self.is_json_for_now and not self.editor.trouble and self.read() is UNSET:
            self.clear()
            # As in a new form, in which an object that requires nothing is {}
            self._wake()
            self.frame.focus(lambda: self.display.body)
        self.touch()

    def touch(self) -> None:
        """Mark this field, and all fields that contain it, as changed by the user."""
        self.frame.touched(self.path)
        for slot in self.outward():
            if slot is not self:
                slot._wake()
            slot.touched = True
            slot.display.draw()

    def open(self) -> None:
        """Make the field have a value from now on, even if it is empty."""
        self._state = State.VALUE
        self.display.draw()

    def choose(self, state: State) -> None:
        """Make the field unset, null or a value, as the user has chosen.

        If *state* is `State.VALUE`, the editor is shown, with any text that was typed into it
        earlier.
        """
        if state is State.NULL:
            self.write(None)
        elif state is State.VALUE:
            self.unfold()
            self.begin()
            self.open()
        else:
            self._state = State.UNSET
            self.display.draw()
        self.touch()

    def begin(self) -> None:
        """Write the default into an empty editor, so that the user starts from it."""
        default = self.node.default
        if not self.required and isinstance(default, dict | list) and not self.editor.typed():
            self.editor.write(deepcopy(default))

    def unfold(self) -> None:
        """Unfold this field, and all fields that contain it, so that the editor is visible."""
        for slot in self.outward():
            slot.display.unfold()

    def rename(self, key: Any, label: str) -> None:
        """Change the key and the label of the field."""
        self.key, self.label = key, label
        self.display.draw()

    # --- the whole tree ---------------------------------------------------------------

    def outward(self) -> Iterator["Slot"]:
        """Yield this field, the field that contains it, and so on, up to the whole form."""
        slot = self
        yield slot
        while slot.parent is not None:
            slot = slot.parent.slot
            yield slot

    def walk(self) -> Iterator["Slot"]:
        """Yield this field and all fields inside it that have been made so far."""
        yield self
        if self.built is not None:
            for slot in self.built.slots():
                yield from slot.walk()

    def child(self, step: Any) -> "Slot | None":
        """Return the field inside this one at the key or index *step*; None if there is none."""
        if self.built is None:
            return None
        return self.built.child(step)

    def troubles(self) -> list[Problem]:
        """Return the problems of this field and of the fields inside it.

        A problem is typed text that cannot be read, or an item or a key without a value that the
        user has added.
        """
        problems: list[Problem] = []
        if self.built is None or not self._is_there:
            return problems
        if self.built.trouble:
            problems.append(Problem(self.path, self.built.trouble))
        for slot in self.built.slots():
            problems += slot.troubles()
        is_silent = self.settled and self.key is not None and not problems
        if is_silent and self.read() is UNSET:
            problems.append(Problem(self.path, "has no value yet"))
        return problems

    def close(self) -> None:
        """Close every widget of this field; the value can still be read."""
        self.display.close()
        if self.built is not None:
            self.built.close()


class SlotDisplay:
    """The line of a form that shows one field: its name, its editor, its help and its errors.

    A *presence box* has buttons for "no value", null and "a value". The editor is shown only while
    "a value" is chosen. If the field is required and may be null, there is no button for "no
    value", and no button is chosen at first.

    A *fold* is a button that is shown in place of a container, until the user clicks the button or
    there is an error in the container. If a form already has very many widgets, further containers
    are folded, because the page needs seconds to draw a thousand widgets.

    Attributes:
        errors: The displayed errors, in sentences.
    """

    def __init__(self, slot: Slot) -> None:
        """Show *slot*. The widgets are made when they are first needed."""
        self.errors: list[str] = []
        self._slot = slot
        self._box: Any = None
        self._switch: Any = None
        self._fold: Any = None
        # None until it is first needed
        self._folded: bool | None = None

    def entry(self) -> Entry:
        """Return the line of the field, for the container that shows it."""
        slot, editor = self._slot, self._slot.editor
        head, note, is_short = Html(""), Html(""), False
        if slot.hidden:
            return Entry(head, (), note)
        if slot.has_presence_box:
            cells: tuple[Widget, ...] = (self._presence_box(),)
        else:
            cells = self.body
            if editor.static or not editor.labelled:
                head = notes.heading(slot, editor.static)
            else:
                is_short = editor.is_short and len(cells) == 1
        # An open container shows help and errors itself
        is_grid = isinstance(editor, Container) and not editor.is_button
        if not is_grid or self._is_folded or not slot.is_open:
            note = self.remarks()
        return Entry(head, cells, note, is_short)

    @property
    def body(self) -> tuple[Widget, ...]:
        """The widgets of the editor or, if the field is folded, the button that unfolds it."""
        if not self._is_folded:
            return self._slot.editor.cells
        if self._fold is None:
            frame = self._slot.frame
            words = f"Show {notes.line(self._slot.label)}"
            self._fold = frame.pool.make(Button, "tb-add", description=words)
            frame.hear(self._fold, "", self.unfold)
        return (self._fold,)

    def remarks(self) -> Html:
        """Return the help and the errors of the field."""
        slot, editor = self._slot, self._slot.editor
        hints = []
        if slot.is_json_for_now:
            hints.append(_NOT_IN_THE_FIELD)
        if slot.is_null and not slot.has_presence_box:
            hints.append("null is sent")
        if editor.hint:
            hints.append(editor.hint)
        missing = "choose one"
        if slot.is_open:
            missing = editor.missing
        words = {REQUIRED: missing}
        return notes.remarks(slot, hints, [words.get(error, error) for error in self.errors])

    def show_errors(self, errors: list[str]) -> None:
        """Replace the displayed errors with *errors*."""
        if errors != self.errors:
            self.errors = errors
            self.draw()

    def draw(self) -> None:
        """Redraw everything that depends on the state of the field."""
        self._slot.frame.stale(self._slot.parent)
        editor = self._slot.built
        if editor is not None:
            editor.refresh()
        if isinstance(editor, Container):
            editor.stale()
        if self._box is not None:
            self._show_state()

    @property
    def _is_folded(self) -> bool:
        editor = self._slot.editor
        if not isinstance(editor, Container) or editor.built or editor.is_button:
            return False
        if self._folded is None:
            self._folded = len(self._slot.frame.pool) > _BUDGET
        return self._folded

    def unfold(self) -> None:
        """Show the editor instead of the button."""
        if self._is_folded:
            self._folded = False
            self._slot.frame.pool.drop((self._fold,))
            self._fold = None
            self.draw()

    def _presence_box(self) -> Widget:
        if self._box is None:
            slot, make = self._slot, self._slot.frame.pool.make
            states = [State.UNSET, State.NULL, State.VALUE]
            if not slot.node.nullable:
                states.remove(State.NULL)
            elif slot.required:
                states.remove(State.UNSET)
            options = [(state.value, state) for state in states]
            if not slot.required and slot.default not in (UNSET, [], {}):
                options[0] = ("default", State.UNSET)
            self._switch = make(
                RadioButtons,
                "tb-field",
                "tb-switch",
                *slot.classes,
                description=notes.label(slot.label),
                options=options,
                value=option_of(options, slot.state),
            )
            self._box = make(VBox, "tb-gated", children=(self._switch,))
            self._show_state()
            slot.frame.hear(self._switch, "value", self._switched)
        return self._box

    def _switched(self) -> None:
        self._slot.choose(self._switch.value or State.UNSET)

    def _show_state(self) -> None:
        slot = self._slot
        body: tuple[Widget, ...] = ()
        if slot.state is State.VALUE:
            body = self.body
        self._switch.value = option_of(self._switch.options, slot.state)
        self._box.children = (self._switch, *body)
        mark(self._switch, INVALID, is_marked=bool(self.errors) and not slot.is_open)

    def close(self) -> None:
        """Close the presence box and the fold, but not the editor, which belongs to the field."""
        self._slot.frame.pool.drop((self._box, self._switch, self._fold))
        self._box = self._switch = self._fold = None


def _lacks_input(node: Node, depth: int = _TYPED_DEPTH) -> bool:
    """Return whether the user must enter something into a required field with the schema *node*.

    For an object, that is so only if one of its required properties needs input.
    """
    parts = node.properties
    if node.is_constant:
        return False
    if not parts or node.nullable or not depth:
        return True
    return any(name not in parts or _lacks_input(parts[name], depth - 1) for name in node.required)
