"""The notes about what a user should check in an exported package ("To look at" in its README)."""

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from toolbench.core.secrets import SERVICE
from toolbench.export.code.code_secrets import holds_secret
from toolbench.export.code.needed_statements import LeftOut
from toolbench.export.code.statements import Statement
from toolbench.wording import counted

# Statements that are named
_MOST = 8
# Characters of a statement
_LONGEST = 100


def files_named_in(modules: Mapping[str, str]) -> list[str]:
    """Return the strings in the Python *modules* that are paths of existing files."""
    files = set[str]()
    for code in modules.values():
        for part in ast.walk(ast.parse(code)):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                text = part.value
                if 3 < len(text) < 200 and _is_file(text):
                    files.add(text)
    return sorted(files)


def _is_file(text: str) -> bool:
    try:
        return "\n" not in text and Path(text).is_file()
    except (OSError, ValueError):
        return False


def notes_on_surroundings(
    variables: Iterable[str], secrets: Iterable[str], files: Iterable[str]
) -> Iterator[str]:
    """Yield sentences about settings and files that the package needs on another machine.

    Args:
        variables: The environment variables that replace secrets of the notebook.
        secrets: The names of the secrets that the tools declare.
        files: The paths of the files that the code mentions.
    """
    for name in variables:
        yield f"Set `{name}` in the environment: a secret stood there in the notebook."
    for name in secrets:
        yield (
            f"Set the secret `{name}` in the environment, or store it in the keyring "
            f"(`keyring set {SERVICE} {name}`): the tools look there when they are called."
        )
    for file in files:
        yield (
            f"The code names the file `{file}`, which is not in the package: copy it to "
            "where the tools will run, if they need what is in it."
        )


def notes_on_left_out(left_out: Sequence[LeftOut], cells: Collection[int]) -> Iterator[str]:
    """Yield sentences about the statements that are not in the package.

    *cells* are the numbers of the cells that the user has already included.
    """
    by_code = dict[str, list[LeftOut]]()
    for one in left_out:
        # A cell may have run twice
        by_code.setdefault(one.statement.code, []).append(one)
    groups = list(by_code.values())
    for group in groups[:_MOST]:
        statement, names = group[-1]
        touched = ", ".join(f"`{name}`" for name in sorted(names))
        yield f"Not in the package: {_shown(statement)} of {_places(group)}, which uses {touched}."
    if rest := groups[_MOST:]:
        others = [one for group in rest for one in group]
        yield f"So are {counted(len(rest), 'more statement')} of {_places(others)}."
    takeable = [one for one in left_out if not one.statement.obstacle]
    numbers = [number for number in _cells_of(takeable) if int(number) not in cells]
    if numbers:
        yield (
            "If a tool needs one of these statements, name its cell, and all of the cell is taken: "
            f"`--cells {','.join(numbers)}`, or `cells=[{', '.join(numbers)}]`."
        )


def _cells_of(statements: Iterable[LeftOut]) -> list[str]:
    return list(map(str, sorted({one.statement.cell for one in statements})))


def _places(statements: Iterable[LeftOut]) -> str:
    """Return where *statements* are, as the end of a sentence."""
    numbers = _cells_of(statements)
    if numbers == ["0"]:
        return "the file"
    noun = "cell" if len(numbers) == 1 else "cells"
    return f"{noun} {', '.join(numbers)}"


def _shown(statement: Statement) -> str:
    """Return the code of *statement* on one line in backticks, unless it has a secret."""
    code = statement.code
    if holds_secret(code, is_code=True):
        return "a statement with a secret"
    text = " ".join(code.split()).replace("`", "'")
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST - 1]}…"
    return f"`{text}`"
