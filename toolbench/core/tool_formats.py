"""Export tools: to MCP, OpenAI's chat completions and Responses, saved JSON, plain functions.

The methods of `ToolDefinition` call these functions. The JSON Schemas of a class of actions or
observations are cached here, because tools are exported often.
"""

import marshal
from collections.abc import Callable, Mapping
from copy import deepcopy
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pydantic_core import CoreSchema, from_json, to_json
from pydantic_core.core_schema import (
    dict_schema,
    no_info_plain_validator_function,
    plain_serializer_function_ser_schema,
)

from toolbench.core.declarations import ToolAnnotations
from toolbench.core.foreign import full_schema
from toolbench.core.schema import Action, Observation, Schema
from toolbench.core.security import SecurityRisk
from toolbench.errors import KindError, ToolNotFoundError, indefinite
from toolbench.jsonschema.node import read
from toolbench.jsonschema.types import with_properties
from toolbench.redaction.detect import without_secret_samples
from toolbench.values import sendable

if TYPE_CHECKING:
    from toolbench.core.tool import ToolDefinition

_LEVELS = "; ".join(f"{risk.value}: {risk.description}" for risk in SecurityRisk)
_SECURITY_RISK = {
    "type": "string",
    "enum": [risk.value for risk in SecurityRisk],
    "description": f"How risky this call is. {_LEVELS}.",
}
_SUMMARY = {
    "type": "string",
    "description": "What this call is for, in one line of about ten words.",
}


# --- the schemas of arguments and results -------------------------------------------


class Parameters:
    """The JSON Schemas of one class of actions or observations; each caller gets a copy."""

    def __init__(self, accepted: dict[str, Any], parameters: dict[str, Any]) -> None:
        """Keep two schemas: *accepted* for checking values, and *parameters* for callers."""
        self._accepted = accepted
        self._parameters = parameters
        self._packed: dict[tuple[bool, bool] | None, bytes] = {}

    @property
    def accepted(self) -> dict[str, Any]:
        """The schema of accepted values; it allows `null` for optional arguments that are unset."""
        if None not in self._packed:
            self._packed[None] = packed(self._accepted)
        return unpacked(self._packed[None])

    def get(self, *, security_risk: bool = False, summary: bool = False) -> dict[str, Any]:
        """Return the JSON Schema for a caller of the tool, such as a model.

        *security_risk* and *summary* each add a property about the call itself, unless the tool has
        an argument of the same name.

        Defaults and examples that contain a secret are left out, because neither the model nor its
        provider may get a secret.
        """
        key = security_risk, summary
        if key not in self._packed:
            schema = without_secret_samples(self._parameters)
            if security_risk or summary:
                schema = _with_questions(schema, security_risk=security_risk, summary=summary)
            self._packed[key] = packed(schema)
        return unpacked(self._packed[key])


def _with_questions(
    schema: dict[str, Any], *, security_risk: bool, summary: bool
) -> dict[str, Any]:
    own = read(schema).declared
    questions: dict[str, Any] = {}
    if security_risk and "security_risk" not in own:
        questions["security_risk"] = _SECURITY_RISK
    if summary and "summary" not in own:
        questions["summary"] = _SUMMARY
    if not questions:
        return schema
    # First, so that a call that is cut off keeps its rating
    return {**schema, "properties": {**questions, **own.raw}}


_of_class: WeakKeyDictionary[type[Schema], Parameters] = WeakKeyDictionary()


def parameters_of(schema: type[Schema]) -> Parameters:
    """Return the JSON Schemas of *schema*, a class of actions or observations; they are cached."""
    cached = _of_class.get(schema)
    if cached is None:
        accepted = schema.foreign_schema
        if accepted is None:
            accepted = full_schema(schema)
        # Providers require `type: object`
        parameters = {"type": "object", **schema.to_mcp_schema()}
        cached = _of_class[schema] = Parameters(accepted, parameters)
    return cached


def packed(value: Mapping[str, Any]) -> bytes:
    """Return *value* as `marshal` data, which loads faster than any JSON parser reads JSON."""
    try:
        return marshal.dumps(from_json(to_json(value)))
    except ValueError:
        # A lone surrogate in a default: UTF-8 cannot encode it
        return marshal.dumps(sendable(value))


def unpacked(data: bytes) -> dict[str, Any]:
    """Return a fresh copy of the value that `packed` wrote."""
    value: dict[str, Any] = marshal.loads(data)  # noqa: S302 - our own
    return value


# --- for servers and models ---------------------------------------------------------


def mcp_tool(
    tool: "ToolDefinition[Any, Any]",
    input_schema: dict[str, Any] | None = None,
    output_schema: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return *tool* as MCP's `tools/list` describes it, without its `_meta`; see `to_mcp_tool`."""
    exported: dict[str, Any] = {"name": tool.name, "description": tool.description}
    if input_schema is None:
        exported["inputSchema"] = tool.parameters()
    else:
        exported["inputSchema"] = deepcopy(input_schema)
    if output_schema is not None:
        exported["outputSchema"] = deepcopy(output_schema)
    elif tool.observation_type is not None:
        exported["outputSchema"] = parameters_of(tool.observation_type).get()
    if tool.annotations is not None:
        # Only what the tool declares, without MCP's defaults for the other hints
        hints = tool.annotations.model_dump(exclude_unset=True, exclude_none=True)
        if hints:
            exported["annotations"] = hints
    return exported


def json_of_meta(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return *meta* as JSON; bytes become base64, other objects `str(object)`."""
    try:
        text = to_json(dict(meta), fallback=str, bytes_mode="base64", inf_nan_mode="strings")
    except ValueError:
        # A lone surrogate, which UTF-8 cannot encode
        known: dict[str, Any] = sendable(dict(meta))
        return known
    plain: dict[str, Any] = from_json(text)
    return plain


def openai_function(
    tool: "ToolDefinition[Any, Any]",
    action_type: type[Schema] | None,
    *,
    security_risk: bool,
    summary: bool,
) -> dict[str, Any]:
    """Return the name, the description and the parameters of *tool*; see `to_openai_tool`."""
    tool.check_for_models()
    if action_type is None:
        schema = tool.parameters(security_risk=security_risk, summary=summary)
    else:
        asks_for_risk = security_risk and not tool.hints.readOnlyHint
        schema = parameters_of(action_type).get(security_risk=asks_for_risk, summary=summary)
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": with_properties(schema),
    }


# --- saved as JSON, without the executor and the secrets in it ------------------------


def saved_tool(tool: "ToolDefinition[Any, Any]") -> dict[str, Any]:
    """Return *tool* without its executor, JSON-ready, for `loaded_tool`."""
    saved: dict[str, Any] = {
        "kind": tool.kind_of(),
        "name": tool.name,
        "description": tool.description,
        "action_type": tool.action_type.kind_of(),
        "observation_type": None,
        "annotations": None,
        "meta": None,
    }
    if tool.observation_type is not None:
        saved["observation_type"] = tool.observation_type.kind_of()
    if tool.annotations is not None:
        saved["annotations"] = tool.annotations.model_dump(exclude_unset=True)
    if tool.meta is not None:
        saved["meta"] = json_of_meta(tool.meta)
    if tool.max_result_tokens is not None:
        saved["max_result_tokens"] = tool.max_result_tokens
    return saved


def loaded_tool(tool_class: Any, data: Mapping[str, Any]) -> Any:
    """Return the tool of *tool_class*, or of a subclass, that `saved_tool` wrote; see `from_dict`."""
    fields = dict(data)
    kind = fields.pop("kind", tool_class.__name__)
    if kind != tool_class.__name__:
        target = tool_class.resolve_kind(kind)
        # The class may have its own from_dict
        if target is not tool_class:
            return target.from_dict(data)
    check_present(fields, "name", "action_type")
    fields["action_type"] = Action.resolve_kind(fields["action_type"])
    if fields.get("observation_type") is not None:
        fields["observation_type"] = Observation.resolve_kind(fields["observation_type"])
    if fields.get("annotations") is not None:
        fields["annotations"] = ToolAnnotations.model_validate(fields["annotations"])
    return tool_class(**fields)


def check_present(saved: Mapping[str, Any], *keys: str) -> None:
    """Check that *saved*, a saved tool, has all *keys*.

    Raises:
        KindError: If a key is missing.
    """
    missing = [repr(key) for key in keys if key not in saved]
    if missing:
        msg = f"The saved tool has no {' and no '.join(missing)}."
        raise KindError(msg)


def core_schema_of(tool_class: Any) -> CoreSchema:
    """Return the pydantic schema with which a model saves and loads fields of *tool_class*."""

    def validated(value: Any) -> Any:
        if isinstance(value, tool_class):
            return value
        if not isinstance(value, Mapping):
            kind = indefinite(type(value).__name__)
            msg = f"should be a {tool_class.__name__} or a dict from its to_dict(), not {kind}"
            raise ValueError(msg)  # noqa: TRY004 - pydantic reports a ValueError as its own
        try:
            return tool_class.from_dict(value)
        except ToolNotFoundError as error:
            # Also a KeyError; its message is complete
            raise ValueError(str(error)) from error
        except (TypeError, AttributeError) as error:
            msg = f"this is not a saved tool: {error}"
            raise ValueError(msg) from error

    saved = dict_schema()
    return no_info_plain_validator_function(
        validated,
        json_schema_input_schema=saved,
        serialization=plain_serializer_function_ser_schema(
            lambda tool: tool.to_dict(), return_schema=saved
        ),
    )


# --- as a plain function --------------------------------------------------------------


def function_of(tool: "ToolDefinition[Any, Any]") -> Callable[..., Any]:
    """Return *tool* as a plain function; see `to_callable`."""
    returns = tool.observation_type or Observation
    parameters = _parameters_of_function(tool)
    takes = Signature(parameters, return_annotation=returns)

    def call(*positional: Any, **arguments: Any) -> Any:
        ordered = takes.bind_partial(*positional).arguments
        twice = ordered.keys() & arguments.keys()
        if twice:
            msg = f"{tool.name}() got multiple values for argument {min(twice)!r}"
            raise TypeError(msg)
        return tool({**ordered, **arguments})

    call.__name__ = call.__qualname__ = tool.name
    call.__doc__ = tool.description
    call.__annotations__ = {p.name: p.annotation for p in parameters}
    call.__annotations__["return"] = returns
    setattr(call, "__signature__", takes)  # noqa: B010 - mypy knows no such attribute
    return call


def _parameters_of_function(tool: "ToolDefinition[Any, Any]") -> list[Parameter]:
    """Return the arguments of *tool* as parameters of a function.

    `**arguments` takes the arguments whose names are not valid in Python. It also takes further
    arguments if the tool accepts any name.
    """
    kind: Any = Parameter.POSITIONAL_OR_KEYWORD
    parameters: list[Parameter] = []
    has_rest = tool.action_type.model_config.get("extra") == "allow"
    has_default = False
    for attribute, field in tool.action_type.model_fields.items():
        name = field.alias or attribute
        if not name.isidentifier():
            has_rest = True
            continue
        # Python wants those without a default first
        if has_default and field.is_required():
            kind = Parameter.KEYWORD_ONLY
        parameter = Parameter(name, kind, annotation=field.annotation)
        if not field.is_required():
            parameter = parameter.replace(default=field.get_default())
        has_default = not field.is_required()
        parameters.append(parameter)
    if has_rest:
        rest = "arguments"
        while any(parameter.name == rest for parameter in parameters):
            rest += "_"
        parameters.append(Parameter(rest, Parameter.VAR_KEYWORD, annotation=Any))
    return parameters
