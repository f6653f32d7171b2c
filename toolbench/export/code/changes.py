"""Find the calls in a statement, and the objects that the statement or its functions change."""

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from toolbench.export.code.preparing_calls import prepares, unused_calls

_NONE = frozenset[str]()
MUTATORS = frozenset(
    [
        "add",
        "add_tool",
        "append",
        "appendleft",
        "clear",
        "discard",
        "extend",
        "extendleft",
        "insert",
        "mount",
        "pop",
        "popitem",
        "popleft",
        "prompt",
        "register",
        "remove",
        "resource",
        "reverse",
        "seed",
        "set_option",
        "setdefault",
        "setlocale",
        "sort",
        "tool",
        "update",
        "difference_update",
        "intersection_update",
        "symmetric_difference_update",
        "__setitem__",
        "__setattr__",
    ]
)
"""The names of methods that change the object on which they are called."""
OWN = frozenset({"cls", "self"})
"""The names of a method's first parameter: its object or its class."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_PARTS_OF = frozenset({"cursor", "get", "items", "setdefault", "values"})
"""The names of methods that return parts of an object, or views of it, not copies of the parts."""


class Call(NamedTuple):
    """A call in code.

    Attributes:
        function: The name of the function or the method.
        base: The name of the object whose method is called; empty if a function is called.
        arguments: The names in the arguments.
        prepares: Whether the method is known to prepare its object, as SQL does that writes.
    """

    function: str
    base: str
    arguments: frozenset[str]
    prepares: bool = False

    @property
    def changes_base(self) -> bool:
        """Whether the call is known to change the object on which it is called."""
        return self.prepares or self.function in MUTATORS


class Effect(NamedTuple):
    """The effects of some code on objects outside of it.

    Attributes:
        changes: The names of the objects that the code changes.
        sets: The names that the code declares `global` and sets to another value.
        calls: The calls in the code.
        parameters: The parameters of the function, without `self` and `cls`.
        local: The local names of the function.
    """

    changes: frozenset[str] = _NONE
    sets: frozenset[str] = _NONE
    calls: frozenset[Call] = frozenset()
    parameters: frozenset[str] = _NONE
    local: frozenset[str] = _NONE


def effect_now(node: ast.stmt) -> Effect:
    """Return the effects of the statement *node* when it runs; bodies of functions do not run then."""
    return _effect([part for part, runs_later in _walk(node) if not runs_later])


def effects_later(node: ast.stmt) -> dict[str, Effect]:
    """Return the effects of a later call of *node*: of the function, or of each method of the class.

    The keys are the names of the functions and methods.
    """
    functions = [node, *(node.body if isinstance(node, ast.ClassDef) else ())]
    return {
        part.name: _effect([inner for inner, later in _walk(part) if later], part.args)
        for part in functions
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def aliases_in(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """Yield pairs of names: a new name and an old name.

    After *node*, both names mean the same object, or one object contains the other.
    """
    for part in ast.walk(node):
        match part:
            case ast.Assign(targets=targets, value=value):
                yield from _pairs(targets, _held(value))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield from _pairs([target], _held(value))
            case ast.NamedExpr(target=target, value=value):
                yield from _pairs([target], _held(value))
            case ast.For(target=target, iter=value):
                yield from _pairs([target], _held(value))
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                yield from _pairs([target], _held(value))


def names_always_set(statements: Iterable[ast.stmt]) -> frozenset[str]:
    """Return the names that *statements* set on every path through the code."""
    return _NONE.union(*map(_names_always_set_by, statements))


def _names_always_set_by(node: ast.stmt) -> frozenset[str]:
    match node:
        case ast.If(body=body, orelse=other):
            return names_always_set(body) & names_always_set(other)
        case ast.With(body=body, items=items):
            return names_always_set(body) | _stored(items)
        case ast.Try(body=body, handlers=handlers, orelse=other, finalbody=final):
            whole = names_always_set([*body, *other])
            for handler in handlers:
                whole &= names_always_set(handler.body)
            return whole | names_always_set(final)
        case ast.For() | ast.AsyncFor() | ast.While() | ast.Match():
            return _NONE
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return frozenset({name})
        case ast.AsyncFunctionDef(name=name):
            return frozenset({name})
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return frozenset(a.asname or a.name.partition(".")[0] for a in names)
    return _stored([node])


def _stored(nodes: Iterable[ast.AST]) -> frozenset[str]:
    parts = (part for node in nodes for part in ast.walk(node))
    return frozenset(
        part.id
        for part in parts
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
    )


def _walk(node: ast.AST, *, later: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Yield *node* and all its parts, each with a bool.

    The bool is True if the part runs only when a function is called.
    """
    yield node, later
    for field, value in ast.iter_fields(node):
        inside = later or (isinstance(node, _FUNCTIONS) and field == "body")
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield from _walk(part, later=inside)


def _effect(parts: list[ast.AST], arguments: ast.arguments | None = None) -> Effect:
    outer = {n for part in parts if isinstance(part, ast.Global) for n in part.names}
    nodes = () if arguments is None else ast.walk(arguments)
    parameters = frozenset(part.arg for part in nodes if isinstance(part, ast.arg))
    local = _stored(part for part in parts if isinstance(part, ast.Name))
    unused = {id(call) for call in unused_calls(parts)}
    return Effect(
        changes=frozenset(name for part in parts for name in _changed(part)),
        sets=local & outer,
        calls=frozenset(call for part in parts for call in _calls(part, unused)),
        parameters=parameters - OWN,
        local=_NONE if arguments is None else (parameters | local) - outer,
    )


def _changed(part: ast.AST) -> Iterator[str]:
    """Yield the name of the object that *part*, an assignment or a `del`, changes."""
    match part:
        case ast.Attribute(ctx=ast.Store() | ast.Del()):
            yield from base(part)
        case ast.Subscript(ctx=ast.Store() | ast.Del()):
            yield from base(part)
        case ast.AugAssign(target=ast.Name(id=name)):
            yield name


def _calls(part: ast.AST, unused: set[int]) -> Iterator[Call]:
    """Yield the calls that *part* is; *unused* has the ids of the calls whose result nothing uses."""
    match part:
        case ast.Call(func=function, args=positional, keywords=keywords):
            values = [*positional, *(keyword.value for keyword in keywords)]
            names = frozenset(name for value in values for name in base(value))
            is_known = prepares(part, is_unused=id(part) in unused)
            yield from (call._replace(prepares=is_known) for call in _call(function, names))
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            for decorator in part.decorator_list:
                # `@a.b` calls `a.b`; `@a.b()` calls `a.b` and then the returned function
                yield from _call(decorator, _NONE)
            for parent in getattr(part, "bases", ()):
                yield from _call(parent, _NONE)


def _call(function: ast.expr, arguments: frozenset[str]) -> Iterator[Call]:
    match function:
        case ast.Name(id=name):
            yield Call(name, "", arguments)
        case ast.Attribute(attr=name):
            yield Call(name, next(base(function), ""), arguments)
        case ast.Call(func=inner):
            yield from _call(inner, arguments)


def base(node: ast.expr) -> Iterator[str]:
    """Yield the name at the start of *node*: `a` for `a.b[0].c()`."""
    part: ast.AST = node
    while isinstance(part, ast.Attribute | ast.Subscript | ast.Call | ast.Starred):
        part = part.func if isinstance(part, ast.Call) else part.value
    if isinstance(part, ast.Name):
        yield part.id


def _pairs(targets: Iterable[ast.expr], sources: Iterable[str]) -> Iterator[tuple[str, str]]:
    names = list(sources)
    for target in targets:
        for new in _stored([target]) | frozenset(base(target)):
            yield from ((new, name) for name in names)


def _held(value: ast.expr) -> Iterator[str]:
    """Yield the names of the objects that *value* is or contains."""
    match value:
        case ast.Name(id=name):
            yield name
        case ast.Attribute() | ast.Subscript() | ast.Starred():
            yield from base(value)
        case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
            for part in value.values if isinstance(value, ast.Dict) else value.elts:
                yield from _held(part)
        case ast.IfExp(body=first, orelse=second):
            yield from _held(first)
            yield from _held(second)
        case ast.Call(func=function):
            yield from _held_by_result(value, function)


def _held_by_result(call: ast.Call, function: ast.expr) -> Iterator[str]:
    """Yield the names of objects that the result of *call* contains, guessed from the function's name."""
    name = getattr(function, "attr", getattr(function, "id", ""))
    if name in _PARTS_OF:
        yield from base(function)
    elif name[:1].isupper() or name == "partial":
        yield from _of_arguments(call)


def _of_arguments(call: ast.Call) -> Iterator[str]:
    for value in [*call.args, *(keyword.value for keyword in call.keywords)]:
        yield from _held(value)


def values_of(name: str, node: ast.AST) -> Iterator[ast.expr]:
    """Yield the values that *node* gives to *name* by `=`, `:=` or `with ... as`.

    A value that uses *name* itself, as in `place = Path(place)`, is left out: it means the value
    from before.
    """
    for part in ast.walk(node):
        match part:
            case ast.Assign(targets=[ast.Name(id=target)], value=value):
                pass
            case (
                ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value)
                | ast.NamedExpr(target=ast.Name(id=target), value=value)
                | ast.withitem(context_expr=value, optional_vars=ast.Name(id=target))
            ):
                pass
            case _:
                continue
        if target == name and not any(_is_name(part, name) for part in ast.walk(value)):
            yield value


def _is_name(part: ast.AST, name: str) -> bool:
    return isinstance(part, ast.Name) and part.id == name
