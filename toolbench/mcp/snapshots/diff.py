"""Compare two snapshots: find each change and its severity."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, get_args

from toolbench.display.escape import visible
from toolbench.errors import SchemaError
from toolbench.jsonschema.extent import check_extent
from toolbench.jsonschema.node import Node, read
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

# --- One difference between two snapshots of a server, and what it means for the server's callers.

Kind = Literal["added", "removed", "changed"]
Severity = Literal["breaking", "routing", "additive", "cosmetic"]

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The severities, the worst first."""


@dataclass(frozen=True)
class Change:
    """One difference between two snapshots.

    Attributes:
        kind: Whether a part of what the server offers was added, removed or changed.
        severity: *breaking*: a call that was valid may be refused, or an output that was
            promised may be missing or of a new kind. *routing*: a model may choose another tool
            or other values. *additive*: something new that old calls do not notice. *cosmetic*:
            no caller notices.
        where: The path of the changed part in the snapshot: `tools/add/inputSchema/required`.
        before: The old value.
        after: The new value.
        text: What changed, in one sentence.
        example: For a breaking change: the arguments of a call that was valid and is refused
            now, or an output that was not possible before; None without an example.
    """

    kind: Kind
    severity: Severity
    where: str
    before: Any = None
    after: Any = None
    text: str = ""
    example: Any = None

    def __str__(self) -> str:
        return f"{self.kind} {self.where}"


def by_severity(changes: Iterable[Change]) -> list[Change]:
    """Return *changes*, the most severe first."""
    return sorted(changes, key=lambda c: (SEVERITIES.index(c.severity), c.where))


# --- Compare one tool with its earlier description: texts, hints and schemas.

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


_NAMES = frozenset({"name", "title", "description"})
_PARTS = {
    "resources": "resource",
    "templates": "resource template",
    "prompts": "prompt",
}
_READ = frozenset({"uri", "uriTemplate", "mimeType"})
"""Keys of a resource: if one of them changes, a reader of the resource gets something else."""
_OPTIONAL = frozenset({"logging", "experimental", "extensions", "tasks"})
"""Capabilities that no tool call needs, or that only one of the two protocols has."""


def changes_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Return the changes from the snapshot *before* to the later *after*, sorted by path.

    A list that only one snapshot has, such as resources, is not compared. Hidden characters are
    made visible in sentences and paths.
    """
    changes = [
        *_server(before, after),
        *_capabilities(_part(before, "capabilities"), _part(after, "capabilities")),
        *_tools(before, after),
    ]
    for key in _PARTS:
        # Else one side did not request it
        if key in before and key in after:
            changes += _items(key, _part(before, key), _part(after, key))
    changes = [
        replace(change, text=visible(change.text), where=visible(change.where))
        for change in changes
    ]
    return sorted(changes, key=lambda change: change.where)


# --- the server -------------------------------------------------------------------------


def _server(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    old, new = _part(before, "server"), _part(after, "server")
    for key in sorted({*old, *new}):
        severity: Severity = "routing" if key in _NAMES else "cosmetic"
        yield from _value(
            f"server/{key}", old.get(key), new.get(key), severity, f"the server's {key}"
        )
    for key, what, severity in (
        ("instructions", "the server's instructions to a model", "routing"),
        ("protocolVersion", "the version of MCP", "cosmetic"),
    ):
        yield from _value(key, before.get(key) or None, after.get(key) or None, severity, what)


def _capabilities(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    for key in sorted({*before, *after}):
        where = f"capabilities/{key}"
        old, new = before.get(key), after.get(key)
        if key in before and key in after:
            if not same(old, new):
                yield _capability(where, key, old, new)
        elif key in before:
            severity: Severity = "cosmetic" if key in _OPTIONAL else "breaking"
            text = f"the server does not offer {key} any more"
            yield Change("removed", severity, where, old, None, _sentence(text))
        else:
            severity = "cosmetic" if key in _OPTIONAL else "additive"
            text = f"the server offers {key} now"
            yield Change("added", severity, where, None, new, _sentence(text))


def _capability(where: str, key: str, old: Any, new: Any) -> Change:
    lost = [
        name
        for name, is_on in (old if isinstance(old, Mapping) else {}).items()
        if is_on and not (isinstance(new, Mapping) and new.get(name))
    ]
    breaking = "subscribe" in lost
    text = f"the server's capability {key} was {clip(old)} and is {clip(new)} now"
    severity: Severity = "breaking" if breaking else "cosmetic"
    return Change("changed", severity, where, old, new, _sentence(text))


# --- tools ------------------------------------------------------------------------------


def _tools(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    old, new = _part(before, "tools"), _part(after, "tools")
    reasons = _part(after, "disabled")
    for name in sorted({*old, *new}):
        where = f"tools/{name}"
        if name not in new:
            why = f": {reasons[name]}" if name in reasons else ""
            text = f"{name}: the tool is gone, or cannot be called any more{why}."
            yield Change("removed", "breaking", where, old[name], None, text)
        elif name not in old:
            text = f"{name}: the tool is new."
            yield Change("added", "additive", where, None, new[name], text)
        elif not same(old[name], new[name]):
            yield from tool_changes(where, name, old[name], new[name])
    were = _part(before, "disabled")
    for name in sorted({*were, *reasons}):
        if name not in old and name not in new:
            yield from _value(
                f"disabled/{name}",
                were.get(name),
                reasons.get(name),
                "cosmetic",
                f"the reason why {name!r} cannot be called",
            )


# --- resources, templates and prompts ---------------------------------------------------


def _items(key: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    noun = _PARTS[key]
    for name in sorted({*before, *after}):
        where, what = f"{key}/{name}", f"the {noun} {name!r}"
        old, new = before.get(name), after.get(name)
        if name not in after:
            text = f"{what} is gone"
            yield Change("removed", "breaking", where, old, None, _sentence(text))
        elif name not in before:
            text = f"{what} is new"
            yield Change("added", "additive", where, None, new, _sentence(text))
        elif not same(old, new):
            yield from _item(where, what, old, new)


def _item(where: str, what: str, old: Any, new: Any) -> Iterator[Change]:
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        yield from _value(where, old, new, "cosmetic", what)
        return
    for key in sorted({*old, *new}):
        if key == "arguments":
            yield from _arguments(where, what, old.get(key), new.get(key))
            continue
        severity: Severity = "cosmetic"
        if key in _NAMES:
            severity = "routing"
        elif key in _READ:
            severity = "breaking" if key in old else "additive"
        yield from _value(
            f"{where}/{key}", old.get(key), new.get(key), severity, f"{what}: its {key}"
        )


def _arguments(where: str, what: str, old: Any, new: Any) -> Iterator[Change]:
    before, after = _by_name(old), _by_name(new)
    removed, added = before.keys() - after.keys(), after.keys() - before.keys()
    if len(removed) == len(added) == 1:
        [gone], [came] = removed, added
        text = f"{what}: {gone!r} -> {came!r}? Its argument {gone!r} is gone, {came!r} is new"
        place, values = f"{where}/arguments/{gone}", (before.pop(gone), after.pop(came))
        yield Change("changed", "breaking", place, *values, _sentence(text))
    for name in [*before, *(n for n in after if n not in before)]:
        place = f"{where}/arguments/{name}"
        one, other = before.get(name, {}), after.get(name, {})
        about = f"{what}: its argument {name!r}"
        needed = bool(one.get("required")), bool(other.get("required"))
        if name not in after:
            text = f"{about} is gone"
            yield Change("removed", "breaking", place, one, None, _sentence(text))
            continue
        if name not in before:
            severity: Severity = "breaking" if needed[1] else "additive"
            text = f"{about} is new and {'required' if needed[1] else 'optional'}"
            yield Change("added", severity, place, None, other, _sentence(text))
            continue
        if needed[0] != needed[1]:
            severity = "breaking" if needed[1] else "additive"
            text = f"{about} is {'required' if needed[1] else 'optional'} now"
            yield Change("changed", severity, f"{place}/required", *needed, _sentence(text))
        for key in ("description", "title"):
            yield from _value(
                f"{place}/{key}",
                one.get(key),
                other.get(key),
                "routing" if key == "description" else "cosmetic",
                f"{about}: its {key}",
            )


def _by_name(arguments: Any) -> dict[str, Mapping[str, Any]]:
    rows = arguments if isinstance(arguments, list) else []
    return {str(each.get("name")): each for each in rows if isinstance(each, Mapping)}


# --- one value --------------------------------------------------------------------------


def _value(where: str, old: Any, new: Any, severity: Severity, what: str) -> Iterator[Change]:
    if not same(old, new):
        text = _sentence(worded(what, old, new))
        yield Change(kind_of(old, new), severity, where, old, new, text)


def kind_of(old: Any, new: Any) -> Any:
    """Return the kind of a change: added, removed or changed."""
    if old is None:
        return "added"
    return "removed" if new is None else "changed"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _part(snapshot: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = snapshot.get(key)
    return part if isinstance(part, Mapping) else {}
