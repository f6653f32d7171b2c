"""What a provider is given of a tool, and what the report says of it."""

from toolbench.llm.formats import FORMATS, format_report


def parameters(tool, provider):
    """The schema *provider* is given."""
    given = FORMATS[provider](tool)
    return (given.get("function") or given).get(
        {"anthropic": "input_schema", "mcp": "inputSchema"}.get(provider, "parameters")
    )


def changes(tool, provider):
    """What the report says, by place."""
    return {c.where: c for c in format_report(tool, provider).changes}
