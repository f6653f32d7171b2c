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
    """The base class of an editor for the value of one slot, a position in a form.

    The editor, not its widget, holds the value. The widget is built when it is first shown.

    Attributes:
        labelled: Whether the widget shows the name of the field itself.
        structured: Whether the editor contains slots. In an optional field, it is closed at first.
        owns_null: Whether the editor itself can hold `null`.
        is_short: Whether the widget needs only half the width of a form.
        missing: The error message if a required value is missing, such as "choose one".
        wider: The editor to try next if this editor cannot hold a value exactly.

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
        """Return the value with text boxes for typed text, for `Slot.write` of another form."""
        return self.read()

    def secrets(self) -> Iterable[str]:
        """Return the secrets in this editor."""
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
        """The value in words, if it is the only possible one and needs no widget; or else ""."""
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
        """The label that stands for no value in a list of choices. It says what no value means."""
        default = self.slot.default
        if self.slot.required:
            return "choose one"
        if default == "":
            return "default: empty"
        if default is not UNSET:
            return f"default: {notes.option(default)}"
        return "not sent"

    def refresh(self) -> None:
        """Update the parts that depend on the slot's state: label, placeholder and error mark."""
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
        """Call *react* when the user changes the trait *names* of *widget*.

        The slot is also marked as edited.
        """

        def edited() -> None:
            react()
            self.slot.edited()

        self.frame.hear(widget, names, edited)

    def button(self, key: str, words: str, react: Callable[[], None], *classes: str) -> Any:
        """Return this editor's button with the identifier *key*, labelled *words*.

        Make it on first use.

        A click on the button does not mark the slot as edited.
        """
        if key not in self._buttons:
            self._buttons[key] = self.make(Button, *classes, description=words)
            self.frame.hear(self._buttons[key], "", react)
        self._buttons[key].description = words
        return self._buttons[key]

    def close(self) -> None:
        """Close the widgets of this editor and of the slots it holds."""
        for slot in self.slots():
            slot.close()
        self.frame.pool.drop(self._parts_made)
        self._parts_made.clear()
        self._widget = None

    # --- the slots inside ---------------------------------------------------------

    def slots(self) -> Iterable["Slot"]:
        """Return the slots inside this editor that exist now."""
        return ()

    def child(self, step: Any) -> "Slot | None":
        """Return the slot inside under *step*, a key or an index; None if there is no such slot."""
        return None


def option_of(options: Iterable[tuple[str, Any]], key: Any) -> Any:
    """Return *key* if it belongs to one of *options*; otherwise None, which chooses no option."""
    for _, own_key in options:
        if own_key == key:
            return key
    return None


class Picker(Editor):
    """The base class of editors in which the user picks a value from a widget.

    Attributes:
        picked: What is currently picked, in the terms of the widget, such as the number of an
            option.
        blank: The `picked` that means no value.
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
        """Show *picked* as picked."""
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
    """One line of a form: text above, the widgets, text below.

    Attributes:
        head: The text above.
        cells: The widgets, next to each other.
        note: The text below.
        is_short: Whether the line fits into one of the two columns of a grid.
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
    """Return the widgets and texts of a container: *intro* first, then the *entries*.

    The browser puts each widget into the next row that has no text. On a wide page, two short
    entries are side by side, and each note spans three rows. On a narrow page, one is below the
    other.
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
    """The base class of editors that contain slots and show them one below the other.

    Once built, the container shows the help and the errors of its own slot. One HTML widget has all
    texts, and CSS (`grid-row`) places each text between the widgets. So labels, help texts and
    errors need no widgets, and a new error does not change the input beside it.
    """

    labelled: ClassVar[bool] = False
    structured: ClassVar[bool] = True
    classes: ClassVar[tuple[str, ...]] = ()
    starts_empty: ClassVar[bool] = False
    """Whether the container is only a button without a value, and so needs no presence box."""
    tag = ""
    """The property that only tells which alternative of a union is chosen; empty if none does."""

    _texts: Any = None

    @property
    def is_button(self) -> bool:
        """Whether the container is shown only as a button, which adds the first line."""
        return False

    @property
    def hint(self) -> str:
        """The default, while the field does not have a value of its own."""
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
        """Return the help and errors of the slot, then the entries."""
        return arrange(self.slot.display.remarks(), self.entries())

    def stale(self) -> None:
        """Redraw this container at the end of the edit."""
        self.frame.stale(self)

    def masked(self) -> Any:
        """Return the value of the slots inside, with their secrets hidden."""
        return self.gather(lambda slot: slot.masked())

    def read(self) -> Any:
        """Return the value of the slots inside."""
        return self.gather(lambda slot: slot.read())

    def typed(self) -> Any:
        """Return the value of the slots inside, with text boxes for typed text."""
        return self.gather(lambda slot: slot.typed())

    @abstractmethod
    def gather(self, part: Callable[["Slot"], Any]) -> Any:
        """Call *part* for each slot inside and combine the results into one value."""

    def secrets(self) -> Iterable[str]:
        """Yield the secrets of the slots inside."""
        for slot in self.slots():
            yield from slot.secrets()
