"""Let statements that prepare a database in a file run only where the file is new."""

import ast
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from itertools import groupby

from toolbench.export.code.databases import Databases, Write
from toolbench.export.code.effects import Effects
from toolbench.export.code.needed_statements import Needed
from toolbench.export.code.outside import files_named_in, is_in_memory
from toolbench.export.code.preparing_calls import (
    is_saved_at_once,
    may_run_twice,
    prepares,
    sets_up_connection,
    unused_calls,
)
from toolbench.export.code.statements import Statement, statement_of

_NONE = frozenset[str]()


def harmful_twice(needed: Needed) -> Iterator[int]:
    """Yield the places of the *needed* statements that may do harm where their data is there already."""
    databases = Databases(needed.statements)
    names = databases.opened_by(needed.places)
    for place in sorted(needed.places):
        statement = needed.statements[place]
        if statement.is_definition or is_in_memory(needed, place):
            continue
        unused = {id(call) for call in unused_calls(list(ast.walk(statement.node)))}
        calls = (c for c in ast.walk(statement.node) if isinstance(c, ast.Call))
        known = (c for c in calls if prepares(c, is_unused=id(c) in unused))
        is_harmless = all(map(may_run_twice, known))
        if not is_harmless or databases.is_harmful_twice(place, names):
            yield place


def only_in_new_files(
    needed: Needed, early: Iterable[int], other_names: frozenset[str]
) -> dict[ast.stmt, str]:
    """Return the needed statements that must run only where a file is new, with the path of the file.

    They may do harm the second time, and write into a database whose file is there now and is named
    in the code. Either all such statements of a file are returned, or none: they build on each
    other. None are returned where the rest of the code needs more of them than the data in the
    file, or where the data may not be saved. Where the code does not show which database one of
    them writes into, it may be any file: then the result is empty.

    Args:
        needed: All statements of the package.
        early: The places of those that run before the first check whether a file is new.
        other_names: The names that other code of the package uses.
    """
    databases = Databases(needed.statements)
    files = dict[int, str]()
    nodes = [needed.statements[place].node for place in needed.places]
    known = {file for node in nodes for file in files_named_in(node)}
    # Such a name may have any value
    known -= _names_in(needed, needed.places)
    for place in _running(needed):
        writes = [w for w in databases.writes(place) if not may_run_twice(w.call)]
        targets = {w.databases for w in writes}
        if targets and not is_in_memory(needed, place):
            target = _NONE.union(*targets)
            if len(target) != 1 or not target <= known or _NONE in targets:
                return {}
            [files[place]] = target
    known -= databases.opened_now(early)
    return {
        needed.statements[place].node: file
        for place, file in files.items()
        if file in known
        and _may_be_skipped(needed, files, file, other_names)
        and _is_saved(needed, databases, file)
    }


def _may_be_skipped(
    needed: Needed, files: Mapping[int, str], file: str, other_names: frozenset[str]
) -> bool:
    """Tell whether the other statements need only the data in *file* of those that write into it."""
    statements, databases = needed.statements, Databases(needed.statements)
    effects = Effects(statements)
    places = {place for place, one in files.items() if one == file}
    used = other_names | _names_in(needed, needed.places - places)
    code = (s for s in statements if s.is_definition or s.is_import)
    code_names = _NONE.union(*(s.names.gives for s in code))
    for place in places:
        own, direct = effects.given(place), statements[place].names.effect.changes
        changes = effects.changed(place) - code_names
        objects = {n for n in changes if databases.of_name(n, place) != {file}}
        if used & (own | direct | objects):
            return False
        if any(_sets_up_connection(needed, w) for w in databases.writes(place)):
            return False
    return True


def _sets_up_connection(needed: Needed, write: Write) -> bool:
    """Tell whether the SQL of *write* holds only for a connection that stays open."""
    names = {part.id for part in ast.walk(write.call) if isinstance(part, ast.Name)}
    statements = (needed.statements[place] for place in needed.places)
    values = [s.node for s in statements if s.names.gives & names and not s.is_definition]
    parts = (part for node in (write.call, *values) for part in ast.walk(node))
    texts = (part.value for part in parts if isinstance(part, ast.Constant))
    return not write.is_opening and any(
        sets_up_connection(text) for text in texts if isinstance(text, str)
    )


def _is_saved(needed: Needed, databases: Databases, file: str) -> bool:
    """Tell whether all that the needed statements write into *file* is there at the next start."""
    running = list(_running(needed))
    last_commit = max((p for p in running if file in databases.commits(p)), default=-1)
    return all(
        place <= last_commit
        or file in databases.saved_by_with(place)
        or is_saved_at_once(write.call)
        for place in running
        for write in databases.writes(place)
        if file in write.databases
    )


def _running(needed: Needed) -> Iterator[int]:
    """Yield the places of the *needed* statements that do more than define or import."""
    for place in sorted(needed.places):
        statement = needed.statements[place]
        if not (statement.is_definition or statement.is_import):
            yield place


def _names_in(needed: Needed, places: Iterable[int]) -> frozenset[str]:
    names = [needed.statements[place].names for place in places]
    return _NONE.union(*(n.now | n.later | n.quoted for n in names))


def with_checks(
    statements: Iterable[Statement],
    files: Mapping[ast.stmt, str],
    names: frozenset[str],
    path: str,
) -> Iterator[Statement]:
    """Yield *statements*, where those in *files* run only if the file is new.

    Before them all come the checks of the files: what opens a database makes its file.

    Args:
        statements: The statements, in their order.
        files: The path of the file for each of *statements* that needs a new file.
        names: The names that the new statements cannot set.
        path: The name of the class `pathlib.Path` there.
    """
    flags = dict[str, str]()
    for file in dict.fromkeys(files.values()):
        new = f"is_new_{re.sub(r'[^A-Za-z0-9]+', '_', file).strip('_').lower()}"
        while new in names or new in flags.values():
            new += "_"
        flags[file] = new
        place = f"{path}({file!r})"
        code = f"{new} = not {place}.exists() or not {place}.stat().st_size"
        yield _statement(code)
    for flag, group in groupby(statements, lambda s: flags.get(files.get(s.node, ""))):
        if flag is None:
            yield from group
        else:
            body = "\n".join(_indented(statement.code) for statement in group)
            yield _statement(f"if {flag}:\n{body}")


def _statement(code: str) -> Statement:
    [node] = ast.parse(code).body
    return statement_of(node, code)


def _indented(code: str) -> str:
    """Return *code* with four spaces before each line, except inside texts of several lines."""
    inside = set[int]()
    for token in tokenize.generate_tokens(StringIO(code).readline):
        inside.update(range(token.start[0] + 1, token.end[0] + 1))
    return "\n".join(
        line if number in inside or not line.strip() else f"    {line}"
        for number, line in enumerate(code.split("\n"), 1)
    )
