"""A mapping of names to nodes, such as the properties of an object."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the node module imports this one
    from toolbench.jsonschema.normal import Node
    from toolbench.jsonschema.view import SchemaView


class NodesByName(Mapping[str, "Node"]):
    """Nodes by name, each read when it is needed."""

    def __init__(self, view: "SchemaView", schemas: Mapping[str, Any]) -> None:
        """Keep *schemas*, which are parts of the root of *view*."""
        self._view = view
        self.raw = schemas
        """The schemas as they are written."""

    def __getitem__(self, name: str) -> "Node":
        return self._view.node(self.raw[name])

    def __contains__(self, name: object) -> bool:
        return name in self.raw  # without reading it

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def __len__(self) -> int:
        return len(self.raw)
