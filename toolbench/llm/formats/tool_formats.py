"""Write a tool in the format of a provider, and report the changes.

Every function returns a dict that `json.dumps` accepts. Parts that a provider does not accept are
removed or rewritten, and `format_report` lists them. The tool still checks every call.
"""

from typing import Any

from toolbench.core.tool import ToolDefinition, after_reload
from toolbench.jsonschema.types import Json
from toolbench.llm.formats.arguments import Changes, FormatReport
from toolbench.llm.formats.openai import SHORT_DESCRIPTION
from toolbench.llm.message import Provider
from toolbench.llm.wire import wire_of
from toolbench.llm.wire.openai_chat import OpenAIChatWire
from toolbench.llm.wire.openai_responses import ResponsesWire

AnyTool = ToolDefinition[Any, Any]


def to_openai(
    tool: AnyTool,
    *,
    security_risk: bool = False,
    summary: bool = False,
    longest_description: int = SHORT_DESCRIPTION,
) -> Json:
    """Return *tool* for OpenAI's chat completions, in strict mode if its schema allows that.

    Args:
        tool: The tool.
        security_risk: Whether to add an argument `security_risk`, in which the model rates the
            risk of its call. A read-only tool never gets this argument.
        summary: Whether to add an argument `summary`, in which the model states the purpose of
            its call in one line.
        longest_description: The maximum number of characters of the tool's description. A longer
            description is cut, if possible at the end of a sentence.

    Raises:
        ToolbenchError: If the tool is not for models; see `ToolDefinition.is_for_models`.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import to_openai
        >>> @tool
        ... def greet(name: str) -> str:
        ...     "Greet a guest."
        ...     return f"Welcome, {name}!"
        >>> function = to_openai(greet)["function"]
        >>> function["name"], function["strict"], function["parameters"]["required"]
        ('greet', True, ['name'])
    """
    wire, newest = OpenAIChatWire(longest_description), after_reload(tool)
    return wire.write_tool(newest, Changes(), security_risk=security_risk, summary=summary)


def to_responses(
    tool: AnyTool,
    *,
    security_risk: bool = False,
    summary: bool = False,
    longest_description: int = SHORT_DESCRIPTION,
) -> Json:
    """Return *tool* for OpenAI's Responses API. The parameters and errors are as in `to_openai`.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import to_responses
        >>> @tool
        ... def wait(seconds: int) -> str:
        ...     "Wait."
        ...     return "done"
        >>> definition = to_responses(wait)
        >>> definition["type"], definition["name"]
        ('function', 'wait')
    """
    wire, newest = ResponsesWire(longest_description), after_reload(tool)
    return wire.write_tool(newest, Changes(), security_risk=security_risk, summary=summary)


def to_anthropic(tool: AnyTool, *, security_risk: bool = False, summary: bool = False) -> Json:
    """Return *tool* for Anthropic's Messages API. The parameters and errors are as in `to_openai`.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import to_anthropic
        >>> @tool
        ... def now() -> str:
        ...     "Return the time of day."
        ...     return "12:00"
        >>> to_anthropic(now)["input_schema"]
        {'type': 'object', 'additionalProperties': False, 'properties': {}}
    """
    return to_format(tool, "anthropic", security_risk=security_risk, summary=summary)


def to_gemini(tool: AnyTool, *, security_risk: bool = False, summary: bool = False) -> Json:
    """Return *tool* as a declaration for Gemini. The parameters and errors are as in `to_openai`.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import to_gemini
        >>> @tool
        ... def flip(coins: int = 1) -> str:
        ...     "Flip coins."
        ...     return "heads"
        >>> to_gemini(flip)["parameters"]["properties"]
        {'coins': {'type': 'integer', 'description': '(default: 1)'}}
    """
    return to_format(tool, "gemini", security_risk=security_risk, summary=summary)


def to_mcp(tool: AnyTool, *, security_risk: bool = False, summary: bool = False) -> Json:
    """Return *tool* as an MCP server would list it. The parameters are as in `to_openai`.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import to_mcp
        >>> @tool(read_only=True)
        ... def uptime() -> float:
        ...     "Return the hours since the last restart."
        ...     return 12.5
        >>> to_mcp(uptime)["annotations"]
        {'readOnlyHint': True}
    """
    return to_format(tool, "mcp", security_risk=security_risk, summary=summary)


def to_format(
    tool: AnyTool, provider: Provider, *, security_risk: bool = False, summary: bool = False
) -> Json:
    """Return *tool* in the format of *provider*; for parameters and errors see `to_openai`.

    Raises:
        ValueError: If there is no such provider.
    """
    wire, newest = wire_of(provider), after_reload(tool)
    if wire.is_for_models:
        newest.check_for_models()
    return wire.write_tool(newest, Changes(), security_risk=security_risk, summary=summary)


def format_report(
    tool: AnyTool,
    provider: Provider,
    *,
    security_risk: bool = False,
    summary: bool = False,
) -> FormatReport:
    """Return a report on the changes to *tool* that *provider* requires.

    The report also says whether strict mode can be used, and why not.

    Raises:
        ValueError: If *provider* is not the name of a provider.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import format_report
        >>> @tool
        ... def search(filters: dict[str, str]) -> str:
        ...     "Search the catalogue."
        ...     return ""
        >>> report = format_report(search, "openai")
        >>> report.strict, report.not_strict[0]
        (False, 'filters: allows arguments without a name in the schema')
    """
    newest, changes = after_reload(tool), Changes()
    wire_of(provider).write_tool(newest, changes, security_risk=security_risk, summary=summary)
    entries = tuple(changes.entries)
    return FormatReport(provider, newest.name, entries, changes.strict, changes.not_strict)
