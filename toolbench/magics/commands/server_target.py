"""What %mcp connect connects to: a URL, an object of the notebook, or a command."""

import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

from toolbench.magics.commands.connect_options import entry_with
from toolbench.magics.usage_error import UsageError

# Module:name, as FastMCP writes it
_IN_MODULE = re.compile(r"[\w.]+:\w+")


def check_target(words: list[str], names: dict[str, Any]) -> None:
    """Check that the word after NAME in `connect NAME WORD` is a URL or an object to connect to.

    Raises:
        UsageError: If the word is neither; if it may be a command, the message shows the right form.
    """
    if words[:1] != ["connect"] or any(word.startswith("-") for word in words[1:3]):
        return
    name, target = words[1:2], words[2:]
    if not target or target[0].startswith(("http://", "https://")):
        return
    if len(target) == 1 and (_bare(target[0]) in names or _IN_MODULE.fullmatch(target[0])):
        return
    line = f"%mcp connect {name[0]} -- "
    msg = f"{target[0]!r} is not a URL (http://… or https://…) and not an object of this notebook. "
    if target[0].endswith(".py"):
        msg += f"To start it: {line}python {shlex.join(target)}"
    elif len(target) > 1 or _is_program(target[0]):
        msg += f"A command comes after two dashes: {line}{shlex.join(target)}"
    else:
        msg += f"No program on the PATH has this name. {line}COMMAND starts a server."
    raise UsageError(msg)


def _bare(word: str) -> str:
    """Return the name of the variable in *word*, which is written `name` or `${name}`."""
    return word.removeprefix("${").removesuffix("}")


def entry_of(options: Any, command: list[str], names: dict[str, Any]) -> Any:
    """Return the target of `connect`: a command, a URL, or a server object."""
    if not options.name:
        msg = "Give the server a name: %mcp connect NAME URL, or NAME -- COMMAND ARG..."
        raise UsageError(msg)
    if command and options.target is None:
        variables = (word.partition("=") for word in options.env or ())
        env = {name: value if equals else f"${{env:{name}}}" for name, equals, value in variables}
        entry = {"command": _own_program(command[0]), "args": command[1:], "env": env}
        return entry_with(entry, options, names)
    if options.target and not command:
        entry = names.get(_bare(options.target), options.target)
        return entry_with(entry, options, names)
    msg = f"Where is {options.name!r}? Give a URL, or -- and the command that starts it."
    raise UsageError(msg)


def _own_program(name: str) -> str:
    """Return the path of the program *name* beside the kernel's Python; else *name* itself."""
    beside = Path(sys.executable).parent / name
    return str(beside) if Path(name).name == name and beside.is_file() else name


def _is_program(name: str) -> bool:
    return shutil.which(_own_program(name)) is not None
