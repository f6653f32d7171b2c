"""Compare two JSON Schemas: find each difference, and whether fewer or more values fit.

`toolbench.jsonschema` reads both schemas: references are followed and `allOf` is merged. Each
alternative is compared with the most similar alternative of the other schema. Each pair of
sub-schemas is compared only once, so that the comparison of recursive schemas ends.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from toolbench.errors import SchemaError
from toolbench.jsonschema.compose import leaves_type_open, states_type
from toolbench.jsonschema.describe import kind as kind_of
from toolbench.jsonschema.node import Node, keyword_of, merged_alternatives
from toolbench.jsonschema.walk import (
    definitions_of,
    follow,
    leads_out,
    may_refer,
    references_in,
)
from toolbench.mcp.snapshots.schema_diff.condition_changes import condition_changes
from toolbench.mcp.snapshots.schema_diff.difference import (
    ADMITS,
    REFUSES,
    Difference,
    Effect,
    difference,
)
from toolbench.mcp.snapshots.schema_diff.equality import quick_text, same
from toolbench.mcp.snapshots.schema_diff.examples import example_of, others
from toolbench.mcp.snapshots.schema_diff.guidance import guidance
from toolbench.mcp.snapshots.schema_diff.limits import (
    is_whole,
    number_limits,
    text_limits,
)
from toolbench.mcp.snapshots.schema_diff.listed_values import compare_listed
from toolbench.mcp.snapshots.schema_diff.nested_schemas import array_parts, object_parts
from toolbench.mcp.snapshots.schema_diff.pairing import (
    NUMBERS,
    covered,
    keeps,
    partners,
    remaining_losses,
)
from toolbench.values import clip


def stated_type(before: Node, after: Node) -> Iterator[Difference]:
    """Yield a difference if one of the two schemas states a type, and the other does not.

    In a schema without a type, `minLength` limits only texts; it allows every value that is not
    a text. Other keywords are similar.
    """
    if (states_type(before.raw) and leaves_type_open(after.raw)) or (
        leaves_type_open(before.raw) and states_type(after.raw)
    ):
        yield _difference(before, after)


def _difference(before: Node, after: Node) -> Difference:
    is_narrower = states_type(after.raw)
    type_now = after if is_narrower else before
    anything = partial(others, {str(type_now.type)})
    words = "anything", kind_of(type_now)
    old, new = words if is_narrower else reversed(words)
    return difference(
        "narrower" if is_narrower else "wider",
        "type",
        before.type,
        after.type,
        f"{old} before, {new} now",
        refused=anything,
        admitted=anything,
    )


# Differences of one pair of sub-schemas
_MOST = 200
# Levels to compare
_DEEPEST = 60
# Pairs of sub-schemas, and differences between them, in one comparison: some seconds
_MOST_WORK = 30_000


def compare(before: Node, after: Node) -> list[Difference]:
    """Return the differences between two whole schemas.

    Raises:
        SchemaError: If there are so many that it takes too long.
    """
    return _Comparison(before, after).compare(before, after)


class _Comparison:
    """Compares sub-schemas of two schemas; each pair of sub-schemas is compared once."""

    def __init__(self, before: Node, after: Node) -> None:
        self._known: dict[tuple[Node, Node], list[Difference]] = {}
        self._texts: dict[Node, bytes] = {}
        self._alternatives: dict[Node, list[Node]] = {}
        self._depth = self._work = 0
        self._same_definitions = _same_definitions(before, after)

    def compare(self, before: Node, after: Node) -> list[Difference]:
        """Return the differences between two sub-schemas; the paths in them begin at the sub-schemas."""
        pair = before, after
        if pair not in self._known:
            if self._text(before) == self._text(after):
                return []
            if self._depth > _DEEPEST:
                return [_too_deep(before, after)]
            # A recursive schema meets this pair again
            self._known[pair] = []
            self._depth += 1
            try:
                both = (*guidance(before, after), *self._values(before, after))
                self._work += 1 + len(both)
                if self._work > _MOST_WORK:
                    msg = "It has too many parts that differ."
                    raise SchemaError(msg)
                self._known[pair] = _without_repeats(both)[:_MOST]
            finally:
                self._depth -= 1
        return self._known[pair]

    def _text(self, node: Node) -> bytes:
        """Return a text for *node*. If two nodes have the same text, they mean the same."""
        if node not in self._texts:
            text = quick_text(node.raw) or b"%d" % id(node)
            if may_refer(text) and not self._same_definitions:
                # The same reference may mean another schema
                text += b"%d" % id(node.view)
            self._texts[node] = text
        return self._texts[node]

    def _values(self, before: Node, after: Node) -> Iterator[Difference]:
        if self._is_spread(before) or self._is_spread(after):
            yield from self._spread(before, after)
        yield from self._null(before, after)
        old, new = self._options(before), self._options(after)
        if len(old) == 1 and len(new) == 1:
            yield from self._option(old[0], new[0])
        else:
            yield from self._unions(before, after, old, new)

    # --- null -------------------------------------------------------------------------

    def _null(self, before: Node, after: Node) -> Iterator[Difference]:
        old, new = _takes_null(before), _takes_null(after)
        if old and not new:
            text = "null was allowed, and is not now"
            yield difference("narrower", "type", "null", None, text, refused=lambda: [None])
        elif new and not old:
            text = "null is allowed too now"
            yield difference("wider", "type", None, "null", text, admitted=lambda: [None])

    # --- one kind of value ------------------------------------------------------------

    def _option(self, before: Node, after: Node) -> Iterator[Difference]:
        if before.values or after.values:
            yield from compare_listed(before, after)
            return
        if before.type != after.type and not all(map(is_whole, (before, after))):
            yield from self._types(before, after)
            if {before.type, after.type} - set(NUMBERS):
                return
        elif self._depth > 1:
            # At the top level both are objects anyway
            yield from stated_type(before, after)
        match after.type:
            case "integer" | "number":
                yield from number_limits(before, after)
            case "string":
                yield from text_limits(before, after)
            case "array":
                yield from array_parts(before, after, self.compare)
            case "object":
                yield from object_parts(before, after, self.compare)
        yield from condition_changes(before, after, self.compare)

    def _types(self, before: Node, after: Node) -> Iterator[Difference]:
        old, new = before.type, after.type
        effect: Effect = "different"
        if old is None or (old, new) == ("number", "integer"):
            effect = "narrower"
        elif new is None or (old, new) == ("integer", "number"):
            effect = "wider"
        text = f"{_noun(before)} before, {_noun(after)} now"
        yield difference(
            effect,
            "type",
            old,
            new,
            text,
            refused=partial(_outside, before, after),
            admitted=partial(_outside, after, before),
        )

    # --- alternatives -----------------------------------------------------------------

    def _unions(
        self, before: Node, after: Node, old: list[Node], new: list[Node]
    ) -> Iterator[Difference]:
        every_old, every_new = old, new
        old, new = self._without_equals(old, new), self._without_equals(new, old)
        differences = {(one, other): self._option_once(one, other) for one in old for other in new}
        partner = partners(old, new, differences)
        keyword = _union_keyword(before, after)
        fits = self._covered(old, every_new, REFUSES) | covered(old, every_new)
        known = self._covered(new, every_old, ADMITS, backwards=True)
        known |= covered(new, every_old)
        for one in old:
            if one in partner:
                other = partner[one]
                yield from remaining_losses(
                    differences[one, other],
                    refused=one not in fits,
                    admitted=other not in known,
                )
            elif one not in fits:
                text = f"{_short(one)} was allowed, and is not now"
                value = partial(_alone, one)
                names = _noun(before), _noun(after)
                yield difference("narrower", keyword, *names, text, refused=value)
        for other in new:
            if other not in partner.values() and other not in known:
                text = f"{_short(other)} is allowed too now"
                value = partial(_alone, other)
                names = _noun(before), _noun(after)
                yield difference("wider", keyword, *names, text, admitted=value)

    def _options(self, node: Node) -> list[Node]:
        if node not in self._alternatives:
            self._alternatives[node] = _options(node)
        return self._alternatives[node]

    def _without_equals(self, options: list[Node], others: list[Node]) -> list[Node]:
        known = {self._text(node) for node in others}
        return [node for node in options if self._text(node) not in known]

    def _covered(
        self,
        options: list[Node],
        others: list[Node],
        lost: frozenset[str],
        *,
        backwards: bool = False,
    ) -> set[Node]:
        """Return each of *options* that one alternative of *others* can replace.

        An alternative can replace an option if no difference between them has an effect in *lost*.
        The comparison is from the option to the alternative; with *backwards*, from the
        alternative to the option.
        """
        return {
            node
            for node in options
            if any(
                keeps(self._option_once(*pair), lost)
                for other in others
                for pair in [(other, node) if backwards else (node, other)]
            )
        }

    def _option_once(self, one: Node, other: Node) -> list[Difference]:
        pair = one, other
        if pair not in self._known:
            self._known[pair] = []
            both = (*guidance(one, other), *self._option(one, other))
            self._known[pair] = _without_repeats(both)[:_MOST]
        return self._known[pair]

    def _is_spread(self, node: Node) -> bool:
        """Tell whether *node* is an object with merged alternatives: they may require more keys."""
        return bool(node.merged) and bool(node.declared)

    def _spread(self, before: Node, after: Node) -> Iterator[Difference]:
        old, new = (
            [node.view.node(part) for part in node.merged] or [node.view.node({})]
            for node in (before, after)
        )
        inner = [
            d
            for d in self._unions(before, after, old, new)
            if d.effect not in ("guidance", "spelling", "new", "gone")
        ]
        yield from inner


# --- reading nodes ----------------------------------------------------------------------


def _options(node: Node) -> list[Node]:
    """Return the alternatives of *node* except null, also those that were merged into one node."""
    options: list[Node] = []
    for each in node.alternatives:
        scalar = each.type in ("string", *NUMBERS) and not each.values
        if each.merged and scalar:
            options += merged_alternatives(each)
        elif each.type != "null" or len(node.alternatives) == 1:
            options.append(each)
    return options or [node]


def _takes_null(node: Node) -> bool:
    if node.takes_null or None in node.values:
        return True
    return any(not each.types and not each.values for each in node.alternatives)


def _same_definitions(before: Node, after: Node) -> bool:
    """Tell whether each reference leads to the same schema in both whole schemas."""
    roots = before.view.root, after.view.root
    if not all(isinstance(root, dict) for root in roots):
        return False
    if not same(*map(definitions_of, roots)):
        return False
    if not any(map(_may_lead_out, roots)):
        return True
    names = {name for root in roots for name in references_in(root)}
    return all(
        name.startswith("#/") and same(*(follow(root, name) for root in roots)) for name in names
    )


def _may_lead_out(root: Any) -> bool:
    text = quick_text(root)
    return (text is None or may_refer(text)) and leads_out(root)


def _union_keyword(before: Node, after: Node) -> str:
    return keyword_of(after) or keyword_of(before) or "type"


def _too_deep(before: Node, after: Node) -> Difference:
    text = f"the parts below {_DEEPEST} levels differ and are not compared"
    return difference("different", "", before.raw, after.raw, text)


def _outside(node: Node, other: Node) -> list[Any]:
    """Return values of *node* to try on *other*, of a type that *other* does not accept."""
    if node.type is None and other.type is not None:
        return others({other.type})
    half = [0.5, 1.5, -0.5] if node.type == "number" else []
    return [*half, example_of(node)]


def _alone(node: Node) -> list[Any]:
    return [example_of(node)]


# --- words ------------------------------------------------------------------------------


def _noun(node: Node) -> str:
    return kind_of(node)


def _short(node: Node) -> str:
    tags = ", ".join(
        f"{name} {clip(part.values[0])}"
        for name, part in node.properties.items()
        if len(part.values) == 1
    )
    name = node.definition or _noun(node)
    return f"{name} with {tags}" if tags else name


def _without_repeats(differences: Any) -> list[Difference]:
    known: dict[Any, Difference] = {}
    for each in differences:
        known.setdefault((each.effect, each.where, each.place, each.text), each)
    return list(known.values())
