"""Turn a tool's arguments into the plain object that providers require; report the changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from toolbench.jsonschema.compose import resolve, together
from toolbench.jsonschema.types import Json, Schema
from toolbench.jsonschema.walk import alternatives_in, conjunction_in, every
from toolbench.llm.message import Provider
from toolbench.llm.names import NameRule

# --- the report -----------------------------------------------------------------------

Kind = Literal["removed", "rewritten", "renamed", "shortened"]


@dataclass(frozen=True)
class Change:
    """A change to one part of a tool, because a provider does not accept the original part.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import format_report
        >>> @tool
        ... def move(to: tuple[int, int]) -> str:
        ...     "Move the robot to a place."
        ...     return "there"
        >>> [change] = format_report(move, "openai").changes
        >>> change.where, change.kind, change.refused
        ('to', 'rewritten', True)
    """

    where: str
    """The changed part: an argument (`filter.tags[]`), `name`, `description` or `arguments`."""
    kind: Kind
    message: str
    refused: bool = False
    """Whether the provider refuses the tool without this change."""

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


@dataclass(frozen=True)
class FormatReport:
    """The changes to a tool that one provider requires, and whether its strict mode can be used.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import format_report
        >>> @tool(name="read.file")
        ... def read_file(path: str) -> str:
        ...     "Read a file."
        ...     return ""
        >>> [change.message for change in format_report(read_file, "openai").changes]
        ["to 'read_file_dd32cd': at most 64 letters, digits, '_' and '-'"]
    """

    provider: Provider
    tool: str
    changes: tuple[Change, ...] = ()
    strict: bool | None = None
    """OpenAI only: whether the model's arguments must fit the schema; None for other providers."""
    not_strict: tuple[str, ...] = ()
    """The reasons why strict mode is off, one sentence each."""

    def __str__(self) -> str:
        if not self.changes and not self.not_strict:
            return f"{self.tool} for {self.provider}: unchanged"
        lines = [f"{self.tool} for {self.provider}:"]
        for change in self.changes:
            lines.append(f"- {change}")
        for reason in self.not_strict:
            lines.append(f"- not strict: {reason}")
        return "\n".join(lines)


@dataclass
class Changes:
    """Collects the changes to a tool while it is converted to a provider's format."""

    entries: list[Change] = field(default_factory=list)
    strict: bool | None = None
    """See `FormatReport`."""
    not_strict: tuple[str, ...] = ()

    def note(self, where: str, kind: Kind, message: str, *, refused: bool = False) -> None:
        """Add one change; an empty *where* means all the arguments."""
        self.entries.append(Change(where or "arguments", kind, message, refused))

    def fitting_name(self, where: str, own: str, rule: NameRule) -> str:
        """Return the name *own* if *rule* allows it; else note a change and return a valid one."""
        name = rule.rename(own)
        if name != own:
            self.note(where, "renamed", f"to {name!r}: at most {rule.words}", refused=True)
        return name


# --- a plain object ---------------------------------------------------------------------


def plain_root(schema: Json, changes: Changes) -> Json:
    """Return *schema* as one object, for providers that refuse alternatives at the outermost level.

    Alternatives such as `anyOf` are merged into one object with all properties. The description
    then tells the model which properties belong together. The tool itself still checks the
    arguments with the original schema.
    """
    root = dict(schema)
    target, _ = resolve(schema, schema)
    if target is not schema and isinstance(target, Mapping):
        root = dict(target)
        changes.note("", "rewritten", "the reference at the top was followed", refused=True)
    parts, beside = conjunction_in(root)
    root = dict(beside)
    for part in _followed(parts, schema):
        changes.note("", "rewritten", "allOf at the top was merged", refused=True)
        root = together(root, part)
    while (choices := alternatives_in(root))[0]:
        root = _merged(*choices, schema, changes)
    for key in ("not", "enum"):
        if key in root:
            del root[key]
            changes.note("", "removed", f"{key!r} at the top is not supported", refused=True)
    if root.get("type") != "object":
        changes.note("", "rewritten", "the arguments must be an object", refused=True)
        root["type"] = "object"
    if not isinstance(root.get("properties"), dict):
        root["properties"] = {}
    return root


def _followed(members: list[Any], schema: Json) -> list[Mapping[str, Any]]:
    parts: list[Mapping[str, Any]] = []
    for member in members:
        part, _ = resolve(schema, member)
        if isinstance(part, Mapping):
            parts.append(part)
    return parts


def _merged(
    keyword: str, members: list[Any], beside: Schema, schema: Json, changes: Changes
) -> Json:
    """Merge the alternatives *members* into one object, with the other keywords of the schema.

    *beside* has these other keywords. *keyword* is that of the alternatives, such as `anyOf`; the
    note in *changes* names it.
    """
    root, branches = dict(beside), _followed(members, schema)
    changes.note("", "rewritten", f"{keyword} at the top was merged", refused=True)
    if not branches:
        return root
    always = root.get("required", [])
    needed: list[set[str]] = []
    own = root.get("properties") or {}
    # First, to set the order; the same values are applied again below, to take priority
    properties: Json = {**own}
    for branch in branches:
        needed.append(set(branch.get("required", ())) - set(always))
        properties |= branch.get("properties") or {}
    merged = {**root, "properties": {**properties, **own}}
    common = sorted(set.intersection(*needed))
    if common:
        merged["required"] = [*always, *common]
    if any(names - set(common) for names in needed):
        sets: list[str] = []
        for names in needed:
            if names:
                sets.append(f"({', '.join(sorted(names))})")
        note = f"Needed together: {' or '.join(sets)}."
        if isinstance(merged.get("description"), str):
            note = f"{merged['description']} {note}"
        merged["description"] = note
    return merged


def names_in(parameters: Json, *, are_inner_wanted: bool) -> list[str]:
    """Return the sorted names of the arguments, optionally with those of inner properties."""
    schema = plain_root(parameters, Changes())
    names = set(schema["properties"])
    if are_inner_wanted:
        for _, node in every(schema):
            names.update(node.get("properties") or ())
    return sorted(names)
