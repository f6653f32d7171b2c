"""The box before a field to choose whether there is a value, and whether it is null."""

from collections.abc import Callable

from ipywidgets import Checkbox, Dropdown, VBox, Widget

from toolbench.widgets.fields import notes
from toolbench.widgets.fields.position import Position
from toolbench.widgets.fields.slot.presence import State


class PresenceBox:
    """A box that shows the editor of a slot only if there is a value.

    It is a Checkbox, or a Dropdown if the value may also be null.
    """

    def __init__(
        self,
        position: Position,
        switch: Callable[[State], None],
        state: State,
        body: tuple[Widget, ...],
    ) -> None:
        """Make the box for *position*, with *state* and *body*.

        *switch* is called with the state a person chooses.
        """
        self._position, self._choose = position, switch
        make = position.frame.pool.make
        name = notes.label(position.label)
        if position.node.nullable:
            unset = "— choose —" if position.required else "— not sent —"
            labels = (unset, "null", "a value")
            self._switch = make(
                Dropdown,
                "tb-field",
                *position.classes,
                description=name,
                options=[
                    (label, s.value) for label, s in zip(labels, State, strict=True)
                ],
                value=State.UNSET.value,
            )
        else:
            self._switch = make(
                Checkbox, "tb-gate", *position.classes, description=name, indent=False
            )
        self.widget: Widget = make(VBox, "tb-gated", children=(self._switch,))
        self.show(state, body)
        position.frame.hear(self._switch, "value", self._switched)

    def _switched(self) -> None:
        value = self._switch.value
        if self._position.node.nullable:
            self._choose(State(value))
        else:
            self._choose(State.VALUE if value else State.UNSET)

    def show(self, state: State, body: tuple[Widget, ...]) -> None:
        """Show *state*, and below it *body*: the editor, if there is a value."""
        nullable = self._position.node.nullable
        self._switch.value = state.value if nullable else state is State.VALUE
        if self.widget.children[1:] != body:
            self.widget.children = (self._switch, *body)

    def close(self) -> None:
        """Close the box, but not the editor inside, which belongs to the slot."""
        self._position.frame.pool.drop((self._switch, self.widget))
