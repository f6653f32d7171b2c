"""What an agent gets for a call: the result of `tools/call`, from the tool or by hand."""

from collections.abc import Mapping
from typing import Any

from toolbench.core.coercion.coercion import observation_of
from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition
from toolbench.errors import ToolbenchError
from toolbench.jsonschema.validation.validator import validator_of

_STRUCTURED = "structuredContent"


def result_of(
    tool: ToolDefinition[Any, Any], observation: Observation
) -> dict[str, Any]:
    """Return the result of `tools/call` for *observation*, with all that *tool* promises."""
    result = observation.to_mcp_result()
    # what another server's tool promises, its own result has, or nothing here does
    is_own = tool.source == ToolDefinition.source and tool.observation_type is not None
    is_promised = is_own and not observation.is_error
    if is_promised and _STRUCTURED not in result:
        result[_STRUCTURED] = observation.model_dump(mode="json", by_alias=True)
    return result


def output_schema_of(tool: ToolDefinition[Any, Any]) -> Mapping[str, Any] | None:
    """Return what *tool* promises of the structure of its results, if it promises anything."""
    schema: Mapping[str, Any] | None = tool.to_mcp_tool().get("outputSchema")
    return schema


def observation_by_hand(
    tool: ToolDefinition[Any, Any], answer: Observation | Mapping[str, Any] | str
) -> Observation:
    """Return *answer*, which a person gives in place of *tool*, as the tool would.

    Raises:
        ToolbenchError: If it is no failure and lacks what the tool promises.
    """
    try:
        observation = (
            Observation.from_text(answer)
            if isinstance(answer, str) and output_schema_of(tool) is None
            else observation_of(answer, tool.observation_type, tool.name)
        )
    except TypeError as error:
        msg = f"{error} Answer with a dict of its fields, or with an observation."
        raise ToolbenchError(msg) from None
    schema = output_schema_of(tool)
    if schema is None or observation.is_error:
        return observation
    structured = result_of(tool, observation).get(_STRUCTURED)
    problem = next(iter(validator_of(dict(schema)).problems(structured)), None)
    if problem is not None:
        msg = (
            f"{tool.name} promises results of a certain structure, and the answer does not fit: "
            f"{problem}. Answer with a dict that fits, or with an observation that failed."
        )
        raise ToolbenchError(msg)
    return observation
