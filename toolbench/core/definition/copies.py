"""Copy a tool with another title or schema, for example to compare the copy with the original."""

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from toolbench.core.executor import ToolExecutor
from toolbench.core.schema import Action, Observation
from toolbench.errors import RegistrationError, did_you_mean
from toolbench.values import clip

if TYPE_CHECKING:
    from toolbench.core.tool import ToolDefinition

_PARTS = ("title", "schema")


def field_changes(tool: "ToolDefinition[Any, Any]", update: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a copy of *tool* that get a new value, for the changes in *update*.

    *update* names fields of the tool. It may also have `title`, which changes the annotations, and
    `schema`, which changes the action type and the executor.

    Raises:
        RegistrationError: If the tool does not have a field of *update*, or a value cannot be used.
    """
    known = [each.name for each in fields(tool) if each.init]
    changes = dict(update)
    for name in changes:
        if name not in known and name not in _PARTS:
            msg = (
                f"{tool.name} has no field {name!r} to replace: it has "
                f"{', '.join([*known, *(m for m in _PARTS if m not in known)])}."
                f"{did_you_mean(name, [*known, *_PARTS])}"
            )
            raise RegistrationError(msg)
    if "title" in changes and "title" not in known:
        title = changes.pop("title")
        if not isinstance(title, str) or not title.strip():
            msg = f"{tool.name}: the title is a text, not {clip(title)}."
            raise RegistrationError(msg)
        hints = changes.get("annotations") or tool.hints
        changes["annotations"] = hints.model_copy(update={"title": title})
    if "schema" in changes and "schema" not in known:
        changes |= _with_schema(tool, changes.pop("schema"), changes.get("executor"))
    return changes


def _with_schema(tool: "ToolDefinition[Any, Any]", schema: Any, executor: Any) -> dict[str, Any]:
    if not isinstance(schema, Mapping):
        msg = f"{tool.name}: the schema is a JSON Schema, an object, not {clip(schema)}."
        raise RegistrationError(msg)
    changes: dict[str, Any] = {
        "action_type": Action.from_mcp_schema(tool.action_type.__name__, schema)
    }
    if executor is None and tool.executor is not None:
        changes["executor"] = TranslatingExecutor(tool)
    return changes


class TranslatingExecutor(ToolExecutor[Action, Observation]):
    """The executor of a copy with another schema: it passes the arguments to the original tool.

    It does not close the original tool.
    """

    def __init__(self, tool: "ToolDefinition[Any, Any]") -> None:
        """Make an executor that calls *tool*, the original tool."""
        self.tool = tool

    def __call__(self, action: Action, conversation: Any = None) -> Any:
        """Call the original tool with the arguments; the call fails if it does not take one of them."""
        return self.tool.execute(action.to_arguments(), conversation)

    def interrupt(self) -> None:
        """Interrupt the executor of the original tool."""
        getattr(self.tool.executor, "interrupt", lambda: None)()
