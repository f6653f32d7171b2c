"""Compare one tool with its earlier description: texts, hints and schemas."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Literal

from toolbench.errors import SchemaError
from toolbench.jsonschema.extent import check_extent
from toolbench.jsonschema.node import Node, read
from toolbench.mcp.snapshots.change import Change, Kind, Severity
from toolbench.mcp.snapshots.schema_diff.comparison import compare
from toolbench.mcp.snapshots.schema_diff.difference import (
    ADMITS,
    REFUSES,
    Difference,
    Effect,
    Example,
)
from toolbench.mcp.snapshots.schema_diff.equality import same
from toolbench.mcp.snapshots.schema_diff.guidance import worded
from toolbench.mcp.snapshots.schema_diff.sample_values import ANOTHER, samples
from toolbench.values import clip

Direction = Literal["input", "output"]
"""Whether a schema is of the input, which the server reads, or of the output, which the caller
reads."""

_SCHEMAS: Mapping[str, Direction] = {"inputSchema": "input", "outputSchema": "output"}
_ROUTING = frozenset({"title", "description", "annotations", "execution"})
_MEANING: Mapping[Direction, Mapping[Effect, Severity]] = {
    "input": {"narrower": "breaking", "wider": "additive"},
    "output": {"narrower": "additive", "wider": "breaking"},
}
_IN_BOTH: Mapping[Effect, Severity] = {
    "different": "breaking",
    "gone": "breaking",
    "new": "additive",
    "guidance": "routing",
    "spelling": "cosmetic",
}
_UNSHOWN: Mapping[Direction, str] = {
    "input": "cannot tell whether a call is refused: no example was found",
    "output": "cannot tell whether such an output comes: no example was found",
}
# Characters of a value in a sentence
_MAX_VALUE = 120


def tool_changes(
    where: str, name: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[Change]:
    """Yield the changes between two descriptions of the tool *name*."""
    for key in sorted({*before, *after} - {"name"}):
        old, new = before.get(key), after.get(key)
        if same(old, new):
            continue
        place = f"{where}/{key}"
        if key in _SCHEMAS:
            yield from _schema(place, name, _SCHEMAS[key], old, new)
            continue
        severity: Severity = "routing" if key in _ROUTING else "cosmetic"
        what = "annotations" if key == "annotations" else f"the {key}"
        text = f"{name}: {worded(what, old, new)}."
        yield Change(_kind(old, new), severity, place, old, new, text)


def _schema(place: str, name: str, direction: Direction, old: Any, new: Any) -> Iterator[Change]:
    if direction == "output" and (old is None or new is None):
        severity: Severity = "additive" if old is None else "breaking"
        text = (
            "declares an output schema now"
            if old is None
            else "does not declare an output schema any more"
        )
        yield Change(_kind(old, new), severity, place, old, new, f"{name} {text}.")
        return
    schemas = ({} if old is None else old), ({} if new is None else new)
    try:
        check_extent(schemas[0])
        check_extent(schemas[1])
        yield from schema_changes(place, name, direction, *schemas)
    except SchemaError as error:
        text = f"{name}: the {direction} schema differs and is not compared: {error}"
        yield Change(_kind(old, new), "breaking", place, old, new, text)


def schema_changes(place: str, name: str, direction: Direction, old: Any, new: Any) -> list[Change]:
    """Return the changes from the schema *old* to *new*, with their severity in *direction*.

    Args:
        place: The path of the schema; the path of each change begins with it.
        name: The name of the tool.
        direction: Whether the schema is of the input or the output.
        old: The old schema.
        new: The new schema.
    """
    before, after = read(old), read(new)
    witness = _Witness(before, after, direction)
    differences = compare(before, after)
    changes = [_change(place, name, direction, d, witness) for d in differences]
    if not any(change.severity == "breaking" for change in changes):
        # new keys do not break a caller, but they break a schema that was closed
        new_keys = {d.where.rpartition("/")[2] for d in differences if d.effect == "new"}
        for each in differences:
            if each.where.rpartition("/")[2] == "required":
                new_keys |= _texts(each.after) - _texts(each.before)
        keys = frozenset(new_keys | {ANOTHER}) if new_keys and direction == "output" else None
        changes += _overlooked(place, name, direction, witness, keys)
    if not changes:
        text = f"{name}: the {direction} schema is written differently, with the same meaning."
        changes = [Change("changed", "cosmetic", place, old, new, text)]
    return changes


def _change(
    place: str, name: str, direction: Direction, each: Difference, witness: "_Witness"
) -> Change:
    meaning = {**_MEANING[direction], **_IN_BOTH}
    severity = meaning[each.effect]
    at = f"{each.place}: " if each.place else ""
    text, example = f"{name}: {at}{each.text}", None
    if direction == "output":
        text = f"{name}: output: {at}{each.text}"
    if severity == "breaking":
        sample = witness.find(each)
        example = None if sample is None else sample.whole
        text += f"; {_proof(direction, each, sample, witness)}"
    where = f"{place}/{each.where}".rstrip("/")
    kind = _kind(each.before, each.after)
    return Change(kind, severity, where, each.before, each.after, f"{text}.", example)


def _proof(
    direction: Direction, each: Difference, sample: Example | None, witness: "_Witness"
) -> str:
    """Return a phrase about *sample*, a value that the change *each* makes invalid.

    If *sample* is None, return a phrase about what may happen after the change.
    """
    if sample is not None:
        return witness.sentence(sample)
    if each.effect == "gone":
        is_input = direction == "input"
        return "a server may refuse it, or ignore it" if is_input else "it may be missing"
    return _UNSHOWN[direction]


class _Witness:
    """Finds values that the source schema accepts and the target schema refuses.

    For an input, the source is the old schema and the target the new one; for an output, the
    reverse.
    """

    def __init__(self, before: Node, after: Node, direction: Direction) -> None:
        self._direction = direction
        is_input = direction == "input"
        # the target must accept the values of the source
        self.source, self.target = (before, after) if is_input else (after, before)

    def find(self, each: Difference) -> Example | None:
        """Return a value that the change *each* makes invalid, by `breaks`; None if no value is found."""
        if self._direction == "input":
            candidates = each.refused() if each.effect in REFUSES else ()
        else:
            candidates = each.admitted() if each.effect in ADMITS else ()
        return next((c for c in candidates if self.breaks(c.whole)), None)

    def breaks(self, whole: Any) -> bool:
        """Tell whether the source schema accepts the value *whole* and the target refuses it."""
        return self.source.fits(whole) and not self.target.fits(whole)

    def problems(self, whole: Any) -> list[Any]:
        """Return the reasons why the target schema refuses the value *whole*."""
        return self.target.problems(whole)

    def sentence(self, example: Example) -> str:
        """Return a sentence about the value of *example*.

        As an input, the tool refuses it now; as an output, the tool may return it now.
        """
        value = clip(example.value, _MAX_VALUE)
        is_input = self._direction == "input"
        return f"{value} is refused now" if is_input else f"{value} may come now"


def _overlooked(
    place: str,
    name: str,
    direction: Direction,
    witness: _Witness,
    new: frozenset[str] | None,
) -> list[Change]:
    """Return a breaking change if a sample value fits the source schema, but not the target schema.

    This finds a change of a keyword that the comparison does not read. The samples are tried
    without the keys *new*.
    """
    for sample in chain(samples(witness.source), samples(witness.target)):
        value = sample if new is None else _without_keys(sample, new)
        if witness.breaks(value):
            example = Example(value, value)
            why = "; ".join(map(str, witness.problems(value)[:2]))
            text = f"{name}: {witness.sentence(example)} ({why})."
            return [Change("changed", "breaking", place, None, None, text, value)]
    return []


def _texts(values: Any) -> set[str]:
    """Return the texts in *values*, which a server may have sent as anything."""
    return {v for v in values if isinstance(v, str)} if isinstance(values, list) else set()


def _without_keys(value: Any, keys: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {k: _without_keys(v, keys) for k, v in value.items() if k not in keys}
    if isinstance(value, list):
        return [_without_keys(item, keys) for item in value]
    return value


def _kind(old: Any, new: Any) -> Kind:
    if old is None:
        return "added"
    return "removed" if new is None else "changed"
