"""A tool in the formats of MCP, of OpenAI's chat completions and of OpenAI Responses."""

from collections.abc import Mapping
from copy import deepcopy
from functools import cached_property
from typing import Any

from pydantic_core import from_json, to_json

from toolbench.core.definition.declarations import ToolAnnotations
from toolbench.core.definition.parameters import Ready, parameters_of
from toolbench.core.schema import Action, Observation, Schema
from toolbench.errors import ToolbenchError
from toolbench.jsonschema.types import with_properties
from toolbench.values import sendable

_EVERYBODY = frozenset({"model", "app"})


def as_json(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return *meta* as JSON: bytes in base64, other objects as their text."""
    try:
        text = to_json(dict(meta), fallback=str, bytes_mode="base64", inf_nan_mode="strings")
    except ValueError:
        # A lone surrogate, which UTF-8 cannot encode
        known: dict[str, Any] = sendable(dict(meta))
        return known
    plain: dict[str, Any] = from_json(text)
    return plain


class Exports:
    """A base class of tools: its methods return the tool as a dict for each format."""

    name: str
    description: str
    action_type: type[Action]
    observation_type: type[Observation] | None
    annotations: ToolAnnotations | None
    meta: Mapping[str, Any] | None

    @property
    def hints(self) -> ToolAnnotations:
        """The annotations, or MCP's defaults if the tool has none."""
        return self.annotations or ToolAnnotations()

    @property
    def version(self) -> str:
        """The version label in `meta`; empty if there is none."""
        return str((self.meta or {}).get("version", ""))

    @property
    def callers(self) -> frozenset[str]:
        """The callers that the tool allows in addition to people: `model`, `app`, or both (the default).

        Source: MCP Apps, SEP-1865, `_meta.ui.visibility`.
        """
        ui = (self.meta or {}).get("ui")
        names = ui.get("visibility") if isinstance(ui, Mapping) else None
        if not isinstance(names, list | tuple):
            return _EVERYBODY
        return _EVERYBODY.intersection(n for n in names if isinstance(n, str))

    @property
    def is_for_models(self) -> bool:
        """Whether the tool may be offered to models: a server can keep a tool for its app."""
        return "model" in self.callers

    def check_for_models(self) -> None:
        """Check that the tool may be offered to models.

        Raises:
            ToolbenchError: If the tool's server keeps the tool for its app.
        """
        if not self.is_for_models:
            msg = (
                f"{self.name} is not offered to models: its server keeps it for its app. Leave "
                "it out, as in [tool for tool in tools if tool.is_for_models]."
            )
            raise ToolbenchError(msg)

    def parameters(self, *, security_risk: bool = False, summary: bool = False) -> dict[str, Any]:
        """Return a copy of the JSON Schema of the arguments, as a model gets it.

        Args:
            security_risk: Add a property in which the model rates the risk of each call. This
                property comes first, so a call that is cut off still has its rating. The property
                is left out for read-only tools, and if the tool has an argument of that name.
            summary: Add a property in which the model writes one line on the purpose of the call.
        """
        return parameters_of(self.action_type).get(
            security_risk=security_risk and not self.hints.readOnlyHint, summary=summary
        )

    def to_mcp_tool(
        self,
        input_schema: dict[str, Any] | None = None,
        output_schema: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the tool as MCP's `tools/list` describes it, JSON-ready.

        Args:
            input_schema: A schema to use instead of the schema of the arguments.
            output_schema: A schema to use instead of the schema of the observation.
        """
        if input_schema is None and output_schema is None:
            exported = self._as_mcp.copy()
        else:
            exported = self._mcp_tool(deepcopy(input_schema), deepcopy(output_schema))
        # It may have changed
        if self.meta is not None:
            exported["_meta"] = as_json(self.meta)
        return exported

    @cached_property
    def _as_mcp(self) -> Ready:
        return Ready(self._mcp_tool(None, None))

    def _mcp_tool(
        self,
        input_schema: dict[str, Any] | None,
        output_schema: dict[str, Any] | None,
    ) -> dict[str, Any]:
        exported: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.parameters() if input_schema is None else input_schema,
        }
        if output_schema is None and self.observation_type is not None:
            output_schema = parameters_of(self.observation_type).get()
        if output_schema is not None:
            exported["outputSchema"] = output_schema
        if declared := self._declared_hints():
            exported["annotations"] = declared
        return exported

    def _declared_hints(self) -> dict[str, Any]:
        """Return the hints that the tool sets itself, without MCP's defaults for the others."""
        annotations = self.annotations
        return (
            {}
            if annotations is None
            else annotations.model_dump(exclude_unset=True, exclude_none=True)
        )

    def to_openai_tool(
        self,
        add_security_risk_prediction: bool = False,  # noqa: FBT001, FBT002 - as OpenHands
        action_type: type[Schema] | None = None,
        *,
        add_summary: bool = False,
    ) -> dict[str, Any]:
        """Return the tool for OpenAI's chat completions, JSON-ready, with its schema unchanged.

        OpenAI refuses some schemas and names: `toolbench.llm.to_openai` rewrites those parts.

        Args:
            add_security_risk_prediction: Ask the model to rate the risk of each call; see
                `parameters`.
            action_type: An action type to use instead of the tool's own.
            add_summary: Ask the model for one line on the purpose of the call.

        Raises:
            ToolbenchError: If the tool is not for models; see `is_for_models`.
        """
        return {
            "type": "function",
            "function": self._function(
                action_type,
                security_risk=add_security_risk_prediction,
                summary=add_summary,
            ),
        }

    def to_responses_tool(
        self,
        add_security_risk_prediction: bool = False,  # noqa: FBT001, FBT002 - as OpenHands
        action_type: type[Schema] | None = None,
        *,
        add_summary: bool = False,
    ) -> dict[str, Any]:
        """Return the tool for OpenAI's Responses API, JSON-ready; see `to_openai_tool`."""
        function = self._function(
            action_type, security_risk=add_security_risk_prediction, summary=add_summary
        )
        return {"type": "function", **function, "strict": False}

    def _function(
        self, action_type: type[Schema] | None, *, security_risk: bool, summary: bool
    ) -> dict[str, Any]:
        self.check_for_models()
        if action_type is None:
            schema = self.parameters(security_risk=security_risk, summary=summary)
        else:
            risk = security_risk and not self.hints.readOnlyHint
            schema = parameters_of(action_type).get(security_risk=risk, summary=summary)
        return {
            "name": self.name,
            "description": self.description,
            "parameters": with_properties(schema),
        }
