"""Rare options of a field: send no value, null or an empty value, or type JSON."""

from typing import Any

from ipywidgets import HTML, Button, Dropdown, HBox, Widget

from toolbench.display.escape import escape
from toolbench.errors import Problem
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.containers.object import ObjectEditor
from toolbench.widgets.fields.form_context import Frame
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.fields.unset import UNSET

_PURPOSE = "Send null, nothing, an empty value or JSON text in place of what a field can hold"
_FIELD = "the typed value"
_NOTHING = "nothing (leave it out)"
_NULL = "null"
_EMPTY = "an empty value"
_JSON = "JSON text"
_OTHERS = "allow extra keys"


class FieldOptions:
    """A button that opens two lists: the fields, and the options of the chosen field.

    There is one button for the whole form. A menu at every field would double the widgets.
    """

    def __init__(self, frame: Frame, root: Slot) -> None:
        self._frame, self._root = frame, root
        make = frame.pool.make
        self._button = make(Button, "tb-more", description="Advanced input", tooltip=_PURPOSE)
        self._box: Any = None
        self._slots: list[Slot] = []
        self._fields: Any = None
        self._sends: Any = None
        frame.hear(self._button, "", self._toggled)
        self.is_open = False
        self._is_apart = False

    def apart(self) -> Widget:
        """Return the button, to show it in another place. From now on `widgets` does not include it."""
        self._is_apart = True
        return self._button

    @property
    def widgets(self) -> tuple[Widget, ...]:
        """The button, unless `apart` was called, and the two lists while they are open."""
        button = () if self._is_apart else (self._button,)
        return (*button, self._box) if self.is_open else button

    def _toggled(self) -> None:
        self.is_open = not self.is_open
        if self._box is None:
            make = self._frame.pool.make
            self._fields = make(Dropdown, "tb-field", description="Field")
            self._sends = make(Dropdown, "tb-field", description="Send")
            about = make(HTML, "tb-about-options", value=f"{escape(_PURPOSE)}.")
            parts = (about, self._fields, self._sends)
            self._box = make(HBox, "tb-options", children=parts)
            self._frame.hear(self._fields, "index", self._show_ways)
            self._frame.hear(self._sends, "index", self._send)

    def follow(self) -> None:
        """Update the list of fields, and the options of the chosen field."""
        if not self.is_open:
            return
        slots = [slot for slot in self._root.walk() if _has_options(slot)]
        if slots != self._slots:
            chosen = self._chosen
            self._slots = slots
            self._fields.options = [_name(slot) for slot in slots]
            self._fields.index = slots.index(chosen) if chosen in slots else 0
        self._show_ways()

    @property
    def _chosen(self) -> Slot | None:
        place = self._fields.index
        return None if place is None or not self._slots else self._slots[place]

    def _show_ways(self) -> None:
        slot = self._chosen
        ways = ways_of(slot) if slot is not None else []
        if self._sends.options != tuple(ways):
            self._sends.options = ways
        if slot is not None:
            self._sends.index = ways.index(present_way(slot))

    def _send(self) -> None:
        slot = self._chosen
        if slot is not None and self._sends.value is not None:
            send(slot, self._sends.value)


def _has_options(slot: Slot) -> bool:
    fixed = slot.key is None and slot.parent is not None
    return not fixed and not slot.hidden and not slot.editor.static


def _name(slot: Slot) -> str:
    return notes.line(Problem(slot.path, "").place) if slot.path else "(everything)"


def ways_of(slot: Slot) -> list[str]:
    """Return the entries of the menu *Send* for the field *slot*, such as null or JSON."""
    ways = [_FIELD]
    if not slot.settled:
        ways.append(_NOTHING)
    if slot.node.nullable:
        ways.append(_NULL)
    if slot.editor.can_be_empty and slot.parent is not None:
        ways.append(_EMPTY)
    if not slot.secret:
        ways.append(_JSON)
    if isinstance(slot.editor, ObjectEditor):
        ways.append(_OTHERS)
    return ways


def present_way(slot: Slot) -> str:
    """Return the entry of the menu *Send* that is in use for the field *slot*."""
    if slot.value.as_json or slot.value.is_json_for_now:
        return _JSON
    value = slot.value.read()
    if value is UNSET:
        is_draft = slot.settled or slot.editor.trouble
        return _FIELD if is_draft else _NOTHING
    if value is None and slot.node.nullable:
        return _NULL
    if value in ("", [], {}) and _EMPTY in ways_of(slot):
        return _EMPTY
    return _FIELD


def send(slot: Slot, way: str) -> None:
    """Let *slot* use the option with the label *way* from now on."""
    if way != _JSON:
        slot.value.show_field()
    if way == _NOTHING:
        slot.value.clear()
    elif way == _NULL:
        slot.value.write(None)
    elif way == _EMPTY:
        slot.value.send_empty()
    elif way == _JSON:
        slot.value.show_json(as_json=True)
    elif way == _OTHERS and isinstance(slot.editor, ObjectEditor):
        slot.editor.offer_other_keys()
    elif slot.presence.is_null or slot.presence.has_presence_box:
        slot.open()
    slot.touch()
