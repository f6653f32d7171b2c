"""Read, check, repair and show the tool calls in a model's message."""

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
    from toolbench.llm.compose import respond as respond
    from toolbench.llm.compose import respond_all as respond_all
    from toolbench.llm.read import ToolCallAccumulator as ToolCallAccumulator

__getattr__, __dir__, __all__ = public_names(__name__)
