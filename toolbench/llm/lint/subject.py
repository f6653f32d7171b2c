"""A tool prepared for the lint rules: its words, arguments and schema, each read once."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Any, Self

from toolbench.core.tool import ToolDefinition
from toolbench.jsonschema.node import Node, SchemaView
from toolbench.jsonschema.types import Json
from toolbench.wording import words_of

# Levels of arguments inside arguments
_DEEPEST = 4
# Arguments: a few objects that refer to each other have millions
_MOST = 10_000


@dataclass(frozen=True)
class Argument:
    """One argument, or one property inside an argument."""

    path: str
    name: str
    node: Node
    required: bool
    text: str
    """The description of the argument or of its alternatives; empty if there is none."""
    types: tuple[str, ...]
    """The types of the argument without `null`."""

    @classmethod
    def of(cls, node: Node, path: str, name: str, *, required: bool) -> Self:
        """Make an argument of *node*, the part of the schema at *path*."""
        types = tuple(kind for kind in node.types if kind != "null")
        return cls(path, name, node, required, node.explanation, types)

    def has(self, *keywords: str) -> bool:
        """Tell whether the argument's schema, or an alternative in it, uses one of *keywords*."""
        return self.node.says(*keywords)


class Subject:
    """A tool, with the facts that the rules check."""

    def __init__(self, tool: ToolDefinition[Any, Any]) -> None:
        """Prepare *tool*."""
        self.tool = tool
        self.name = tool.name
        self.description = tool.description or ""

    @cached_property
    def schema(self) -> Json:
        """The schema of the arguments, as a model gets it."""
        return self.tool.parameters()

    @cached_property
    def view(self) -> SchemaView:
        """The schema of the arguments as nodes, each read once."""
        return SchemaView(self.schema)

    @property
    def has_output_schema(self) -> bool:
        """Whether the tool has an output schema."""
        return "outputSchema" in self.tool.to_mcp_tool(input_schema={})

    @cached_property
    def words(self) -> list[str]:
        """The words of the tool's name, in lower case."""
        return words_of(self.name)

    @cached_property
    def arguments(self) -> list[Argument]:
        """Every argument, and every property inside an argument, as far as they are linted."""
        return list(islice(self._inside(self.view.whole, "", 0), _MOST))

    @cached_property
    def outer(self) -> list[Argument]:
        """The arguments, without the properties inside them."""
        return [argument for argument in self.arguments if argument.path == argument.name]

    def _inside(self, node: Node, path: str, depth: int) -> Iterator[Argument]:
        if depth > _DEEPEST:
            return
        # inside arguments, properties of alternatives are left out: a model chooses one of them
        required = node.required
        inside = chain(node.properties, node.conditional)
        for name in node.names if depth == 0 else inside:
            inner = f"{path}.{name}" if path else name
            part = node.at(name)
            yield Argument.of(part, inner, name, required=name in required)
            yield from self._inside(part, inner, depth + 1)
        if node.items is not None:
            yield from self._inside(node.items, f"{path}[]", depth + 1)
