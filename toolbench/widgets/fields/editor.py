"""The base classes of all editors. An editor either holds a value exactly, or refuses it."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from ipywidgets import HTML, Button, GridBox, Widget

from toolbench.display.escape import Html
from toolbench.redaction.detect import Secrecy
from toolbench.widgets.fields import notes
from toolbench.widgets.kit.parts import INVALID, mark

# A slot makes its editor
if TYPE_CHECKING:
    from toolbench.widgets.fields.slot import Slot


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return self.name

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset.UNSET
"""The value of a field that is left out of the arguments: neither `null` nor empty."""


class Editor(ABC):
    """The base class of editors. An editor holds the value of one field, and makes its widget.

    The editor itself keeps the value, because its widget is built only when it is first shown.

    Attributes:
        labelled: Whether the widget itself shows the name of the field.
        structured: Whether the editor consists of other fields, as the editor of an object does. In
            an optional field, such an editor is hidden until the user asks for a value.
        owns_null: Whether the editor itself can hold `null`.
        is_short: Whether the widget needs only half the width of a form.
        missing: The error message if a required value is missing, such as "choose one".
        wider: The class of the editor to use for a value that this editor cannot hold exactly.

    Examples:
        >>> from ipywidgets import FloatSlider
        >>> from toolbench.widgets.fields import Editor, registry
        >>> from toolbench.widgets.form import SchemaForm
        >>> class Percent(Editor):
        ...     def read(self):
        ...         return self.widget.value
        ...     def write(self, value):
        ...         self.widget.value = value
        ...         return True
        ...     def clear(self):
        ...         self.widget.value = 0
        ...     def build(self):
        ...         return self.field(FloatSlider, react=self.slot.edited)
        >>> mine = registry.copy()
        >>> mine.add(95, lambda view, schema, path: path == ("tip",), Percent)
        >>> schema = {"type": "object", "properties": {"tip": {"type": "number"}}}
        >>> SchemaForm(schema, {"tip": 15.0}, registry=mine).value
        {'tip': 15.0}
    """

    labelled: ClassVar[bool] = True
    structured: ClassVar[bool] = False
    owns_null: ClassVar[bool] = False
    is_short: ClassVar[bool] = False
    missing: ClassVar[str] = "enter a value"
    wider: ClassVar["type[Editor] | None"] = None

    def __init__(self, slot: "Slot") -> None:
        self.slot = slot
        self.frame = slot.frame
        self.node = slot.node
        self._parts_made: list[Widget] = []
        self._buttons: dict[str, Any] = {}
        self._widget: Any = None

    # --- the value ----------------------------------------------------------------

    @abstractmethod
    def read(self) -> Any:
        """Return the value; `UNSET` if there is no value, or if the typed text cannot be read."""

    @abstractmethod
    def write(self, value: Any) -> bool:
        """Show *value*; return False if this editor cannot hold it exactly."""

    @abstractmethod
    def clear(self) -> None:
        """Show no value."""

    @property
    def trouble(self) -> str:
        """The reason why the typed text cannot be read; empty if it can be read."""
        return ""

    @property
    def wants_more(self) -> bool:
        """Whether an empty value is incomplete, so that the user must add something."""
        return True

    def masked(self) -> Any:
        """Return the value with its secrets hidden."""
        return self.read()

    def typed(self) -> Any:
        """Return the contents of the editor, to be moved to another form by `Slot.write`.

        In place of typed text, the result contains the text box itself, so that the other form can
        show the text exactly as it was typed, even if it cannot be read.
        """
        return self.read()

    def secrets(self) -> Iterable[str]:
        """Return the secrets in the value."""
        return ()

    # --- the widget ---------------------------------------------------------------

    @abstractmethod
    def build(self) -> Widget:
        """Make the widget, showing the current value."""

    @property
    def widget(self) -> Widget:
        """The widget. It is built on first use."""
        if self._widget is None:
            self._widget = self.build()
        return self._widget

    @property
    def built(self) -> bool:
        """Whether the widget exists."""
        return self._widget is not None

    @property
    def cells(self) -> tuple[Widget, ...]:
        """The widget, followed by other widgets on the same line."""
        return (self.widget,)

    @property
    def static(self) -> str:
        """The value in words if no other value is possible, so that no widget is needed; or ""."""
        return ""

    @property
    def hint(self) -> str:
        """An additional remark for the help text of the field; empty if there is none."""
        return ""

    @property
    def slider(self) -> str:
        """The minimum, maximum and step of the field's slider; empty if there is no slider."""
        return ""

    @property
    def nothing_chosen(self) -> str:
        """The label of the choice "no value". It says what happens then, such as "not sent"."""
        default = self.slot.default
        if self.slot.required:
            return "choose one"
        if default == "":
            return "default: empty"
        if default is not UNSET:
            return f"default: {notes.option(default)}"
        return "not sent"

    def refresh(self) -> None:
        """Update what depends on the state of the field: label, placeholder and error mark."""
        if self._widget is not None:
            mark(self._widget, INVALID, is_marked=bool(self.slot.display.errors))
            if self.labelled and self._widget.has_trait("description"):
                self._widget.description = notes.label(self.slot.label)

    def make(self, kind: type[Widget], *classes: str, **state: Any) -> Any:
        """Return a new widget, which is closed together with this editor."""
        widget = self.frame.pool.make(kind, *classes, **state)
        self._parts_made.append(widget)
        return widget

    def field(
        self, kind: type[Widget], *classes: str, react: Callable[[], None], **state: Any
    ) -> Any:
        """Return a new widget that shows the name of the field.

        *react* is called when the user changes the value of the widget.
        """
        name = notes.label(self.slot.label)
        widget = self.make(kind, *classes, *self.slot.classes, description=name, **state)
        self.hear(widget, "value", react)
        return widget

    def hear(self, widget: Widget, names: str, react: Callable[[], None]) -> None:
        """Call *react* when the user changes the trait of *widget* called *names*.

        The field then also counts as edited.
        """

        def edited() -> None:
            react()
            self.slot.edited()

        self.frame.hear(widget, names, edited)

    def button(self, key: str, words: str, react: Callable[[], None], *classes: str) -> Any:
        """Return the button of this editor that is identified by *key*; make it on first use.

        Args:
            key: The identifier of the button, which is different for each button of the editor.
            words: The label. It replaces the earlier label of the button.
            react: A function that a click calls. A click alone does not mark the field as edited.
            *classes: The CSS classes of the button.
        """
        if key not in self._buttons:
            self._buttons[key] = self.make(Button, *classes, description=words)
            self.frame.hear(self._buttons[key], "", react)
        self._buttons[key].description = words
        return self._buttons[key]

    def close(self) -> None:
        """Close the widgets of this editor and of the fields inside it."""
        for slot in self.slots():
            slot.close()
        self.frame.pool.drop(self._parts_made)
        self._parts_made.clear()
        self._widget = None

    # --- the slots inside ---------------------------------------------------------

    def slots(self) -> Iterable["Slot"]:
        """Return the fields inside this editor that have been made so far."""
        return ()

    def child(self, step: Any) -> "Slot | None":
        """Return the field inside this editor at the key or index *step*; None if there is none."""
        return None


def option_of(options: Iterable[tuple[str, Any]], key: Any) -> Any:
    """Return *key* if it is the key of one of *options*; otherwise None.

    Each option is a pair of a label and a key. The result can be the value of a widget with these
    options, in which None means that no option is chosen.
    """
    for _, own_key in options:
        if own_key == key:
            return key
    return None


class Picker(Editor):
    """The base class of editors in which the user picks a value from a widget.

    Attributes:
        picked: The current choice. Its form depends on the widget; for example, it is the number of
            an option.
        blank: The value of `picked` that means no value.
    """

    blank: ClassVar[Any] = None

    def __init__(self, slot: "Slot") -> None:
        super().__init__(slot)
        self.picked = self.blank

    @property
    def shown(self) -> Any:
        """The value of the widget."""
        return self.picked

    def pick(self, picked: Any) -> None:
        """Set the choice to *picked*, and show it in the widget."""
        self.picked = picked
        if self._widget is not None:
            self._widget.value = self.shown

    def clear(self) -> None:
        """Pick nothing."""
        self.pick(self.blank)

    def take_pick(self) -> None:
        """React to a pick of the user."""
        self.picked = self.widget.value


class Entry(NamedTuple):
    """One line of a form: the widgets of a field, with text above and below them.

    Attributes:
        head: The text above the widgets.
        cells: The widgets. They are shown next to each other.
        note: The text below the widgets.
        is_short: Whether the line needs only half the width of the form.
    """

    head: Html
    cells: tuple[Widget, ...]
    note: Html
    is_short: bool = False


class Lines(NamedTuple):
    """The content of a container: its widgets in order, and the HTML of the texts between them."""

    cells: tuple[Widget, ...]
    html: str


def arrange(intro: Html, entries: Iterable[Entry]) -> Lines:
    """Arrange the text *intro* and the *entries* of a container in a CSS grid.

    Each text gets a fixed row of the grid. The browser puts each widget into the next free row. On
    a wide page, two short entries in succession are side by side, and each has a note of three
    rows. On a narrow page, the second entry is below the first.
    """
    texts = [f'<div class="tb-intro" style="grid-row:1">{intro}</div>']
    widgets: list[Widget] = []
    row = 2
    waiting = deque(entries)
    while waiting:
        head, cells, note, is_short = waiting.popleft()
        widgets += cells
        if is_short and waiting and waiting[0].is_short:
            other = waiting.popleft()
            widgets += other.cells
            beside = f"--beside:{row + 1}/span 3"
            for side, below, text in (("left", row + 1, note), ("right", row + 3, other.note)):
                style = f"--below:{below};{beside}"
                texts.append(f'<div class="tb-note tb-{side}" style="{style}">{text}</div>')
            row += 4
            continue
        if head:
            texts.append(f'<div class="tb-head" style="grid-row:{row}">{head}</div>')
            row += 1
        # Keeps the column beside the entry empty
        if is_short:
            texts.append(f'<div class="tb-blank" style="grid-row:{row}"></div>')
        row += bool(cells)
        texts.append(f'<div class="tb-note" style="grid-row:{row}">{note}</div>')
        row += 1
    return Lines(tuple(widgets), "".join(texts))


class Container(Editor):
    """The base class of editors that consist of other fields, one below the other.

    A single HTML widget contains all texts of the container: labels, help and errors, including
    those of the container's own field. CSS (`grid-row`) places each text between the widgets of the
    fields. Therefore, a new error does not change the input beside it.
    """

    labelled: ClassVar[bool] = False
    structured: ClassVar[bool] = True
    classes: ClassVar[tuple[str, ...]] = ()
    starts_empty: ClassVar[bool] = False
    """Whether the container is only a button while it has no value, and needs no presence box."""
    tag = ""
    """The property that only tells which alternative of a union is chosen; empty if none does."""

    _texts: Any = None

    @property
    def is_button(self) -> bool:
        """Whether the container is shown only as a button, with which the user adds a line."""
        return False

    @property
    def hint(self) -> str:
        """The default in words, unless the field has a value."""
        slot = self.slot
        if slot.is_set or slot.required or slot.is_null or slot.default in (UNSET, [], {}):
            return ""
        secrecy = Secrecy(self.node.schema, self.frame.view)
        return f"default: {notes.ghost(secrecy.mask(slot.default, slot.name)[0])}"

    @abstractmethod
    def entries(self) -> Iterable[Entry]:
        """Return the lines to show."""

    def build(self) -> Widget:
        """Make the grid that shows the entries."""
        cells, html = self.lines()
        self._texts = self.make(HTML, "tb-texts", value=html)
        children = (self._texts, *cells)
        return self.make(GridBox, "tb-grid", *self.classes, children=children)

    def draw(self) -> None:
        """Update the lines; only changes are sent to the page."""
        if self._widget is not None:
            cells, html = self.lines()
            self._widget.children = (self._texts, *cells)
            self._texts.value = html

    def lines(self) -> Lines:
        """Return the help and errors of the container's field, then the entries."""
        return arrange(self.slot.display.remarks(), self.entries())

    def stale(self) -> None:
        """Redraw this container at the end of the current edit."""
        self.frame.stale(self)

    def masked(self) -> Any:
        """Return the value of the fields inside, with their secrets hidden."""
        return self.gather(lambda slot: slot.masked())

    def read(self) -> Any:
        """Return the value of the fields inside."""
        return self.gather(lambda slot: slot.read())

    def typed(self) -> Any:
        """Return the value of the fields inside for another form; see `Editor.typed`."""
        return self.gather(lambda slot: slot.typed())

    @abstractmethod
    def gather(self, part: Callable[["Slot"], Any]) -> Any:
        """Call *part* for each field inside, and combine the results into one value."""

    def secrets(self) -> Iterable[str]:
        """Yield the secrets of the fields inside."""
        for slot in self.slots():
            yield from slot.secrets()
