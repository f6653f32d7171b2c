"""What the schema, and the author of a field, say about one position of a value."""

from collections.abc import Mapping
from typing import Any, Protocol

from toolbench.errors import Path
from toolbench.jsonschema.normal import Node
from toolbench.redaction.detection.locations import is_secret
from toolbench.redaction.detection.names import name_at, name_in_map
from toolbench.widgets.fields.form_context import Drawn, Frame
from toolbench.widgets.fields.unset import UNSET

_TYPED_DEPTH = 20  # values nested deeper are edited as JSON


class Surrounding(Drawn, Protocol):
    """The container around a position."""

    @property
    def slot(self) -> "Position":
        """The position of the container itself."""


class Position:
    """One position of a form: a property, an item of a list, the chosen branch of a union.

    Attributes:
        node: What the schema says of it.
        notice: What is odd about it, in words; empty when all is well.
        key: The property, index or map key; None for what stands in its parent's place.
        parent: The container around it; None for the root.
        label: Its name, as a person reads it.
        required: Whether the position must hold a value.
        settled: Whether the position exists only because a person added it: an item, a
            key of a map, a branch. It has no unset state of its own.
        depth: How many containers are around it.
        mark: A CSS class no other position on the page has.
    """

    def __init__(
        self,
        frame: Frame,
        node: Node,
        key: Any = None,
        *,
        parent: Surrounding | None = None,
        label: str = "",
        required: bool = False,
        settled: bool = False,
    ) -> None:
        """Stand for *node* under *key* of *parent*."""
        self.frame, self.node, self.key = frame, node, key
        self.parent = parent
        self.notice = node.notice
        self.label = label or (str(key) if key is not None else "")
        self.required = required or settled
        self.settled = settled
        self.mark = frame.new_mark()
        self.depth: int = 0 if parent is None else parent.slot.depth + 1

    def __repr__(self) -> str:
        where = ".".join(map(str, self.path)) or "root"
        return f"<{type(self).__name__} {where}>"  # never its value

    @property
    def title(self) -> str:
        """What it is called far from its place: there a map's value goes by its key."""
        in_a_map = self.settled and isinstance(self.key, str)
        return str(self.key) if in_a_map else self.label

    @property
    def path(self) -> Path:
        """Where the value stands in the whole value."""
        steps: list[Any] = []
        here = self
        while True:
            if here.key is not None:
                steps.append(here.key)
            if here.parent is None:
                return tuple(reversed(steps))
            here = here.parent.slot

    @property
    def extra(self) -> Mapping[str, Any]:
        """What `json_schema_extra={"toolbench": ...}` asks for this field."""
        return self.node.extension

    @property
    def hidden(self) -> bool:
        """Whether the field is never shown; its value is kept all the same."""
        return self.extra.get("hidden") is True

    @property
    def secret(self) -> bool:
        """Whether the value must never be shown."""
        return is_secret(self.name, self.node.schema)

    @property
    def name(self) -> str:
        """The name that says whether it is a secret: of an item that of its list."""
        above = "" if self.parent is None else self.parent.slot.name
        if not isinstance(self.key, str):  # a branch of a union is where the union is
            return above
        return name_in_map(self.key, above) if self.settled else self.key

    @property
    def judged_path(self) -> Path:
        """Its path for a rule that looks at the name at its end."""
        path = self.path
        return path if name_at(path) == self.name else (*path[:-1], self.name)

    @property
    def help(self) -> str:
        """What the field is for, in its author's words."""
        help_text = self.extra.get("help", self.node.description)
        return help_text if isinstance(help_text, str) else ""

    @property
    def default(self) -> Any:
        """The default the schema declares, else `UNSET`; it is shown and never sent.

        A default of null only says that the field is optional.
        """
        if self.secret:
            return UNSET
        default = self.node.default
        return UNSET if default is None else default

    @property
    def classes(self) -> tuple[str, ...]:
        """The CSS classes of the widget that carries the name of the field."""
        return (self.mark, "tb-required") if self.starred else (self.mark,)

    @property
    def starred(self) -> bool:
        """Whether the label shows that a person has to give a value."""
        return self.required and not self.settled and _lacks_input(self.node)

    @property
    def too_deep(self) -> bool:
        """Whether the value is nested so deep that it is edited as JSON."""
        return self.depth > _TYPED_DEPTH

    def complain(self, notice: str) -> None:
        """Say under the field what is odd about it."""
        self.notice = notice


def _lacks_input(node: Node, depth: int = _TYPED_DEPTH) -> bool:
    """Whether a required *node* is not complete before a person gives a value.

    A group is, unless one of its own required parts is not.
    """
    parts = node.properties
    if node.is_constant:
        return False
    if not parts or node.nullable or not depth:
        return True
    return any(
        name not in parts or _lacks_input(parts[name], depth - 1)
        for name in node.required
    )
