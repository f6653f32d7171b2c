"""Find the field that an error of JSON Schema or pydantic belongs to."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from toolbench.errors import Path, Problem
from toolbench.widgets.fields.editor import UNSET
from toolbench.widgets.fields.object import ObjectEditor
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.fields.union import Union, tags_of

_CHOSEN, _OTHER = "chosen", "other"
# Ends pydantic's path of an error about a key, not about its value
_KEY = "[key]"

Explain = Callable[[Any, Any], list[Problem]]


class Place(NamedTuple):
    """The slot that a path leads to.

    Attributes:
        slot: The last slot that the path reaches.
        path: The path for a person: keys and indexes only.
        rest: The end of the path, for which there is no slot.
        other: The union, if the path leads to an alternative that is not chosen.
    """

    slot: Slot
    path: Path
    rest: Path
    other: Slot | None = None


def locate(root: Slot, path: Path) -> Place:
    """Follow *path* from *root* as far as there are slots.

    pydantic puts the names of a union's alternatives into a path: these names are skipped.
    """
    slot, steps = root, list(path)
    clear: list[str | int] = []
    # A path names the branch of a union once
    is_branch_named = False
    while steps:
        if not is_branch_named and (branch := _branch_named(slot, steps[0])):
            steps.pop(0)
            if branch is _OTHER:
                return Place(slot, tuple(clear), tuple(steps), slot)
            is_branch_named = True
            continue
        inner = slot.child(steps[0]) if slot.is_open else None
        if inner is None:
            break
        slot, is_branch_named = inner, False
        clear.append(steps.pop(0))
    return Place(slot, (*clear, *steps), tuple(steps))


def _branch_named(slot: Slot, step: Any) -> str:
    """Return "chosen" or "other" if *step* names an alternative of *slot*; else ""."""
    branches = slot.node.branches
    if not branches:
        return ""
    chosen = slot.editor.chosen if isinstance(slot.editor, Union) else None
    if chosen is not None and step in tags_of(chosen.node):
        return _CHOSEN
    return _OTHER if any(step in tags_of(b) for b in branches) else ""


def placed(
    root: Slot, problems: Iterable[Problem], explain: Explain | None = None
) -> list[tuple[Slot, Problem]]:
    """Return *problems* with a path and a text for a person, each problem with its slot.

    For a union, only problems of the chosen alternative are kept. *explain* is a
    function of a schema and a value. It returns the problems of the value. For a union,
    they replace the one problem that no alternative fits.
    """
    located = [(locate(root, problem.path), problem) for problem in problems]
    direct = [place.path for place, _ in located if place.other is None]
    faults = []
    for place, problem in located:
        if place.other is not None and _about(direct, place.other):
            continue
        narrow = list(_narrowed(place, explain)) if explain else []
        if narrow:
            here = [p for p in narrow if p.path == place.path]
            faults += [(place.slot, p) for p in here]
            faults += placed(root, [p for p in narrow if p not in here], explain)
        else:
            faults.append(_plain(place, problem))
    return list(dict.fromkeys(faults))


def _about(paths: list[Path], union: Slot) -> bool:
    above = union.path
    return any(path[: len(above)] == above for path in paths)


def _plain(place: Place, problem: Problem) -> tuple[Slot, Problem]:
    if place.rest == (_KEY,):
        return place.slot, Problem(place.path[:-1], f"the key {problem.message}")
    if place.rest and place.other is None:
        sentence = f"{Problem(place.rest, '').place}: {problem.message}"
        return place.slot, Problem(place.path, sentence)
    return place.slot, Problem(place.path, problem.message)


def _narrowed(place: Place, explain: Explain) -> Iterator[Problem]:
    """Yield more exact problems for the value at *place*.

    For a union, yield the problems of the chosen alternative, instead of the problem that no
    alternative fits. For a missing object, yield a problem for each missing field, because a person
    can only fill in fields.
    """
    editor = place.slot.editor
    if place.rest:
        return
    if isinstance(editor, Union) and editor.chosen is not None:
        for problem in explain(editor.chosen.node.raw, editor.chosen.read()):
            if problem.path or not isinstance(editor.chosen.editor, Union):
                yield Problem((*place.path, *problem.path), problem.message)
    elif isinstance(editor, ObjectEditor) and _is_missing(place.slot):
        for problem in explain(place.slot.node.raw, {}):
            if problem.path:
                yield Problem((*place.path, *problem.path), problem.message)


def _is_missing(slot: Slot) -> bool:
    """Return whether *slot* is not the root, and is open, but none of its fields has a value."""
    return slot.key is not None and slot.is_open and slot.read() is UNSET
