"""The editor of a union: a list of the alternatives, and the field of the chosen alternative."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from ipywidgets import Dropdown, RadioButtons, Widget

from toolbench.display.escape import Html
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.containers.alternatives import names_of, tag_of
from toolbench.widgets.fields.containers.match import admits, constants_agree, has_type
from toolbench.widgets.fields.editor import Container
from toolbench.widgets.fields.grid import Entry, Lines, arrange
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.fields.text.text_box import as_read
from toolbench.widgets.fields.unset import UNSET

# Alternatives shown as tabs; more are shown as a list
_TABS = 6
# Characters of all their names
_TABS_WIDTH = 60


class Union(Container):
    """The editor of a union. It shows only the field of the chosen alternative.

    The field of an alternative is built when the alternative is first chosen. The field
    keeps its typed text while another alternative is chosen.
    """

    labelled = True
    structured = False
    owns_null = True
    missing = "choose one"
    classes = ("tb-union",)

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        self._branches = slot.node.branches
        self._slots: dict[int, Slot] = {}
        self._chosen: int | None = None
        self._null = False
        self._list: Widget | None = None

    # --- the value ----------------------------------------------------------------

    @property
    def chosen(self) -> Slot | None:
        """The slot of the chosen alternative; None if no alternative is chosen."""
        return None if self._chosen is None else self._branch(self._chosen)

    def gather(self, part: Callable[[Slot], Any]) -> Any:
        """Call *part* for the slot of the chosen alternative, and return the result.

        Return None if null is chosen, and `UNSET` if nothing is chosen.
        """
        if self._null:
            return None
        return UNSET if self.chosen is None else part(self.chosen)

    def write(self, value: Any) -> bool:
        """Choose an alternative for *value*, and show *value* in its field.

        Return False if *value* is like no alternative.
        """
        if value is None and self.slot.node.nullable:
            self._choose(None, null=True)
            return True
        place = self._home(as_read(value))
        if place is None:
            return False
        self._choose(place)
        self._branch(place).value.write(value)
        return True

    def clear(self) -> None:
        """Choose nothing."""
        self._choose(None)

    def _home(self, value: Any) -> int | None:
        """Return the index of the first alternative that *value* fits.

        If *value* fits no alternative, return the index of the most likely alternative.
        Return None if no alternative is likely.
        """
        branches = self._branches
        likely = [i for i, branch in enumerate(branches) if admits(branch, value)]
        if len(likely) > 1:
            valid = (i for i in likely if branches[i].fits(value))
            return next(valid, likely[0])
        if not likely:
            tests = (constants_agree, has_type)
            likely = [i for t in tests for i, b in enumerate(branches) if t(b, value)]
        return likely[0] if likely else None

    @cached_property
    def _names(self) -> list[str]:
        return names_of(self._branches)

    @cached_property
    def tag(self) -> str:  # type: ignore[override]
        """The name of the property that only tells which alternative is chosen; empty if there is none.

        This property needs no field.
        """
        declared = self.slot.node.schema.get("discriminator")
        name = declared.get("propertyName") if isinstance(declared, dict) else None
        return tag_of(self._branches, name if isinstance(name, str) else "")

    # --- the alternatives -------------------------------------------------------------

    def _branch(self, place: int) -> Slot:
        if place not in self._slots:
            self._slots[place] = Slot(
                self.frame,
                self._branches[place],
                parent=self,
                label=f"{self.slot.label} ({self._names[place]})",
                settled=True,
            )
        return self._slots[place]

    def slots(self) -> Iterable[Slot]:
        """Return the slot of the chosen alternative only."""
        return () if self.chosen is None else (self.chosen,)

    def child(self, step: Any) -> Slot | None:
        """Return the slot at *step*, a key or an index, inside the chosen alternative.

        Return None if there is no such slot.
        """
        return None if self.chosen is None else self.chosen.child(step)

    def _choose(self, place: int | None, *, null: bool = False) -> None:
        self._chosen, self._null = place, null
        if self._list is not None:
            self._list.index = self._line()
        self.stale()

    @cached_property
    def _are_tabs(self) -> bool:
        return len(self._labels) <= _TABS and sum(map(len, self._labels)) <= _TABS_WIDTH

    @cached_property
    def _labels(self) -> list[str]:
        """The names of the alternatives, and null if the schema allows null."""
        return [*self._names, *(["null"] if self.slot.node.nullable else [])]

    @property
    def _lines_before(self) -> int:
        """The number of lines before the first alternative. One line stands for no value.

        Tabs of a required value have no such line: at first no tab is chosen.
        """
        return 0 if self._are_tabs and self.slot.required else 1

    def _line(self) -> int | None:
        place = len(self._branches) if self._null else self._chosen
        if place is None:
            return 0 if self._lines_before else None
        return place + self._lines_before

    def _picked(self) -> None:
        line = self._list.index if self._list is not None else None
        place = -1 if line is None else line - self._lines_before
        null = place == len(self._branches)
        self._choose(place if place >= 0 and not null else None, null=null)
        if self.chosen is not None:
            self.chosen.unfold()

    # --- what is shown ----------------------------------------------------------------

    def lines(self) -> Lines:
        """Return the lines to show. Help and errors are below the list of alternatives, not above it."""
        return arrange(Html(""), self.entries())

    def entries(self) -> Iterable[Entry]:
        """Yield the list of the alternatives, and the field of the chosen alternative."""
        yield Entry(Html(""), (self._choices(),), self.slot.display.remarks())
        if self.chosen is not None:
            yield self.chosen.display.entry()._replace(head=Html(""))

    def _choices(self) -> Widget:
        if self._list is None:
            labels = [*[self.nothing_chosen] * self._lines_before, *self._labels]
            self._list = self.make(
                RadioButtons if self._are_tabs else Dropdown,
                "tb-field",
                *(["tb-switch", "tb-tabs"] if self._are_tabs else []),
                *self.slot.classes,
                description=notes.label(self.slot.label),
                options=list(zip(labels, range(len(labels)), strict=True)),
                index=self._line(),
            )
            self.hear(self._list, "index", self._picked)
        return self._list

    def close(self) -> None:
        """Close the field of every alternative for which a field was built."""
        for slot in self._slots.values():
            slot.close()
        super().close()
        self._list = None
