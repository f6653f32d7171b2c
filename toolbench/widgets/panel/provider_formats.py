"""A tool as each provider is given it, by the name of the format."""

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
"""The formats as a person calls them."""


def schema_of(tool: ToolDefinition[Any, Any], name: Provider) -> dict[str, Any]:
    """Return what a model of that provider is given of *tool*."""
    return FORMATS[name](tool)


def changes_of(tool: ToolDefinition[Any, Any], name: Provider) -> list[str]:
    """List what the provider cannot take of *tool*, and what became of it."""
    report = format_report(tool, name)
    reasons = [f"not strict: {reason}" for reason in report.not_strict]
    return [*map(str, report.changes), *reasons]
