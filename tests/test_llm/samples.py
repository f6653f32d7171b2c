"""The tools these tests call, the corpus of real ones, and the providers' own types."""

import json
from functools import cache
from typing import Any

import pytest
from pydantic import Field, TypeAdapter

from toolbench.core.declarations import ToolAnnotations
from toolbench.core.schema import Action
from toolbench.core.tool import ToolDefinition


class GrepAction(Action):
    """A search, with an argument of every simple kind."""

    pattern: str = Field(description="The regular expression to look for.")
    path: str | None = Field(None, description="The folder; the current one if unset.")
    limit: int = Field(10, ge=1, description="The most matches to return.")
    hidden: bool = False
    weight: float = 1.0
    globs: list[str] = Field(default_factory=list)


GREP = ToolDefinition(
    name="grep",
    description="Search files and return the matching lines.",
    action_type=GrepAction,
    annotations=ToolAnnotations(readOnlyHint=True),
)


class WriteAction(Action):
    """A file to write."""

    path: str
    content: str


WRITE = ToolDefinition(name="file_editor", description="Write a file.", action_type=WriteAction)


def foreign(schema: dict[str, Any], name: str = "look_up", **facts: Any):
    """Return a tool whose arguments are described by a JSON Schema."""
    facts.setdefault("description", "Look something up and return what is found.")
    action = Action.from_mcp_schema("ForeignAction", schema)
    return ToolDefinition(name=name, action_type=action, **facts)


def taking(properties: dict[str, Any], *required: str, **rest: Any):
    """Return a foreign tool that takes *properties*."""
    schema = {"type": "object", "properties": properties, **rest}
    return foreign(schema | ({"required": list(required)} if required else {}))


def published_by(entry: dict[str, Any]) -> ToolDefinition[Any, Any]:
    """Return a tool of the corpus as ours."""
    hints = {k: v for k, v in (entry.get("annotations") or {}).items() if v is not None}
    return foreign(
        entry["inputSchema"],
        entry["name"],
        description=entry.get("description") or "",
        annotations=ToolAnnotations(**hints) if hints else None,
    )


def sdk(module: str) -> Any:
    """Return a module of a provider's SDK; the test is skipped where it is not installed."""
    reason = f"THE SDK {module.partition('.')[0]!r} IS NOT INSTALLED: its types go unproven"
    return pytest.importorskip(module, reason=reason)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def conforms(kind: Any, value: Any) -> bool:
    """Tell whether *value* is a *kind* of the SDK, with nothing the SDK does not know."""
    adapter = _adapter(kind)
    known = adapter.dump_python(adapter.validate_python(value), mode="json")
    return known == json.loads(json.dumps(value))
