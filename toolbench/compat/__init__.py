"""Use tools that were written for the OpenHands SDK.

For the present SDK call `openhands()`; for earlier versions import the old names from here. The old
names are a thin layer over `toolbench.core`, which already accepts executors with one argument. New
tools do not need the old names.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from toolbench.compat.openhands_sdk import openhands as openhands
from toolbench.core.builtins import FinishTool, ThinkTool
from toolbench.core.content import Content, TextContent
from toolbench.core.executor import ActionT, ObservationT
from toolbench.core.executor import ToolExecutor as ToolExecutor
from toolbench.core.foreign import argument_schema
from toolbench.core.schema import Action, Observation
from toolbench.core.security import SecurityRisk
from toolbench.core.spec import Tool as ToolSpec
from toolbench.core.tool import ToolDefinition
from toolbench.jsonschema.node import read

SECURITY_RISK_LITERAL = Literal["UNKNOWN", "LOW", "MEDIUM", "HIGH"]
"""The names of the ratings in `SecurityRisk`: how risky a call is."""
BUILT_IN_TOOLS = [
    *FinishTool.create(),
    *ThinkTool.create(),
]
"""The tools finish and think, as instances, like in earlier versions of the SDK."""

__all__ = [
    "BUILT_IN_TOOLS",
    "SECURITY_RISK_LITERAL",
    "ActionBase",
    "ObservationBase",
    "Tool",
    "ToolExecutor",
    "ToolSpec",
    "openhands",
]


class ActionBase(Action):
    """An action with the field `security_risk`, in which the model says how risky the call is."""

    security_risk: SecurityRisk = Field(
        default=SecurityRisk.UNKNOWN, description="How risky this call is."
    )

    @classmethod
    def to_mcp_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of the action. Its last property is `security_risk`.

        Examples:
            >>> from toolbench.compat import SECURITY_RISK_LITERAL, ActionBase
            >>> class Remove(ActionBase):
            ...     path: str
            >>> list(Remove.to_mcp_schema()["properties"])
            ['path', 'security_risk']
            >>> risk: SECURITY_RISK_LITERAL = "HIGH"
            >>> Remove(path="build", security_risk=risk).security_risk.description
            'reaches outside: sends data away, deletes for good, raises privileges'
        """
        schema = super().to_mcp_schema()
        declared = read(schema).declared
        properties = dict(declared.raw)
        rating = properties.pop("security_risk", None)
        # A foreign schema
        if rating is None:
            own = read(argument_schema(ActionBase)).declared
            rating = own["security_risk"].raw
        return {**schema, "properties": {**properties, "security_risk": rating}}


class ObservationBase(Observation):
    """An observation with any fields; `agent_observation` is its content for a model."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="before")
    @classmethod
    def _error_is_failure(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and data.get("error") and "is_error" not in data:
            return {**data, "is_error": True}
        return data

    @property
    def agent_observation(self) -> Sequence[Content]:
        """The content that the model sees. Subclasses may override this property.

        Examples:
            >>> from toolbench import TextContent
            >>> from toolbench.compat import ObservationBase
            >>> class Listing(ObservationBase):
            ...     files: list[str] = []
            ...     @property
            ...     def agent_observation(self):
            ...         return [TextContent(text=f"{len(self.files)} files")]
            >>> Listing(files=["app.py", "test.py"]).text
            '2 files'
        """
        return self.content

    @property
    def text(self) -> str:
        """The text blocks of `agent_observation`, joined."""
        blocks = self.agent_observation
        return "".join(block.text for block in blocks if isinstance(block, TextContent))

    @property
    def to_llm_content(self) -> Sequence[Content]:
        """The content for the model: `agent_observation`, after a header if the call failed."""
        if self.is_error:
            header = TextContent(text=self.ERROR_MESSAGE_HEADER)
            return [header, *self.agent_observation]
        return self.agent_observation


class Tool(ToolDefinition[ActionT, ObservationT]):
    """A `ToolDefinition` under its old name, which also accepts JSON Schemas as types.

    `action_type` and `observation_type` may be classes or JSON Schemas.

    Examples:
        >>> from toolbench.compat import BUILT_IN_TOOLS, Tool
        >>> schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        >>> greet = Tool(
        ...     name="greet",
        ...     description="Greets a guest.",
        ...     action_type=schema,
        ...     executor=lambda action: f"Welcome, {action.name}!",
        ... )
        >>> greet.call({"name": "Ada"}).text
        'Welcome, Ada!'
        >>> [tool.name for tool in (*BUILT_IN_TOOLS, greet)]
        ['finish', 'think', 'greet']
    """

    def __post_init__(self) -> None:
        for attribute, base in (
            ("action_type", Action),
            ("observation_type", Observation),
        ):
            schema: Any = getattr(self, attribute)
            if isinstance(schema, Mapping):
                model = base.from_mcp_schema(f"{self.name}_{attribute}", schema)
                # The dataclass is frozen
                object.__setattr__(self, attribute, model)
        super().__post_init__()

    def call(self, action: Any, conversation: Any = None) -> ObservationT:
        """Run the tool; the same as a call of the tool itself."""
        return self(action, conversation)
