"""Identify a model, a tool or a value by a text; if the text differs, saved work is not used.

The text of a function has its code, its defaults, and the values that it reads from outside; the
text of an object has its class and its attributes. Values that the code itself changes (a counter,
a cache) are left out. An object that cannot be identified gets a text that no other session has.
"""

import ast
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import partial
from inspect import getsource, isbuiltin, ismodule
from itertools import count
from pathlib import PurePath
from secrets import token_hex
from textwrap import dedent
from types import CodeType, FunctionType, MethodType
from typing import Any
from uuid import UUID
from weakref import ref

from pydantic import BaseModel, Secret, SecretBytes, SecretStr

from toolbench.core.executor import FunctionExecutor
from toolbench.core.tool import ToolDefinition
from toolbench.llm.models import (
    LocalModel,
    Model,
    PersonModel,
    RecordedModel,
    ScriptedModel,
)
from toolbench.llm.models.function import FunctionModel
from toolbench.llm.models.transport.streamed_model import StreamedModel

_WRITTEN = (date, time, timedelta, Decimal, Fraction, UUID, PurePath, complex)
_LOCKS = ("_thread", "threading")
# Of every executor: flags for being closed
_OWN = ("_closed", "_to_be_closed")
# Parts of one value
_MOST = 100_000
_MUTATORS = frozenset(
    {
        *("add", "append", "appendleft", "clear", "discard", "extend", "insert"),
        *("pop", "popitem", "remove", "setdefault", "update"),
    }
)
# The attributes that identify a provider's or a local model, without connections and counters.
_FACTS = ("provider", "model", "_place", "_base", "_options", "_settings")
_SESSION = token_hex(8)
_numbers = count()
_marks: dict[int, tuple[Any, str]] = {}


def value_text(value: Any) -> str:
    """Return the text that identifies *value*. Types count: 1, 1.0, "1" and true differ."""
    return _text(value)


def tool_text(tool: ToolDefinition[Any, Any]) -> str:
    """Return the text that identifies *tool*: its name, its schema, and its code and state.

    For a tool of an MCP server, the tool's `origin` stands in place of code and state.
    """
    origin = tool.origin
    executor: Any = tool.executor
    if origin is not None:
        work = origin
    else:
        is_function = isinstance(executor, FunctionExecutor)
        work = executor.function if is_function else executor
    return _text([tool.name, tool.input_schema, work])


def model_text(model: Model) -> str:
    """Return the text that identifies *model*: its name, and its function, file, address or state.

    For a scripted model or a person, the text has only the name.
    """
    facts: list[Any] = [type(model).__qualname__, model.name]
    own = vars(model) if hasattr(model, "__dict__") else {}
    if isinstance(model, FunctionModel):
        facts += [model.provider, own["_function"]]
    elif isinstance(model, RecordedModel):
        inner = own["_inner"]
        facts += [model.path.absolute(), inner and model_text(inner)]
    elif isinstance(model, StreamedModel | LocalModel):
        facts += [{name: own[name] for name in _FACTS if name in own}]
    elif not isinstance(model, ScriptedModel | PersonModel):
        facts.append(model)
    if own.get("written_calls"):
        facts.append("written_calls")
    return _text(facts)


def _text(value: Any) -> str:
    try:
        return json.dumps(_Reader().read(value), ensure_ascii=True)
    except (
        RecursionError,
        RuntimeError,
        OverflowError,
    ):
        # Too deep, or changed while it is read
        return json.dumps(_mark(object()))


def _mark(thing: Any) -> list[str]:
    """Return a mark for *thing*, which no other session has.

    The mark stays the same as long as *thing* exists, if weak references to *thing* are possible.
    """
    known, mark = _marks.get(id(thing), (None, ""))
    if known is not None and known() is thing:
        return ["object", mark]
    mark = f"{_SESSION} {next(_numbers)}"
    # No weak reference is possible: the mark is new each time
    with suppress(TypeError):
        _marks[id(thing)] = (ref(thing, partial(_forget, id(thing))), mark)
    return ["object", mark]


def _forget(key: int, _: Any) -> None:
    known = _marks.get(key)
    if known is not None and known[0]() is None:
        del _marks[key]


def _simple(value: Any) -> Any:
    """Return *value* as JSON data with its type; None if *value* has parts."""
    match value:
        case Enum():
            return ["enum", type(value).__qualname__, value.name]
        case None | bool():
            return repr(value)
        case int():
            return ["int", hex(value)]
        case float():
            return ["float", float.hex(value)]
        case str():
            return ["str", str.__str__(value)]
        case bytes() | bytearray():
            return ["bytes", value.hex()]
    is_written = isinstance(value, _WRITTEN)
    return [type(value).__qualname__, str(value)] if is_written else None


def _named(value: Any) -> Any:
    """Return the name of a module or of a function without Python code; None for other values."""
    if ismodule(value):
        return ["module", value.__name__]
    if isbuiltin(value) and (value.__self__ is None or ismodule(value.__self__)):
        return ["builtin", value.__module__, value.__qualname__]
    return None


class _Reader:
    """Turns a value, and the code that belongs to it, into nested lists of texts."""

    def __init__(self) -> None:
        # The package whose code is read
        self._home: str | None = None
        # Code that was read, kept alive
        self._read: dict[int, Any] = {}
        self._left = _MOST

    def read(self, value: Any) -> Any:
        """Return *value* as JSON data with the types of its parts."""
        self._left -= 1
        if self._left < 0:
            msg = "The value is too large."
            raise OverflowError(msg)
        kind = type(value)
        simple = _simple(value)
        if simple is not None:
            return simple
        match value:
            case SecretStr() | SecretBytes() | Secret():
                return ["secret", self.read(value.get_secret_value())]
            case Mapping():
                pairs = [[self.read(k), self.read(v)] for k, v in value.items()]
                return [kind.__qualname__, *sorted(pairs, key=json.dumps)]
            case list() | tuple():
                return [kind.__qualname__, *map(self.read, value)]
            case set() | frozenset():
                items = sorted(map(self.read, value), key=json.dumps)
                return [kind.__qualname__, *items]
            case partial():
                parts = (value.func, value.args, value.keywords)
                return ["partial", *map(self.read, parts)]
        return self._code(value) or self._object(value)

    # --- code ----------------------------------------------------------------------

    def _code(self, value: Any) -> Any:
        """Return a function, class or module as data; None for any other value."""
        match value:
            case MethodType():
                return ["method", self.read(value.__func__), self.read(value.__self__)]
            case staticmethod() | classmethod():
                return self.read(value.__func__)
            case property():
                return ["property", *map(self.read, (value.fget, value.fset))]
            case FunctionType():
                return self._once(value, self._function)
            case CodeType():
                return self._compiled(value)
            case type():
                return self._once(value, self._class)
        inner = getattr(type(value), "__wrapped__", None) or _vars_of(value).get("__wrapped__")
        if isinstance(inner, FunctionType):
            return self.read(inner)
        return _named(value)

    def _once(self, thing: Any, read: Any) -> Any:
        name = [str(thing.__module__), thing.__qualname__]
        package = name[0].partition(".")[0]
        self._home = self._home or package
        is_read = package in (self._home, "__main__") and package != "toolbench"
        if id(thing) in self._read or not is_read:
            return ["name", *name]
        self._read[id(thing)] = thing
        return [*name, read(thing)]

    def _function(self, function: FunctionType) -> Any:
        code = function.__code__
        changed = _changed_names(function)
        outside: dict[str, Any] = {}
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
            # An empty cell
            with suppress(ValueError):
                outside[name] = cell.cell_contents
        outer = function.__globals__
        for name in _names(code):
            if name in outer and name not in outside and _counts(outer[name]):
                outside[name] = outer[name]
        return [
            self._compiled(code),
            self.read(function.__defaults__),
            self.read(function.__kwdefaults__),
            [[n, self.read(v)] for n, v in sorted(outside.items()) if n not in changed],
        ]

    def _compiled(self, code: CodeType) -> Any:
        constants = [self.read(constant) for constant in code.co_consts]
        return [code.co_code.hex(), code.co_names, code.co_varnames, constants]

    def _class(self, cls: type) -> Any:
        bases = [self.read(base) for base in cls.__bases__ if base is not object]
        members = {
            name: value
            for name, value in sorted(vars(cls).items())
            if isinstance(value, FunctionType | staticmethod | classmethod | property)
            or (_is_plain(value) and not name.startswith("__"))
        }
        return [bases, [[name, self.read(value)] for name, value in members.items()]]

    # --- objects -------------------------------------------------------------------

    def _object(self, value: Any) -> Any:
        kind = type(value)
        if kind.__module__ in _LOCKS:
            return ["lock"]
        if id(value) in self._read:
            return ["again"]
        self._read[id(value)] = value
        if isinstance(value, BaseModel):
            state = {name: getattr(value, name) for name in kind.model_fields}
        elif is_dataclass(value):
            state = {f.name: getattr(value, f.name, None) for f in fields(value)}
            # Work that was saved before there was such a field still counts
            newer = [f.name for f in fields(value) if f.metadata.get("left_out_if_none")]
            state = {n: part for n, part in state.items() if n not in newer or part is not None}
        else:
            state = _vars_of(value)
            package = kind.__module__.partition(".")[0]
            self._home = self._home or package
            if type(value).__dictoffset__ == 0 or package not in (
                self._home,
                "__main__",
            ):
                return _mark(value)
            changed = _changed_attributes(kind)
            state = {k: v for k, v in state.items() if k not in changed and k not in _OWN}
        return [self.read(kind), [[k, self.read(v)] for k, v in sorted(state.items())]]


def _vars_of(value: Any) -> dict[str, Any]:
    """Return the attributes of *value* itself; empty if it has none."""
    state = getattr(value, "__dict__", None)
    return dict(state) if isinstance(state, dict) else {}


def _counts(value: Any) -> bool:
    """Tell whether *value*, of a global variable, belongs into the text of a function that reads it.

    Plain values, functions, classes and partials do; other objects, such as modules, do not.
    """
    return _is_plain(value) or isinstance(value, FunctionType | type | partial)


def _is_plain(value: Any) -> bool:
    kinds = (list, tuple, dict, set, frozenset)
    return isinstance(value, kinds) or _simple(value) is not None


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that *code* and the functions in it may read from outside."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _tree(thing: Any) -> ast.AST | None:
    try:
        return ast.parse(dedent(getsource(thing)))
    except (OSError, TypeError, SyntaxError, ValueError):
        # Without the source, no name counts as changed
        return None


def _changed_names(function: FunctionType) -> set[str]:
    """Return the names from outside that *function* itself changes, such as that of a counter."""
    tree = _tree(function)
    names: set[str] = set()
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Global | ast.Nonlocal):
            names.update(node.names)
        elif isinstance(target := _changed(node), ast.Name):
            names.add(target.id)
    return names


def _changed_attributes(cls: type) -> set[str]:
    """Return the attributes that the methods of *cls* change after `__init__`."""
    names: set[str] = set()
    for base in cls.__mro__:
        tree = _tree(base) if base.__module__ != "builtins" else None
        for method in ast.walk(tree) if tree is not None else ():
            if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if method.name in ("__init__", "__post_init__"):
                continue
            for node in ast.walk(method):
                target = _changed(node)
                if target is None and isinstance(getattr(node, "ctx", None), ast.Store):
                    target = node
                if isinstance(target, ast.Attribute):
                    names.add(target.attr)
    return names


def _changed(node: ast.AST) -> ast.AST | None:
    """Return the object that *node* changes: X in `X[...] = ...`, `del X[...]` and `X.append(...)`."""
    match node:
        case ast.Subscript(value=target, ctx=ast.Store() | ast.Del()):
            return target
        case ast.Call(func=ast.Attribute(value=target, attr=name)) if name in _MUTATORS:
            return target
    return None
