"""Find the statements that prepare a database which the tool opens by itself, perhaps by a function."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from toolbench.export.code.changes import base, values_of
from toolbench.export.code.deletions import deleted_by, has_file
from toolbench.export.code.preparing_calls import (
    is_memory,
    makes_folder,
    may_change,
    may_run_twice,
    name_of,
    opens,
    place_of_database,
    unused_calls,
    writes_sql,
)
from toolbench.export.code.statements import Statement

_NONE = frozenset[str]()
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SAME_FILE = frozenset({"Path", "abspath", "fspath", "str"})
"""The names of functions whose result means the same file as the argument."""
_SAME_DATABASE = frozenset({"begin", "closing", "connect", "cursor", "enter_context"})
"""The names of functions whose result has the database of the argument, or of the object."""
# Steps from a name to the place of a database
_DEEPEST = 9


class _Scope(NamedTuple):
    """Code that runs: a statement, or a person's function that the statement calls.

    Attributes:
        node: The code.
        before: The place of the statement.
        place: The place of the definition of the function; None for the statement itself.
        parameters: The databases that are the arguments of the function, or whose places they are.
    """

    node: ast.AST
    before: int
    place: int | None = None
    parameters: Mapping[str, frozenset[str]] = MappingProxyType({})

    @property
    def key(self) -> object:
        """What this scope has in common with another one that does the same."""
        return id(self.node), self.before, frozenset(self.parameters.items())


_Calls = list[tuple[ast.Call, _Scope]]


class Write(NamedTuple):
    """A call that writes by SQL.

    Attributes:
        call: The call.
        databases: The databases into which it writes.
        is_opening: Whether the call is in a function that opens the database and returns it.
    """

    call: ast.Call
    databases: frozenset[str]
    is_opening: bool


class Databases:
    """Finds the databases that statements open and write into.

    A database is known by the code of its place: after `PLACE = Path("a.db")`, `connect(PLACE)` opens
    the same one as `connect("a.db")`. A database in memory does not count: it is new each time.
    """

    def __init__(self, statements: Sequence[Statement]) -> None:
        """Store *statements*, in the order in which they ran; nothing is computed yet."""
        self._statements = statements
        self._opened_within: dict[object, frozenset[str]] = {}

    def opened_by(self, places: Iterable[int]) -> frozenset[str]:
        """Return the databases that the statements at *places* open, now or when their functions run."""
        end = len(self._statements)
        scopes = [_Scope(self._statements[place].node, end) for place in places]
        return _NONE.union(*map(self._opened_in, scopes))

    def writing(self, databases: frozenset[str], needed: set[int]) -> list[int]:
        """Return the places of the statements that write into *databases* by SQL.

        Statements before one that deletes the file do not count. Nor does the SQL of a function
        among *needed* that returns the database: the tool calls it too. A statement that makes
        the folder of a file that statements at *needed* name counts.
        """
        places, paths, folders = list[int](), self._paths(needed), set[int]()
        for place, calls in self._running_calls:
            if any(self._deletes(*pair, databases) for pair in calls):
                places = [p for p in places if p in folders]
            if any(self._makes_folder_of(paths, *pair) for pair in calls):
                places.append(place)
                folders.add(place)
                continue
            for call, scope in _sql(calls):
                is_opening = scope.place in needed and self._returns_database(scope)
                if not is_opening and self._object(call, scope) & databases:
                    places.append(place)
                    break
        return places

    def may_change(self, databases: frozenset[str], needed: set[int]) -> set[int]:
        """Return the places of the statements that may change *databases* in a way unknown here."""
        return {
            place
            for place, calls in self._running_calls
            for call, scope in _unused(calls)
            if may_change(call) and scope.place not in needed
            if self._around(call, scope) & databases
        }

    def is_harmful_twice(self, place: int, databases: frozenset[str]) -> bool:
        """Tell whether a function that the statement at *place* calls writes what is there already.

        Only what it writes into *databases* counts.
        """
        writes = (w for w in self.writes(place) if w.databases & databases)
        return not all(may_run_twice(w.call) for w in writes)

    def writes(self, place: int) -> list[Write]:
        """Return the calls that write by SQL when the statement at *place* runs."""
        return [
            Write(call, self._object(call, scope), self._returns_database(scope))
            for call, scope in _sql(self._calls_at(place))
        ]

    def commits(self, place: int) -> frozenset[str]:
        """Return the databases for which the statement at *place* calls `commit`."""
        calls = self._calls_at(place)
        parts = (self._object(*pair) for pair in calls if name_of(pair[0]) == "commit")
        return _NONE.union(*parts)

    def saved_by_with(self, place: int) -> frozenset[str]:
        """Return the databases that a `with` in the statement at *place*, or in what it calls, saves."""
        scopes = {scope.key: scope for _, scope in self._calls_at(place)}.values()
        return _NONE.union(
            *(
                self._named(part.context_expr, scope)
                for scope in scopes
                for part in ast.walk(scope.node)
                if isinstance(part, ast.withitem)
                # Its end saves nothing
                and "cursor" not in ast.unparse(part)
            )
        )

    def opened_now(self, places: Iterable[int]) -> frozenset[str]:
        """Return the databases that the statements at *places* open when they run."""
        places = (p for p in places if not self._statements[p].is_definition)
        scopes = (_Scope(self._statements[place].node, place) for place in places)
        return _NONE.union(*map(self._opened_in, scopes))

    def of_name(self, name: str, place: int) -> frozenset[str]:
        """Return the databases that *name* is where the statement at *place* runs."""
        return self._of_name(name, _Scope(self._statements[place].node, place), _DEEPEST)

    def _calls_at(self, place: int) -> _Calls:
        return dict(self._running_calls).get(place, [])

    def is_deleted(self, databases: frozenset[str], first: int, last: int) -> bool:
        """Tell whether a statement between the places *first* and *last* deletes one of *databases*."""
        return any(
            self._deletes(*pair, databases)
            for place, calls in self._running_calls
            if first < place < last
            for pair in calls
        )

    def files_at(self, place: int) -> frozenset[str]:
        """Return the databases in files that the statement at *place* uses when it runs."""
        calls = self._calls_at(place)
        parts = (self._around(*pair) | self._opened(*pair) for pair in calls)
        return _NONE.union(*parts) & self._files

    @cached_property
    def _files(self) -> frozenset[str]:
        """All databases that the statements open."""
        return self.opened_by(range(len(self._statements)))

    @cached_property
    def _running_calls(self) -> list[tuple[int, _Calls]]:
        """The places of the statements that do not only define or import, with their calls."""
        return [
            (place, list(self._calls(_Scope(statement.node, place))))
            for place, statement in enumerate(self._statements)
            if not (statement.is_definition or statement.is_import)
        ]

    @cached_property
    def _imports(self) -> frozenset[str]:
        return _NONE.union(*(s.names.gives for s in self._statements if s.is_import))

    @cached_property
    def _definitions(self) -> dict[str, list[int]]:
        """The places of the functions and classes by their names, and by `.name` those of methods."""
        places: dict[str, list[int]] = {}
        for place, statement in enumerate(self._statements):
            if statement.is_definition and not statement.is_tool:
                is_class = isinstance(statement.node, ast.ClassDef)
                methods = statement.names.functions if is_class else ()
                for name in (*statement.names.gives, *(f".{m}" for m in methods)):
                    places.setdefault(name, []).append(place)
        return places

    def _calls(self, scope: _Scope) -> Iterator[tuple[ast.Call, _Scope]]:
        """Yield the calls in *scope* and in the functions that it calls, each with its own scope."""
        scopes, visited = [scope], {scope.key}
        for one in scopes:
            for part in ast.walk(one.node):
                if isinstance(part, ast.Call):
                    yield part, one
                    for inner in self._functions(part, one):
                        if inner.key not in visited:
                            visited.add(inner.key)
                            scopes.append(inner)

    def _functions(self, call: ast.Call, scope: _Scope) -> Iterator[_Scope]:
        """Yield the functions of a person that *call* runs; a tool is none of them."""
        name, is_method = name_of(call), isinstance(call.func, ast.Attribute)
        if is_method and self._is_of_module(call):
            return
        places = self._definitions.get(f".{name}" if is_method else name, [])
        before = [place for place in places if place < scope.before]
        for place in places if is_method else (before or places)[-1:]:
            node = self._statements[place].node
            is_class = isinstance(node, ast.ClassDef)
            method = "__init__" if is_class and not is_method else name
            for part in getattr(node, "body", ()) if is_class else [node]:
                if isinstance(part, _Function) and part.name == method:
                    yield _Scope(part, scope.before, place, self._parameters(part, call, scope))

    def _parameters(
        self, function: _Function, call: ast.Call, scope: _Scope
    ) -> dict[str, frozenset[str]]:
        arguments = function.args
        names = [part.arg for part in (*arguments.posonlyargs, *arguments.args)]
        others = [part.arg for part in arguments.kwonlyargs]
        values = dict(zip(reversed(names), reversed(arguments.defaults), strict=False))
        values |= {
            name: value
            for name, value in zip(others, arguments.kw_defaults, strict=True)
            if value is not None
        }
        if names[:1] in (["self"], ["cls"]):
            del names[0]
        values |= dict(zip(names, call.args, strict=False))
        values |= {k.arg: k.value for k in call.keywords if k.arg is not None}
        unknown = dict.fromkeys((*names, *others), _NONE)
        return unknown | {n: self._named(value, scope) for n, value in values.items()}

    def _opened_in(self, scope: _Scope) -> frozenset[str]:
        """Return the databases that the calls in *scope* open, at any depth."""
        if scope.key not in self._opened_within:
            # For a function that calls itself
            self._opened_within[scope.key] = _NONE
            calls = (c for c in ast.walk(scope.node) if isinstance(c, ast.Call))
            parts = [self._opened(call, scope) for call in calls]
            self._opened_within[scope.key] = _NONE.union(*parts)
        return self._opened_within[scope.key]

    def _opened(self, call: ast.Call, scope: _Scope) -> frozenset[str]:
        """Return the databases that *call* opens, perhaps in a function of a person."""
        inner = list(self._functions(call, scope))
        if inner or not self._is_opening(call):
            return _NONE.union(*map(self._opened_in, inner))
        code, place = ast.unparse(call), place_of_database(call)
        if is_memory(code):
            return _NONE
        return frozenset({code}) if place is None else self._named(place, scope)

    def _named(self, value: ast.expr, scope: _Scope, depth: int = _DEEPEST) -> frozenset[str]:
        """Return the databases that *value* is, or whose places it is."""
        match value:
            case _ if not depth:
                return _NONE
            case ast.Constant(value=str(text)):
                return _NONE if is_memory(repr(text)) else frozenset({text})
            case ast.Await(value=inner):
                return self._named(inner, scope, depth - 1)
            case ast.Name(id=name):
                return self._of_name(name, scope, depth - 1)
            case ast.Call():
                return self._of_call(value, scope, depth - 1)
        code = ast.unparse(value)
        return _NONE if is_memory(code) else frozenset({code})

    def _of_name(self, name: str, scope: _Scope, depth: int) -> frozenset[str]:
        if name in scope.parameters:
            return scope.parameters[name]
        values = list(values_of(name, scope.node))
        if values:
            return _NONE.union(*(self._named(v, scope, depth) for v in values))
        places = [
            place
            for place, statement in enumerate(self._statements)
            if name in statement.names.gives and any(values_of(name, statement.node))
        ]
        before = [place for place in places if place < scope.before]
        for place in (before or places)[-1:]:
            node = self._statements[place].node
            return self._of_name(name, _Scope(node, place), depth)
        return frozenset({name})

    def _of_call(self, call: ast.Call, scope: _Scope, depth: int) -> frozenset[str]:
        name, values = name_of(call), [*call.args]
        if isinstance(call.func, ast.Attribute):
            values.append(call.func.value)
        is_same = name in _SAME_FILE and len(values) == 1
        is_same |= name in _SAME_DATABASE and not self._is_opening(call)
        if is_same and not any(self._functions(call, scope)):
            return _NONE.union(*(self._named(v, scope, depth) for v in values))
        code = ast.unparse(call)
        unknown = _NONE if is_memory(code) else frozenset({code})
        return self._opened(call, scope) or unknown

    def _is_opening(self, call: ast.Call) -> bool:
        is_method = isinstance(call.func, ast.Attribute)
        return opens(call) and (self._is_of_module(call) or not is_method)

    def _is_of_module(self, call: ast.Call) -> bool:
        """Tell whether *call* is of an imported function: `sqlite3.connect`, and not `engine.connect`."""
        return not self._imports.isdisjoint(base(call))

    def _object(self, call: ast.Call, scope: _Scope) -> frozenset[str]:
        if isinstance(call.func, ast.Attribute):
            return self._named(call.func.value, scope)
        return _NONE

    def _around(self, call: ast.Call, scope: _Scope) -> frozenset[str]:
        """Return the databases of the object and of the arguments of *call*."""
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        parts = (self._named(value, scope) for value in values)
        return self._object(call, scope).union(*parts)

    def _deletes(self, call: ast.Call, scope: _Scope, databases: frozenset[str]) -> bool:
        names = _NONE.union(*(self._named(v, scope) for v in deleted_by(call)))
        return any(has_file(name, file) for name in names for file in databases)

    def _paths(self, places: Iterable[int]) -> frozenset[str]:
        """Return the texts in the statements at *places* that may be paths of files in folders."""
        parts = (p for i in places for p in ast.walk(self._statements[i].node))
        texts = (part.value for part in parts if isinstance(part, ast.Constant))
        return frozenset(t for t in texts if isinstance(t, str) and t.find("/") > 0)

    def _makes_folder_of(self, paths: frozenset[str], call: ast.Call, scope: _Scope) -> bool:
        folders = self._around(call, scope) if makes_folder(call) else _NONE
        return any(p.startswith(f"{f.rstrip('/')}/") for p in paths for f in folders)

    def _returns_database(self, scope: _Scope, depth: int = _DEEPEST) -> bool:
        """Tell whether the function of *scope* returns or yields a database that it opened."""
        return any(
            self._is_open(part.value, scope, depth)
            for part in ast.walk(scope.node)
            if isinstance(part, ast.Return | ast.Yield) and part.value is not None
        )

    def _is_open(self, value: ast.expr, scope: _Scope, depth: int) -> bool:
        match value:
            case ast.Name(id=name) if depth:
                values = values_of(name, scope.node)
                return any(self._is_open(v, scope, depth - 1) for v in values)
            case ast.Call() if depth:
                inner = list(self._functions(value, scope))
                if not inner:
                    return opens(value)
                return any(self._returns_database(i, depth - 1) for i in inner)
        return False


def _sql(calls: _Calls) -> Iterator[tuple[ast.Call, _Scope]]:
    """Yield those of *calls* that write into a database."""
    unused = {id(call) for call, _ in _unused(calls)}
    for call, scope in calls:
        if writes_sql(call, is_unused=id(call) in unused):
            yield call, scope


def _unused(calls: _Calls) -> Iterator[tuple[ast.Call, _Scope]]:
    """Yield those of *calls* whose result nothing uses."""
    nodes = {id(scope.node): scope.node for _, scope in calls}.values()
    unused = {id(call) for node in nodes for call in unused_calls(list(ast.walk(node)))}
    yield from (pair for pair in calls if id(pair[0]) in unused)
