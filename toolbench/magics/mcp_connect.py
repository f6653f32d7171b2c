"""What %mcp connect connects to, and its options: headers, token, folders and time."""

import os
import re
import shlex
import shutil
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from toolbench.errors import ToolbenchError
from toolbench.magics.parsers import UsageError, seconds
from toolbench.redaction.detect import secrets_in

OPTIONS = ("--header", "--auth", "--timeout", "--cwd", "--root")
_HEADER = re.compile(r"\s*(?P<name>[!#$%&'*+.^_`|~\w-]+)\s*:\s*(?P<value>.*?)\s*")
_NAME = re.compile(r"[A-Za-z_]\w*")


def add_options(connect: Any, modes: Sequence[str]) -> None:
    """Add the options of `connect` to its parser; *modes* are the choices for `--mode`."""
    connect.add_argument("name", nargs="?")
    connect.add_argument(
        "target", nargs="?", help="a URL, an object of the notebook, or module:name"
    )
    connect.add_argument(
        "--config", metavar="FILE", help="a file with mcpServers, or a server.json"
    )
    connect.add_list("--only", "names from the file, with commas between them")
    connect.add_argument(
        "--approve", action="store_true", help="approve the servers of the file as they are now"
    )
    connect.add_argument("--mode", choices=modes, help="which protocol")
    connect.add_argument(
        "--env",
        action="append",
        metavar="NAME[=VALUE]",
        help="an environment variable for the command; without a value: its value here",
    )
    connect.add_argument("--record", metavar="FILE", help="write all messages to a file")
    connect.add_argument(
        "--replay", metavar="FILE", help="answer from a recording; nothing is started"
    )
    connect.add_argument(
        "--header",
        action="append",
        metavar="'NAME: VALUE'",
        help="a header for a URL; ${VAR} in it is a variable",
    )
    connect.add_argument(
        "--auth",
        metavar="oauth|VAR",
        help="authorize in the browser, or the variable that holds the token",
    )
    connect.add_argument("--timeout", type=seconds, metavar="S", help="seconds for connecting")
    connect.add_argument("--cwd", metavar="DIR", help="where the command starts")
    connect.add_argument(
        "--root",
        action="append",
        metavar="DIR",
        help="a folder that the server may ask for",
    )


def check(options: Namespace, command: list[str] | None) -> None:
    """Check that the options fit the target of the line.

    Raises:
        UsageError: If an option would have no effect.
    """
    for_url = {"--header": options.header, "--auth": options.auth}
    if command is not None and (names := [n for n, v in for_url.items() if v]):
        verb = "is" if len(names) == 1 else "are"
        msg = f"{' and '.join(names)} {verb} for a URL: a command takes --env NAME."
        raise UsageError(msg)
    if options.cwd and command is None:
        msg = "--cwd is for a server that a command starts: add -- and the command."
        raise UsageError(msg)


def take_file(options: Namespace, command: list[str] | None) -> None:
    """Let `connect FILE.json` mean `connect --config FILE.json`."""
    if options.command != "connect" or not options.name or command is not None:
        return
    is_alone = not (options.target or options.config or options.replay)
    if is_alone and options.name.endswith(".json"):
        options.config, options.name = options.name, None


def given(options: Namespace) -> list[str]:
    """Return the names in `OPTIONS` that are on the line."""
    return [name for name in OPTIONS if getattr(options, name[2:]) is not None]


def is_name_only(options: Namespace, command: list[str]) -> bool:
    """Tell whether the line has only the name of a server, and perhaps its mode."""
    others = (options.target, options.replay, options.record, options.env, command)
    return not (any(others) or given(options))


def entry_with(entry: Any, options: Namespace, names: Mapping[str, Any]) -> Any:
    """Return *entry* with the headers, the token and the folder that are on the line.

    Args:
        entry: A URL, a mapping, or an object.
        options: The parsed line.
        names: The variables of the notebook.

    Raises:
        UsageError: If an option cannot be used.
    """
    settings: dict[str, Any] = {}
    if options.header:
        headers = [_header(text, names) for text in options.header]
        settings["headers"] = dict(headers)
    if options.auth is not None:
        settings["auth"] = _auth(options.auth, names)
    if options.cwd is not None:
        settings["cwd"] = _folder("--cwd", options.cwd)
    if not settings:
        return entry
    if isinstance(entry, str) and entry.startswith(("http://", "https://")):
        entry = {"url": entry}
    if not isinstance(entry, dict) or not ("url" in entry or "command" in entry):
        on_line = given(options)
        verb = "is" if len(on_line) == 1 else "are"
        msg = f"{' and '.join(on_line)} {verb} for a URL or a command, not for an object."
        raise UsageError(msg)
    settings["notebookVariables"] = _variables(options, names)
    before = entry.get("headers") if isinstance(entry.get("headers"), dict) else {}
    if "headers" in settings:
        settings["headers"] = {**(before or {}), **settings["headers"]}
    return {**entry, **settings}


def roots_of(options: Namespace) -> list[str]:
    """Return the folders of `--root`, as file URLs.

    Raises:
        UsageError: If a folder does not exist, or a URL is not a file URL.
    """
    from toolbench.mcp.client_features import root_url  # noqa: PLC0415 - loaded by now

    try:
        return [root_url(word) for word in options.root or ()]
    except ToolbenchError as error:
        msg = f"--root: {error}"
        raise UsageError(msg) from None


def _variables(options: Namespace, names: Mapping[str, Any]) -> Any:
    """Return the variables of the notebook to which the line refers; a reconnect reads them again."""
    from toolbench.mcp.config.placeholders import (  # noqa: PLC0415 - loaded by now
        LiveVariables,
        names_in,
    )

    of_auth = [options.auth, f"${{{options.auth}}}"]
    return LiveVariables(names, names_in([*(options.header or ()), *of_auth]))


def _header(text: str, names: Mapping[str, Any]) -> tuple[str, str]:
    from toolbench.mcp.config.placeholders import (  # noqa: PLC0415 - loaded by now
        Reference,
        names_in,
        with_references,
    )

    match = _HEADER.fullmatch(text)
    if match is None or not match["value"]:
        msg = "--header takes a name and a value: --header 'X-Team: data'."
        raise UsageError(msg)
    name, value = match["name"], match["value"]
    if not names_in(value) and any(secrets_in(value, name)):
        msg = (
            f"The value of the header {name!r} would be saved with the notebook. Put the secret into "
            f"a variable, and write --header '{name}: ${{VARIABLE}}'."
        )
        raise UsageError(msg)

    def with_value(reference: Reference) -> str:
        if reference.default is not None and not _is_there(reference.name, names):
            # Its default is taken when the server is connected
            return reference.text
        return _value("--header", reference.name, names)

    return name, with_references(value, with_value)


def _auth(word: str, names: Mapping[str, Any]) -> str:
    from toolbench.mcp.config.placeholders import reference  # noqa: PLC0415 - loaded by now

    if word.lower() == "oauth":
        return "oauth"
    variable = reference(word)
    name = word if variable is None else variable.name
    if not _NAME.fullmatch(name) or not _is_there(name, names):
        msg = (
            "--auth takes oauth, or the name of a variable that holds the token: a variable of the "
            "environment or a text of this notebook. There is no such variable; do not write "
            "the token itself into the line."
        )
        raise UsageError(msg)
    return _value("--auth", name, names)


def _is_there(name: str, names: Mapping[str, Any]) -> bool:
    return bool(os.environ.get(name)) or isinstance(names.get(name), str | SecretStr)


def _value(option: str, name: str, names: Mapping[str, Any]) -> str:
    """Return a reference to the variable *name*, which is needed for *option*.

    A variable of the environment comes before one of the notebook.

    Raises:
        UsageError: If there is no such variable.
    """
    from toolbench.mcp.config.placeholders import is_text  # noqa: PLC0415 - as above

    if os.environ.get(name):
        return f"${{env:{name}}}"
    if not is_text(names.get(name)):
        msg = f"{option} needs the variable {name!r}: set it in the environment or in a cell."
        raise UsageError(msg)
    return f"${{{name}}}"


def _folder(option: str, word: str) -> str:
    path = Path(word).expanduser().absolute()
    if not path.is_dir():
        msg = f"{option} takes a folder: there is none at {str(path)!r}."
        raise UsageError(msg)
    return str(path)


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
