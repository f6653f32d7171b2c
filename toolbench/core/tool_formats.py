"""A tool in the formats of MCP, OpenAI's chat completions, OpenAI Responses, and saved as JSON."""

import marshal
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cached_property
from typing import Any, Self
from weakref import WeakKeyDictionary

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, from_json, to_json
from pydantic_core.core_schema import (
    dict_schema,
    no_info_plain_validator_function,
    plain_serializer_function_ser_schema,
)

from toolbench.core.declarations import ToolAnnotations
from toolbench.core.foreign import extended_schema, full_schema
from toolbench.core.schema import Action, Observation, Schema
from toolbench.core.security import SecurityRisk
from toolbench.errors import KindError, ToolbenchError, ToolNotFoundError, indefinite
from toolbench.jsonschema.node import read
from toolbench.jsonschema.types import with_properties
from toolbench.redaction.detect import without_secret_samples
from toolbench.values import sendable

_SECURITY_RISK = {
    "type": "string",
    "enum": [risk.value for risk in SecurityRisk],
    "description": "How risky this call is. "
    + "; ".join(f"{risk.value}: {risk.description}" for risk in SecurityRisk)
    + ".",
}
_SUMMARY = {
    "type": "string",
    "description": "What this call is for, in one line of about ten words.",
}


class Ready:
    """A cached JSON object: each caller gets a copy."""

    def __init__(self, value: dict[str, Any]) -> None:
        """Store *value* as it is now; later changes of *value* have no effect."""
        # marshal is faster than any JSON parser; it only reads data written here
        self._data = marshal.dumps(_as_json(value))

    def copy(self) -> dict[str, Any]:
        """Return a copy of the value, which the caller may change."""
        value: dict[str, Any] = marshal.loads(self._data)  # noqa: S302 - our own
        return value


def _as_json(value: dict[str, Any]) -> Any:
    try:
        return from_json(to_json(value))
    except ValueError:
        # A lone surrogate in a default: UTF-8 cannot encode it
        return sendable(value)


class Parameters:
    """The JSON Schemas of one class of actions or observations; each caller gets a copy."""

    def __init__(self, accepted: dict[str, Any], parameters: dict[str, Any]) -> None:
        """Keep two JSON Schemas: *accepted*, which a value must fit, and *parameters*, for callers."""
        self._takes = accepted
        self._parameters = parameters
        self._ready: dict[tuple[bool, bool], Ready] = {}

    @property
    def accepted(self) -> dict[str, Any]:
        """The schema of accepted values; it allows `null` for optional arguments that are unset."""
        return self._accepted.copy()

    @cached_property
    def _accepted(self) -> Ready:
        return Ready(self._takes)

    def get(self, *, security_risk: bool = False, summary: bool = False) -> dict[str, Any]:
        """Return the JSON Schema for a caller of the tool, such as a model.

        *security_risk* and *summary* each add a property about the call itself, unless the tool has
        an argument of the same name.

        Defaults and examples with a secret are left out, because the model and its provider must
        not get a secret.
        """
        key = security_risk, summary
        ready = self._ready.get(key)
        if ready is None:
            ready = self._ready[key] = Ready(self._with_questions(*key))
        return ready.copy()

    def _with_questions(self, *flags: bool) -> dict[str, Any]:
        parameters = without_secret_samples(self._parameters)
        if not any(flags):
            return parameters
        questions = {"security_risk": _SECURITY_RISK, "summary": _SUMMARY}
        own = read(parameters).declared
        added = {
            name: question
            for (name, question), want in zip(questions.items(), flags, strict=True)
            if want and name not in own
        }
        # first, so that a call that is cut off keeps its rating
        properties = {**added, **own.raw}
        return {**parameters, "properties": properties} if added else parameters


_of_class: WeakKeyDictionary[type[Schema], Parameters] = WeakKeyDictionary()


def parameters_of(schema: type[Schema]) -> Parameters:
    """Return the JSON Schemas of *schema*, a class of actions or observations; they are cached."""
    cached = _of_class.get(schema)
    if cached is None:
        foreign = extended_schema(schema)
        accepted = full_schema(schema) if foreign is None else foreign
        # providers require `type: object`
        parameters = {"type": "object", **schema.to_mcp_schema()}
        cached = _of_class[schema] = Parameters(accepted, parameters)
    return cached


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


class Serializable:
    """A base class of tools: a tool can be saved as JSON, and be a field of a pydantic model."""

    name: str
    description: str
    action_type: type[Action]
    observation_type: type[Observation] | None
    annotations: ToolAnnotations | None
    meta: Mapping[str, Any] | None
    kind_of: Callable[[], str]
    resolve_kind: Callable[[str], Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the tool without its executor, JSON-ready, for `from_dict`."""
        observation_type = self.observation_type
        return {
            "kind": self.kind_of(),
            "name": self.name,
            "description": self.description,
            "action_type": self.action_type.kind_of(),
            "observation_type": observation_type and observation_type.kind_of(),
            "annotations": self.annotations and self.annotations.model_dump(exclude_unset=True),
            "meta": self.meta if self.meta is None else as_json(self.meta),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the tool that `to_dict` wrote, without an executor.

        Raises:
            KindError: If *data* names a class that is unknown, ambiguous, or not a class of tools,
                actions or observations as needed; or if a required key is missing.
        """
        fields = dict(data)
        kind = fields.pop("kind", cls.__name__)
        target: Any = cls if kind == cls.__name__ else cls.resolve_kind(kind)
        # The class may have its own from_dict
        if target is not cls:
            loaded: Self = target.from_dict(data)
            return loaded
        check_present(fields, "name", "action_type")
        fields["action_type"] = Action.resolve_kind(fields["action_type"])
        if (observation_kind := fields.get("observation_type")) is not None:
            fields["observation_type"] = Observation.resolve_kind(observation_kind)
        if (hints := fields.get("annotations")) is not None:
            fields["annotations"] = ToolAnnotations.model_validate(hints)
        return cls(**fields)

    def __class_getitem__(cls, parameters: Any) -> Any:
        alias: Any = super().__class_getitem__(parameters)  # type: ignore[misc]  # of Generic
        # pydantic asks `ToolDefinition` below, but takes `ToolDefinition[A, O]` for a plain
        # dataclass unless the alias has a schema of its own
        alias.__pydantic_core_schema__ = cls._core_schema()
        return alias

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Let a pydantic model have a tool as a field, saved by `to_dict` and loaded by `from_dict`."""
        return cls._core_schema()

    @classmethod
    def _core_schema(cls) -> CoreSchema:
        written = dict_schema()
        return no_info_plain_validator_function(
            cls._loaded,
            json_schema_input_schema=written,
            serialization=plain_serializer_function_ser_schema(
                lambda tool: tool.to_dict(), return_schema=written
            ),
        )

    @classmethod
    def _loaded(cls, value: Any) -> Self:
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping):
            type_name = indefinite(type(value).__name__)
            msg = f"should be a {cls.__name__} or a dict from its to_dict(), not {type_name}"
            raise ValueError(msg)  # noqa: TRY004 - pydantic reports a ValueError as its own
        try:
            return cls.from_dict(value)
        except ToolNotFoundError as error:
            # Also a KeyError; its message is complete
            raise ValueError(str(error)) from error
        except (TypeError, AttributeError) as error:
            msg = f"this is not a saved tool: {error}"
            raise ValueError(msg) from error


def check_present(written: Mapping[str, Any], *keys: str) -> None:
    """Check that *written*, a saved tool, has all *keys*.

    Raises:
        KindError: If a key is missing.
    """
    if missing := [repr(key) for key in keys if key not in written]:
        msg = f"The saved tool has no {' and no '.join(missing)}."
        raise KindError(msg)
