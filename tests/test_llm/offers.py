"""What a provider is given of a tool, and what the report says of it."""

from toolbench.llm.formats import format_report, to_format


def parameters(tool, provider, **questions):
    """The schema *provider* is given, with *questions* about the call if wanted."""
    offer = to_format(tool, provider, **questions)
    return (offer.get("function") or offer).get(
        {"anthropic": "input_schema", "mcp": "inputSchema"}.get(provider, "parameters")
    )


def changes(tool, provider):
    """What the report says, by place."""
    return {c.where: c for c in format_report(tool, provider).changes}
