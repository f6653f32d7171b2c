"""Measures how large the rooms of the package are, in a way that denser lines do not change.

python scripts/size.py                    # beside the baseline, the commit after the reformat
python scripts/size.py --against HEAD~5   # beside another commit
python scripts/size.py --files mcp        # each file of a room

Counted are *statements* of the syntax tree, docstrings apart: what a reader has to follow, wherever
lines break. Beside them stand the files, the classes, the conditional expressions (`a if b else c`)
and the comprehensions per 1,000 lines, and the modules that only one other module of the same
folder imports: candidates for becoming a part of it.
"""
# ruff: noqa: T201, S603 - a script talks to its terminal, and runs git

import argparse
import ast
import io
import subprocess
import tarfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "toolbench"
BASELINE = "c2cfe86a"
"""Format to 100 columns, with comments above their lines."""
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Sources = Mapping[str, str]
"""The text of each Python file of the package, by its path from the root."""


@dataclass
class Size:
    """What was counted in a file, a room, or the package."""

    lines: int = 0
    statements: int = 0
    files: int = 0
    classes: int = 0
    conditionals: int = 0
    comprehensions: int = 0
    one_importer: int = 0

    def add(self, other: "Size") -> None:
        """Add what was counted elsewhere."""
        for name in vars(other):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def per_thousand(self, count: int) -> float:
        """Return *count* per 1,000 lines."""
        return 1000 * count / max(1, self.lines)


def size_of(source: str) -> Size:
    """Count what is in the text of one file."""
    size = Size(lines=source.count("\n"), files=1)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt) and not is_docstring(node):
            size.statements += 1
        size.classes += isinstance(node, ast.ClassDef)
        size.conditionals += isinstance(node, ast.IfExp)
        size.comprehensions += isinstance(node, COMPREHENSIONS)
    return size


def is_docstring(node: ast.stmt) -> bool:
    """Tell whether *node* is a string alone: a docstring, of a name too."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def sizes(sources: Sources) -> dict[str, Size]:
    """Count what is in each file of *sources*, by its path."""
    by_file = {path: size_of(source) for path, source in sources.items()}
    for path in modules_with_one_importer(sources):
        by_file[path].one_importer = 1
    return by_file


def modules_with_one_importer(sources: Sources) -> set[str]:
    """Return the modules that just one other module imports, if it is in the same folder."""
    importers = defaultdict(set)
    modules = {module_name(path): path for path in sources}
    for path, source in sources.items():
        for name in imported_names(source):
            # `from a.b import c` names the module a.b.c, or a name of the module a.b
            target = modules.get(name) or modules.get(name.rpartition(".")[0])
            if target is not None and target != path:
                importers[target].add(path)
    found = set()
    for target, users in importers.items():
        folders = {PurePosixPath(user).parent for user in users}
        if len(users) == 1 and folders == {PurePosixPath(target).parent}:
            found.add(target)
    return found


def module_name(path: str) -> str:
    """Return the name by which the file at *path* is imported."""
    parts = PurePosixPath(path).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imported_names(source: str) -> Iterable[str]:
    """Yield the dotted names that a file imports, wherever it does."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield f"{node.module}.{alias.name}"


def by_room(by_file: Mapping[str, Size]) -> dict[str, Size]:
    """Add up the sizes of the files of each top folder of the package."""
    rooms: dict[str, Size] = defaultdict(Size)
    for path, size in by_file.items():
        parts = PurePosixPath(path).parts
        room = parts[1] if len(parts) > 2 else "(top)"
        rooms[room].add(size)
        rooms["all"].add(size)
    return dict(rooms)


def sources_here() -> Sources:
    """Read the package of this checkout."""
    return {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for path in sorted((ROOT / PACKAGE).rglob("*.py"))
    }


def sources_at(commit: str) -> Sources:
    """Read the package as *commit* has it."""
    command = ["git", "archive", commit, PACKAGE]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    sources = {}
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None and member.name.endswith(".py"):
                sources[member.name] = file.read().decode()
    return sources


def table(now: Mapping[str, Size], before: Mapping[str, Size]) -> str:
    """Return a Markdown table of *now*, with the statements and files of *before*."""
    rows = [
        "| room | statements | before | files | before | classes | conditional per 1,000 lines "
        "| comprehensions per 1,000 lines | one importer |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name in sorted(now, key=lambda name: (name == "all", name)):
        size, old = now[name], before.get(name, Size())
        rows.append(
            f"| {name} | {size.statements:,} | {old.statements:,} | {size.files} | {old.files} "
            f"| {size.classes} | {size.per_thousand(size.conditionals):.1f} "
            f"| {size.per_thousand(size.comprehensions):.1f} | {size.one_importer} |"
        )
    return "\n".join(rows)


def main(against: str, room: str | None) -> None:
    """Print the table of the rooms, or of the files of one *room*, beside the commit *against*."""
    now, before = sizes(sources_here()), sizes(sources_at(against))
    if room is None:
        print(table(by_room(now), by_room(before)))
        return
    prefix = f"{PACKAGE}/{room}/"
    here = {
        path.removeprefix(prefix): size for path, size in now.items() if path.startswith(prefix)
    }
    there = {path.removeprefix(prefix): size for path, size in before.items()}
    print(table(here, there))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--against", default=BASELINE, metavar="COMMIT")
    parser.add_argument("--files", metavar="ROOM", help="list the files of a room instead")
    options = parser.parse_args()
    main(options.against, options.files)
