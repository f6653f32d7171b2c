"""What a validator says of a value that does not fit, and which branch of a union it was meant for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbench.errors import Path
from toolbench.jsonschema.types import CLASSES, types_of_value

UNIONS = frozenset({"AnyOf", "OneOfNotValid"})
"""The kinds of errors about a value that fits no branch of a union."""
DEEPEST = 50
"""How many levels deep in a value the branches of a union are compared."""


@dataclass(frozen=True)
class Misfit:
    """One error of a validator: a part of a value, and the keyword that it does not fit."""

    kind: str
    """The kind of the error, as jsonschema-rs names it."""
    facts: Mapping[str, Any]
    """The details of the error, under the names that jsonschema-rs gives them.

    Two are our own: for a union, `branches` has the misfits of each branch; for an object with
    unknown names, `known` has the names that the schema declares.
    """
    path: Path
    value: Any
    """The wrong part."""
    message: str
    """The message of the validator."""


Branch = Sequence[Misfit]


def nearest_misfits(union: Misfit) -> Branch:
    """Return the misfits of the branch that the value of *union* was meant for.

    That is the only branch which is not null; else the only one for the value's type; else the one
    whose constants, such as a `kind`, the value has; else the one with the fewest misfits. Where all
    branches name a type or values, these are put together. The result is empty if several branches
    are equally near.
    """
    branches = [branch for branch in _branches(union) if not _is_null(branch, union.path)]
    if len(branches) == 1:
        return branches[0]
    of_type = [
        branch
        for branch in branches
        if not any(one.path == union.path and _is_of_other_type(one) for one in branch)
    ]
    if not of_type:
        return _all_types(union, branches)
    if len(of_type) == 1:
        return of_type[0]
    tagged = [branch for branch in of_type if not any(_tags(branch, union.path))]
    if not tagged:
        values = _all_values(of_type, union.path)
        if values:
            return values
    nearest = sorted(tagged or of_type, key=_weight)
    is_clear = len(nearest) == 1 or _weight(nearest[0]) < _weight(nearest[1])
    return nearest[0] if is_clear else ()


def _branches(union: Misfit) -> Iterator[Branch]:
    """Yield the branches of *union*, with the branches of a union inside in place of it."""
    for branch in union.facts.get("branches", ()):
        only = branch[0] if len(branch) == 1 else None
        if only is not None and only.kind in UNIONS and only.path == union.path:
            yield from _branches(only)
        else:
            yield branch


def _is_null(branch: Branch, path: Path) -> bool:
    if len(branch) != 1 or branch[0].path != path:
        return False
    return branch[0].facts.get("types") == ["null"] or _values(branch[0]) == [None]


def _values(misfit: Misfit) -> list[Any]:
    """Return the values that *misfit* names, one of which it wants; empty if it names none."""
    match misfit.kind:
        case "Constant":
            return [misfit.facts["expected_value"]]
        case "Enum":
            return list(misfit.facts["options"])
        case _:
            return []


def _is_of_other_type(misfit: Misfit) -> bool:
    own = types_of_value(misfit.value)
    values = _values(misfit)
    return misfit.kind in ("Type", "FalseSchema") or (
        bool(values) and not any(types_of_value(value) & own for value in values)
    )


def _tags(branch: Branch, path: Path) -> Iterator[Misfit]:
    """Yield the misfits of *branch* about values that the whole value, or a part of it, must be."""
    for misfit in branch:
        parent = misfit.path[: len(path) + 1]
        if _values(misfit) and misfit.path == parent:
            yield misfit


def _all_values(branches: Sequence[Branch], path: Path) -> Branch:
    """Return one misfit with the values that all *branches* want at one place; else nothing."""
    tags = [tag for branch in branches for tag in _tags(branch, path)]
    if len(tags) != len(branches) or len({tag.path for tag in tags}) > 1:
        return ()
    first = tags[0]
    options = [value for tag in tags for value in _values(tag)]
    return [Misfit("Enum", {"options": options}, first.path, first.value, "")]


def _all_types(union: Misfit, branches: Sequence[Branch]) -> Branch:
    """Return one misfit with the types that *branches* want; nothing if one of them names no type."""
    types = {
        name
        for branch in branches
        for misfit in branch
        if misfit.kind == "Type" and misfit.path == union.path
        for name in misfit.facts["types"]
    }
    if not types or any(one.kind != "Type" for branch in branches for one in branch):
        return ()
    ordered = [name for name in CLASSES if name in types]
    return [Misfit("Type", {"types": ordered}, union.path, union.value, "")]


def _weight(branch: Branch) -> int:
    """Return how many problems *branch* has."""
    return sum(len(misfit.facts.get("unexpected", "1")) for misfit in branch)
