"""Compare two versions of a JSON Schema, and tell which differences can break callers.

The comparison visits the parts that both schemas have: properties, items, values of maps, and the
alternatives of unions, which are paired by type or tag. Where two parts have different rules,
sample values (`samples`) are validated against both. A value that was valid before and is invalid
now proves that the change is breaking, and is kept as its example. If the samples cannot show the
effect of a rule, such as a changed pattern, the change counts as breaking, and its description says
that no example was found.

Sample values have only keys that the old schema declares, because a new optional key breaks no
caller.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, combinations, takewhile
from json import dumps
from typing import Any, Literal

from pydantic_core import PydanticSerializationError, to_json

from toolbench.errors import SchemaError
from toolbench.jsonschema.compose import states_type
from toolbench.jsonschema.describe import kind as kind_of
from toolbench.jsonschema.node import Node, keyword_of, read, takes_exactly_one
from toolbench.jsonschema.walk import (
    definitions_of,
    follow,
    leads_out,
    may_refer,
    references_in,
)
from toolbench.jsonschema.words import LIMITING, words
from toolbench.mcp.snapshots.samples import (
    ANOTHER,
    LARGEST,
    base_of,
    candidates,
    every_value_of,
    example_of,
    least_of,
    list_of,
    of_another_key,
    options_of,
    samples,
)
from toolbench.values import clip
from toolbench.wording import counted

Direction = Literal["input", "output"]
"""Whether a schema describes the input, which the server reads, or the output of a tool."""
Severity = Literal["breaking", "routing", "additive", "cosmetic"]

_NUMBERS = frozenset({"integer", "number"})
_GUIDING = {
    "default": "the default",
    "format": "the format",
    "examples": "the list of examples",
    "deprecated": "the mark 'deprecated'",
    "contentMediaType": "the contentMediaType",
}
_LIMITS = (
    ("minimum", "exclusiveMinimum"),
    ("maximum", "exclusiveMaximum"),
    ("multipleOf",),
    ("minLength",),
    ("maxLength",),
    ("minItems",),
    ("maxItems",),
    ("uniqueItems",),
    ("minProperties",),
    ("maxProperties",),
)
"""Limits that belong together; trying values at these limits shows each change."""
_CONDITIONS: Mapping[str, tuple[str, ...]] = {
    "pattern": (),
    "not": (),
    "if": ("then", "else"),
    "contains": ("minContains", "maxContains"),
    "propertyNames": (),
    "dependentRequired": (),
    "dependentSchemas": (),
    "dependencies": (),
    "unevaluatedProperties": (),
    "unevaluatedItems": (),
    "allOf": (),
    "enum": (),
    "const": (),
}
"""Rules whose changes the tried values may not show, each with related rules."""
_PLAIN = frozenset(chain(["type", "required"], *_LIMITS))
_KEYS = ("patternProperties", "properties", "additionalProperties")
_ITEMS = ("prefixItems", "items", "additionalItems")
# The values of each type that `_is_open` tries
_OF_TYPES: tuple[tuple[Any, tuple[str, ...]], ...] = (
    ("a", ("string",)),
    (1, ("integer", "number")),
    (True, ("boolean",)),
    ([], ("array",)),
)
# The most quoted characters of a value that proves a change, of a string, and of a string before
# the first difference
_MAX_VALUE, _MAX_TEXT, _LEAD = 120, 80, 20
# The most values that a sentence names
_MAX_VALUES = 5
# The most values that are tried to prove one change
_MOST_PROOFS = 12
# The most levels that are compared
_DEEPEST = 60
# The most sub-schemas and rules that are compared for one schema, which takes about a second
_MOST_WORK = 3_000
# The same for all schemas of a server, which could otherwise take minutes
_MOST_IN_ALL = 20_000


@dataclass(frozen=True)
class Difference:
    """One difference between two schemas.

    Attributes:
        severity: How much the difference matters to callers, as in
            `toolbench.mcp.snapshots.diff.Change`.
        where: The path of the keyword in the schema, such as `properties/limit/maximum`.
        before: The old part of the schema; None if there was none.
        after: The new part of the schema; None if there is none.
        text: The place and a description, such as `limit: at most 100 before, at most 50 now`.
        example: For a breaking difference, a value for the whole schema that shows the difference.
            None if no such value was found.
    """

    severity: Severity
    where: str
    before: Any
    after: Any
    text: str
    example: Any = None


class Work:
    """A limit on the work of comparing all schemas of a server, counted down as work is done."""

    def __init__(self) -> None:
        """Start with the full amount."""
        self.left = _MOST_IN_ALL

    def count(self, units: int) -> None:
        """Subtract *units* of work.

        Raises:
            SchemaError: If no work is left.
        """
        self.left -= units
        if self.left < 0:
            msg = "Too many parts of the server's tools differ."
            raise SchemaError(msg)


def differences(old: Any, new: Any, direction: Direction, work: Work) -> list[Difference]:
    """Return the differences from the schema *old* to *new*.

    The result is empty if both schemas accept the same values. *work* counts the steps of this
    comparison, together with other comparisons that share its limit.

    Raises:
        SchemaError: If the limit of *work* is reached.
    """
    is_input = direction == "input"
    return _Comparison(read(old), read(new), work, is_input=is_input).differences()


@dataclass(frozen=True, eq=False)
class _Pair:
    """The old and the new version of a part of the schema.

    *where* is the path of the part in the schema, and *place* is the path of its values in a
    complete value, such as `items[].sku`. *put* takes a value for this part, and returns a complete
    value that contains it.
    """

    old: Node
    new: Node
    where: str = ""
    place: str = ""
    depth: int = 0
    put: Callable[[Any], Any] = lambda value: value

    def inside(
        self, old: Node, new: Node, step: str, name: str, put: Callable[[Any], Any]
    ) -> "_Pair":
        """Return a pair of two parts; *put* creates a value of this pair from one of the parts."""
        dot = ""
        if self.place and not name.startswith("["):
            dot = "."
        where = f"{self.where}/{step}".lstrip("/")
        place = f"{self.place}{dot}{name}"
        return _Pair(old, new, where, place, self.depth + 1, lambda value: self.put(put(value)))


class _Comparison:
    """Visits all parts of two schemas, and collects the differences.

    For an input, a value that fits the old schema but not the new one is a breaking change, because
    callers may still send it. For an output, a value that fits the new schema but not the old one
    is a breaking change, because callers do not expect it.
    """

    def __init__(self, before: Node, after: Node, work: Work, *, is_input: bool) -> None:
        self._before, self._after, self._is_input = before, after, is_input
        if is_input:
            self._verb, self._what = "is refused now", "a call is refused"
        else:
            self._verb, self._what = "may come now", "such an output comes"
        self._work, self._least_left = work, work.left - _MOST_WORK
        self._found: list[Difference] = []
        # Pairs that contain the current one, as in a recursive schema, or in which no rule differs
        self._seen: set[tuple[Node, Node]] = set()
        # The number of rules that differ, with whatever effect
        self._differing = 0
        self._tried: dict[tuple[Node, Node], list[Any]] = {}
        self._same_definitions = _same_definitions(before.view.root, after.view.root)

    def differences(self) -> list[Difference]:
        self._walk(_Pair(self._before, self._after))
        if not self._is_breaking(0):
            self._try_whole_values()
        return list({(d.severity, d.where, d.text): d for d in self._found}.values())

    def _walk(self, pair: _Pair) -> None:
        old, new = pair.old, pair.new
        if (old, new) in self._seen or self._is_same(old.raw, new.raw):
            return
        if pair.depth > _DEEPEST:
            text = f"the parts below {_DEEPEST} levels differ and are not compared"
            self._note(pair, "breaking", "", old.raw, new.raw, text)
            return
        self._count(1)
        self._seen.add((old, new))
        found, differing = len(self._found), self._differing
        self._guidance(pair, old, new)
        self._null(pair)
        olds, news = options_of(old), options_of(new)
        if len(olds) == len(news) == 1:
            self._option(pair, olds[0], news[0])
        else:
            self._unions(pair, olds, news)
        if self._differing > differing or keyword_of(old) != keyword_of(new):
            self._exactly_one(pair, found)
        if self._differing > differing or len(self._found) > found:
            self._seen.remove((old, new))

    def _is_same(self, old: Any, new: Any) -> bool:
        """Tell whether two parts of the schemas are equal in wording and meaning."""
        text = quick_text(old)
        if text is None or (text != quick_text(new) and not same(old, new)):
            return False
        # The same reference may lead to another schema
        return self._same_definitions or not may_refer(text)

    def _is_breaking(self, found: int) -> bool:
        """Tell whether a breaking difference was added after the first *found* differences."""
        return any(each.severity == "breaking" for each in self._found[found:])

    def _count(self, units: int) -> None:
        if self._work.left - units < self._least_left:
            msg = "It has too many parts that differ."
            raise SchemaError(msg)
        self._work.count(units)

    def _from(self, old: Any, new: Any) -> Any:
        """Return the schema whose values must fit the other: *old* for an input, else *new*."""
        if self._is_input:
            return old
        return new

    # --- what a difference means ------------------------------------------------------

    def _note(
        self,
        pair: _Pair,
        severity: Severity,
        keyword: str,
        before: Any,
        after: Any,
        text: str,
        example: Any = None,
    ) -> None:
        if severity in ("breaking", "additive"):
            self._differing += 1
        if pair.place:
            text = f"{pair.place}: {text}"
        where = f"{pair.where}/{keyword}".strip("/")
        self._found.append(Difference(severity, where, before, after, text, example))

    def _breaks(
        self,
        pair: _Pair,
        keyword: str,
        sides: tuple[Any, Any],
        text: str,
        values: list[Any],
        otherwise: str = "",
    ) -> None:
        """Note a breaking difference if one of *values* shows it or *otherwise* is given."""
        source = self._from(self._before, self._after)
        target = self._from(self._after, self._before)
        for value in values[:_MOST_PROOFS]:
            whole = pair.put(value)
            self._count(_size_of(whole))
            if source.fits(whole) and not target.fits(whole):
                shown = f"{text}; {clip(value, _MAX_VALUE)} {self._verb}"
                self._note(pair, "breaking", keyword, *sides, shown, whole)
                return
        otherwise = otherwise or f"cannot tell whether {self._what}: no example was found"
        self._note(pair, "breaking", keyword, *sides, f"{text}; {otherwise}")

    def _rule(
        self,
        pair: _Pair,
        options: tuple[Node, Node],
        keyword: str,
        rules: tuple[Any, Any],
        text: str,
        sides: tuple[Any, Any] | None = None,
        *,
        is_sure: bool = True,
    ) -> None:
        """Find out what a changed rule means to callers, by trying sample values.

        Args:
            pair: The schemas that contain the rule.
            options: The old and the new alternative of the union *pair* that contains the rule.
            keyword: The name of the rule.
            rules: The old and the new rule as schemas; {} if there is no rule.
            text: What has changed.
            sides: The old and the new rule as they are shown to the user. If None, the values of
                *keyword* are shown.
            is_sure: Whether sample values are certain to show any change of a rule of this kind.
        """
        self._count(1)
        self._differing += 1
        values = self._candidates(options[0], options[1])
        lost = options[0], rules[1], pair.new
        come = options[1], rules[0], pair.old
        if sides is None:
            sides = rules[0].get(keyword), rules[1].get(keyword)
        bad = self._refused(values, *self._from(lost, come), is_sure=is_sure)
        if bad is not None:
            self._breaks(pair, keyword, sides, text, bad)
        elif self._refused(values, *self._from(come, lost), is_sure=is_sure) is not None:
            self._note(pair, "additive", keyword, *sides, text)

    def _refused(
        self, values: list[Any], node: Node, rules: Any, other: Node, *, is_sure: bool
    ) -> list[Any] | None:
        """Return the values that fit *node*, but are refused by *rules*, a part of *other*.

        If none of *values* is such a value, the result is [] if others may exist, and None if no
        such value exists.
        """
        if rules is True or rules == {}:
            return None
        every = every_value_of(node)
        self._count(len(every) * len(other.values) // 2_000)
        refused = [v for v in every or values if not other.view.fits(rules, v)]
        found = [value for value in refused if node.fits(value)]
        # Another alternative may accept the value
        lost = [value for value in found if not other.fits(value)]
        if lost or every:
            return lost or None
        if not is_sure or _is_beyond_reach(rules):
            return []
        # No value may have been found only because of another rule, such as a pattern
        plain = _plain(node)
        if not found and any(node.view.fits(plain, value) for value in refused):
            return []
        return None

    def _candidates(self, old: Node, new: Node) -> list[Any]:
        """Return the values to try for each rule that differs between *old* and *new*."""
        if (old, new) not in self._tried:
            values = candidates(old, new)
            self._count(_size_of(values))
            self._tried[old, new] = values
        return self._tried[old, new]

    def _exactly_one(self, pair: _Pair, found: int) -> None:
        """Look for values that fit two alternatives of `oneOf`, which refuses such values."""
        source, target = self._from(pair.old, pair.new), self._from(pair.new, pair.old)
        if self._is_breaking(found) or not _may_overlap(target):
            return
        text = "a value may fit more than one of the alternatives, and fit none therefore"
        values = self._candidates(pair.old, pair.new)
        bad = [value for value in values if source.fits(value) and not target.fits(value)]
        sides = kind_of(pair.old), kind_of(pair.new)
        self._breaks(pair, keyword_of(target), sides, text, bad)

    def _try_whole_values(self) -> None:
        """Try complete values, to find changes of keywords that the comparison does not know."""
        source = self._from(self._before, self._after)
        target = self._from(self._after, self._before)
        names = set[str]()
        for _, node in self._before.view.every():
            names.update(node.declared)
        for value in [*samples(source), *samples(target)]:
            if not self._is_input:
                # A new key does not break readers
                value = _with_names(value, names)
            if source.fits(value) and not target.fits(value):
                why = "; ".join(map(str, target.problems(value)[:2]))
                text = f"{clip(value, _MAX_VALUE)} {self._verb} ({why})"
                self._found.append(Difference("breaking", "", None, None, text, value))
                return

    # --- descriptions and null --------------------------------------------------------

    def _guidance(self, pair: _Pair, old: Node, new: Node) -> None:
        """Note changes of descriptions and other guidance, which make no value invalid."""
        sides: tuple[Any, Any] = old.description or None, new.description or None
        if sides[0] != sides[1]:
            text = worded("the description", *sides)
            self._note(pair, "routing", "description", *sides, text)
        for keyword, noun in _GUIDING.items():
            sides = old.schema.get(keyword), new.schema.get(keyword)
            if not same(*sides):
                self._note(pair, "routing", keyword, *sides, worded(noun, *sides))
        sides = old.title or None, new.title or None
        if sides[0] != sides[1]:
            self._note(pair, "cosmetic", "title", *sides, worded("the title", *sides))

    def _null(self, pair: _Pair) -> None:
        if not _may_take_null(pair.old, pair) and not _may_take_null(pair.new, pair):
            return
        was_allowed, is_allowed = pair.old.fits(None), pair.new.fits(None)
        if was_allowed == is_allowed:
            return
        text = "null is allowed too now"
        sides: tuple[str | None, str | None] = None, "null"
        if was_allowed:
            text, sides = "null is no longer allowed", ("null", None)
        if was_allowed == self._is_input:
            self._breaks(pair, "type", sides, text, [None])
        else:
            self._note(pair, "additive", "type", *sides, text)

    # --- one kind of value ------------------------------------------------------------

    def _option(self, pair: _Pair, old: Node, new: Node) -> None:
        """Compare two alternatives of *pair*."""
        both = old, new
        if old.values or new.values:
            self._listed(pair, old, new)
            return
        kinds = {old.type, new.type} - {None}
        if not _is_whole_object(pair):
            self._types(pair, old, new)
        if not _are_one_kind(old, new):
            return
        if kinds == {"object"}:
            self._objects(pair, old, new)
        elif kinds == {"array"}:
            self._items(pair, old, new)
        for keywords in _LIMITS:
            rules = _rules(old, keywords), _rules(new, keywords)
            if same(*rules):
                continue
            text = f"{_in_words(rules[0])} before, {_in_words(rules[1])} now"
            self._rule(pair, both, _first_that_differs(*rules), rules, text)
        for keyword, others in _CONDITIONS.items():
            group = keyword, *others
            self._condition(pair, both, _rules(old, group), _rules(new, group))
        self._condition(pair, both, _merged(old, new), _merged(new, old))

    def _types(self, pair: _Pair, old: Node, new: Node) -> None:
        is_one_kind, is_open = _are_one_kind(old, new), (_is_open(old), _is_open(new))
        text = f"{_type_of(old)} before, {_type_of(new)} now"
        if not any(is_open):
            if old.type == new.type:
                return
            rules = {"type": old.type}, {"type": new.type}
            self._rule(pair, (old, new), "type", rules, text)
        elif not all(is_open) or not is_one_kind:
            # In a schema without a type, each rule applies to values of one type only
            is_sure = is_one_kind or _is_flat(self._from(old, new))
            raw, sides = (old.raw, new.raw), (old.type, new.type)
            self._rule(pair, (old, new), "type", raw, text, sides, is_sure=is_sure)

    def _listed(self, pair: _Pair, old: Node, new: Node) -> None:
        """Compare two schemas, at least one of which lists its values."""
        keywords = "const", "enum"
        keyword = _first_that_differs(_rules(old, keywords), _rules(new, keywords)) or "enum"
        text = f"{kind_of(old)} before, {kind_of(new)} now"
        if old.values and new.values:
            text = _about_listed(old, new)
        sides = old.values or None, new.values or None
        raw = old.raw, new.raw
        self._rule(pair, (old, new), keyword, raw, text, sides, is_sure=False)

    def _condition(
        self,
        pair: _Pair,
        options: tuple[Node, Node],
        before: Mapping[str, Any],
        after: Mapping[str, Any],
    ) -> None:
        """Compare rules for which sample values can prove a difference, but not equality."""
        if self._is_same(before, after):
            return
        keyword = _first_that_differs(before, after)
        verb = "changed"
        if not before:
            verb = "added"
        elif not after:
            verb = "dropped"
        text = f"the condition {keyword!r} was {verb}"
        if keyword in LIMITING:
            text = f"{_in_words(before)} before, {_in_words(after)} now"
        self._rule(pair, options, keyword, (before, after), text, is_sure=False)

    # --- objects ----------------------------------------------------------------------

    def _objects(self, pair: _Pair, old: Node, new: Node) -> None:
        renamed = _renamed(old, new)
        base = base_of(self._from(old, new))
        for name in {**old.properties, **new.properties}:
            before = old.properties.get(name) or _of_key(old, name)
            after = new.properties.get(name) or _of_key(new, name)
            if before is not None and after is not None:
                step = f"properties/{name}"
                self._walk(pair.inside(before, after, step, name, _in_object(base, name)))
            elif before is not None and name in old.properties:
                self._removed(pair, old, new, name, renamed, base)
            if name in old.properties or name == renamed:
                continue
            if name not in new.required:
                after = new.properties[name]
                text = f"{name!r} can be left out and is new: {kind_of(after)}"
                self._note(pair, "additive", f"properties/{name}", None, after.raw, text)
        for name in {**dict.fromkeys(old.required), **dict.fromkeys(new.required)}:
            if name in new.properties and name != renamed:
                self._required(pair, old, new, name, base)
        self._other_keys(pair, old, new, base)
        if not same(old.schema.get("patternProperties"), new.schema.get("patternProperties")):
            self._condition(pair, (old, new), _rules(old, _KEYS), _rules(new, _KEYS))

    def _removed(
        self,
        pair: _Pair,
        old: Node,
        new: Node,
        name: str,
        renamed: str | None,
        base: dict[str, Any],
    ) -> None:
        """Note that the property *name* was removed, or renamed to *renamed*."""
        prop = old.properties[name]
        text = f"{name!r} is not declared any more (it was {_how(name, old)}: {kind_of(prop)})"
        after = None
        if renamed is not None:
            after = new.properties[renamed].raw
            how = _how(renamed, new)
            text = f"{name!r} -> {renamed!r}? {text}, {renamed!r} is new and {how}"
        value = _without_key(base, name)
        otherwise = "it may be missing"
        if self._is_input:
            value = {**base, name: example_of(prop)}
            otherwise = "a server may refuse it, or ignore it"
        sides = prop.raw, after
        self._breaks(pair, f"properties/{name}", sides, text, [value], otherwise)

    def _required(self, pair: _Pair, old: Node, new: Node, name: str, base: dict[str, Any]) -> None:
        is_needed = name in new.required
        if is_needed == (name in old.required):
            return
        text = f"{name!r} can be left out now; it was required before"
        if is_needed and name in old.properties:
            text = f"{name!r} is required now; it could be left out before"
        elif is_needed:
            text = f"{name!r} is new and required: {kind_of(new.properties[name])}"
        sides = old.schema.get("required"), new.schema.get("required")
        if is_needed == self._is_input:
            self._breaks(pair, "required", sides, text, [_without_key(base, name)])
        else:
            self._note(pair, "additive", "required", *sides, text)

    def _other_keys(self, pair: _Pair, old: Node, new: Node, base: dict[str, Any]) -> None:
        """Compare the rules for undeclared keys."""
        keyword = "additionalProperties"
        sides = old.schema.get(keyword), new.schema.get(keyword)
        if old.is_closed != new.is_closed:
            text = "keys that are not declared are allowed now"
            if new.is_closed:
                text = "keys that are not declared were allowed, and are refused now"
            if new.is_closed and self._is_input:
                values = [{**base, ANOTHER: of_another_key(old)}]
                self._breaks(pair, keyword, sides, text, values)
            else:
                self._note(pair, "additive", keyword, *sides, text)
        elif old.additional is not None or new.additional is not None:
            before = old.additional or old.view.anything
            after = new.additional or new.view.anything
            self._walk(pair.inside(before, after, keyword, "*", _in_object(base, ANOTHER)))

    # --- lists and alternatives -------------------------------------------------------

    def _items(self, pair: _Pair, old: Node, new: Node) -> None:
        source = self._from(old, new)
        base = list_of(source, max(1, least_of(source, "minItems")))
        rules = _item_rules(old), _item_rules(new)
        if not rules[0] and not rules[1]:
            before, after = old.items or old.view.anything, new.items or new.view.anything
            put = _in_list(base, range(len(base)))
            if source.schema.get("uniqueItems") is True:
                put = _in_list(base, range(1))
            self._walk(pair.inside(before, after, "items", "[]", put))
            return
        if len(old.prefix_items) == len(new.prefix_items):
            for index, before in enumerate(old.prefix_items):
                put = _in_list(base, range(index, index + 1))
                after = new.prefix_items[index]
                self._walk(pair.inside(before, after, f"prefixItems/{index}", f"[{index}]", put))
            for each in rules:
                each.pop("prefixItems", None)
        self._condition(pair, (old, new), *rules)

    def _unions(self, pair: _Pair, every_old: list[Node], every_new: list[Node]) -> None:
        """Compare alternatives: pair similar ones, and note which were removed or added."""
        olds = [
            one for one in every_old if not any(self._is_same(one.raw, n.raw) for n in every_new)
        ]
        news = [
            one for one in every_new if not any(self._is_same(o.raw, one.raw) for o in every_old)
        ]
        keyword = keyword_of(pair.new) or keyword_of(pair.old) or "type"
        sides = kind_of(pair.old), kind_of(pair.new)
        for one in olds:
            # Pairing twenty alternatives takes as long as comparing one rule
            self._count(1 + len(news) * len(one.names) // 20)
            partner = max(news, key=lambda other: _likeness(one, other), default=None)
            if partner is not None and _likeness(one, partner) > 0:
                news.remove(partner)
                self._guidance(pair, one, partner)
                self._option(pair, one, partner)
                continue
            text = f"{_short(one)} is no longer allowed"
            self._rule(
                pair,
                (one, pair.new),
                keyword,
                ({}, pair.new.raw),
                text,
                sides,
                is_sure=_is_flat(one),
            )
        for one in news:
            text = f"{_short(one)} is allowed too now"
            self._rule(
                pair,
                (pair.old, one),
                keyword,
                (pair.old.raw, {}),
                text,
                sides,
                is_sure=_is_flat(one),
            )


# --- reading nodes ----------------------------------------------------------------------


def _same_definitions(old: Any, new: Any) -> bool:
    """Tell whether every reference leads to the same definition in both complete schemas."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return False
    if not same(definitions_of(old), definitions_of(new)):
        return False
    if not leads_out(old) and not leads_out(new):
        return True
    names = {*references_in(old), *references_in(new)}
    return all(n.startswith("#/") and same(follow(old, n), follow(new, n)) for n in names)


def _is_open(node: Node) -> bool:
    """Tell whether *node* accepts values of types other than `node.type`."""
    if states_type(node.raw):
        return False
    # A reference may lead to a schema that states the type
    return any(node.fits(value) for value, of in _OF_TYPES if node.type not in of)


def _is_whole_object(pair: _Pair) -> bool:
    """Tell whether *pair* is a tool's complete input or output, which must be an object."""
    return pair.depth == 0 and {pair.old.type, pair.new.type} - {None} == {"object"}


def _may_take_null(node: Node, pair: _Pair) -> bool:
    if node.takes_null or None in node.values:
        return True
    return not node.types and not _is_whole_object(pair)


def _are_one_kind(one: Node, other: Node) -> bool:
    kinds = {one.type, other.type} - {None}
    return len(kinds) < 2 or kinds <= _NUMBERS


def _likeness(one: Node, other: Node) -> int:
    """Return how similar two alternatives are; 0 means that they do not form a pair."""
    is_pair = _are_one_kind(one, other) and (one.type is None) == (other.type is None)
    if not is_pair or not same(_tags(one), _tags(other)):
        return 0
    same_name = bool(one.definition) and one.definition == other.definition
    return 1 + 100 * same_name + len(set(one.names) & set(other.names))


def _tags(node: Node) -> dict[str, Any]:
    """Return the constant properties of *node*, which distinguish alternatives."""
    tags = {}
    for name, part in node.properties.items():
        if len(part.values) == 1:
            tags[name] = part.values[0]
    return tags


def _may_overlap(node: Node) -> bool:
    """Tell whether a value may fit two alternatives of a `oneOf` in *node*."""
    if node.values or not takes_exactly_one(node):
        return False
    options = options_of(node)
    return any(option.merged for option in options) or not all(
        _are_told_apart(one, other) for one, other in combinations(options, 2)
    )


def _are_told_apart(one: Node, other: Node) -> bool:
    """Tell whether types or a required constant ensure that no value fits both alternatives."""
    if _is_open(one) or _is_open(other):
        return False
    if not _are_one_kind(one, other):
        return True
    tags = _tags(other)
    for name, value in _tags(one).items():
        if (
            name in one.required
            and name in other.required
            and not same(value, tags.get(name, value))
        ):
            return True
    return False


def _is_flat(node: Node) -> bool:
    """Tell whether values of *node* have no items or keys, so that samples show every rule."""
    return node.type not in (None, "object", "array") and not _is_open(node)


def _of_key(node: Node, name: str) -> Node | None:
    """Return the schema that *node* has for the undeclared key *name*; None if it has none."""
    other = node.of_other_key(name)
    if other is None or other.is_blank:
        return None
    return other


def _in_object(base: dict[str, Any], name: str) -> Callable[[Any], Any]:
    """Return a function that puts a value into a copy of *base*."""
    return lambda value: {**base, name: value}


def _in_list(base: list[Any], places: range) -> Callable[[Any], Any]:
    """Return a function that puts a value at *places* of a copy of *base*."""
    return lambda value: [*base[: places.start], *([value] * len(places)), *base[places.stop :]]


def _is_beyond_reach(rules: Any) -> bool:
    """Tell whether one of *rules* sets a size limit above the largest size that is tried."""
    for keyword, limit in rules.items():
        largest = LARGEST.get(keyword[3:])
        if largest is not None and isinstance(limit, int | float) and limit >= largest:
            return True
    return False


def _merged(node: Node, other: Node) -> dict[str, Any]:
    """Return the alternatives that are merged into *node*, as a schema.

    Alternatives are merged into one node if they only add conditions to the same object, for
    example that one of two keys is required. The result is {} if *node* has all alternatives of
    *other*, because *node* then accepts every object that *other* accepts.
    """
    if not node.merged or node.type != "object":
        return {}
    has_all = other.merged and all(each in node.merged for each in other.merged)
    if has_all and not takes_exactly_one(node):
        return {}
    return {keyword_of(node): list(node.merged)}


def _renamed(old: Node, new: Node) -> str | None:
    """Return the new name of the only removed property, if just one new property is like it."""
    removed = [name for name in old.properties if name not in new.properties]
    if len(removed) != 1 or _of_key(new, removed[0]) is not None:
        return None
    kind = kind_of(old.properties[removed[0]])
    alike = []
    for name, prop in new.properties.items():
        if name not in old.properties and kind_of(prop) == kind:
            alike.append(name)
    if len(alike) != 1 or _of_key(old, alike[0]) is not None:
        return None
    return alike[0]


def _how(name: str, node: Node) -> str:
    if name in node.required:
        return "required"
    return "optional"


def _rules(node: Node, keywords: Iterable[str]) -> dict[str, Any]:
    return {key: node.schema[key] for key in keywords if key in node.schema}


def _item_rules(node: Node) -> dict[str, Any]:
    """Return the rules of *node* for items at fixed positions, and against further items."""
    rules = _rules(node, _ITEMS)
    if not node.prefix_items and rules.get("items") is not False:
        return {}
    return {keyword: rule for keyword, rule in rules.items() if rule is not True}


def _first_that_differs(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    for name in {**after, **before}:
        if not same(before.get(name), after.get(name)):
            return name
    # The same reference leads to another schema
    return next(iter(before), "")


def _plain(node: Node) -> dict[str, Any]:
    """Return the simple rules of *node*, for which a valid sample value is always found."""
    plain = _rules(node, _PLAIN)
    for keyword in ("items", "additionalProperties"):
        if node.schema.get(keyword) is False:
            plain[keyword] = False
    if node.type == "object":
        plain["properties"] = dict.fromkeys(node.properties, True)
    if node.prefix_items:
        plain["prefixItems"] = [True] * len(node.prefix_items)
    return plain


# --- values -----------------------------------------------------------------------------


def _size_of(value: Any) -> int:
    """Return the work of trying *value*: 1 unit for each thousand characters of its JSON."""
    return len(quick_text(value) or "") // 1_000


def quick_text(value: Any) -> bytes | None:
    """Return *value* as JSON, without sorting its keys; None if it cannot be written as JSON."""
    try:
        return to_json(value)
    except (PydanticSerializationError, ValueError, RecursionError):
        return None


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are equal in JSON, where true is not 1 and key order is ignored."""
    text = quick_text(one)
    if text is not None and text == quick_text(other):
        return True
    try:
        return one == other and dumps(one, sort_keys=True) == dumps(other, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return False


def _without_key(value: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key != name}


def _with_names(value: Any, names: set[str]) -> Any:
    """Return *value* without the keys that are not in *names*."""
    if isinstance(value, dict):
        return {key: _with_names(item, names) for key, item in value.items() if key in names}
    if isinstance(value, list):
        return [_with_names(item, names) for item in value]
    return value


# --- words ------------------------------------------------------------------------------


def worded(what: str, old: Any, new: Any) -> str:
    """Return a phrase saying that *what*, such as the title, was *old* and is *new* now."""
    if old in (None, ""):
        return f"{what} is {clip(new, _MAX_TEXT)} now; there was none"
    if new in (None, ""):
        return f"{what} {clip(old, _MAX_TEXT)} is gone"
    if isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) > _MAX_TEXT:
        pairs = zip(old, new, strict=False)
        start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)) - _LEAD
        if start > 0:
            old, new = f"…{old[start:]}", f"…{new[start:]}"
    return f"{what} was {clip(old, _MAX_TEXT)} and is {clip(new, _MAX_TEXT)} now"


def _in_words(rules: Mapping[str, Any]) -> str:
    phrases = [words(keyword, value) or clip(value) for keyword, value in rules.items()]
    return " and ".join(phrases) or "no such limit"


def _about_listed(old: Node, new: Node) -> str:
    parts = []
    for one, other, verb in ((old, new, "no longer allowed"), (new, old, "allowed now")):
        known = {quick_text(value) for value in other.values}
        values = [value for value in one.values if quick_text(value) not in known]
        if not values:
            continue
        named = ", ".join(clip(value) for value in values[:_MAX_VALUES])
        if len(values) > _MAX_VALUES:
            named = f"{named} and {len(values) - _MAX_VALUES} more"
        be = "are"
        if len(values) == 1:
            be = "is"
        parts.append(f"{named} {be} {verb}")
    total = f"{counted(len(old.values), 'value')} before, {len(new.values)} now"
    return f"{' and '.join(parts)} ({total})"


def _type_of(node: Node) -> str:
    if _is_open(node):
        return "anything"
    return kind_of(node)


def _short(node: Node) -> str:
    tags = ", ".join(f"{name} {clip(value)}" for name, value in _tags(node).items())
    name = node.definition or kind_of(node)
    if tags:
        return f"{name} with {tags}"
    return name
