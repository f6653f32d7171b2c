"""A tool in each provider's format, for the tab Schema."""

from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.llm.formats import FORMATS as FORMATS
from toolbench.llm.formats import format_report
from toolbench.llm.providers import Provider

LABELS: dict[Provider, str] = {
    "mcp": "MCP",
    "openai": "OpenAI chat completions",
    "responses": "OpenAI Responses",
    "anthropic": "Anthropic",
    "gemini": "Gemini",
}
"""The names of the formats for a person."""


def schema_of(tool: ToolDefinition[Any, Any], name: Provider) -> dict[str, Any]:
    """Return *tool* in the format with the name *name*."""
    return FORMATS[name](tool)


def changes_of(tool: ToolDefinition[Any, Any], name: Provider) -> list[str]:
    """List the changes made to *tool* for a provider, and why it is not strict."""
    report = format_report(tool, name)
    reasons = [f"not strict: {reason}" for reason in report.not_strict]
    return [*map(str, report.changes), *reasons]
