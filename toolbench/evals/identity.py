"""Identify a model, a tool or a value by a text; if the text differs, saved work is not used.

The text of a function has its code, its defaults, and the values that it reads from outside; the
text of an object has its class and its attributes. Values that the code itself changes (a counter,
a cache) are left out, and so are objects of global variables that cannot be compared (a connection);
their names are known. Any other object that cannot be identified gets a text that no other session has.
"""

import ast
import dis
import json
import os
import pickle
import re
import sys
from collections import ChainMap, deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cached_property, partial
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec, resolve_name
from inspect import getsource, isbuiltin, ismodule
from itertools import count
from pathlib import Path, PurePath
from secrets import token_hex
from textwrap import dedent
from types import CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple
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
from toolbench.llm.models.convert import FunctionModel
from toolbench.llm.models.streamed import StreamedModel

_WRITTEN = (date, time, timedelta, Decimal, Fraction, UUID, PurePath, complex, range)
# Modules of toolbench by their present names, with those that saved work knows
_MOVED = {"toolbench.testing.script": "toolbench.testing.server_script"}
# Packages of objects that no result depends on: locks, loggers
_NO_DATA = ("_thread", "threading", "logging")
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
# Names of a note
_MOST_NAMES = 5
# Instructions that read a global variable, of all supported versions of Python
_READS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_TOO_MUCH = (RecursionError, RuntimeError, OverflowError)
"""What reading a value raises that is too deep, too large, or changed while it is read."""
_SESSION = token_hex(8)
_numbers = count()
_marks: dict[int, tuple[Any, str]] = {}


class Identity(NamedTuple):
    """What identifies a tool or a model.

    Attributes:
        text: The text.
        left_out: The names of values that the text leaves out although the code reads them.
    """

    text: str
    left_out: frozenset[str]


def note_of(left_out: frozenset[str], source: str) -> str:
    """Return a note for a person: what may have changed since the work was saved.

    *source* says what was taken from which file.
    """
    names = ", ".join(sorted(left_out)[:_MOST_NAMES])
    rest = f" and {len(left_out) - _MOST_NAMES:,} more" if len(left_out) > _MOST_NAMES else ""
    return (
        f"{source}, whatever has changed since in {names}{rest} (what the code changes itself, and "
        "objects such as connections, are not compared)."
    )


def value_text(value: Any) -> str:
    """Return the text that identifies *value*. Types count: 1, 1.0, "1" and true differ."""
    return _identity(value).text


def tool_identity(tool: ToolDefinition[Any, Any]) -> Identity:
    """Return what identifies *tool*: its name, its schema, and its code and state.

    For a tool of an MCP server, the tool's `origin` stands in place of code and state.
    """
    return _identity(_parts_of(tool))


def _parts_of(tool: ToolDefinition[Any, Any]) -> list[Any]:
    origin = tool.origin
    executor: Any = tool.executor
    if origin is not None:
        work = origin
    else:
        is_function = isinstance(executor, FunctionExecutor)
        work = executor.function if is_function else executor
    return [tool.name, tool.input_schema, work]


def model_identity(model: Model) -> Identity:
    """Return what identifies *model*: its name, and its function, file, address or state.

    For a scripted model or a person, the text has only the name.
    """
    facts: list[Any] = [type(model).__qualname__, model.name]
    of_inner: frozenset[str] = frozenset()
    own = vars(model) if hasattr(model, "__dict__") else {}
    if isinstance(model, FunctionModel):
        facts += [model.provider, own["_function"]]
    elif isinstance(model, RecordedModel):
        inner = own["_inner"]
        text = None
        if inner is not None:
            text, of_inner = model_identity(inner)
        facts += [model.path.absolute(), text]
    elif isinstance(model, StreamedModel | LocalModel):
        facts += [{name: own[name] for name in _FACTS if name in own}]
    elif not isinstance(model, ScriptedModel | PersonModel):
        facts.append(model)
    if own.get("written_calls"):
        facts.append("written_calls")
    text, left_out = _identity(facts)
    return Identity(text, left_out | of_inner)


def _identity(value: Any) -> Identity:
    reader = _Reader()
    try:
        text = json.dumps(reader.read(value), ensure_ascii=True)
    except _TOO_MUCH:
        text = json.dumps(_mark(object()))
    return Identity(text, frozenset(reader.left_out))


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
            meaning = [_simple(value.value)] if _is_own(type(value).__module__) else []
            return ["enum", type(value).__qualname__, value.name, *meaning]
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
        self.left_out: set[str] = set()
        """The names of the values that were not read."""
        # The package whose code is read
        self._home: str | None = None
        # The name of the global variable that is read, with a dot; empty elsewhere
        self._global = ""
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
            case ToolDefinition():
                return self.read(_parts_of(value))
            case SecretStr() | SecretBytes() | Secret():
                return ["secret", self.read(value.get_secret_value())]
            case Mapping() if value is not os.environ:
                pairs = [[self.read(k), self.read(v)] for k, v in value.items()]
                return [kind.__qualname__, *sorted(pairs, key=json.dumps)]
            case list() | tuple() | deque():
                return [kind.__qualname__, *map(self.read, value)]
            case set() | frozenset():
                items = sorted(map(self.read, value), key=json.dumps)
                return [kind.__qualname__, *items]
            case SimpleNamespace():
                return ["namespace", self.read(vars(value))]
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
            case cached_property():
                return ["property", self.read(value.func)]
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
        module = str(thing.__module__)
        name = [_MOVED.get(module, module), thing.__qualname__]
        package = name[0].partition(".")[0]
        self._home = self._home or package
        is_read = self._is_read(name[0]) and package != "toolbench"
        if id(thing) in self._read or not is_read:
            return ["name", *name]
        self._read[id(thing)] = thing
        return [*name, read(thing)]

    def _is_read(self, module: str) -> bool:
        """Tell whether the code of *module* counts: a person's, or of the package of the tool."""
        return module.partition(".")[0] == self._home or _is_own(module)

    def _function(self, function: FunctionType) -> Any:
        code = function.__code__
        outside: dict[str, Any] = {}
        outer, names = function.__globals__, set(_global_names(code))
        modules = _imported(code, outer.get("__package__") or "")
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
            # An empty cell
            with suppress(ValueError):
                outside[name] = cell.cell_contents
        changed = _changed_names(function, ChainMap(outside, outer))
        values = [
            self._compiled(code),
            self.read(function.__defaults__),
            self.read(function.__kwdefaults__),
        ]
        for name in sorted(changed & (outside.keys() | names & outer.keys())):
            value = outside.get(name, outer.get(name))
            if not ismodule(value) or _is_own(value.__name__):
                self._leave_out(name)
        found = {name: self.read(v) for name, v in outside.items() if name not in changed}
        scope = ChainMap(modules, outer)
        read = (names | modules.keys()) - changed - found.keys()
        for name, value in _globals(read, scope, set(_names(code))):
            # Not of Python or of a package; a module may be read by two names
            if _named(value) is None and name not in found:
                found[name] = self._read_global(name, value)
        return [*values, [[name, data] for name, data in sorted(found.items())]]

    def _read_global(self, name: str, value: Any) -> Any:
        before, left = self._global, self._left
        self._global = f"{before}{name}."
        try:
            return self.read(value)
        except _TOO_MUCH:
            self._left = left
            self._leave_out("")
            return ["object", type(value).__qualname__]
        finally:
            self._global = before

    def _leave_out(self, name: str) -> None:
        self.left_out.add(f"{self._global}{name}".removesuffix("."))

    def _compiled(self, code: CodeType) -> Any:
        constants = [self.read(constant) for constant in code.co_consts]
        return [code.co_code.hex(), code.co_names, code.co_varnames, constants]

    def _class(self, cls: type) -> Any:
        bases = [self.read(base) for base in cls.__bases__ if base is not object]
        members = []
        for name, value in sorted(vars(cls).items()):
            data = self._code(value)
            # What Python or a base class made for itself is no data of the person
            is_made = name.startswith(("__", "_abc_")) or hasattr(type(value), "__get__")
            if data is None and not is_made:
                data = self._read_global(name, value)
            if data is not None:
                members.append([name, data])
        return [bases, members]

    # --- objects -------------------------------------------------------------------

    def _object(self, value: Any) -> Any:
        kind = type(value)
        if kind.__module__ in _NO_DATA:
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
            state.update(dict.fromkeys(getattr(kind, "EARLIER_FIELDS", ())))
        else:
            state = _vars_of(value)
            self._home = self._home or kind.__module__.partition(".")[0]
            if text := _data_text(value):
                return [kind.__qualname__, text]
            if kind.__dictoffset__ == 0 or not self._is_read(kind.__module__):
                return self._unknown(value)
            # What is made by its code, when it is asked for, counts as code
            made = {n for n in state if isinstance(getattr(kind, n, None), cached_property)}
            state = {n: part for n, part in state.items() if n not in made and n not in _OWN}
        is_data = isinstance(value, BaseModel) or is_dataclass(value)
        if not is_data or (self._global and self._is_read(kind.__module__)):
            state = self._without_changed(kind, state)
        return [self.read(kind), [[k, self.read(v)] for k, v in sorted(state.items())]]

    def _without_changed(self, kind: type, state: dict[str, Any]) -> dict[str, Any]:
        """Return *state* without what the methods of *kind* change."""
        changed = _changed_attributes(kind)
        for name in sorted(changed & state.keys()):
            self._leave_out(name)
        return {name: part for name, part in state.items() if name not in changed}

    def _unknown(self, value: Any) -> Any:
        """Return a mark for *value*; of a global variable, only its class: its calls cost money too."""
        if not self._global:
            return _mark(value)
        # Else a function of a package
        if not hasattr(value, "__name__"):
            self._leave_out("")
        return ["object", type(value).__qualname__]


def _globals(
    names: set[str], scope: Mapping[str, Any], attributes: set[str], place: str = ""
) -> Iterator[tuple[str, Any]]:
    """Yield the values of *scope* that code reads, by name; of a person's module, those in it.

    Args:
        names: The names that the code reads there.
        scope: The global variables, or those of a module.
        attributes: All names in the code: some of them may be attributes of a module.
        place: What stands before the names, such as `helpers.`.
    """
    for name in sorted(names & scope.keys()):
        value = scope[name]
        if ismodule(value) and _is_own(value.__name__):
            rest = attributes - {name}
            yield from _globals(rest, vars(value), rest, f"{place}{name}.")
        else:
            yield f"{place}{name}", value


def _is_own(module: str) -> bool:
    """Tell whether *module* is a person's: not of Python, of toolbench or of an installed package."""
    package = module.partition(".")[0]
    if package == "__main__":
        return True
    return _is_own_file(package, getattr(sys.modules.get(module), "__file__", None))


def _is_own_file(package: str, file: str | None) -> bool:
    if package == "toolbench" or package in sys.stdlib_module_names:
        return False
    installed = {"site-packages", "dist-packages"}
    return file is not None and installed.isdisjoint(Path(file).parts)


def _data_text(value: Any) -> str:
    """Return a text for a table, an array or a pattern; empty for other values."""
    if not (hasattr(type(value), "__array__") or isinstance(value, re.Pattern)):
        return ""
    digest = sha256()
    try:
        # Piece by piece: a table may be large
        pickle.Pickler(SimpleNamespace(write=digest.update)).dump(value)
    except Exception:  # noqa: BLE001 - what it holds may raise anything
        return ""
    return digest.hexdigest()


def _vars_of(value: Any) -> dict[str, Any]:
    """Return the attributes of *value* itself; empty if it has none."""
    state = getattr(value, "__dict__", None)
    return dict(state) if isinstance(state, dict) else {}


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names of variables and attributes in *code* and in the functions in it."""
    for part in _codes(code):
        yield from part.co_names


def _global_names(code: CodeType) -> Iterator[str]:
    """Yield the names of the global variables that *code* and functions in it read."""
    for part in _codes(code):
        for instruction in dis.get_instructions(part):
            if instruction.opname in _READS:
                yield instruction.argval


def _imported(code: CodeType, package: str) -> dict[str, ModuleType]:
    """Return the modules of a person that *code* of *package*, or a function in it, imports, by name.

    They are imported now, as *code* does: else they would count only after the first call.
    """
    found: dict[str, ModuleType] = {}
    for part in _codes(code):
        # In front of a name to import: the number of its dots, and what to take from the module
        before: list[Any] = []
        for instruction in dis.get_instructions(part):
            if instruction.opname == "IMPORT_NAME":
                # A module that cannot be imported, in a call either
                with suppress(Exception):
                    name = resolve_name("." * before[-2] + instruction.argval, package)
                    if _can_be_own(name):
                        found[name] = import_module(name)
                        # `from . import helpers`
                        for part_name in before[-1] or ():
                            with suppress(ImportError):
                                import_module(f"{name}.{part_name}")
            if instruction.opname != "EXTENDED_ARG":
                before.append(instruction.argval)
    return found


def _can_be_own(module: str) -> bool:
    """Tell whether *module*, which need not be imported yet, is a person's."""
    package = module.partition(".")[0]
    if package in sys.modules:
        return _is_own(module if module in sys.modules else package)
    spec = find_spec(package)
    return spec is not None and _is_own_file(package, spec.origin)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield *code* and the code of the functions and classes in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _tree(thing: Any) -> ast.AST | None:
    try:
        return ast.parse(dedent(getsource(thing)))
    except (OSError, TypeError, SyntaxError, ValueError):
        # Without the source, no name counts as changed
        return None


def _changed_names(function: FunctionType, values: Mapping[str, Any]) -> set[str]:
    """Return the names of *values* from outside that *function* changes, such as that of a counter."""
    tree = _tree(function)
    names: set[str] = set()
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Global | ast.Nonlocal):
            names.update(node.names)
        target = _changed(node)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            target = node
        # `helpers.add(x)`: the code of a module or class of the person says what it changes
        is_called = isinstance(node, ast.Call) and isinstance(target, ast.Name)
        while isinstance(target, ast.Attribute | ast.Subscript):
            target = target.value
        if isinstance(target, ast.Name) and not (is_called and _has_code(values.get(target.id))):
            names.add(target.id)
    return names


def _has_code(value: Any) -> bool:
    """Tell whether *value* is a module, or an object of a person's class: its methods are read."""
    is_container = isinstance(value, list | dict | set | deque)
    return ismodule(value) or (_is_own(type(value).__module__) and not is_container)


def _changed_attributes(cls: type) -> set[str]:
    """Return the attributes that the methods of *cls* change after `__init__`."""
    names: set[str] = set()
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] in ("builtins", "pydantic"):
            continue
        for name, method in vars(base).items():
            function = getattr(method, "fget", method)
            if not isinstance(function, FunctionType) or name in ("__init__", "__post_init__"):
                continue
            # Not the class: of one in a cell, Python finds no source
            tree = _tree(function)
            for node in ast.walk(tree) if tree is not None else ():
                target = _changed(node)
                if target is None and isinstance(getattr(node, "ctx", None), ast.Store):
                    target = node
                # Of `self.stats.count += 1`, both names
                while isinstance(target, ast.Attribute | ast.Subscript):
                    if isinstance(target, ast.Attribute):
                        names.add(target.attr)
                    target = target.value
    return names


def _changed(node: ast.AST) -> ast.AST | None:
    """Return the object that *node* changes: X in `X[...] = ...`, `del X[...]` and `X.append(...)`."""
    match node:
        case ast.Subscript(value=target, ctx=ast.Store() | ast.Del()):
            return target
        case ast.Call(func=ast.Attribute(value=target, attr=name)) if name in _MUTATORS:
            return target
    return None
