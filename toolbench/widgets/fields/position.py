"""What the schema, and the author of a field, say about one position of a value."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolbench.core.secrecy import is_secret
from toolbench.errors import Path
from toolbench.widgets.fields.editor import UNSET, Container
from toolbench.widgets.fields.frame import Frame

if TYPE_CHECKING:  # a slot is a position with a value
    from toolbench.widgets.fields.slot import Slot

_TYPED_DEPTH = 20  # values nested deeper are edited as JSON


class Position:
    """One position of a form: a property, an item of a list, the chosen branch of a union.

    Attributes:
        raw: The schema as it was written.
        node: The schema simplified.
        key: The property, index or map key; None for what stands in its parent's place.
        parent: The container around it; None for the root.
        label: Its name, as a person reads it.
        required: Whether the position must hold a value.
        settled: Whether the position exists only because somebody made it: an item, a
            key of a map, a branch. It has no unset state of its own.
        depth: How many containers are around it.
        mark: A CSS class no other position on the page has.
    """

    def __init__(
        self,
        frame: Frame,
        schema: Any,
        key: Any = None,
        *,
        parent: Container | None = None,
        label: str = "",
        required: bool = False,
        settled: bool = False,
    ) -> None:
        """Stand for *schema* under *key* of *parent*."""
        self.frame, self.raw, self.key, self.parent = frame, schema, key, parent
        self.node = frame.view.node(schema)
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
        here: Position | Slot = self
        while True:
            if here.key is not None:
                steps.append(here.key)
            if here.parent is None:
                return tuple(reversed(steps))
            here = here.parent.slot

    @property
    def extra(self) -> Mapping[str, Any]:
        """What `json_schema_extra={"toolbench": ...}` asks for this field."""
        asked = self.node.schema.get("toolbench")
        return asked if isinstance(asked, dict) else {}

    @property
    def hidden(self) -> bool:
        """Whether the field is never shown; its value is kept all the same."""
        return self.extra.get("hidden") is True

    @property
    def secret(self) -> bool:
        """Whether the value must never be shown."""
        path = self.path  # a branch of a union has the name of the union
        name = path[-1] if path and isinstance(path[-1], str) else ""
        return is_secret(name, self.node.schema)

    @property
    def help(self) -> str:
        """What the field is for, in its author's words."""
        said = self.extra.get("help", self.node.schema.get("description"))
        return said if isinstance(said, str) else ""

    @property
    def default(self) -> Any:
        """The default the schema declares, else `UNSET`; it is shown and never sent."""
        if self.secret:
            return UNSET
        found = self.node.schema.get("default", UNSET)
        return UNSET if found is None and not self.node.nullable else found

    @property
    def classes(self) -> tuple[str, ...]:
        """The CSS classes of the widget that carries the name of the field."""
        return (self.mark, "tb-required") if self.starred else (self.mark,)

    @property
    def starred(self) -> bool:
        """Whether a person has to be told that a value is required."""
        return self.required and not self.settled

    @property
    def too_deep(self) -> bool:
        """Whether the value is nested so deep that it is edited as JSON."""
        return self.depth > _TYPED_DEPTH

    def complain(self, notice: str) -> None:
        """Say under the field what is odd about it."""
        self.node = replace(self.node, notice=notice)
