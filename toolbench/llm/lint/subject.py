"""What the rules look at: a tool taken apart once."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.llm.schemas import Json, target, types_of

_DEEPEST = 4  # levels of arguments inside arguments


@dataclass(frozen=True)
class Argument:
    """One argument, or one property inside one."""

    path: str
    name: str
    schema: Json
    required: bool

    @property
    def text(self) -> str:
        """What is said of it or of its alternatives; empty if nothing is."""
        said = [node.get("description") for node in self._nodes]
        return " ".join(text for text in said if isinstance(text, str))

    @property
    def types(self) -> list[str]:
        """Its types, `null` aside."""
        named = [kind for node in self._nodes for kind in types_of(node)]
        return [kind for kind in dict.fromkeys(named) if kind != "null"]

    def has(self, *keywords: str) -> bool:
        """Tell whether its schema, or an alternative in it, uses one of *keywords*."""
        return any(node.keys() & set(keywords) for node in self._nodes)

    @property
    def _nodes(self) -> list[Mapping[str, Any]]:
        """Its schema, and the alternatives in it."""
        branches = self.schema.get("anyOf") or self.schema.get("oneOf") or ()
        return [self.schema, *(b for b in branches if isinstance(b, Mapping))]


class Subject:
    """A tool as the rules see it."""

    def __init__(self, tool: ToolDefinition[Any, Any]) -> None:
        """Look at *tool*."""
        self.tool = tool
        self.name = tool.name
        self.description = tool.description or ""

    @cached_property
    def schema(self) -> Json:
        """What a model is asked to send."""
        return self.tool.parameters()

    @property
    def has_output_schema(self) -> bool:
        """Whether a schema says what comes back."""
        return "outputSchema" in self.tool.to_mcp_tool(input_schema={})

    @cached_property
    def words(self) -> list[str]:
        """The words of the name, small."""
        return words_of(self.name)

    @cached_property
    def arguments(self) -> list[Argument]:
        """Every argument, and every property inside one."""
        return list(self._inside(self.schema, "", 0))

    @cached_property
    def outer(self) -> list[Argument]:
        """The arguments themselves."""
        return [
            argument for argument in self.arguments if argument.path == argument.name
        ]

    def _inside(self, node: Any, path: str, depth: int) -> Iterator[Argument]:
        node = self._resolved(node)
        if depth > _DEEPEST:
            return
        properties = node.get("properties")
        required = node.get("required") or ()
        for name, sub in properties.items() if isinstance(properties, dict) else ():
            inner = f"{path}.{name}" if path else name
            schema = self._resolved(sub)
            yield Argument(inner, name, schema, name in required)
            yield from self._inside(schema, inner, depth + 1)
        if isinstance(node.get("items"), dict):
            yield from self._inside(node["items"], f"{path}[]", depth + 1)

    def _resolved(self, node: Any) -> Json:
        pointed = self._pointed(node)
        if not isinstance(pointed, dict):
            return {}
        resolved: Json = pointed if pointed is node else {**pointed, **node}
        for key in ("anyOf", "oneOf"):
            if isinstance(resolved.get(key), list):
                branches = [self._pointed(branch) for branch in resolved[key]]
                resolved = {**resolved, key: branches}
        return resolved

    def _pointed(self, node: Any) -> Any:
        ref = node.get("$ref") if isinstance(node, dict) else None
        return node if ref is None else target(self.schema, ref)


def words_of(name: str) -> list[str]:
    """Return the words of a name in snake, camel, kebab or dotted case."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return [word for word in re.split(r"[^a-z0-9]+", snake.lower()) if word]
