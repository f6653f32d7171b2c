"""The box before a field that says whether there is a value at all, and whether it is null."""

from typing import TYPE_CHECKING

from ipywidgets import Checkbox, Dropdown, VBox, Widget

from toolbench.widgets.fields import notes

if TYPE_CHECKING:  # a slot has a gate
    from toolbench.widgets.fields.slot import Slot

_UNSET, _NULL, _VALUE = range(3)


class Gate:
    """Builds the editor of a slot when it is first wanted.

    A Checkbox where the value is there or not, a Dropdown where it may be null as well.
    """

    def __init__(self, slot: "Slot") -> None:
        self._slot = slot
        make = slot.frame.pool.make
        name = notes.label(slot.label)
        if slot.node.nullable:
            unset = "— choose —" if slot.required else "— not sent —"
            labels = (unset, "null", "a value")
            options = list(zip(labels, range(3), strict=True))
            self._switch = make(
                Dropdown,
                "tb-field",
                *slot.classes,
                description=name,
                options=options,
                value=_UNSET,
            )
        else:
            self._switch = make(
                Checkbox, "tb-gate", *slot.classes, description=name, indent=False
            )
        self.widget: Widget = make(VBox, "tb-gated", children=(self._switch,))
        self.refresh()
        slot.frame.hear(self._switch, "value", self._switched)

    def _switched(self) -> None:
        slot, state = self._slot, int(self._switch.value)
        if not slot.node.nullable:
            state = _VALUE if state else _UNSET
        if state == _NULL:
            slot.write(None)
        elif state == _VALUE:
            slot.unfold()
            slot.open()
        else:
            slot.shut()
        slot.touch()

    def refresh(self) -> None:
        """Show the state of the slot, and its editor when there is a value."""
        slot = self._slot
        state = _NULL if slot.is_null else _VALUE if slot.is_open else _UNSET
        self._switch.value = state if slot.node.nullable else state == _VALUE
        body = slot.body if state == _VALUE else ()
        if self.widget.children[1:] != body:
            self.widget.children = (self._switch, *body)

    def close(self) -> None:
        """Close the box; the editor inside is the slot's."""
        self._slot.frame.pool.drop((self._switch, self.widget))
