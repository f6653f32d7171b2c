"""Tools in the formats of providers, the calls that models send, the answers to calls, and models."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.llm.calls.repairs import Repair as Repair
    from toolbench.llm.calls.tool_call import CallMetadata as CallMetadata
    from toolbench.llm.calls.tool_call import (
        FunctionCallNotExistsError as FunctionCallNotExistsError,
    )
    from toolbench.llm.calls.tool_call import (
        FunctionCallValidationError as FunctionCallValidationError,
    )
    from toolbench.llm.calls.tool_call import ToolCall as ToolCall
    from toolbench.llm.calls.tool_call import parse_tool_calls as parse_tool_calls
    from toolbench.llm.compose import as_anthropic_call as as_anthropic_call
    from toolbench.llm.compose import as_gemini_call as as_gemini_call
    from toolbench.llm.compose import as_mcp_call as as_mcp_call
    from toolbench.llm.compose import as_openai_call as as_openai_call
    from toolbench.llm.compose import as_responses_call as as_responses_call
    from toolbench.llm.compose import respond as respond
    from toolbench.llm.compose import respond_all as respond_all
    from toolbench.llm.compose import system_message as system_message
    from toolbench.llm.compose import user_message as user_message
    from toolbench.llm.formats.arguments import Change as Change
    from toolbench.llm.formats.arguments import FormatReport as FormatReport
    from toolbench.llm.formats.tool_formats import format_report as format_report
    from toolbench.llm.formats.tool_formats import to_anthropic as to_anthropic
    from toolbench.llm.formats.tool_formats import to_gemini as to_gemini
    from toolbench.llm.formats.tool_formats import to_mcp as to_mcp
    from toolbench.llm.formats.tool_formats import to_openai as to_openai
    from toolbench.llm.formats.tool_formats import to_responses as to_responses
    from toolbench.llm.lint import lint_tool as lint_tool
    from toolbench.llm.models import Answer as Answer
    from toolbench.llm.models import CancelToken as CancelToken
    from toolbench.llm.models import Chunk as Chunk
    from toolbench.llm.models import LocalModel as LocalModel
    from toolbench.llm.models import Model as Model
    from toolbench.llm.models import PersonModel as PersonModel
    from toolbench.llm.models import PersonRequest as PersonRequest
    from toolbench.llm.models import Price as Price
    from toolbench.llm.models import RecordedModel as RecordedModel
    from toolbench.llm.models import ScriptedModel as ScriptedModel
    from toolbench.llm.models import Usage as Usage
    from toolbench.llm.models import as_model as as_model
    from toolbench.llm.read import ToolCallAccumulator as ToolCallAccumulator
    from toolbench.llm.tokens import TokenCount as TokenCount
    from toolbench.llm.tokens import count_tokens as count_tokens
    from toolbench.wording import estimate_tokens as estimate_tokens

__getattr__, __dir__, __all__ = public_names(__name__, packages=("lint", "models"))
