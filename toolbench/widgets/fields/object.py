"""The editor of an object: a field for each property, and a map for the undeclared keys."""

from collections.abc import Callable, Iterable
from typing import Any

from ipywidgets import Combobox

from toolbench.display.escape import Html
from toolbench.jsonschema.node import Node
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.editor import UNSET, Container, Entry
from toolbench.widgets.fields.slot import Slot

# Fields shown at once; the others are found with a search box
MAX_FIELDS = 12


class ObjectEditor(Container):
    """The editor of an object, with a field for each property in the order of the schema."""

    classes = ("tb-pairs",)

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        self._cases = slot.node.conditional.keys()
        self._properties = _in_order({**slot.node.properties, **slot.node.conditional})
        self._required = list(slot.node.required)
        # The property that tells which alternative of a union this is. Choosing the alternative
        # sets its value, even if the schema has a default
        self._tag = ""
        if slot.parent is not None and slot.key is None:
            self._tag = slot.parent.tag
        if self._tag:
            self._required.append(self._tag)
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

    @property
    def trouble(self) -> str:
        """An error in the undeclared keys that the user has typed; empty if there is none.

        The user types undeclared keys as a JSON object. It must not contain the key of a field that
        has a value, because the typed value would then be sent instead of the value in the field.
        """
        if self._others is None:
            return ""
        others = self._others.read()
        if others is UNSET:
            return ""
        if not isinstance(others, dict):
            return "The other keys must be an object: { … }."
        for name in sorted(others.keys() & self._filled()):
            return f"The key {notes.option(name)} is there twice."
        return ""

    def gather(self, part: Callable[[Slot], Any]) -> Any:
        """Call *part* for each field, and return a dict of the results.

        The keys have the same order as in the dict that was last written. New keys are at the end.
        """
        there: dict[str, Any] = {}
        for name in self._properties:
            if name in self._slots or name in self._required:
                there[name] = part(self._slot(name))
        if self._others is not None:
            others = part(self._others)
            if isinstance(others, dict):
                there.update(others)
        in_order = dict.fromkeys([*self._keys, *there])
        return {key: there[key] for key in in_order if there.get(key, UNSET) is not UNSET}

    def write(self, value: Any) -> bool:
        """Write each item of *value* to its field, and undeclared keys to an additional field.

        Return False if *value* is not a dict, or if a key is not a string.
        """
        if not isinstance(value, dict):
            return False
        if any(not isinstance(key, str) for key in value):
            return False
        self._keys = list(value)
        rest = dict(value)
        for name in self._properties:
            if name in value or name in self._slots or name in self._required:
                self._slot(name).write(rest.pop(name, UNSET))
        if rest or self._others is not None:
            self._other_keys().write(rest or UNSET)
        self.stale()
        return True

    def clear(self) -> None:
        """Remove every key."""
        self.write({})

    # --- the fields -----------------------------------------------------------------

    def _slot(self, name: str) -> Slot:
        if name not in self._slots:
            node = self._properties[name]
            is_required = name in self._required
            self._slots[name] = Slot(
                self.frame, node, name, parent=self, label=_title(name, node), required=is_required
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
        """Yield the fields that have been made so far, in the order of the schema."""
        for name in self._properties:
            if name in self._slots:
                yield self._slots[name]
        if self._others is not None:
            yield self._others

    def child(self, step: Any) -> Slot | None:
        """Return the field of the key *step*, declared or undeclared; None if there is none."""
        if step in self._properties:
            return self._slot(step)
        if self._others is None:
            return None
        return self._others.child(step)

    # --- what is shown ----------------------------------------------------------------

    def entries(self) -> Iterable[Entry]:
        """Yield the lines of the fields.

        An object with many fields shows only some of them, and a search box to add the others.
        """
        names = self._in_case()
        visible = self._visible(names)
        waiting = []
        for name in names:
            if name in visible:
                if not self._repeats_tag(name):
                    yield self._slot(name).display.entry()
            elif self._properties[name].extension.get("hidden") is not True:
                waiting.append(name)
        lists_others = self.node.is_open
        if self._others is not None and self._others.is_open:
            lists_others = True
        if lists_others:
            yield self._other_keys().display.entry()
        if waiting:
            yield self._search_entry(waiting)
        if not names and not lists_others:
            nothing = Html('<span class="tb-help">There is nothing to fill in.</span>')
            yield Entry(nothing, (), Html(""))

    def _repeats_tag(self, name: str) -> bool:
        """Return whether the property *name* only identifies the union's chosen alternative."""
        if not self._tag or name != self._tag:
            return False
        tag = self._slot(name)
        return bool(tag.editor.static) and not tag.display.errors

    def _in_case(self) -> list[str]:
        """Return the names of the properties that the schema allows for the current values.

        A schema may allow a property only under a condition. A property that has a value is always
        included, because its value is sent.
        """
        if not self._cases:
            return list(self._properties)
        now = self.node.names_of_cases(self.read())
        left_out = set(self._cases) - now - self._filled()
        return [name for name in self._properties if name not in left_out]

    def _filled(self) -> set[str]:
        return {name for name, slot in self._slots.items() if slot.read() is not UNSET}

    def _visible(self, names: list[str]) -> set[str]:
        visible = self._filled() | (self._opened.union(self._required) & set(names))
        for name, slot in self._slots.items():
            if slot.touched or slot.display.errors:
                visible.add(name)
        for name in names:
            if len(visible) >= MAX_FIELDS and len(names) > MAX_FIELDS + 3:
                break
            visible.add(name)
        # A field that was shown stays visible
        self._opened = visible
        return visible

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
        self._search.options = tuple(map(notes.line, waiting))
        many = Html(f'<div class="tb-help">{len(waiting)} more fields</div>')
        show = self.button("all", "Show all", self._show_all, "tb-side")
        return Entry(Html(""), (self._search, show), many)

    def _searched(self) -> None:
        label = self._search.value
        picked = next((n for n in self._properties if notes.line(n) == label), None)
        if picked is not None:
            self._opened = self._opened | {picked}
            self._search.value = ""
            self.stale()
            self.frame.focus(lambda: self._slot(picked).display.entry().cells)

    def _show_all(self) -> None:
        self._opened = set(self._properties)
        self.stale()


def _in_order(properties: dict[str, Node]) -> dict[str, Node]:
    """Return *properties* sorted by the number `order` in the extension `toolbench` of each schema.

    A property without `order` keeps its place.
    """
    places: dict[str, tuple[float, int]] = {}
    for place, (name, node) in enumerate(properties.items()):
        order = node.extension.get("order")
        places[name] = (place, 1)
        if isinstance(order, int | float):
            places[name] = (order, 0)
    return {name: properties[name] for name in sorted(properties, key=places.__getitem__)}


def _title(name: str, node: Node) -> str:
    """Return the title of *node*, or *name* if the title is missing or generated from *name*."""
    title = node.own_title
    if not title.strip() or _letters(title) == _letters(name):
        return name
    return title


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
