"""Find the source of a tool: after it changed, a sweep must not be resumed."""

from inspect import getsource
from types import CodeType
from typing import Any

from toolbench.core.executor import FunctionExecutor, innermost
from toolbench.core.tool import ToolDefinition


def source_of(tool: ToolDefinition[Any, Any]) -> str:
    """Return the source of the function or executor of *tool*, or else its compiled code."""
    executor: Any = tool.executor
    is_function = isinstance(executor, FunctionExecutor)
    thing = innermost(executor.function) if is_function else type(executor)
    try:
        return getsource(thing)
    except (OSError, TypeError):
        code = getattr(thing, "__code__", None)
        return _code_text(code) if code is not None else repr(type(executor))


def _code_text(code: CodeType) -> str:
    """Return a text that identifies compiled code: its instructions, names and constants."""
    constants = [
        _code_text(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts
    ]
    return f"{code.co_code.hex()} {code.co_names} {' '.join(constants)}"
