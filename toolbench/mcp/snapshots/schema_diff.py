"""Compare two JSON Schemas: say of each difference what it means to whoever sends or reads the values.

The comparison walks through what both schemas have (properties, items, values of maps, alternatives of
unions, paired by type or tag), and tries values on the rest (`samples`). A value that fitted and does
not fit any more proves a breaking change and is its example. A rule that no value can decide, such as a
changed pattern, counts as breaking, and the sentence says that no example was found.

Values are tried only for keys that the old schema declares: a new optional key breaks nobody.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, takewhile
from json import dumps
from typing import Any, Literal

from pydantic_core import PydanticSerializationError, to_json

from toolbench.errors import SchemaError
from toolbench.jsonschema.compose import leaves_type_open, states_type
from toolbench.jsonschema.describe import kind as kind_of
from toolbench.jsonschema.node import Node, keyword_of, merged_alternatives, read
from toolbench.jsonschema.walk import definitions_of, follow, leads_out, may_refer, references_in
from toolbench.jsonschema.words import words
from toolbench.mcp.snapshots.samples import (
    ANOTHER,
    MOST_KEYS,
    base_of,
    candidates,
    example_of,
    least_of,
    list_of,
    samples,
)
from toolbench.values import clip
from toolbench.wording import counted

Direction = Literal["input", "output"]
"""Whether a schema is of the input, which the server reads, or of the output, which the caller reads."""
Severity = Literal["breaking", "routing", "additive", "cosmetic"]
Effect = Literal["narrower", "wider", "different", "gone", "new", "guidance", "spelling"]
"""The effect of a difference on the values that fit.

- narrower, wider, different: fewer values fit, more values fit, or other values fit.
- gone, new: a property is not declared any more, or is new and optional.
- guidance: the same values fit, but a model may choose another value.
- spelling: the same values fit, and a model notices nothing.
"""

_SEVERITIES: Mapping[Effect, Severity] = {
    "different": "breaking",
    "gone": "breaking",
    "new": "additive",
    "guidance": "routing",
    "spelling": "cosmetic",
}
_NUMBERS = frozenset({"integer", "number"})
_GUIDING = {
    "default": "the default",
    "format": "the format",
    "examples": "the list of examples",
    "deprecated": "the mark 'deprecated'",
    "contentMediaType": "the contentMediaType",
}
_OF_NUMBERS = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"), ("multipleOf",))
_LIMITS: Mapping[str | None, tuple[tuple[str, ...], ...]] = {
    "integer": _OF_NUMBERS,
    "number": _OF_NUMBERS,
    "string": (("minLength",), ("maxLength",)),
    "array": (("minItems",), ("maxItems",), ("uniqueItems",)),
    "object": (("minProperties",), ("maxProperties",)),
}
"""For each type the limits that belong together; values at the limits show each change of them."""
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
}
"""The rules whose changes perhaps none of the tried values shows, each with others that belong to it."""
_PLAIN = frozenset(chain(["type", "required"], *chain(*_LIMITS.values())))
# Values, each with the types that it has
_OF_TYPES: tuple[tuple[Any, tuple[str, ...]], ...] = (
    ("a", ("string",)),
    (1, ("integer", "number")),
    (True, ("boolean",)),
    ([], ("array",)),
)
# Characters that are quoted of a value that proves a change, of a text, and of a text before it differs
_MAX_VALUE, _MAX_TEXT, _LEAD = 120, 80, 20
# Values that a sentence names
_MAX_VALUES = 5
# Values that may prove one change
_MOST_PROOFS = 12
# Levels to compare
_DEEPEST = 60
# Sub-schemas, and rules in them, that are compared of one schema: about two seconds
_MOST_WORK = 3_000
# Those of all schemas of a server, which else could keep a reader waiting for minutes
_MOST_IN_ALL = 20_000


@dataclass(frozen=True)
class Difference:
    """One difference between two schemas.

    Attributes:
        severity: What it means to callers; see `toolbench.mcp.snapshots.diff.Change`.
        effect: Whether fewer values fit now, or more, or other values; see `Effect`.
        where: The path of the keyword in the schema: `properties/limit/maximum`.
        before: The old part of the schema; None if there was none.
        after: The new part of the schema; None if there is none.
        text: What changed and where, as in `limit: at most 100 before, at most 50 now`.
        example: For a breaking difference, a whole value that shows it; None if none was found.
    """

    severity: Severity
    effect: Effect
    where: str
    before: Any
    after: Any
    text: str
    example: Any = None


class Work:
    """How much was compared of all schemas of a server."""

    def __init__(self) -> None:
        """Begin with none."""
        self._done = 0

    def count(self, units: int) -> None:
        """Count more work.

        Raises:
            SchemaError: If it is too much.
        """
        self._done += units
        if self._done > _MOST_IN_ALL:
            msg = "Too many parts of the server's tools differ."
            raise SchemaError(msg)


def differences(old: Any, new: Any, direction: Direction, work: Work) -> list[Difference]:
    """Return the differences from the whole schema *old* to *new*; empty if they mean the same.

    Raises:
        SchemaError: If there are so many, here or in *work* so far, that it takes too long.
    """
    is_input = direction == "input"
    return _Comparison(read(old), read(new), work, is_input=is_input).differences()


Put = Callable[[Any], Any]
Proof = tuple[Any, Any]
"""A value that shows a change, and a whole value with it."""


@dataclass(frozen=True, eq=False)
class _Pair:
    """An old and a new sub-schema of the same values.

    *where* is its path in the schema, *place* that in a value, as a person writes it (`items[].sku`).
    *put_old* makes a whole value of the old schema from a value of this part, *put_new* of the new one.
    """

    old: Node
    new: Node
    where: str = ""
    place: str = ""
    put_old: Put = lambda value: value
    put_new: Put = lambda value: value

    def inside(
        self, old: Node, new: Node, step: str, name: str, put: Callable[[Node, Any], Any]
    ) -> "_Pair":
        """Return the pair of two parts; *put(node, value)* makes a value of this pair of one of theirs."""
        dot = ""
        if self.place and not name.startswith("["):
            dot = "."
        return _Pair(
            old,
            new,
            f"{self.where}/{step}".lstrip("/"),
            f"{self.place}{dot}{name}",
            lambda value: self.put_old(put(self.old, value)),
            lambda value: self.put_new(put(self.new, value)),
        )

    def between(self, old: Node, new: Node) -> "_Pair":
        """Return the pair of an old and a new alternative of the same values."""
        return replace(self, old=old, new=new)


class _Comparison:
    """Walks through two whole schemas, and collects the differences."""

    def __init__(self, before: Node, after: Node, work: Work, *, is_input: bool) -> None:
        self._before, self._after, self._is_input = before, after, is_input
        self._in_all = work
        self._found: list[Difference] = []
        # The pairs that contain the present one: a recursive schema meets them again
        self._above: list[tuple[Node, Node]] = []
        # Those in which no rule differs: a definition that is used often is compared once
        self._alike: set[tuple[Node, Node]] = set()
        self._rules_that_differ = self._work = 0
        self._tried: dict[tuple[Node, Node], list[Any]] = {}
        self._same_definitions = _same_definitions(before.view.root, after.view.root)

    def differences(self) -> list[Difference]:
        self._walk(_Pair(self._before, self._after))
        if not any(each.severity == "breaking" for each in self._found):
            self._look_for_overlooked()
        return list({(d.effect, d.where, d.text): d for d in self._found}.values())

    def _walk(self, pair: _Pair) -> None:
        old, new = pair.old, pair.new
        if (old, new) in self._alike or (old, new) in self._above or self._is_same(old, new):
            return
        if len(self._above) > _DEEPEST:
            text = f"the parts below {_DEEPEST} levels differ and are not compared"
            self._note(pair, "different", "", old.raw, new.raw, text)
            return
        self._count_work()
        self._above.append((old, new))
        known, found = self._rules_that_differ, len(self._found)
        self._guidance(pair)
        self._null(pair)
        olds, news = _options(old), _options(new)
        if len(olds) == len(news) == 1:
            self._option(pair.between(olds[0], news[0]))
        else:
            self._unions(pair, olds, news)
        if self._is_input and keyword_of(new):
            self._overlapping(pair, self._found[found:])
        self._above.pop()
        if self._rules_that_differ == known:
            self._alike.add((old, new))

    def _is_same(self, old: Node, new: Node) -> bool:
        text = quick_text(old.raw)
        if text is None or text != quick_text(new.raw):
            return False
        # The same reference may mean another schema
        return self._same_definitions or not may_refer(text)

    def _count_work(self, units: int = 1) -> None:
        self._work += units
        if self._work > _MOST_WORK:
            msg = "It has too many parts that differ."
            raise SchemaError(msg)
        self._in_all.count(units)

    # --- what a difference means ------------------------------------------------------

    def _judge(
        self,
        pair: _Pair,
        keyword: str,
        sides: tuple[Any, Any],
        text: str,
        *,
        lost: list[Any] | None = None,
        come: list[Any] | None = None,
        is_sure: bool = True,
    ) -> None:
        """Note a change of a rule, if whole values show it or may do so.

        Args:
            pair: The schemas with the rule.
            keyword: The rule.
            sides: The old and the new value of the rule.
            text: What changed.
            lost: Values of the old schema that the new rule refuses; empty if none was found and
                there may be some; None if there is none.
            come: The same of the new schema and the old rule.
            is_sure: Whether other values change nothing if none of these does.
        """
        is_narrower, refused = self._in_whole(pair, lost, of_old=True)
        is_wider, admitted = self._in_whole(pair, come, of_old=False)
        if not is_sure:
            is_narrower, is_wider = lost is not None, come is not None
        effect: Effect = "different"
        if not is_narrower and not is_wider:
            return
        if not is_wider:
            effect = "narrower"
        elif not is_narrower:
            effect = "wider"
        proof = refused
        if not self._is_input:
            proof = admitted
        self._note(pair, effect, keyword, *sides, text, proof=proof)

    def _in_whole(
        self, pair: _Pair, values: list[Any] | None, *, of_old: bool
    ) -> tuple[bool, Proof | None]:
        """Tell whether whole values of one schema with *values* in them are refused by the other.

        Without a proof the answer is yes if it is unclear, because whole values were not found. It is no
        if the other schema takes all of them: another alternative of a union makes the change good.
        """
        if values is None:
            return False, None
        source, target, put = self._after, self._before, pair.put_new
        if of_old:
            source, target, put = self._before, self._after, pair.put_old
        is_unclear = not values
        for value in values[:_MOST_PROOFS]:
            self._rules_that_differ += 1
            whole = put(value)
            self._count_work(_size_of(whole))
            if not source.fits(whole):
                is_unclear = True
            elif not target.fits(whole):
                return True, (value, whole)
        return is_unclear, None

    def _note(
        self,
        pair: _Pair,
        effect: Effect,
        keyword: str,
        before: Any,
        after: Any,
        text: str,
        *,
        proof: Proof | None = None,
    ) -> None:
        """Note a difference; a breaking one is shown by *proof*."""
        self._rules_that_differ += 1
        if effect in ("narrower", "wider"):
            severity: Severity = "additive"
            if (effect == "narrower") == self._is_input:
                severity = "breaking"
        else:
            severity = _SEVERITIES[effect]
        example = None
        if severity == "breaking":
            text = f"{text}; {self._shown(effect, proof)}"
            if proof is not None:
                example = proof[1]
        if pair.place:
            text = f"{pair.place}: {text}"
        where = f"{pair.where}/{keyword}".strip("/")
        self._found.append(Difference(severity, effect, where, before, after, text, example))

    def _shown(self, effect: Effect, proof: Proof | None) -> str:
        """Return a phrase about the value that shows a breaking change, or about what may happen."""
        if proof is not None:
            verb = "is refused now" if self._is_input else "may come now"
            return f"{clip(proof[0], _MAX_VALUE)} {verb}"
        if effect == "gone":
            return "a server may refuse it, or ignore it" if self._is_input else "it may be missing"
        what = "such an output comes"
        if self._is_input:
            what = "a call is refused"
        return f"cannot tell whether {what}: no example was found"

    def _look_for_overlooked(self) -> None:
        """Try whole values, to find a change of a keyword that the comparison does not read."""
        source, target = self._before, self._after
        new_keys = set[str]()
        if not self._is_input:
            source, target = target, source
            # New keys break no reader, but a schema that was closed
            for each in self._found:
                if each.effect == "new":
                    new_keys |= {ANOTHER, each.where.rpartition("/")[2]}
                if each.where.endswith("required") and isinstance(each.after, list):
                    new_keys |= {ANOTHER, *map(str, each.after)}
            new_keys -= set(self._before.names)
        for sample in chain(samples(source), samples(target)):
            value = _without_keys(sample, new_keys)
            if source.fits(value) and not target.fits(value):
                why = "; ".join(map(str, target.problems(value)[:2]))
                text = f"{self._shown('different', (value, value))} ({why})"
                self._found.append(Difference("breaking", "different", "", None, None, text, value))
                return

    # --- texts and null ---------------------------------------------------------------

    def _guidance(self, pair: _Pair) -> None:
        """Note what guides a model or a person, and refuses no value."""
        old, new = pair.old, pair.new
        sides: tuple[Any, Any] = old.description or None, new.description or None
        if sides[0] != sides[1]:
            text = worded("the description", *sides)
            self._note(pair, "guidance", "description", *sides, text)
        for keyword, noun in _GUIDING.items():
            sides = old.schema.get(keyword), new.schema.get(keyword)
            if not same(*sides):
                self._note(pair, "guidance", keyword, *sides, worded(noun, *sides))
        sides = old.title or None, new.title or None
        if sides[0] != sides[1]:
            self._note(pair, "spelling", "title", *sides, worded("the title", *sides))

    def _null(self, pair: _Pair) -> None:
        old, new = pair.old, pair.new
        was_allowed, is_allowed = _takes_null(old), _takes_null(new)
        if was_allowed and not is_allowed and old.fits(None) and not new.fits(None):
            self._judge(pair, "type", ("null", None), "null is no longer allowed", lost=[None])
        elif is_allowed and not was_allowed and new.fits(None) and not old.fits(None):
            self._judge(pair, "type", (None, "null"), "null is allowed too now", come=[None])

    # --- one kind of value ------------------------------------------------------------

    def _option(self, pair: _Pair) -> None:
        old, new = pair.old, pair.new
        if old.values or new.values:
            self._listed(pair)
            return
        kinds = {old.type, new.type} - {None}
        is_one_kind = len(kinds) < 2 or kinds <= _NUMBERS
        both_open = _is_open(old) and _is_open(new)
        # What a tool gets and returns as a whole is an object, even if its schema does not say so
        is_whole = len(self._above) == 1 and kinds == {"object"}
        if not is_whole and not (both_open and is_one_kind):
            self._types(pair)
        if not is_one_kind:
            return
        if kinds == {"object"}:
            self._objects(pair)
        elif kinds == {"array"}:
            self._items(pair)
        limits: Iterable[tuple[str, ...]] = _LIMITS.get(new.type or old.type, ())
        if both_open:
            # Values of each type fit, so that the limits of each type count
            limits = dict.fromkeys(chain(*_LIMITS.values()))
        for keywords in limits:
            self._limit(pair, keywords)
        for keyword, others in _CONDITIONS.items():
            keywords = keyword, *others
            self._condition(pair, keyword, _rules(old, keywords), _rules(new, keywords))
        self._alternatives_of_object(pair)

    def _types(self, pair: _Pair) -> None:
        old, new = pair.old, pair.new
        is_open = _is_open(old), _is_open(new)
        if old.type == new.type and is_open[0] == is_open[1]:
            return
        # In a schema without a type, each rule is for values of one type only
        rules = [node.raw if any(is_open) else _plain(node) for node in (old, new)]
        lost = self._beyond_type(pair, old, new, rules[1])
        come = self._beyond_type(pair, new, old, rules[0])
        before, after = ("anything" if each else None for each in is_open)
        text = f"{before or kind_of(old)} before, {after or kind_of(new)} now"
        if all(is_open):
            text = "the rules for a value of any type changed"
        sides = old.type, new.type
        self._judge(pair, "type", sides, text, lost=lost, come=come)

    def _beyond_type(
        self, pair: _Pair, node: Node, other: Node, rules: Mapping[str, Any]
    ) -> list[Any] | None:
        """Return the values of *node* that *rules* of *other* refuse, as `_judge` takes them."""
        # Null is compared apart
        values = [v for v in self._candidates(pair) if v is not None]
        refused = [v for v in values if not other.view.fits(rules, v)]
        found = [value for value in refused if node.fits(value)]
        if found or any(map(node.fits, values)):
            return found or None
        # A rule, such as a pattern, kept us from finding any value of the type
        plain = _plain(node)
        if any(node.view.fits(plain, value) for value in refused):
            return []
        return None

    def _listed(self, pair: _Pair) -> None:
        """Compare two schemas of which at least one lists its values."""
        old, new = pair.old, pair.new
        lost = self._beyond_list(pair, old, new)
        come = self._beyond_list(pair, new, old)
        keyword = "enum"
        if all(node.is_constant for node in (old, new) if node.values):
            keyword = "const"
        text = f"{kind_of(old)} before, {kind_of(new)} now"
        if old.values and new.values:
            text = _about_listed(old, new, lost or [], come or [])
        sides = old.values or None, new.values or None
        self._judge(pair, keyword, sides, text, lost=lost, come=come)

    def _beyond_list(self, pair: _Pair, node: Node, other: Node) -> list[Any] | None:
        """Return the values of *node* that *other* refuses, as `_judge` takes them."""
        # A value is compared with each of these
        slow = sum(isinstance(value, dict | list) for value in other.values)
        self._count_work(len(node.values) * slow // 2_000)
        found = [v for v in node.values or self._candidates(pair) if _is_lost(v, node, other)]
        # Of most types there are more values than a schema lists
        is_listed = bool(node.values) or node.type in ("boolean", "null")
        if found or (other.values and not is_listed):
            return found
        return None

    def _candidates(self, pair: _Pair) -> list[Any]:
        """Return the values to try for each rule of *pair* that differs."""
        key = pair.old, pair.new
        if key not in self._tried:
            values = candidates(*key)
            self._count_work(_size_of(values))
            self._tried[key] = values
        return self._tried[key]

    # --- rules for which values are tried ---------------------------------------------

    def _limit(self, pair: _Pair, keywords: tuple[str, ...]) -> None:
        old, new = pair.old, pair.new
        before, after = _rules(old, keywords), _rules(new, keywords)
        if same(before, after):
            return
        self._count_work()
        keyword = next(iter(after or before))
        text = f"{_in_words(before)} before, {_in_words(after)} now"
        if keyword == "uniqueItems":
            verb = "is no longer allowed" if after.get(keyword) is True else "is allowed now"
            text = f"the same item twice {verb}"
        lost = self._beyond_limit(pair, old, new, after)
        come = self._beyond_limit(pair, new, old, before)
        sides = before.get(keyword), after.get(keyword)
        self._judge(pair, keyword, sides, text, lost=lost, come=come)

    def _beyond_limit(
        self, pair: _Pair, node: Node, other: Node, rules: Mapping[str, Any]
    ) -> list[Any] | None:
        """Return the values of *node* that *rules* of *other* refuse, as `_judge` takes them."""
        refused = [v for v in self._candidates(pair) if not other.view.fits(rules, v)]
        found = [value for value in refused if node.fits(value)]
        # Another rule, such as a pattern, may only have kept us from finding a value
        plain = _plain(node)
        if found or any(node.view.fits(plain, value) for value in refused):
            return found
        for keyword in rules:
            if _is_narrower_beyond_reach(keyword, rules[keyword], node.schema.get(keyword)):
                return []
        return None

    def _condition(
        self, pair: _Pair, keyword: str, before: Mapping[str, Any], after: Mapping[str, Any]
    ) -> None:
        """Compare rules of which a value may show that they differ, and none that they do not."""
        old, new = pair.old, pair.new
        if same(before, after):
            return
        self._count_work()
        lost = self._refused(pair, old, new, after)
        come = self._refused(pair, new, old, before)
        for name in {**before, **after}:
            if not same(before.get(name), after.get(name)):
                keyword = name
                break
        sides = before.get(keyword), after.get(keyword)
        verb = "changed"
        if not before:
            verb = "added"
        elif not after:
            verb = "dropped"
        text = f"the condition {keyword!r} was {verb}"
        if keyword == "pattern":
            texts = [words(keyword, side) if side is not None else "any text" for side in sides]
            text = f"{texts[0]} before, {texts[1]} now"
        self._judge(pair, keyword, sides, text, lost=lost, come=come, is_sure=False)

    def _refused(
        self, pair: _Pair, node: Node, other: Node, rules: Mapping[str, Any]
    ) -> list[Any] | None:
        """Return the values of *node* that *rules* of *other* refuse; None if there are no rules."""
        if not rules:
            return None
        return [v for v in self._candidates(pair) if node.fits(v) and not other.view.fits(rules, v)]

    def _alternatives_of_object(self, pair: _Pair) -> None:
        """Compare alternatives that ask for more of one object, such as one of two keys."""
        old, new = pair.old, pair.new
        lost = self._refused(pair, old, new, _alternatives(new, old))
        come = self._refused(pair, new, old, _alternatives(old, new))
        keyword = keyword_of(new) or keyword_of(old)
        sides = list(old.merged) or None, list(new.merged) or None
        text = "the alternatives of what else is required changed"
        self._judge(pair, keyword, sides, text, lost=lost, come=come, is_sure=False)

    # --- objects ----------------------------------------------------------------------

    def _objects(self, pair: _Pair) -> None:
        old, new = pair.old, pair.new
        renamed = _renamed(old, new)
        for name in {**old.properties, **new.properties}:
            before = old.properties.get(name) or _of_key(old, name)
            after = new.properties.get(name) or _of_key(new, name)
            if before is not None and after is not None:
                self._walk(_of_property(pair, before, after, f"properties/{name}", name, name))
            elif before is not None and name in old.properties:
                self._removed(pair, name, before, renamed)
        for name in new.properties:
            if name != renamed:
                self._added_or_required(pair, name)
        for name in old.required:
            if name in new.properties and name not in new.required:
                text = f"{name!r} can be left out now; it was required before"
                come = [_without_keys(base_of(new), {name})]
                self._judge(pair, "required", _required(pair), text, come=come)
        self._other_keys(pair)
        keyword = "patternProperties"
        if not same(old.schema.get(keyword), new.schema.get(keyword)):
            # What they mean depends on what holds for the other keys
            self._condition(pair, keyword, old.schema, new.schema)

    def _removed(self, pair: _Pair, name: str, prop: Node, renamed: str | None) -> None:
        """Note that *name* is gone; if it seems to be *renamed*, what is said of that stands here too."""
        text = f"{name!r} is not declared any more (it was {_how(name, pair.old)}: {kind_of(prop)})"
        after = None
        if renamed is not None:
            after = pair.new.properties[renamed].raw
            how = _how(renamed, pair.new)
            text = f"{name!r} -> {renamed!r}? {text}, {renamed!r} is new and {how}"
        base = base_of(pair.old)
        values = [_without_keys(base, {name})]
        if self._is_input:
            values = [{**base, name: example_of(prop)}]
        _, proof = self._in_whole(pair, values, of_old=self._is_input)
        self._note(pair, "gone", f"properties/{name}", prop.raw, after, text, proof=proof)

    def _added_or_required(self, pair: _Pair, name: str) -> None:
        old, new = pair.old, pair.new
        prop = new.properties[name]
        if name in new.required and name not in old.required:
            text = f"{name!r} is required now; it could be left out before"
            if name not in old.properties:
                text = f"{name!r} is new and required: {kind_of(prop)}"
            lost = [_without_keys(base_of(old), {name})]
            self._judge(pair, "required", _required(pair), text, lost=lost)
        elif name not in old.properties:
            text = f"{name!r} can be left out and is new: {kind_of(prop)}"
            self._note(pair, "new", f"properties/{name}", None, prop.raw, text)

    def _other_keys(self, pair: _Pair) -> None:
        """Compare what is allowed of keys that are not declared."""
        old, new = pair.old, pair.new
        keyword = "additionalProperties"
        sides = old.schema.get(keyword), new.schema.get(keyword)
        if new.is_closed and not old.is_closed:
            other: Any = "a"
            if old.additional is not None:
                other = example_of(old.additional)
            text = "keys that are not declared were allowed, and are refused now"
            self._judge(pair, keyword, sides, text, lost=[{**base_of(old), ANOTHER: other}])
        elif old.is_closed and not new.is_closed:
            text = "keys that are not declared are allowed now"
            self._note(pair, "new", keyword, *sides, text)
        elif old.additional is not None or new.additional is not None:
            before = old.additional or old.view.anything
            after = new.additional or new.view.anything
            self._walk(_of_property(pair, before, after, keyword, "*", ANOTHER))

    # --- lists and alternatives -------------------------------------------------------

    def _items(self, pair: _Pair) -> None:
        old, new = pair.old, pair.new
        rules = _list_rules(old), _list_rules(new)
        is_tuple = bool(old.prefix_items or new.prefix_items)
        if len(old.prefix_items) == len(new.prefix_items):
            for index, parts in enumerate(zip(old.prefix_items, new.prefix_items, strict=True)):
                put = partial(_with_item, index)
                self._walk(pair.inside(*parts, f"prefixItems/{index}", f"[{index}]", put))
            rules[0].pop("prefixItems", None)
            rules[1].pop("prefixItems", None)
        if is_tuple or any(each.get("items") is False for each in rules):
            if not same(*rules):
                self._condition(pair, "items", _list_rules(old), _list_rules(new))
            return
        before, after = old.items or old.view.anything, new.items or new.view.anything
        self._walk(pair.inside(before, after, "items", "[]", partial(_with_item, None)))

    def _unions(self, pair: _Pair, every_old: list[Node], every_new: list[Node]) -> None:
        """Compare alternatives: pair what is alike, and say which are gone and which are new."""
        olds = [one for one in every_old if not any(self._is_same(one, n) for n in every_new)]
        news = [one for one in every_new if not any(self._is_same(o, one) for o in every_old)]
        keyword = keyword_of(pair.new) or keyword_of(pair.old) or "type"
        sides = kind_of(pair.old), kind_of(pair.new)
        for one in olds:
            # Twenty alternatives to pair take as long as one rule
            self._count_work(1 + len(news) // 20)
            partner = max(news, key=lambda other: _likeness(one, other), default=None)
            if partner is None or _likeness(one, partner) == 0:
                lost = _of_alternative(one, pair.new)
                self._judge(pair, keyword, sides, f"{_short(one)} is no longer allowed", lost=lost)
                continue
            news.remove(partner)
            self._guidance(pair.between(one, partner))
            self._option(pair.between(one, partner))
        for one in news:
            come = _of_alternative(one, pair.old)
            self._judge(pair, keyword, sides, f"{_short(one)} is allowed too now", come=come)

    def _overlapping(self, pair: _Pair, found: list[Difference]) -> None:
        """Look for values that fit several alternatives now: a wider alternative refuses them."""
        if any(each.severity == "breaking" for each in found):
            return
        lost = [v for v in self._candidates(pair) if _is_lost(v, pair.old, pair.new)]
        text = "a value that fitted fits no alternative now, or more than one"
        sides = kind_of(pair.old), kind_of(pair.new)
        self._judge(pair, keyword_of(pair.new), sides, text, lost=lost or None)


# --- reading nodes ----------------------------------------------------------------------


def _same_definitions(old: Any, new: Any) -> bool:
    """Tell whether each reference leads to the same schema in both whole schemas."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return False
    if not same(definitions_of(old), definitions_of(new)):
        return False
    if not leads_out(old) and not leads_out(new):
        return True
    names = {*references_in(old), *references_in(new)}
    return all(n.startswith("#/") and same(follow(old, n), follow(new, n)) for n in names)


def _options(node: Node) -> list[Node]:
    """Return the alternatives of *node* except null, also those that were merged into one node."""
    options: list[Node] = []
    for each in node.alternatives:
        if each.merged and each.type in ("string", *_NUMBERS) and not each.values:
            options += merged_alternatives(each)
        elif each.type != "null" or len(node.alternatives) == 1:
            options.append(each)
    return options or [node]


def _is_open(node: Node) -> bool:
    """Tell whether *node* takes values of other types than its own."""
    if states_type(node.raw):
        return False
    if leaves_type_open(node.raw):
        return True
    # Its type may be stated where a reference leads
    return any(node.fits(value) for value, of in _OF_TYPES if node.type not in of)


def _takes_null(node: Node) -> bool:
    if node.takes_null or None in node.values:
        return True
    return any(not each.types and not each.values for each in node.alternatives)


def _likeness(one: Node, other: Node) -> int:
    """Return how much two alternatives are alike; 0 means that they are not a pair."""
    kinds = {one.type, other.type}
    if (len(kinds) > 1 and not kinds <= _NUMBERS) or not same(_tags(one), _tags(other)):
        return 0
    same_name = bool(one.definition) and one.definition == other.definition
    shared = len(set(one.names) & set(other.names))
    if one.names and other.names and not shared and not same_name:
        return 0
    return 1 + 100 * same_name + shared


def _tags(node: Node) -> dict[str, Any]:
    """Return the constant properties of *node*: they tell alternatives apart."""
    tags = {}
    for name, part in node.properties.items():
        if len(part.values) == 1:
            tags[name] = part.values[0]
    return tags


def _of_key(node: Node, name: str) -> Node | None:
    """Return the schema of the undeclared key *name*; None if there is no rule for the key."""
    other = node.of_other_key(name)
    if other is None or other.is_blank:
        return None
    return other


def _of_property(pair: _Pair, old: Node, new: Node, step: str, place: str, key: str) -> _Pair:
    return pair.inside(old, new, step, place, lambda node, value: {**base_of(node), key: value})


def _list_rules(node: Node) -> dict[str, Any]:
    """Return what *node* says of the items of a list; that others may be anything is not said."""
    rules = _rules(node, ("prefixItems", "items", "additionalItems"))
    return {keyword: rule for keyword, rule in rules.items() if rule is not True}


def _with_item(index: int | None, node: Node, value: Any) -> list[Any]:
    """Return a list for *node* with *value* at *index*, or as every item."""
    least = least_of(node, "minItems")
    if index is not None:
        values = list_of(node, max(index + 1, least))
        values[index] = value
        return values
    values = list_of(node, max(1, least))
    if node.schema.get("uniqueItems") is True:
        return [value, *values[1:]]
    return [value] * len(values)


def _is_narrower_beyond_reach(keyword: str, limit: Any, before: Any) -> bool:
    """Tell whether *limit* of a size is narrower than *before*, and so large that no value is tried."""
    if not keyword.endswith(("Length", "Items", "Properties")):
        return False
    if not isinstance(limit, int | float) or limit < MOST_KEYS - 1:
        return False
    if not isinstance(before, int | float):
        return True
    if keyword.startswith("min"):
        return limit > before
    return limit < before


def _alternatives(node: Node, other: Node) -> dict[str, Any]:
    """Return the rule for an object of *node* that has to fit one of several alternatives.

    It is empty if *other* has no further alternatives: then it refuses nothing that *other* takes.
    """
    if node.type != "object" or not node.merged:
        return {}
    if other.merged and all(each in node.merged for each in other.merged):
        return {}
    return {"anyOf": list(node.merged)}


def _required(pair: _Pair) -> tuple[Any, Any]:
    return pair.old.schema.get("required"), pair.new.schema.get("required")


def _renamed(old: Node, new: Node) -> str | None:
    """Return the only new property of the kind of the only removed one, which seems renamed; else None."""
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


def _plain(node: Node) -> dict[str, Any]:
    """Return the rules of *node* for which a value is always found."""
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
    """Return how much work it is to try *value*: 1 for each hundred of its parts."""
    parts, todo = 0, [value]
    while todo:
        part = todo.pop()
        parts += 1
        if isinstance(part, dict):
            todo += part.values()
        elif isinstance(part, list):
            todo += part
    return parts // 100


def quick_text(value: Any) -> bytes | None:
    """Return *value* as JSON with its keys in their own order; None if *value* cannot be JSON."""
    try:
        return to_json(value)
    except (PydanticSerializationError, ValueError, RecursionError):
        return None


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are the same in JSON: true is not 1, and the order of keys does not count."""
    if one is other:
        return True
    text = quick_text(one)
    if text is not None and text == quick_text(other):
        return True
    try:
        return one == other and _sorted(one) == _sorted(other)
    except (TypeError, ValueError, RecursionError):
        return False


def _sorted(value: Any) -> str:
    return dumps(value, sort_keys=True)


def _of_alternative(one: Node, other: Node) -> list[Any] | None:
    """Return the values of the alternative *one* that *other* refuses, as `_judge` takes them."""
    # Null is compared apart
    values = [v for v in candidates(one, other) if v is not None and one.fits(v)]
    refused = [value for value in values if not other.fits(value)]
    if values and not refused:
        return None
    return refused


def _is_lost(value: Any, one: Node, other: Node) -> bool:
    return one.fits(value) and not other.fits(value)


def _without_keys(value: Any, keys: set[str]) -> Any:
    if not keys:
        return value
    if isinstance(value, dict):
        return {k: _without_keys(v, keys) for k, v in value.items() if k not in keys}
    if isinstance(value, list):
        return [_without_keys(item, keys) for item in value]
    return value


# --- words ------------------------------------------------------------------------------


def worded(what: str, old: Any, new: Any) -> str:
    """Return a phrase for a change: *what*, such as the title, was *old* and is *new* now."""
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


def _about_listed(old: Node, new: Node, lost: list[Any], come: list[Any]) -> str:
    parts = []
    for values, verb in ((lost, "no longer allowed"), (come, "allowed now")):
        if values:
            named = ", ".join(clip(value) for value in values[:_MAX_VALUES])
            if len(values) > _MAX_VALUES:
                named = f"{named} and {len(values) - _MAX_VALUES} more"
            be = "is" if len(values) == 1 else "are"
            parts.append(f"{named} {be} {verb}")
    total = f"{counted(len(old.values), 'value')} before, {len(new.values)} now"
    return f"{' and '.join(parts)} ({total})"


def _short(node: Node) -> str:
    tags = ", ".join(f"{name} {clip(value)}" for name, value in _tags(node).items())
    name = node.definition or kind_of(node)
    if tags:
        return f"{name} with {tags}"
    return name
