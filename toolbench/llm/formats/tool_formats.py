"""Write a tool in the format of each provider, and report what this changes.

Every function returns a dict that `json.dumps` accepts. For OpenAI and MCP, the
function changes the tool's own export (`to_openai_tool`, `to_responses_tool`,
`to_mcp_tool`). Parts that a provider cannot take are removed or rewritten;
`format_report` lists them. The tool still checks every call.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolbench.core.tool import ToolDefinition, after_reload
from toolbench.jsonschema.compose import with_limits_as_numbers
from toolbench.jsonschema.types import Json
from toolbench.jsonschema.walk import (
    alternatives_in,
    children,
    every,
    reference_in,
    rewritten,
    types_of,
)
from toolbench.llm.formats.arguments import Changes, FormatReport, plain_root
from toolbench.llm.formats.gemini import gemini_schema
from toolbench.llm.providers import (
    ARGUMENT_NAMES,
    TOOL_NAMES,
    Provider,
    tool_name,
)

AnyTool = ToolDefinition[Any, Any]

SHORT_DESCRIPTION = 1_024
"""The longest description, in characters, that every OpenAI model takes."""


def to_openai(
    tool: AnyTool,
    *,
    security_risk: bool = False,
    summary: bool = False,
    longest_description: int = SHORT_DESCRIPTION,
) -> Json:
    """Return *tool* for OpenAI's chat completions; `strict` if the schema allows it.

    Args:
        tool: The tool.
        security_risk: Whether to ask the model how risky a call is; ignored for a read-only tool.
        summary: Whether to ask the model for the purpose of each call, in one line.
        longest_description: The most characters of the description; a longer text is cut, if
            possible after a sentence.

    Raises:
        ToolbenchError: If the tool is not for models; see `ToolDefinition.is_for_models`.
    """
    tool = _offered(tool)
    exported = tool.to_openai_tool(add_security_risk_prediction=security_risk, add_summary=summary)
    function, _ = _fitted(exported["function"], "openai", longest_description)
    return {**exported, "function": function}


def to_responses(
    tool: AnyTool,
    *,
    security_risk: bool = False,
    summary: bool = False,
    longest_description: int = SHORT_DESCRIPTION,
) -> Json:
    """Return *tool* for OpenAI's Responses API; for parameters and errors see `to_openai`."""
    tool = _offered(tool)
    exported = tool.to_responses_tool(
        add_security_risk_prediction=security_risk, add_summary=summary
    )
    return _fitted(exported, "responses", longest_description)[0]


def to_anthropic(tool: AnyTool, *, security_risk: bool = False, summary: bool = False) -> Json:
    """Return *tool* for Anthropic's Messages API; for parameters and errors see `to_openai`."""
    tool = _offered(tool)
    parameters = tool.parameters(security_risk=security_risk, summary=summary)
    return _anthropic(tool, parameters, Changes())


def to_gemini(tool: AnyTool, *, security_risk: bool = False, summary: bool = False) -> Json:
    """Return *tool* as a Gemini function declaration; for parameters and errors see `to_openai`."""
    tool = _offered(tool)
    parameters = tool.parameters(security_risk=security_risk, summary=summary)
    return _gemini(tool, parameters, Changes())


def to_mcp(tool: AnyTool, *, security_risk: bool = False, summary: bool = False) -> Json:
    """Return *tool* as an MCP server lists it, unchanged; for the parameters see `to_openai`."""
    tool = after_reload(tool)
    parameters = tool.parameters(security_risk=security_risk, summary=summary)
    return tool.to_mcp_tool(input_schema=parameters)


FORMATS: Mapping[Provider, Callable[..., Json]] = {
    "openai": to_openai,
    "responses": to_responses,
    "anthropic": to_anthropic,
    "gemini": to_gemini,
    "mcp": to_mcp,
}
"""The function that writes a tool for each provider."""


def format_report(
    tool: AnyTool,
    provider: Provider,
    *,
    security_risk: bool = False,
    summary: bool = False,
) -> FormatReport:
    """Return a report: the changes to *tool* for *provider*, and the reasons against strict mode.

    Raises:
        ValueError: If there is no such provider.
    """
    if provider not in FORMATS:
        msg = f"There is no provider {provider!r}; use one of {', '.join(FORMATS)}."
        raise ValueError(msg)
    tool = after_reload(tool)
    if provider in ("openai", "responses"):
        export = tool.to_openai_tool
        if provider == "responses":
            export = tool.to_responses_tool
        exported = export(add_security_risk_prediction=security_risk, add_summary=summary)
        function = exported.get("function", exported)
        return _fitted(function, provider, SHORT_DESCRIPTION)[1]
    parameters = tool.parameters(security_risk=security_risk, summary=summary)
    changes = Changes()
    if provider == "anthropic":
        _anthropic(tool, parameters, changes)
    if provider == "gemini":
        _gemini(tool, parameters, changes)
    return FormatReport(provider, tool.name, tuple(changes.entries))


# --- the formats ----------------------------------------------------------------------


def _offered(tool: AnyTool) -> AnyTool:
    """Return the tool that a call of *tool* runs, after a check that models may have it."""
    newest = after_reload(tool)
    newest.check_for_models()
    return newest


def _fitted(function: Json, provider: Provider, longest: int) -> tuple[Json, FormatReport]:
    """Return *function*, a tool in OpenAI's format, changed to fit OpenAI's limits, and a report.

    *longest* is the most characters of the description.
    """
    changes = Changes()
    schema = plain_root(function["parameters"], changes)
    parameters = rewritten(schema, _itemed(changes))
    hindered = obstacles(parameters)
    if not hindered:
        parameters = strict(parameters, changes)
    fitted = {
        **function,
        "name": _fitting_name(function["name"], provider, changes),
        "description": _shortened(function["description"], longest, changes),
        "parameters": parameters,
        "strict": not hindered,
    }
    report = FormatReport(
        provider, function["name"], tuple(changes.entries), not hindered, hindered
    )
    return fitted, report


def _anthropic(tool: AnyTool, parameters: Json, changes: Changes) -> Json:
    schema = rewritten(plain_root(parameters, changes), _modern(changes))
    return {
        "name": _fitting_name(tool.name, "anthropic", changes),
        "description": tool.description,
        "input_schema": _renamed_arguments(schema, changes),
    }


def _gemini(tool: AnyTool, parameters: Json, changes: Changes) -> Json:
    schema = gemini_schema(plain_root(parameters, changes), changes)
    declaration: Json = {
        "name": _fitting_name(tool.name, "gemini", changes),
        "description": tool.description,
    }
    if schema.get("properties"):
        declaration["parameters"] = schema
    else:
        changes.note("", "removed", "an object without properties is refused")
    return declaration


def _fitting_name(own: str, provider: Provider, changes: Changes) -> str:
    name = tool_name(own, provider)
    if name != own:
        rule = TOOL_NAMES[provider].words
        changes.note("name", "renamed", f"to {name!r}: at most {rule}", refused=True)
    return name


def _shortened(description: str, longest: int, changes: Changes) -> str:
    if len(description) <= longest:
        return description
    message = f"{len(description):,} characters; at most {longest:,} are allowed"
    changes.note("description", "shortened", message)
    head = description[: longest - 2]
    ends = [sentence.end() for sentence in re.finditer(r"[.!?](?=\s)|\n", head)]
    if ends and ends[-1] > longest // 2:
        head = head[: ends[-1]]
    return f"{head.rstrip()} …"


def _itemed(changes: Changes) -> Callable[[Json, str], Json]:
    def change(node: Json, where: str) -> Json:
        if "array" in types_of(node) and "items" not in node:
            message = "a list must describe its items"
            changes.note(where, "rewritten", message, refused=True)
            node["items"] = {}
        return node

    return change


def _modern(changes: Changes) -> Callable[[Json, str], Json]:
    """Return a function that rewrites schemas of older drafts: Anthropic reads only draft 2020-12."""

    def change(node: Json, where: str) -> Json:
        modern = dict(with_limits_as_numbers(node))
        if isinstance(modern.get("items"), list):
            modern["prefixItems"] = modern.pop("items")
            if "additionalItems" in modern:
                modern["items"] = modern.pop("additionalItems")
        if modern != node:
            message = "it was written as in draft 2020-12"
            changes.note(where, "rewritten", message, refused=True)
        if not where and changes.entries:
            modern.pop("$schema", None)
        return modern

    return change


def _renamed_arguments(schema: Json, changes: Changes) -> Json:
    rule = ARGUMENT_NAMES["anthropic"]
    new = rule.renamed(schema["properties"])
    if not new:
        return schema
    for own, name in new.items():
        message = f"to {name!r}: at most {rule.words}"
        changes.note(own, "renamed", message, refused=True)
    renamed = {**schema, "properties": {}}
    for name, sub in schema["properties"].items():
        renamed["properties"][new.get(name, name)] = sub
    if schema.get("required"):
        renamed["required"] = [new.get(name, name) for name in schema["required"]]
    return renamed


# --- OpenAI's strict mode ----------------------------------------------------------------
# Source: OpenAI, "Structured model outputs", supported schemas.

_KNOWN = frozenset(
    {
        *("type", "title", "description", "enum", "const", "anyOf", "$ref", "$defs"),
        *("properties", "required", "additionalProperties", "definitions", "$schema"),
        *("pattern", "format", "multipleOf", "minimum", "maximum"),
        *("exclusiveMinimum", "exclusiveMaximum", "items", "minItems", "maxItems"),
    }
)
# A model in strict mode sends every argument
_MEANINGLESS = ("default", "examples")
_SUPPORTED = _KNOWN.union(_MEANINGLESS)
_FORMATS = frozenset(
    {
        *("date-time", "time", "date", "duration", "email", "hostname"),
        *("ipv4", "ipv6", "uuid"),
    }
)
_MOST_LEVELS = 10


def strict(schema: Json, changes: Changes) -> Json:
    """Return *schema*, changed as OpenAI's strict mode requires; *schema* must have no `obstacles`."""

    def close(node: Json, where: str) -> Json:
        for key in _MEANINGLESS:
            if key in node:
                del node[key]
                changes.note(where, "removed", f"{key!r} is not allowed in strict mode")
        if "object" in types_of(node) and "additionalProperties" not in node:
            node["additionalProperties"] = False
            changes.note(where, "rewritten", "other arguments are not allowed")
        return node

    closed: Json = rewritten(schema, close)
    return closed


def obstacles(schema: Json) -> tuple[str, ...]:
    """Return the reasons why *schema* does not fit strict mode, a sentence each."""
    reasons = list(dict.fromkeys(_misfits(schema)))
    levels = _depth(schema)
    if levels > _MOST_LEVELS:
        things = f"{levels:,} levels of objects and lists"
        reasons.append(f"arguments: {things}; at most {_MOST_LEVELS:,} are allowed")
    return tuple(reasons)


def _misfits(schema: Json) -> Iterator[str]:
    for place, node in every(schema):
        where = place or "arguments"
        for key in node:
            if key not in _SUPPORTED:
                yield f"{where}: {key!r} is not supported"
        reference, beside = reference_in(node)
        chosen = node.keys() & {"type", "enum", "const"} or alternatives_in(node)[1]
        if reference is None and not chosen:
            yield f"{where}: has no type"
        if reference is not None and beside:
            yield f"{where}: a reference must stand alone"
        if node.get("format", "date") not in _FORMATS:
            yield f"{where}: format {node['format']!r} is not supported"
        types = types_of(node)
        # Older drafts have a list of schemas here, and others a boolean
        if "array" in types and not isinstance(node.get("items"), Mapping):
            yield f"{where}: the list does not say what its items are"
        if "object" in types:
            yield from _openings(node, where)


def _openings(node: Json, where: str) -> Iterator[str]:
    if node.get("additionalProperties", False) is not False:
        yield f"{where}: allows arguments without a name in the schema"
    properties = node.get("properties")
    if not isinstance(properties, Mapping):
        yield f"{where}: the object does not name its properties"
        return
    optional = [name for name in properties if name not in node.get("required", ())]
    if optional:
        yield f"{where}: not required: {', '.join(optional)}"


def _depth(node: Any) -> int:
    if not isinstance(node, Mapping):
        return 0
    inner = max((_depth(sub) for _, _, sub in children(node, "")), default=0)
    return inner + bool({"object", "array"} & set(types_of(node)))
