"""Create the result of `tools/call` from the tool's observation or the user's answer."""

from collections.abc import Mapping
from typing import Any

from toolbench.core.coercion import ResultObservation, observation_of
from toolbench.core.content import ImageContent, TextContent
from toolbench.core.schema import Observation
from toolbench.core.tool import ToolDefinition
from toolbench.display.observations import read_by_model
from toolbench.errors import ToolbenchError
from toolbench.jsonschema.validate import validator_of
from toolbench.serving.result_schema import ResultSchema, result_schema, unwrapped
from toolbench.values import sendable

_STRUCTURED = "structuredContent"


def result_of(tool: ToolDefinition[Any, Any], observation: Observation) -> dict[str, Any]:
    """Return *observation* as the result of `tools/call`, in the form of *tool*'s output schema."""
    if tool.max_result_tokens is not None:
        read: dict[str, Any] = sendable(_as_read(observation))
        return read
    result = observation.to_mcp_result()
    # A tool of another MCP server has its own output schema, which fits its results: add nothing to
    # them
    is_own = tool.source == ToolDefinition.source and tool.observation_type is not None
    is_promised = is_own and not observation.is_error
    if is_promised and _STRUCTURED not in result:
        result[_STRUCTURED] = observation.model_dump(mode="json", by_alias=True)
    if observation.is_error:
        promised = None
    else:
        promised = result_schema(tool)
    if promised is not None:
        _add_promised(result, promised, observation)
    return _sent(tool, result, is_checked=promised is None)


def _as_read(observation: Observation) -> dict[str, Any]:
    """Return *observation* as the result of a call, shortened to the length for a model.

    The structured content is left out, because it cannot be shortened, and clients may pass it to
    the model.
    """
    header = TextContent(text=observation.ERROR_MESSAGE_HEADER)
    blocks: list[dict[str, Any]] = []
    for item in read_by_model(observation):
        if isinstance(item, TextContent | ImageContent) and item != header:
            blocks += item.to_mcp_blocks()
    return {"content": blocks, "isError": observation.is_error}


def _add_promised(result: dict[str, Any], promised: ResultSchema, observation: Observation) -> None:
    """Add structured content to *result* that follows *promised*, a function's output schema."""
    if isinstance(observation, ResultObservation):
        result[_STRUCTURED] = promised.structured(observation.result)
    if promised.wraps:
        result["_meta"] = {"fastmcp": {"wrap_result": True}}


def _sent(
    tool: ToolDefinition[Any, Any], result: Mapping[str, Any], *, is_checked: bool
) -> dict[str, Any]:
    """Convert *result* to JSON; return a failure instead if it does not fit the output schema.

    Args:
        tool: The tool.
        result: The result of the call.
        is_checked: Whether the structured content was validated before. It is then validated again
            only if the conversion to JSON changes it.
    """
    sent: dict[str, Any] = sendable(result)
    structured = sent.get(_STRUCTURED)
    is_changed = structured != result.get(_STRUCTURED)
    if is_checked and not is_changed:
        return sent
    schema = output_schema_of(tool)
    if schema is None:
        return sent
    problem = next(iter(validator_of(dict(schema)).problems(structured)), None)
    if problem is None:
        return sent
    text = f"The result of {tool.name} does not fit its output schema: {problem}."
    if is_changed:
        text += " JSON has no NaN, no infinity and no incomplete characters."
    blocks = [*sent["content"], {"type": "text", "text": text}]
    return {"content": blocks, "isError": True}


def output_schema_of(tool: ToolDefinition[Any, Any]) -> Mapping[str, Any] | None:
    """Return the output schema of *tool*; None if it has none, or its results are cut."""
    if tool.max_result_tokens is not None:
        return None
    schema: Mapping[str, Any] | None = tool.to_mcp_tool().get("outputSchema")
    if schema is not None:
        promised = None
    else:
        promised = result_schema(tool)
    if promised is None:
        return schema
    return promised.schema


def observation_by_hand(
    tool: ToolDefinition[Any, Any], answer: Observation | Mapping[str, Any] | str
) -> Observation:
    """Convert *answer*, which the user gives instead of running *tool*, to an observation.

    Raises:
        ToolbenchError: If *answer* is not a failure and does not match the tool's output schema.
    """
    try:
        if isinstance(answer, str) and output_schema_of(tool) is None:
            observation = Observation.from_text(answer)
        else:
            observation = observation_of(answer, tool.observation_type, tool.name)
    except TypeError as error:
        msg = f"{error} Answer with a dict of its fields, or with an observation."
        raise ToolbenchError(msg) from None
    schema = output_schema_of(tool)
    if schema is None or observation.is_error:
        return observation
    observation = _unwrapped(tool, observation)
    structured = result_of(tool, observation).get(_STRUCTURED)
    problem = next(iter(validator_of(dict(schema)).problems(structured)), None)
    if problem is not None:
        msg = (
            f"{tool.name} has an output schema, and the answer does not fit it: {problem}. "
            "Answer with a dict that fits, or with a failed observation."
        )
        raise ToolbenchError(msg)
    return observation


def _unwrapped(tool: ToolDefinition[Any, Any], observation: Observation) -> Observation:
    """Return *observation*, an answer of the user, without the wrapper `{"result": ...}`.

    If the output schema of *tool* requires this wrapper, the user's answers have it, but the
    results of the tool's function do not.
    """
    promised = result_schema(tool)
    if promised is None or not isinstance(observation, ResultObservation):
        return observation
    value = unwrapped(promised.schema, observation.result)
    if value is observation.result:
        return observation
    return observation.model_copy(update={"result": value})
