"""Read a server's list of tools; a tool with an invalid description is left out as disabled."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, Self

from pydantic import ValidationError

from toolbench.core.declarations import ToolAnnotations
from toolbench.errors import SchemaError
from toolbench.jsonschema.validate import validator_of
from toolbench.values import clip


@dataclass(frozen=True)
class ListedTool:
    """A tool of a server that can be called, as the server describes it."""

    name: str
    description: str
    schema: dict[str, Any]
    output_schema: Any
    annotations: ToolAnnotations | None
    meta: dict[str, Any] | None
    icons: tuple[dict[str, Any], ...]
    has_headers: bool
    """Whether arguments may have to be sent as HTTP headers too, in the newer protocol."""
    notes: tuple[str, ...]
    """Problems with the description; the affected parts were left out."""
    raw: Mapping[str, Any] = field(repr=False)
    """The description exactly as the server sent it."""


@dataclass(frozen=True)
class DisabledTool:
    """A tool of a server that cannot be called."""

    name: str
    reason: str
    definition: Any
    """The description as the server sent it."""


@dataclass(frozen=True)
class ToolsDiff:
    """The names of tools, or other items, that differ between two versions of a list."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def __str__(self) -> str:
        parts = {"added": self.added, "removed": self.removed, "changed": self.changed}
        texts = []
        for verb, names in parts.items():
            if names:
                texts.append(f"{verb} {', '.join(names)}")
        return "; ".join(texts) or "no difference"

    @classmethod
    def between(cls, before: Mapping[str, Any], after: Mapping[str, Any]) -> Self:
        """Return the differences from *before* to *after*, which map names to items."""
        added, changed = [], []
        for name, item in after.items():
            if name not in before:
                added.append(name)
            elif item != before[name]:
                changed.append(name)
        removed = [name for name in before if name not in after]
        return cls(added=tuple(added), removed=tuple(removed), changed=tuple(changed))


def read_tools(
    items: Iterable[Any],
    *,
    is_modern: bool = False,
    before: Mapping[str, ListedTool] | None = None,
) -> tuple[list[ListedTool], list[DisabledTool]]:
    """Split the *items* of a `tools/list` into tools that can be called and disabled tools.

    *before* has the tools of the last list by name; those whose description is the same are kept.
    """
    good: list[ListedTool] = []
    bad: list[DisabledTool] = []
    names: set[str] = set()
    known = before or {}
    for item in items:
        if isinstance(item, Mapping):
            name = str(item.get("name"))
        else:
            name = clip(item)
        try:
            if name in names:
                _refuse("the server lists another tool under the same name before it")
            tool = known.get(name)
            if tool is None or tool.raw != item:
                tool = _read(item)
            if is_modern and tool.has_headers:
                _check_headers(tool.schema)
            good.append(tool)
            names.add(name)
        except SchemaError as error:
            bad.append(DisabledTool(name=name, reason=str(error), definition=item))
    return good, bad


def _refuse(reason: str) -> NoReturn:
    raise SchemaError(reason)


def _read(item: Any) -> ListedTool:
    if not isinstance(item, Mapping):
        _refuse(f"a tool is an object, not {clip(item)}")
    name, notes = item.get("name"), list[str]()
    if not isinstance(name, str) or not name.strip():
        _refuse(f"its name is {clip(name)}: a tool needs a name that is not blank")
    description = item.get("description")
    if not isinstance(description, str | None):
        notes.append(f"the description is not a string: {clip(description)}")
        description = None
    schema = _input_schema(item)
    return ListedTool(
        name=str(name),
        description=description or "",
        schema=schema,
        output_schema=_output_schema(item, notes),
        annotations=_annotations(item, notes),
        meta=_mapping(item, "_meta", notes),
        icons=_icons(item, notes),
        has_headers="x-mcp-header" in str(schema),
        notes=tuple(notes),
        raw=item,
    )


def _input_schema(item: Mapping[str, Any]) -> dict[str, Any]:
    schema = item.get("inputSchema")
    if not isinstance(schema, dict):
        _refuse(f"its inputSchema is {clip(schema)}, not a JSON Schema of an object")
    if schema.get("type", "object") != "object":
        _refuse(f"its inputSchema is of type {clip(schema['type'])}, not object")
    try:
        validator_of(schema)
    except SchemaError as error:
        _refuse(f"its inputSchema cannot be used: {error}")
    return schema


def _check_headers(schema: dict[str, Any]) -> None:
    """Refuse a tool whose arguments the newer protocol cannot repeat in HTTP headers."""
    from toolbench.mcp.wire.sdk_session import (  # noqa: PLC0415 - the SDK is loaded by now
        header_problem,
    )

    if reason := header_problem(schema):
        _refuse(f"its x-mcp-header annotations are invalid: {reason}")


def _output_schema(item: Mapping[str, Any], notes: list[str]) -> Any:
    schema = item.get("outputSchema")
    if schema is None:
        return None
    try:
        validator_of(schema)
    except SchemaError as error:
        notes.append(f"the outputSchema cannot be used: {error}")
        return None
    return schema


def _annotations(item: Mapping[str, Any], notes: list[str]) -> ToolAnnotations | None:
    hints = item.get("annotations")
    title = item.get("title")
    if title is not None and not isinstance(title, str):
        notes.append(f"the title is not a string: {clip(title)}")
        title = None
    if hints is not None and not isinstance(hints, Mapping):
        notes.append(f"the annotations are not an object: {clip(hints)}")
        hints = None
    known: dict[str, Any] = {}
    for key in ToolAnnotations.model_fields:
        if hints and hints.get(key) is not None:
            known[key] = hints[key]
    if title:
        # The title of the tool has precedence over annotations.title
        known["title"] = title
    if not known:
        return None
    try:
        return ToolAnnotations.model_validate(known, strict=True)
    except ValidationError as error:
        wrong = sorted({str(line["loc"][0]) for line in error.errors()})
    notes.append(f"annotations of the wrong type: {', '.join(wrong)}")
    for key in wrong:
        known.pop(key, None)
    if not known:
        return None
    return ToolAnnotations.model_validate(known)


def _mapping(item: Mapping[str, Any], key: str, notes: list[str]) -> dict[str, Any] | None:
    value = item.get(key)
    if value is None or isinstance(value, dict):
        return value
    notes.append(f"{key} is not an object: {clip(value)}")
    return None


def _icons(item: Mapping[str, Any], notes: list[str]) -> tuple[dict[str, Any], ...]:
    icons = item.get("icons")
    if icons is None:
        return ()
    if not isinstance(icons, list):
        notes.append(f"the icons are not a list: {clip(icons)}")
        return ()
    return tuple(icon for icon in icons if isinstance(icon, dict))
