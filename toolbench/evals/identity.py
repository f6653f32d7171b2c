"""Identify a model, a tool or a value by a string: saved work is reused if the strings are equal.

The string for a tool contains its name, schema, version, and its source or server. It does not show
what else the tool's code reads (variables, functions, files), which cannot be found reliably.
After such a change, give a new `version=`.
"""

import inspect
import json
import pickle
from collections.abc import Set
from functools import partial
from hashlib import sha256
from secrets import token_hex
from types import CodeType, FunctionType
from typing import Any

from toolbench.core.executor import FunctionExecutor
from toolbench.core.tool import ToolDefinition
from toolbench.llm.models import Model
from toolbench.values import parts

# The attributes that say which model answers, of providers' models and of others that have them
_OF_A_MODEL = (
    "provider",
    "model",
    "written_calls",
    "path",
    "_place",
    "_base",
    "_options",
    "_settings",
)
_OF_A_SERVER = ("transport", "command", "args", "env", "cwd", "url", "headers")
# So that each Python writes the same bytes
_PICKLE = 4


def value_text(value: Any) -> str:
    """Return a text that identifies *value*, to compare the value with earlier ones.

    The values 1, 1.0, "1" and true have different texts. A value that cannot be serialized, such as
    a lock, gets a random text.
    """
    try:
        return json.dumps(_typed(value))
    except Exception:  # noqa: BLE001 - an object may raise anything when it is read
        return token_hex()


def _typed(value: Any) -> list[Any]:
    """Return *value* as JSON data that includes the type of each part."""
    kind = type(value).__qualname__
    inside = parts(value)
    if inside is None:
        return [kind, sha256(pickle.dumps(value, _PICKLE)).hexdigest()]
    if isinstance(inside, dict):
        items = sorted([_typed(name), _typed(part)] for name, part in inside.items())
    else:
        items = [_typed(part) for part in inside]
    if isinstance(value, Set):
        items.sort()
    return [kind, *items]


def tool_text(tool: ToolDefinition[Any, Any], version: str | None = None) -> str:
    """Return a text that identifies *tool*: its name, schema, version, and source or server.

    Args:
        tool: The tool.
        version: A label for everything that the source does not show, such as the data that the
            tool reads. By default, the label of the tool or of its server.
    """
    if version is None:
        version = tool.version
    entry = tool.origin
    if entry is None:
        executor: Any = tool.executor
        if isinstance(executor, FunctionExecutor):
            executor = executor.function
        work: Any = source_of(executor)
    else:
        work = {name: getattr(entry, name, None) for name in _OF_A_SERVER}
    return value_text([tool.name, tool.input_schema, version, work])


def model_text(model: Model) -> str:
    """Return the text that identifies *model*: its name, type, address and options.

    For a function, the text includes the function's source.
    """
    facts: list[Any] = [type(model).__qualname__, model.name]
    facts += [getattr(model, name, None) for name in _OF_A_MODEL]
    if hasattr(model, "_function"):
        facts.append(source_of(model._function))
    if getattr(model, "_inner", None) is not None:
        facts.append(model_text(model._inner))  # type: ignore[attr-defined]
    return value_text(facts)


def source_of(work: Any) -> str:
    """Return the source code of a function, or of the methods of an object's class.

    If the source is not available, as for code typed into Python's console, return the compiled
    code as text.
    """
    while isinstance(work, partial):
        work = work.func
    work = inspect.unwrap(getattr(work, "__func__", work))
    if isinstance(work, FunctionType):
        return _written(work)
    if inspect.isbuiltin(work):
        return f"{work.__module__}.{work.__qualname__}"
    texts = [type(work).__qualname__]
    for base in type(work).__mro__:
        if base.__module__.partition(".")[0] in ("builtins", "toolbench", "abc", "typing"):
            continue
        for member in vars(base).values():
            function = getattr(member, "__func__", getattr(member, "fget", member))
            if isinstance(function, FunctionType):
                texts.append(_written(inspect.unwrap(function)))
    return "\n".join(texts)


def _written(function: Any) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError, SyntaxError):
        # Or with the lines of another file, which was changed
        return _compiled(function.__code__)


def _compiled(code: CodeType) -> str:
    facts = [code.co_code.hex(), *code.co_names]
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            facts.append(_compiled(constant))
        else:
            facts.append(repr(constant))
    return "\n".join(facts)
