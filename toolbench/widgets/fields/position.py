"""One position in a form's value, with the facts about it from the schema."""

from collections.abc import Mapping
from typing import Any, Protocol

from toolbench.errors import Path
from toolbench.jsonschema.node import Node
from toolbench.redaction.detect import is_secret
from toolbench.redaction.names import name_at, name_in_map
from toolbench.widgets.fields.form_context import Drawn, Frame
from toolbench.widgets.fields.unset import UNSET

# Values nested deeper are edited as JSON
_TYPED_DEPTH = 20


class Surrounding(Drawn, Protocol):
    """A protocol: the container around a position."""

    @property
    def slot(self) -> "Position":
        """The position of the container itself."""


class Position:
    """One position of a form: a property, an item of a list, the chosen branch of a union.

    Attributes:
        node: The schema of the position.
        notice: A problem of the schema, in words; empty if there is no problem.
        key: The property, index or map key; None for the root and for a branch of a union.
        parent: The container around the position; None for the root.
        label: The name of the position for a person.
        required: Whether the position must hold a value.
        settled: Whether the position is never unset, because a person added it: an item, a
            key of a map, a branch.
        depth: The number of containers around the position.
        mark: A CSS class that only this position has.
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
        """Describe the position with the schema *node*, under *key* in the container *parent*."""
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
        # Without its value: it may be secret
        return f"<{type(self).__name__} {where}>"

    @property
    def title(self) -> str:
        """The name of the position in a text or list about fields. In a map it is the key."""
        in_a_map = self.settled and isinstance(self.key, str)
        return str(self.key) if in_a_map else self.label

    @property
    def path(self) -> Path:
        """The path from the root of the form to the value of this position."""
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
        """The options of the field in `json_schema_extra={"toolbench": ...}`."""
        return self.node.extension

    @property
    def hidden(self) -> bool:
        """Whether the field is never shown; its value is still kept."""
        return self.extra.get("hidden") is True

    @property
    def secret(self) -> bool:
        """Whether the value must never be shown."""
        return is_secret(self.name, self.node)

    @property
    def name(self) -> str:
        """The name that decides whether the value is a secret. An item has the name of its list."""
        above = "" if self.parent is None else self.parent.slot.name
        # An item, or a branch of a union
        if not isinstance(self.key, str):
            return above
        return name_in_map(self.key, above) if self.settled else self.key

    @property
    def judged_path(self) -> Path:
        """The path of the position for rules that check the last name. It ends with `name`."""
        path = self.path
        return path if name_at(path) == self.name else (*path[:-1], self.name)

    @property
    def help(self) -> str:
        """The author's description of the field."""
        help_text = self.extra.get("help", self.node.description)
        return help_text if isinstance(help_text, str) else ""

    @property
    def default(self) -> Any:
        """The default in the schema, which is shown but never sent.

        It is `UNSET` if there is no default, or if it must not be shown because the value is a
        secret. It is also `UNSET` for the default null, which only says that the field is optional.
        """
        if self.secret:
            return UNSET
        default = self.node.default
        return UNSET if default is None else default

    @property
    def classes(self) -> tuple[str, ...]:
        """The CSS classes of the widget that shows the name of the field."""
        return (self.mark, "tb-required") if self.starred else (self.mark,)

    @property
    def starred(self) -> bool:
        """Whether the label has a star, which means that a person must give a value."""
        return self.required and not self.settled and _lacks_input(self.node)

    @property
    def too_deep(self) -> bool:
        """Whether the value is nested too deep for fields, so that it is edited as JSON."""
        return self.depth > _TYPED_DEPTH

    def complain(self, notice: str) -> None:
        """Show *notice* under the field."""
        self.notice = notice


def _lacks_input(node: Node, depth: int = _TYPED_DEPTH) -> bool:
    """Return whether a person must give a value, if a value with the schema *node* is required.

    An object needs no input, unless one of its own required properties needs input.
    """
    parts = node.properties
    if node.is_constant:
        return False
    if not parts or node.nullable or not depth:
        return True
    return any(name not in parts or _lacks_input(parts[name], depth - 1) for name in node.required)
