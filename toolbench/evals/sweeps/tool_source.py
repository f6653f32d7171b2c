"""What a tool does, as far as its source tells: a sweep is not resumed after it changed."""

from inspect import getsource
from types import CodeType
from typing import Any

from toolbench.core.executor import FunctionExecutor, innermost
from toolbench.core.tool import ToolDefinition


def source_of(tool: ToolDefinition[Any, Any]) -> str:
    """Return the source of what does the work of *tool*; its compiled code where there is none."""
    executor: Any = tool.executor
    is_function = isinstance(executor, FunctionExecutor)
    thing = innermost(executor.function) if is_function else type(executor)
    try:
        return getsource(thing)
    except (OSError, TypeError):
        code = getattr(thing, "__code__", None)
        return _code_text(code) if code is not None else repr(type(executor))


def _code_text(code: CodeType) -> str:
    """Return what identifies compiled code: its instructions, names and constants."""
    constants = [
        _code_text(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts
    ]
    return f"{code.co_code.hex()} {code.co_names} {' '.join(constants)}"
