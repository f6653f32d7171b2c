"""The model's side of a tool: its formats, the calls a model sends, and what it is answered."""

from toolbench.llm.calls import (
    CallMetadata,
    FunctionCallNotExistsError,
    FunctionCallValidationError,
    Repair,
    ToolCall,
    ToolCallAccumulator,
    parse_tool_calls,
    respond,
)
from toolbench.llm.formats import (
    format_report,
    to_anthropic,
    to_gemini,
    to_mcp,
    to_openai,
    to_responses,
)
from toolbench.llm.payloads import (
    as_anthropic_call,
    as_gemini_call,
    as_mcp_call,
    as_openai_call,
    as_responses_call,
)
from toolbench.llm.report import Change, FormatReport
from toolbench.llm.tokens import TokenCount, count_tokens, estimate_tokens

__all__ = [
    "CallMetadata",
    "Change",
    "FormatReport",
    "FunctionCallNotExistsError",
    "FunctionCallValidationError",
    "Repair",
    "TokenCount",
    "ToolCall",
    "ToolCallAccumulator",
    "as_anthropic_call",
    "as_gemini_call",
    "as_mcp_call",
    "as_openai_call",
    "as_responses_call",
    "count_tokens",
    "estimate_tokens",
    "format_report",
    "parse_tool_calls",
    "respond",
    "to_anthropic",
    "to_gemini",
    "to_mcp",
    "to_openai",
    "to_responses",
]
