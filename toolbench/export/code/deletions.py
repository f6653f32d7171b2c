"""Find the files that a call deletes: by Python, or by a command of a shell as in `!rm a.db`."""

import ast
import re
import shlex
from collections.abc import Iterator
from fnmatch import fnmatchcase

from toolbench.export.code.preparing_calls import name_of

_DELETING = frozenset({"remove", "rmtree", "unlink"})
_STARTING = frozenset(["Popen", "call", "check_call", "check_output", "getoutput", "run", "system"])
"""The names of functions whose first argument is a command of a shell."""
_MAGICS = frozenset({"!", "bash", "sh", "sx", "system"})
"""The magics that run commands of a shell."""
_COMMANDS = frozenset({"del", "erase", "rm", "unlink"})
_NEXT_COMMAND = re.compile(r"&&|\|\||[;\n]")
_VARIABLE = re.compile(r"\{(.+)\}|\$(\w+)")
"""How IPython lets a command use a value of the notebook."""


def deleted_by(call: ast.Call) -> Iterator[ast.expr]:
    """Yield the values of *call* that are files which it deletes, or of which it deletes the path."""
    name, values = name_of(call), call.args
    if name in _DELETING:
        yield from values
        yield from (keyword.value for keyword in call.keywords)
        if isinstance(call.func, ast.Attribute):
            yield call.func.value
        return
    match name, values:
        case "run_line_magic" | "run_cell_magic", [ast.Constant(value=magic), *_, last]:
            text = _text(last)
            # `%rm a.db`, an alias of IPython
            if magic in _COMMANDS:
                yield from _files_in(f"{magic} {text}")
            elif magic in _MAGICS:
                yield from _files_in(text)
        case _, [ast.List(elts=[ast.Constant(value=command), *files]), *_]:
            if name in _STARTING and command in _COMMANDS:
                yield from files
        case _, [command, *_] if name in _STARTING:
            yield from _files_in(_text(command))


def has_file(path: str, file: str) -> bool:
    """Tell whether *path* is *file*, a pattern for it as `*.db`, or a folder with it."""
    is_inside = file.startswith(f"{path.rstrip('/')}/")
    return path == file or fnmatchcase(file, path) or is_inside


def _text(value: ast.expr) -> str:
    """Return the text *value*, with `{...}` for each part that is computed; empty if it is no text."""
    match value:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(_text, parts))
        case ast.FormattedValue(value=part):
            return f"{{{ast.unparse(part)}}}"
    return ""


def _files_in(commands: str) -> Iterator[ast.expr]:
    """Yield the files that the *commands* of a shell delete, in the folder in which they begin."""
    for command in _NEXT_COMMAND.split(commands):
        try:
            name, *words = shlex.split(command) or [""]
        except ValueError:
            # A quote has no end
            continue
        if name == "cd":
            return
        if name in _COMMANDS:
            files = (word for word in words if not word.startswith("-"))
            yield from map(_value_of, files)


def _value_of(word: str) -> ast.expr:
    variable = _VARIABLE.fullmatch(word)
    try:
        if variable is not None:
            return ast.parse(variable[1] or variable[2], mode="eval").body
    except SyntaxError:
        pass
    return ast.Constant(word.removeprefix("./"))
