"""The spec of a tool: its registered name and the parameters of its `create`."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator


class Tool(BaseModel):
    """The name of a registered tool, and the parameters with which the tool is created.

    Source: OpenHands SDK, `Tool`.

    Examples:
        >>> from toolbench import Tool
        >>> spec = Tool(name="grep", params={"working_dir": "docs"})
        >>> spec.model_dump_json()
        '{"name":"grep","params":{"working_dir":"docs"}}'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    params: dict[str, Any] = Field(default_factory=dict)

    @field_validator("name")
    @classmethod
    def _not_blank(cls, name: str) -> str:
        if not name.strip():
            msg = f"a tool spec needs a name, not {name!r}"
            raise ValueError(msg)
        return name

    @field_validator("params", mode="before")
    @classmethod
    def _none_is_empty(cls, params: Any) -> Any:
        if params is None:
            return {}
        return params
