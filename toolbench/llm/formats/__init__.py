"""A tool in the format of each provider, with a report of the changes."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.llm.formats.tool_formats import format_report as format_report
    from toolbench.llm.formats.tool_formats import to_anthropic as to_anthropic
    from toolbench.llm.formats.tool_formats import to_format as to_format
    from toolbench.llm.formats.tool_formats import to_gemini as to_gemini
    from toolbench.llm.formats.tool_formats import to_mcp as to_mcp
    from toolbench.llm.formats.tool_formats import to_openai as to_openai
    from toolbench.llm.formats.tool_formats import to_responses as to_responses

__getattr__, __dir__, __all__ = public_names(__name__)
