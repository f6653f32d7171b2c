"""A tool as each provider is given it, by the name of the format."""

from collections.abc import Callable
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.llm.formats import (
    to_anthropic,
    to_gemini,
    to_mcp,
    to_openai,
    to_responses,
)

FORMATS: dict[str, Callable[[ToolDefinition[Any, Any]], dict[str, Any]]] = {
    "mcp": to_mcp,
    "openai": to_openai,
    "responses": to_responses,
    "anthropic": to_anthropic,
    "gemini": to_gemini,
}


def schema_of(tool: ToolDefinition[Any, Any], name: str) -> dict[str, Any]:
    """Return what a model of that provider is given of *tool*."""
    return FORMATS[name](tool)
