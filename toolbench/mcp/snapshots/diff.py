"""Compare two snapshots of a server: find each change, and what it means for callers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from toolbench.display.escape import visible
from toolbench.errors import SchemaError
from toolbench.jsonschema.extent import check_extent
from toolbench.mcp.snapshots.schema_diff import (
    Direction,
    Severity,
    Work,
    differences,
    same,
    worded,
)
from toolbench.values import clip

Kind = Literal["added", "removed", "changed"]

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The severities, worst first."""

_NAMES = frozenset({"name", "title", "description"})
_PARTS = {
    "resources": "resource",
    "templates": "resource template",
    "prompts": "prompt",
}
_READ = frozenset({"uri", "uriTemplate", "mimeType"})
"""The keys of a resource whose change means that a reader gets something else."""
_OPTIONAL = frozenset({"logging", "experimental", "extensions", "tasks"})
"""Capabilities that tool calls do not need, or that exist in only one of the two protocols."""
_SCHEMAS: Mapping[str, Direction] = {"inputSchema": "input", "outputSchema": "output"}
_ROUTING = frozenset({"title", "description", "annotations", "execution"})
"""The parts of a tool from which a model chooses a tool."""


@dataclass(frozen=True)
class Change:
    """One difference between two snapshots.

    Attributes:
        kind: Whether something was `added`, `removed` or `changed`.
        severity: *breaking* if a valid call may be refused now, or a part of the output may be
            missing or of another type. *routing* if a model may choose another tool or other
            arguments. *additive* if something was added that does not affect existing calls.
            *cosmetic* if no caller notices the change.
        where: The path of the changed part in the snapshot, such as
            `tools/add/inputSchema/required`.
        before: The old value.
        after: The new value.
        text: A sentence that describes the change.
        example: For a breaking change, arguments that were valid before and are refused now, or an
            output that was not allowed before. None if there is no example.

    Examples:
        >>> from toolbench.mcp import Snapshot
        >>> def offer(required):
        ...     schema = {"type": "object", "properties": {"query": {}}, "required": required}
        ...     return Snapshot.of({"tools": {"find": {"name": "find", "inputSchema": schema}}})
        >>> [change] = offer([]).diff(offer(["query"]))
        >>> change.severity
        'breaking'
        >>> change.text
        "find: 'query' is required now; it could be left out before; {} is refused now."
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
    """Return *changes*, most severe first."""
    return sorted(changes, key=lambda c: (SEVERITIES.index(c.severity), c.where))


def changes_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Return the changes from the snapshot *before* to the snapshot *after*, sorted by path.

    A list, such as the list of resources, is compared only if both snapshots contain it. Invisible
    characters are made visible in the sentences and paths of the changes.
    """
    changes = [
        *_server(before, after),
        *_capabilities(_part(before, "capabilities"), _part(after, "capabilities")),
        *_tools(before, after),
    ]
    for key in _PARTS:
        # Otherwise one side did not request the list
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
        if key in _NAMES:
            severity: Severity = "routing"
        else:
            severity = "cosmetic"
        yield from _value(
            f"server/{key}", old.get(key), new.get(key), severity, f"the server's {key}"
        )
    for key, what, severity in (
        ("instructions", "what the server tells a model about itself", "routing"),
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
            if key in _OPTIONAL:
                severity: Severity = "cosmetic"
            else:
                severity = "breaking"
            text = f"the server does not offer {key} any more"
            yield Change("removed", severity, where, old, None, _sentence(text))
        else:
            if key in _OPTIONAL:
                severity = "cosmetic"
            else:
                severity = "additive"
            text = f"the server offers {key} now"
            yield Change("added", severity, where, None, new, _sentence(text))


def _offers_updates(capability: Any) -> bool:
    return isinstance(capability, Mapping) and bool(capability.get("subscribe"))


def _capability(where: str, key: str, old: Any, new: Any) -> Change:
    text = f"the server's capability {key} was {clip(old)} and is {clip(new)} now"
    severity: Severity = "cosmetic"
    # Subscribers get no updates any more
    if _offers_updates(old) and not _offers_updates(new):
        severity = "breaking"
    return Change("changed", severity, where, old, new, _sentence(text))


# --- tools ------------------------------------------------------------------------------


def _tools(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    old, new = _part(before, "tools"), _part(after, "tools")
    reasons = _part(after, "disabled")
    work = Work()
    for name in sorted({*old, *new}):
        where = f"tools/{name}"
        if name not in new:
            why = ""
            if name in reasons:
                why = f": {reasons[name]}"
            text = f"{name}: the tool is gone, or cannot be called any more{why}."
            yield Change("removed", "breaking", where, old[name], None, text)
        elif name not in old:
            text = f"{name}: the tool is new."
            yield Change("added", "additive", where, None, new[name], text)
        elif not same(old[name], new[name]):
            yield from _tool(where, name, old[name], new[name], work)
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


def _tool(
    where: str, name: str, before: Mapping[str, Any], after: Mapping[str, Any], work: Work
) -> Iterator[Change]:
    """Yield the changes between two descriptions of the tool *name*, including its schemas."""
    for key in sorted({*before, *after} - {"name"}):
        old, new = before.get(key), after.get(key)
        if same(old, new):
            continue
        place = f"{where}/{key}"
        if key in _SCHEMAS:
            yield from _schema(place, name, _SCHEMAS[key], old, new, work)
            continue
        severity: Severity = "cosmetic"
        if key in _ROUTING:
            severity = "routing"
        what = f"the {key}"
        if key == "annotations":
            what = key
        text = f"{name}: {worded(what, old, new)}."
        yield Change(_kind(old, new), severity, place, old, new, text)


def _schema(
    place: str, name: str, direction: Direction, old: Any, new: Any, work: Work
) -> Iterator[Change]:
    if direction == "output" and old is None:
        text = f"{name} declares an output schema now."
        yield Change("added", "additive", place, old, new, text)
        return
    if direction == "output" and new is None:
        text = f"{name} does not declare an output schema any more."
        yield Change("removed", "breaking", place, old, new, text)
        return
    if old is None:
        old = {}
    if new is None:
        new = {}
    try:
        check_extent(old)
        check_extent(new)
        yield from schema_changes(place, name, direction, old, new, work)
    except SchemaError as error:
        text = f"{name}: the {direction} schema differs and is not compared: {error}"
        yield Change(_kind(old, new), "breaking", place, old, new, text)


def schema_changes(
    place: str, name: str, direction: Direction, old: Any, new: Any, work: Work | None = None
) -> list[Change]:
    """Return the changes from the schema *old* to *new*, each with its severity.

    Args:
        place: The path of the schema. The path of each change begins with it.
        name: The name of the tool.
        direction: Whether the schemas describe the input or the output of the tool.
        old: The old schema.
        new: The new schema.
        work: A counter that limits the work of comparing all schemas of one server. If None, a new
            counter is used.

    Raises:
        SchemaError: If the schemas have so many differences that comparing them would take too
            long.
    """
    changes = []
    about = name
    if direction == "output":
        about = f"{name}: output"
    for each in differences(old, new, direction, work or Work()):
        changes.append(
            Change(
                _kind(each.before, each.after),
                each.severity,
                f"{place}/{each.where}".rstrip("/"),
                each.before,
                each.after,
                f"{about}: {each.text}.",
                each.example,
            )
        )
    if not changes:
        text = f"{name}: the {direction} schema is written differently, with the same meaning."
        changes.append(Change("changed", "cosmetic", place, old, new, text))
    return changes


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
            if key in old:
                severity = "breaking"
            else:
                severity = "additive"
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
        severity: Severity = "additive"
        how = "optional"
        if needed[1]:
            severity, how = "breaking", "required"
        if name not in before:
            text = f"{about} is new and {how}"
            yield Change("added", severity, place, None, other, _sentence(text))
            continue
        if needed[0] != needed[1]:
            text = f"{about} is {how} now"
            yield Change("changed", severity, f"{place}/required", *needed, _sentence(text))
        texts: Mapping[str, Severity] = {"description": "routing", "title": "cosmetic"}
        for key, meaning in texts.items():
            sides = one.get(key), other.get(key)
            yield from _value(f"{place}/{key}", *sides, meaning, f"{about}: its {key}")


def _by_name(arguments: Any) -> dict[str, Mapping[str, Any]]:
    if isinstance(arguments, list):
        rows = arguments
    else:
        rows = []
    return {str(each.get("name")): each for each in rows if isinstance(each, Mapping)}


# --- one value --------------------------------------------------------------------------


def _value(where: str, old: Any, new: Any, severity: Severity, what: str) -> Iterator[Change]:
    if not same(old, new):
        text = _sentence(worded(what, old, new))
        yield Change(_kind(old, new), severity, where, old, new, text)


def _kind(old: Any, new: Any) -> Kind:
    if old is None:
        return "added"
    if new is None:
        return "removed"
    return "changed"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _part(snapshot: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = snapshot.get(key)
    if isinstance(part, Mapping):
        return part
    return {}
