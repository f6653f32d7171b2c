"""The editors of a union: the alternatives with the chosen one's field, or one box for both."""

import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any

from ipywidgets import Dropdown, RadioButtons, Widget

from toolbench.display.escape import Html
from toolbench.jsonschema.node import Node
from toolbench.jsonschema.types import CLASSES, TYPES, types_of_value
from toolbench.jsonschema.words import limits
from toolbench.values import number_in, same_json
from toolbench.widgets.fields import notes
from toolbench.widgets.fields.choice import NOTHING, told_apart
from toolbench.widgets.fields.editor import UNSET, Container, Entry, Lines, arrange, option_of
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.fields.text_box import Number, as_read, is_showable, write_number

# The most alternatives that are shown as tabs; more are shown as a list
_TABS = 6
# Characters of all their names
_TABS_WIDTH = 60
_NOUNS = {
    "array": "list",
    "boolean": "true or false",
    "null": "null",
    "object": "object",
    "string": "text",
}
# The beginning of the pattern that pydantic writes for a Decimal with limits
_DECIMAL_PATTERN = r"^(?!^[-+.]*$)[+-]?0*"
_DIGITS = re.compile(r"-?[0-9]*\.?[0-9]+")
# Levels of "list of" in a name
_NESTING = 3
# How many levels and items of a value are compared with an alternative
_DEPTH = 4
_SAMPLE = 20


class Union(Container):
    """The editor of a union: a list of its alternatives, and the field of the chosen one.

    The field of an alternative is made when the user first chooses the alternative. If the user
    then chooses another alternative, the field keeps its text.
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
        # The number of an alternative; the number after the last alternative means null
        self._picked = NOTHING
        self._list: Any = None

    # --- the value ----------------------------------------------------------------

    @property
    def hint(self) -> str:
        """Always empty, because the list of the alternatives already says what the default is."""
        return ""

    @property
    def chosen(self) -> Slot | None:
        """The field of the chosen alternative; None if no alternative is chosen."""
        if not 0 <= self._picked < len(self._branches):
            return None
        return self._branch(self._picked)

    def gather(self, part: Callable[[Slot], Any]) -> Any:
        """Call *part* with the field of the chosen alternative, and return the result.

        Return None if null is chosen, and `UNSET` if nothing is chosen.
        """
        if self._picked == len(self._branches):
            return None
        if self.chosen is None:
            return UNSET
        return part(self.chosen)

    def write(self, value: Any) -> bool:
        """Choose the alternative that fits *value* best, and show *value* in its field.

        Return False if no alternative is similar to *value*.
        """
        if value is None and self.node.nullable:
            self._choose(len(self._branches))
            return True
        number = self._home(as_read(value))
        if number is None:
            return False
        self._choose(number)
        self._branch(number).write(value)
        return True

    def clear(self) -> None:
        """Choose nothing."""
        self._choose(NOTHING)

    def _home(self, value: Any) -> int | None:
        """Return the number of the first alternative for which *value* is valid.

        If there is none, return the number of the alternative that is most similar to *value*; None
        if no alternative is similar.
        """
        likely = [n for n, branch in enumerate(self._branches) if admits(branch, value)]
        if len(likely) > 1:
            for number in likely:
                if self._branches[number].fits(value):
                    return number
        if likely:
            return likely[0]
        for is_likely in (constants_agree, declares_keys, has_type):
            for number, branch in enumerate(self._branches):
                if is_likely(branch, value):
                    return number
        return None

    @cached_property
    def tag(self) -> str:  # type: ignore[override]
        """The name of the property that only identifies the alternative; empty if there is none.

        This property needs no field.
        """
        declared = self.node.schema.get("discriminator")
        name = None
        if isinstance(declared, dict):
            name = declared.get("propertyName")
        return tag_of(self._branches, name)

    # --- the alternatives -------------------------------------------------------------

    def _branch(self, number: int) -> Slot:
        if number not in self._slots:
            self._slots[number] = Slot(
                self.frame,
                self._branches[number],
                parent=self,
                label=f"{self.slot.label} ({self._labels[number]})",
                settled=True,
            )
        return self._slots[number]

    def slots(self) -> Iterable[Slot]:
        """Return the field of the chosen alternative only."""
        if self.chosen is None:
            return ()
        return (self.chosen,)

    def child(self, step: Any) -> Slot | None:
        """Return the field at *step* in the chosen alternative; None if there is none."""
        if self.chosen is None:
            return None
        return self.chosen.child(step)

    def _choose(self, number: int) -> None:
        self._picked = number
        if self._list is not None:
            self._list.value = option_of(self._list.options, number)
        self.stale()

    def _take_pick(self) -> None:
        picked = self._list.value
        if picked is None:
            picked = NOTHING
        self._choose(picked)
        if self.chosen is not None:
            self.chosen.unfold()

    @cached_property
    def _labels(self) -> list[str]:
        """The labels of the alternatives, followed by null if the schema allows null."""
        labels = told_apart([_name(branch) for branch in self._branches])
        if self.node.nullable:
            labels.append("null")
        return labels

    # --- what is shown ----------------------------------------------------------------

    def lines(self) -> Lines:
        """Return the lines to show, with help and errors below the list of alternatives."""
        return arrange(Html(""), self.entries())

    def entries(self) -> Iterable[Entry]:
        """Yield the list of the alternatives, and the field of the chosen alternative."""
        yield Entry(Html(""), (self._alternatives(),), self.slot.display.remarks())
        if self.chosen is not None:
            yield self.chosen.display.entry()._replace(head=Html(""))

    def _alternatives(self) -> Widget:
        """Return the widget to choose an alternative: tabs if there are few, otherwise a list.

        If the field is required, the tabs do not include "no value".
        """
        if self._list is None:
            options = [(label, number) for number, label in enumerate(self._labels)]
            kind: type[Widget] = Dropdown
            classes = ["tb-field"]
            if len(options) <= _TABS and sum(map(len, self._labels)) <= _TABS_WIDTH:
                kind = RadioButtons
                classes += ["tb-switch", "tb-tabs"]
            if kind is Dropdown or not self.slot.required:
                options.insert(0, (self.nothing_chosen, NOTHING))
            value = option_of(options, self._picked)
            self._list = self.field(
                kind, *classes, react=self._take_pick, options=options, value=value
            )
        return self._list

    def close(self) -> None:
        """Close the fields of all alternatives that were built."""
        for slot in self._slots.values():
            slot.close()
        super().close()
        self._list = None


class NumberOrText(Number):
    """A box for a value whose digits must all be kept, such as a `decimal.Decimal`.

    The value is sent as a number. If a JSON number would lose a digit, as `1.10` would, the value
    is sent as text.
    """

    nothing = "number"
    wider = Union

    def parse(self, text: str) -> Any:
        """Return the number in *text*, or *text* if it is no number or would lose a digit."""
        number, digits = number_in(text), text.strip()
        kept = write_number(number)
        if kept is None:
            return text
        if _DIGITS.fullmatch(digits) and Decimal(digits).as_tuple() != Decimal(kept).as_tuple():
            return digits
        return number

    def render(self, value: Any) -> str | None:
        """Return the text of a number, or *value* itself if it is one line of text."""
        if not isinstance(value, str):
            return super().render(value)
        if "\n" in value or not is_showable(value):
            return None
        return value

    def write(self, value: Any) -> bool:
        """Show *value*. A number that was written as a string stays a string until it is edited."""
        if not super().write(value):
            return False
        if not same_json(self.read(), value):
            self._other = value
        return True

    @property
    def hint(self) -> str:
        """The limits of the number."""
        number = next(branch for branch in self.node.branches if branch.type == "number")
        return ", ".join(limits(number.schema))


def is_number_or_text(node: Node) -> bool:
    """Tell whether *node* allows a number or any string, as for a `decimal.Decimal`."""
    branches = {branch.type: branch for branch in node.branches}
    if len(node.branches) != 2 or branches.keys() != {"number", "string"}:
        return False
    text = branches["string"]
    if text.values or text.format or branches["number"].values:
        return False
    pattern = text.text("pattern")
    return not pattern or pattern.startswith(_DECIMAL_PATTERN)


# --- the names of the alternatives ------------------------------------------------------


def _name(branch: Node, fuel: int = _NESTING) -> str:
    if branch.title.strip():
        return notes.line(branch.title)
    if mark := _discriminator(branch):
        return notes.option(mark[1])
    if name := branch.definition:
        return notes.line(name)
    if branch.is_constant:
        return notes.option(branch.values[0])
    if branch.type == "array" and branch.items is not None and fuel:
        return f"list of {_name(branch.items, fuel - 1)}"
    if branch.type is not None:
        return _NOUNS.get(branch.type, branch.type)
    if branch.values:
        return "one of a list"
    return "anything"


def tag_of(branches: Sequence[Node], declared: Any = None) -> str:
    """Return the name of the property that tells the branches of a union apart; empty if none does.

    Every branch allows only one value for this property, and a different value than the other
    branches. If there are several such properties, return *declared*, the discriminator in the
    schema of the union, if it is among them. Otherwise, prefer a property that every branch
    requires.
    """
    if len(branches) < 2:
        return ""
    names = [name for name in branches[0].properties if _identifies(name, branches)]
    for name in names:
        if name == declared:
            return name
    for name in names:
        if all(name in branch.required for branch in branches):
            return name
    return next(iter(names), "")


def _identifies(name: str, branches: Sequence[Node]) -> bool:
    """Tell whether each of *branches* allows one value for *name*, and no two the same value."""
    texts = set()
    for branch in branches:
        part = branch.properties.get(name)
        if part is not None and not part.nullable and len(part.values) == 1:
            texts.add(repr(part.values))
    return len(texts) == len(branches)


def tags_of(branch: Node) -> set[str]:
    """Return the names that pydantic may use for *branch* in the path of an error."""
    tags = {branch.title, branch.definition, _python_name(branch)}
    if mark := _discriminator(branch):
        tags.add(str(mark[1]))
    return tags - {""}


def _discriminator(branch: Node) -> tuple[str, Any] | None:
    """Return the name and the value of the first property that allows only one value.

    Return None if there is no such property.
    """
    for name, part in branch.properties.items():
        values = part.values
        if len(values) == 1:
            return name, values[0]
    return None


def _python_name(branch: Node, fuel: int = _NESTING) -> str:
    if branch.type is None:
        return ""
    name = CLASSES[branch.type].__name__
    if name == "list" and branch.items is not None and fuel:
        return f"list[{_python_name(branch.items, fuel - 1) or 'any'}]"
    return name


# --- which alternative a value fits, without a full validation -----------------------------


def admits(node: Node, value: Any, depth: int = _DEPTH) -> bool:
    """Tell whether *value* roughly fits *node*. Only types, constants and keys are compared."""
    if value is None and node.nullable:
        return True
    if node.values:
        return any(same_json(choice, value) for choice in node.values)
    if depth == 0:
        return True
    if node.branches:
        return any(admits(part, value, depth - 1) for part in node.branches)
    if not has_type(node, value):
        return False
    if isinstance(value, dict):
        return _has_keys(node, value, depth)
    if isinstance(value, list) and node.items is not None:
        return all(admits(node.items, item, depth - 1) for item in value[:_SAMPLE])
    return True


def _has_keys(node: Node, value: dict[str, Any], depth: int) -> bool:
    if node.required - value.keys():
        return False
    if node.is_closed and value.keys() - node.properties.keys():
        return False
    for name, part in node.properties.items():
        if name in value and not admits(part, value[name], depth - 1):
            return False
    return True


def has_type(node: Node, value: Any) -> bool:
    """Tell whether *value* has the type of *node*; True if *node* has no single type."""
    return node.type not in TYPES or node.type in types_of_value(value)


def declares_keys(node: Node, value: Any) -> bool:
    """Tell whether *value* is a non-empty object whose keys are all declared by *node*."""
    return isinstance(value, dict) and bool(value) and value.keys() <= node.properties.keys()


def constants_agree(node: Node, value: Any) -> bool:
    """Tell whether *value* is an object with the constants that *node* prescribes.

    Only those properties of *value* are compared for which the schema *node* lists the allowed
    values. If there is no such property, return False.
    """
    if not isinstance(value, dict):
        return False
    verdicts = [
        admits(part, value[name])
        for name, part in node.properties.items()
        if name in value and part.values
    ]
    return bool(verdicts) and all(verdicts)
