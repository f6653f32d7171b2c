"""The output schema of a function, created from its return annotation like FastMCP's."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from inspect import isclass
from typing import Any, TypeVar, get_args, get_origin, get_type_hints
from warnings import warn

from pydantic import PydanticUserError, TypeAdapter

from toolbench.core.content import ImageContent, TextContent
from toolbench.core.executor import FunctionExecutor, innermost
from toolbench.core.schema import Schema
from toolbench.core.tool import ToolDefinition
from toolbench.values import plain

WRAPPED = "result"
"""The key for a result that is not an object, because MCP requires an object."""
_WRAPS = "x-fastmcp-wrap-result"
_NO_DATA = (Schema, TextContent, ImageContent, Iterator, AsyncIterator, Awaitable)
_PLAIN = (None, type(None), str, object, Any)


@dataclass(frozen=True)
class ResultSchema:
    """An output schema, and the type adapter that converts a result to JSON for this schema."""

    schema: Mapping[str, Any]
    adapter: TypeAdapter[Any]

    @property
    def wraps(self) -> bool:
        """Whether the result is wrapped in an object, because MCP requires an object."""
        return _WRAPS in self.schema

    def structured(self, result: Any) -> Any:
        """Return *result* as JSON, without checking it against the schema."""
        try:
            data = self.adapter.dump_python(
                result, mode="json", by_alias=False, warnings=False, fallback=str
            )
        except Exception:  # noqa: BLE001 - the result may differ from the annotation
            data = plain(result)
        if self.wraps:
            return {WRAPPED: data}
        return data


def unwrapped(schema: Mapping[str, Any], value: Any) -> Any:
    """Return *value*, which fits *schema*, without the wrapper object, if it has one."""
    is_wrapped = _WRAPS in schema and isinstance(value, Mapping)
    if is_wrapped and value.keys() == {WRAPPED}:
        return value[WRAPPED]
    return value


def result_schema(tool: ToolDefinition[Any, Any]) -> ResultSchema | None:
    """Return the output schema of *tool*, made from the return annotation of its function.

    If the tool has no function, the annotation of its executor's `__call__` is used. Return None if
    the annotation is an observation, or if it cannot be converted to a schema.
    """
    if tool.observation_type is not None or tool.executor is None:
        return None
    function = type(tool.executor).__call__
    if isinstance(tool.executor, FunctionExecutor):
        function = tool.executor.function
    try:
        return _promise(function)
    except TypeError:
        # A callable object may have no hash
        return _of(function)


def _of(function: Callable[..., Any]) -> ResultSchema | None:
    try:
        from fastmcp.tools import Tool  # noqa: PLC0415 - FastMCP takes seconds

        hint = get_type_hints(innermost(function), include_extras=True).get("return")
        if hint in _PLAIN or isinstance(hint, TypeVar) or _holds_no_data(hint):
            return None

        def described() -> Any: ...

        described.__annotations__ = {"return": hint}
        adapter = TypeAdapter(hint)
        schema = Tool.from_function(described).output_schema
        if schema is None:
            return None
        return ResultSchema(schema, adapter)
    except PydanticUserError as error:
        # This happens on Python 3.11
        if error.code == "typed-dict-version":
            msg = (
                f"{innermost(function).__name__} promises no output schema: on this Python its "
                "TypedDict has to come from typing_extensions, not from typing."
            )
            warn(msg, stacklevel=2)
        return None
    except Exception:  # noqa: BLE001 - the annotation may be any type; a page has no FastMCP
        return None


_promise = lru_cache(maxsize=256)(_of)


def _holds_no_data(hint: Any) -> bool:
    """Tell whether values of the type *hint* may be content, such as images, and not data."""
    args = get_args(hint)
    kind = get_origin(hint) or hint
    if isclass(kind) and issubclass(kind, _NO_DATA):
        return True
    if kind in (list, tuple) and Any in args:
        return True
    return any(map(_holds_no_data, args))
