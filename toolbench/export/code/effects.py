"""Find the names and objects that a statement changes, also by calls of a person's functions."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from toolbench.export.code.changes import OWN, Call, Effect, base
from toolbench.export.code.preparing_calls import may_prepare, unused_calls
from toolbench.export.code.statements import Statement

_CHANGE_ARGUMENTS = frozenset(
    [
        "delattr",
        "heapify",
        "heappop",
        "heappush",
        "heappushpop",
        "heapreplace",
        "insort",
        "insort_left",
        "insort_right",
        "next",
        "setattr",
        "setitem",
        "shuffle",
    ]
)
"""The names of functions of Python that change an argument."""
_WHEN_MADE = frozenset(
    [
        "__call__",
        "__init__",
        "__init_subclass__",
        "__new__",
        "__post_init__",
        "__set_name__",
    ]
)


class Effects:
    """Finds the changes that each of *statements* makes to names and objects of other statements."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        """Store *statements*; nothing is computed yet."""
        self._statements = statements
        self._changed: dict[int, frozenset[str]] = {}
        self._set: dict[int, frozenset[str]] = {}

    def given(self, place: int) -> frozenset[str]:
        """Return the names to which the statement at *place* gives a value."""
        if place not in self._set:
            names = self._statements[place].names
            effects = self._with_called(names.effect, place)
            self._set[place] = names.gives.union(*(one.sets for one in effects))
        return self._set[place]

    def may_leave(self, place: int, name: str) -> bool:
        """Tell whether the statement at *place* may leave *name* with its earlier value."""
        return name not in self._statements[place].names.surely

    def changed(self, place: int) -> frozenset[str]:
        """Return the names of the objects that the statement at *place* changes."""
        if place not in self._changed:
            effect = self._statements[place].names.effect
            self._changed[place] = frozenset(self._changed_by(effect, place))
        return self._changed[place]

    def may_prepare(self, place: int) -> frozenset[str]:
        """Return the names of the objects that the statement at *place* may prepare in a way unknown here.

        The statement calls a method of such an object, and nothing uses the result.
        """
        statement = self._statements[place]
        if statement.is_definition:
            return frozenset()
        calls = unused_calls(list(ast.walk(statement.node)))
        return frozenset(
            name
            for call in calls
            for name in base(call)
            if may_prepare(call, is_shown=statement.is_shown)
            and getattr(call.func, "attr", "") not in self._methods
        )

    def kept_by(self, places: Iterable[int]) -> frozenset[str]:
        """Return the global names whose objects a call of the functions at *places* changes.

        An executor that changes itself counts under the name of its class.
        """
        all_names = set[str]()
        for place in places:
            names, node = self._statements[place].names, self._statements[place].node
            for name, effect in names.functions.items():
                called = name not in _WHEN_MADE - {"__call__"} | {"close"}
                if called and is_executor(node) and _changes_self(effect, set(self._changing)):
                    all_names |= names.gives
                changes = {*self._changed_by(effect, len(self._statements))}
                changes |= _changed_by_cursors(effect)
                all_names |= changes & (names.later | effect.sets)
        return frozenset(all_names)

    def _changed_by(self, effect: Effect, before: int) -> Iterator[str]:
        """Yield the names of the objects that code with *effect* changes, without local names.

        *before* is the place of the statement that runs the code.
        """
        for one in self._with_called(effect, before):
            names = {*one.changes, *one.sets}
            for call in one.calls:
                is_changed = call.changes_base or call.function in self._changing
                if is_changed and not self._is_call_of_tool(call, before):
                    names.add(call.base)
                is_folder = call.prepares and call.function == "makedirs"
                if is_folder or self._changes_arguments(call, before):
                    names |= call.arguments
            yield from names - one.local - {""}

    def _with_called(self, effect: Effect, before: int) -> list[Effect]:
        """Return *effect*, and the effects of the functions that code with *effect* calls, at any depth.

        *before* is the place of the statement that runs the code.
        """
        effects, visited = [effect], {id(effect)}
        for one in effects:
            for inner in (e for c in one.calls for e in self._functions(c, before)):
                if id(inner) not in visited:
                    visited.add(id(inner))
                    effects.append(inner)
        return effects

    def _functions(self, call: Call, before: int) -> Iterator[Effect]:
        if call.base:
            yield from self._methods.get(call.function, ())
        place = self._definition(call.function, before)
        if place is None or call.base or self._statements[place].is_tool:
            return
        statement = self._statements[place]
        when_made = _WHEN_MADE - ({"__call__"} if is_executor(statement.node) else set())
        for name, effect in statement.names.functions.items():
            if name == call.function or name in when_made:
                yield effect

    def _is_call_of_tool(self, call: Call, before: int) -> bool:
        """Tell whether *call*, as `find_books.execute(arguments)`, runs a tool of a function."""
        place = self._definition(call.base, before) if call.prepares else None
        return place is not None and self._statements[place].is_tool

    def _definition(self, name: str, before: int) -> int | None:
        places = self._definitions.get(name, [])
        return max((p for p in places if p < before), default=max(places, default=None))

    def _changes_arguments(self, call: Call, before: int) -> bool:
        """Tell whether the called function, or a function that it calls, changes an argument of *call*."""
        todo, visited = [call], set[Call]()
        while todo:
            one = todo.pop()
            visited.add(one)
            if one.function in _CHANGE_ARGUMENTS:
                return True
            for effect in self._functions(one, before):
                bases = {c.base for c in effect.calls if c.changes_base}
                if (effect.changes | bases) & effect.parameters:
                    return True
                passing = (c for c in effect.calls if c.arguments & effect.parameters)
                todo += [c for c in passing if c not in visited]
        return False

    @cached_property
    def _definitions(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, statement in enumerate(self._statements):
            if statement.is_definition:
                for name in statement.names.gives:
                    places.setdefault(name, []).append(place)
        return places

    @cached_property
    def _methods(self) -> dict[str, list[Effect]]:
        methods: dict[str, list[Effect]] = {}
        for statement in self._statements:
            if isinstance(statement.node, ast.ClassDef):
                for name, effect in statement.names.functions.items():
                    methods.setdefault(name, []).append(effect)
        return methods

    @cached_property
    def _changing(self) -> frozenset[str]:
        """The names of the methods, in a person's classes, that change the object on which they are called."""
        changing = set[str]()
        while True:
            more = {
                name
                for name, effects in self._methods.items()
                if any(_changes_self(effect, changing) for effect in effects)
            }
            if more <= changing:
                return frozenset(changing)
            changing |= more


def _changed_by_cursors(effect: Effect) -> set[str]:
    """Return the names of the databases that code with *effect* may change by a cursor of its own."""
    if not any(call.prepares and call.base in effect.local for call in effect.calls):
        return set()
    return {call.base for call in effect.calls if call.function == "cursor"}


def is_executor(node: ast.stmt) -> bool:
    """Tell whether *node* is the class of an executor, which a tool calls later."""
    parents = node.bases if isinstance(node, ast.ClassDef) else ()
    return any("ToolExecutor" in ast.unparse(parent) for parent in parents)


def _changes_self(effect: Effect, changing: set[str]) -> bool:
    own = [call for call in effect.calls if call.base in OWN]
    is_changed = any(call.changes_base or call.function in changing for call in own)
    return is_changed or bool(effect.changes & OWN)
