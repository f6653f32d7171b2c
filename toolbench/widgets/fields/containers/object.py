"""The editor of an object: a field for each property, and a map for undeclared keys."""

from collections.abc import Callable, Iterable
from typing import Any

from ipywidgets import Combobox

from toolbench.display.escape import Html
from toolbench.jsonschema.node import Node
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import Container
from toolbench.widgets.fields.grid import Entry
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.fields.unset import UNSET

# Fields shown at once; the others are found with a search box
MAX_FIELDS = 12


class ObjectEditor(Container):
    """The editor of an object, with a field for each property, in the order of the schema."""

    classes = ("tb-pairs",)

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        self._cases = slot.node.conditional.keys()
        self._properties = _in_order({**slot.node.properties, **slot.node.conditional})
        self._required = (*slot.node.required, *_tag_around(slot))
        self._slots: dict[str, Slot] = {}
        self._others: Slot | None = None
        self._keys: list[str] = []
        self._opened: set[str] = set()
        self._search: Any = None

    # --- the value ----------------------------------------------------------------

    @property
    def wants_more(self) -> bool:
        """Whether the object has required properties, so that {} is not valid."""
        return bool(self._required)

    def gather(self, part: Callable[[Slot], Any]) -> Any:
        """Call *part* for the slot of each field, and return a dict of the results.

        The keys are in the order of the last `write`; new keys come last.
        """
        there: dict[str, Any] = {}
        for name in self._properties:
            if name in self._slots or name in self._required:
                value = part(self._slot(name))
                if value is not UNSET:
                    there[name] = value
        if self._others is not None:
            others = part(self._others)
            there.update({} if others is UNSET else others)
        return {key: there.pop(key) for key in self._keys if key in there} | there

    def write(self, value: Any) -> bool:
        """Write each value to its field, and undeclared keys into a map.

        Return False if *value* is not a dict, or one of its keys is not a string.
        """
        if not isinstance(value, dict):
            return False
        if any(not isinstance(key, str) for key in value):
            return False
        self._keys = list(value)
        for name in self._properties:
            if name in value or name in self._slots or name in self._required:
                self._slot(name).value.write(value.get(name, UNSET))
        rest = {k: item for k, item in value.items() if k not in self._properties}
        if rest or self._others is not None:
            self._other_keys().value.write(rest or UNSET)
        self.stale()
        return True

    def clear(self) -> None:
        """Remove every key."""
        self.write({})


    # --- the fields -----------------------------------------------------------------

    def _slot(self, name: str) -> Slot:
        if name not in self._slots:
            self._slots[name] = Slot(
                self.frame,
                self._properties[name],
                name,
                parent=self,
                label=_title(name, self._properties[name]),
                required=name in self._required,
            )
        return self._slots[name]

    def _other_keys(self) -> Slot:
        if self._others is None:
            other = self.node.additional or self.node.view.anything
            patterns = self.node.patterns.items()
            schema = {
                "type": "object",
                "additionalProperties": other.raw,
                "patternProperties": {name: node.raw for name, node in patterns},
                "toolbench": {"widget": "map"},
            }
            node = self.node.view.node(schema)
            self._others = Slot(self.frame, node, parent=self, label="other keys")
        return self._others

    def slots(self) -> Iterable[Slot]:
        """Yield the slots of the fields that exist, in the order of the schema."""
        for name in self._properties:
            if name in self._slots:
                yield self._slots[name]
        if self._others is not None:
            yield self._others

    def child(self, step: Any) -> Slot | None:
        """Return the slot of the key *step*: a property, or an undeclared key in the value.

        Return None if there is no such slot.
        """
        if step in self._properties:
            return self._slot(step)
        return None if self._others is None else self._others.child(step)


    # --- what is shown ----------------------------------------------------------------

    def entries(self) -> Iterable[Entry]:
        """Yield the fields. If there are many, a search box offers the fields that are left out."""
        names = self._in_case()
        visible = self._visible(names)
        for name in names:
            if name in visible and not self._repeats_tag(name):
                yield self._slot(name).display.entry()
        if self._lists_others():
            yield self._other_keys().display.entry()
        waiting = [n for n in names if n not in visible and not self._slot_hidden(n)]
        if waiting or self._search is not None:
            yield self._search_entry(waiting)
        if not names and not self._lists_others():
            nothing = Html('<span class="tb-help">There is nothing to fill in.</span>')
            yield Entry(nothing, (), Html(""))

    def _repeats_tag(self, name: str) -> bool:
        """Return whether the field *name* only repeats which alternative of a union is chosen."""
        if name not in _tag_around(self.slot):
            return False
        tag = self._slot(name)
        return bool(tag.editor.static) and not tag.display.errors

    def _in_case(self) -> list[str]:
        """Return the properties to show now. Properties whose condition is false are left out.

        A property with a value is always included, because its value is sent.
        """
        if not self._cases:
            return list(self._properties)
        now = self.node.names_of_cases(self.read())
        return [
            name
            for name in self._properties
            if name not in self._cases
            or name in now
            or (name in self._slots and self._slots[name].value.read() is not UNSET)
        ]

    def _visible(self, names: list[str]) -> set[str]:
        visible = {n for n in names if n in self._required or n in self._opened}
        visible |= {n for n, slot in self._slots.items() if slot.value.read() is not UNSET}
        visible |= {n for n, slot in self._slots.items() if slot.touched or slot.display.errors}
        for name in names:
            if len(visible) >= MAX_FIELDS and len(names) > MAX_FIELDS + 3:
                break
            visible.add(name)
        # A field that was shown stays visible
        self._opened = visible
        return visible

    def _slot_hidden(self, name: str) -> bool:
        return self._properties[name].extension.get("hidden") is True

    def _lists_others(self) -> bool:
        if self._others is not None and self._others.presence.is_open:
            return True
        return self.node.is_open

    def _search_entry(self, waiting: list[str]) -> Entry:
        if self._search is None:
            self._search = self.make(
                Combobox,
                "tb-field",
                "tb-search",
                description="Add a field",
                placeholder="type to search",
                continuous_update=False,
            )
            self.frame.hear(self._search, "value", self._searched)
        options = tuple(notes.line(name) for name in waiting)
        if self._search.options != options:
            self._search.options = options
        many = Html(f'<div class="tb-help">{len(waiting)} more fields</div>')
        if not waiting:
            return Entry(Html(""), (), Html(""))
        show = self.button("all", "Show all", self._show_all, "tb-side")
        return Entry(Html(""), (self._search, show), many)

    def _searched(self) -> None:
        picked = (n for n in self._properties if notes.line(n) == self._search.value)
        if (name := next(picked, None)) is not None:
            self._opened = self._opened | {name}
            self._search.value = ""
            self.stale()
            self.frame.focus(lambda: self._slot(name).display.entry().cells)

    def _show_all(self) -> None:
        self._opened = set(self._properties)
        self.stale()


def _tag_around(slot: Slot) -> tuple[str, ...]:
    """Return the property that tells which alternative of a union *slot* is; empty if there is none.

    The choice of the alternative gives the property its value, also if the schema has a default.
    """
    union = slot.parent if slot.key is None else None
    return (union.tag,) if union is not None and union.tag else ()


def _in_order(properties: dict[str, Node]) -> dict[str, Node]:
    """Return *properties* sorted by the number `order` in the extension `toolbench` of each schema.

    A property without `order` keeps its place.
    """
    places: dict[str, tuple[float, int]] = {}
    for place, (name, node) in enumerate(properties.items()):
        order = node.extension.get("order")
        places[name] = (order, 0) if isinstance(order, int | float) else (place, 1)
    return {name: properties[name] for name in sorted(properties, key=places.__getitem__)}


def _title(name: str, node: Node) -> str:
    """Return the title of *node*; if it is missing or only generated from *name*, return *name*."""
    title = node.own_title
    if not title.strip():
        return name
    letters = [c for c in title.casefold() if c.isalnum()]
    return name if letters == [c for c in name.casefold() if c.isalnum()] else title
