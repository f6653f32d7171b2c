"""The base classes of all editors. An editor holds a value exactly, or refuses the value."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from ipywidgets import Button, Widget

from toolbench.widgets.fields import notes
from toolbench.widgets.fields.grid import Entry, Grid, Lines, arrange
from toolbench.widgets.fields.unset import UNSET
from toolbench.widgets.kit.parts import INVALID, mark

# A slot makes its editor
if TYPE_CHECKING:
    from toolbench.widgets.fields.slot import Slot


class Editor(ABC):
    """The base class of an editor for the value of one slot.

    The editor holds the value, and not the widget. The widget is built when it is first
    shown.

    Attributes:
        labelled: Whether the widget itself shows the name of the field.
        structured: Whether the editor holds slots. In an optional field, it is closed at first.
        owns_null: Whether `null` is one of the values of the editor.
        is_short: Whether half the width of a form is enough for its widget.
        notes_itself: Whether the built editor itself shows the help and the errors of its slot.
        missing: The error text if a required value is missing, such as "choose one".
        wider: The editor to try next if this editor cannot hold a value exactly.
    """

    labelled: ClassVar[bool] = True
    structured: ClassVar[bool] = False
    owns_null: ClassVar[bool] = False
    is_short: ClassVar[bool] = False
    notes_itself: ClassVar[bool] = False
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
        """The reason why the typed text cannot be read; empty if there is no such problem."""
        return ""

    @property
    def wants_more(self) -> bool:
        """Whether a person must add something to an empty value."""
        return True



    def masked(self) -> Any:
        """Return the value with its secrets hidden."""
        return self.read()

    def typed(self) -> Any:
        """Return the value for another form; in place of a value that is a typed text, its text box."""
        return self.read()

    def secrets(self) -> Iterable[str]:
        """Return the secrets in this editor."""
        return ()

    # --- the widget ---------------------------------------------------------------

    @abstractmethod
    def build(self) -> Widget:
        """Make the widget with the present value."""

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
        """The widget, and other widgets beside it on the same line."""
        return (self.widget,)

    @property
    def static(self) -> str:
        """The value in words if only one value is possible, so that no widget is needed; else ""."""
        return ""

    @property
    def hint(self) -> str:
        """One more remark for the help of the field; empty if there is none."""
        return ""

    @property
    def offer_words(self) -> str:
        """The words of a button before the widget that changes what was typed; empty if there is none."""
        return ""

    @property
    def nothing_chosen(self) -> str:
        """The label of the entry "no value" in a list of choices: what no value means."""
        default = self.slot.default
        if default is not UNSET:
            return f"default: {'empty' if default == '' else notes.option(default)}"
        return "choose one" if self.slot.required else "not sent"

    def refresh(self) -> None:
        """Update the parts that depend on the slot's state: placeholder and error mark."""
        if self._widget is not None:
            is_wrong = bool(self.slot.display.errors)
            mark(self._widget, INVALID, is_marked=is_wrong)
            if self.labelled and self._widget.has_trait("description"):
                self._widget.description = notes.label(self.slot.label)

    def make(self, kind: type[Widget], *classes: str, **state: Any) -> Any:
        """Return a new widget, which is closed together with this editor."""
        widget = self.frame.pool.make(kind, *classes, **state)
        self._parts_made.append(widget)
        return widget

    def hear(self, widget: Widget, names: str, react: Callable[[], None]) -> None:
        """Call *react* when a person changes the trait *names* of *widget*; mark the slot as edited."""

        def edited() -> None:
            react()
            self.slot.edited()

        self.frame.hear(widget, names, edited)

    def button(self, key: str, words: str, react: Callable[[], None], *classes: str) -> Any:
        """Return the button *key* of this editor, made on first use, with the label *words*.

        A click on the button does not mark the slot as edited.
        """
        if key not in self._buttons:
            self._buttons[key] = self.make(Button, *classes, description=words)
            self.frame.hear(self._buttons[key], "", react)
        if self._buttons[key].description != words:
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
        """Return the slot inside at *step*, a key or an index; None if there is no such slot."""
        return None


class Container(Editor):
    """The base class of editors that contain slots and show them below each other."""

    labelled: ClassVar[bool] = False
    structured: ClassVar[bool] = True
    notes_itself: ClassVar[bool] = True
    classes: ClassVar[tuple[str, ...]] = ()
    tag = ""
    """The name of the property that only tells which alternative of a union is chosen.

    Empty if there is none.
    """

    _grid: Grid | None = None

    @abstractmethod
    def entries(self) -> Iterable[Entry]:
        """Return the lines to show."""

    def build(self) -> Widget:
        """Make the grid that shows the entries."""
        self._grid = Grid(self.make, *self.classes, lines=self.lines())
        return self._grid.widget

    def draw(self) -> None:
        """Update the lines; only changes are sent to the page."""
        if self._grid is not None:
            self._grid.show(self.lines())

    def close(self) -> None:
        """Close everything inside; the container is not drawn again."""
        super().close()
        self._grid = None

    def lines(self) -> Lines:
        """Return the help and errors of the slot, then the entries."""
        return arrange(self.slot.display.remarks(), self.entries())

    def stale(self) -> None:
        """Redraw this container at the end of the edit."""
        self.frame.stale(self)

    def masked(self) -> Any:
        """Return the value of the slots inside, with their secrets hidden."""
        return self.gather(lambda slot: slot.value.masked())

    def read(self) -> Any:
        """Return the value of the slots inside."""
        return self.gather(lambda slot: slot.value.read())

    def typed(self) -> Any:
        """Return the value of the slots inside, with text boxes in place of typed texts."""
        return self.gather(lambda slot: slot.value.typed())

    @abstractmethod
    def gather(self, part: Callable[["Slot"], Any]) -> Any:
        """Call *part* for each slot inside and combine the results into one value."""

    def secrets(self) -> Iterable[str]:
        """Yield the secrets of the slots inside."""
        for slot in self.slots():
            yield from slot.value.secrets()
