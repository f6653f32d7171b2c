"""%mcp connect, reconnect and disconnect: read their lines, and connect or disconnect servers."""

import os
import re
import shlex
import shutil
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolbench.errors import ToolbenchError
from toolbench.magics import mcp_listing, mcp_registry
from toolbench.magics.commands import SERVER, Argument, Command
from toolbench.magics.line import UsageError, listed_names, seconds
from toolbench.magics.mcp_over_time import trust_notes
from toolbench.magics.table import Listing

# Its names are imported with their first use
from toolbench.mcp import config
from toolbench.mcp.client_features import root_url
from toolbench.redaction.detect import secrets_in
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.magics.mcp_magics import MCPMagics
    from toolbench.mcp.server_session import MCPServerSession

# Module:name, as FastMCP writes it
_IN_MODULE = re.compile(r"[\w.]+:\w+")
WEB = ("http://", "https://")
"""The beginnings of a URL."""
# The words that fit a server of a registry
_WITH_REGISTRY = {
    *("name", "--registry", "--version"),
    *("--mode", "--record", "--timeout", "--root"),
}
# A server of toolbench's own
_EXAMPLE = ("-m", "toolbench.mcp.example")


def _connect(magics: "MCPMagics", options: Namespace) -> Any:
    is_alone = not (options.target or options.config or options.replay or options.program)
    is_alone = is_alone and not options.registry
    if is_alone and options.name and options.name.endswith(".json"):
        options.config, options.name = options.name, None
    client = magics.client
    is_again = options.name in client.known and set(_given(options)) <= {"name", "--mode"}
    if is_alone and options.name == "example" and not is_again:
        known = client.known.get("example")
        # Not in the place of a server of the user that has this name
        if known is None or known.entry.args == _EXAMPLE:
            options.program = [sys.executable, *_EXAMPLE]
    _check(options)
    if options.registry:
        return mcp_registry.connect(magics, options, partial(_open, magics, options))
    timeout = options.timeout or magics.settings.connect_timeout
    if options.config:
        added = client.add(
            options.config,
            only=options.only or None,
            record=options.record,
            timeout=timeout,
            approve=options.approve,
        )
        notes = mcp_listing.without_place(added, client.servers)
        for session in added:
            notes += [f"{session.name}: {note}" for note in trust_notes(session)]
        notes += mcp_listing.doctor_lines(added)[:1]
        return mcp_listing.servers(client.servers.values()).noted(notes)
    if options.replay and not options.name:
        client.add(None, replay=options.replay)
        return mcp_listing.servers(client.servers.values())
    if is_again:
        return _reconnect(magics, options)
    entry = None
    if not options.replay:
        entry = entry_of(options, magics.namespace)
    return _open(magics, options, options.name, entry)


def _open(magics: "MCPMagics", options: Namespace, name: str, entry: Any) -> Listing:
    """Connect the server that *entry* describes under *name*, and return a table of its tools.

    *options* are those of the line, such as the time limit.
    """
    session = magics.client.connect(
        name,
        entry,
        mode=options.mode,
        record=options.record,
        replay=options.replay,
        timeout=options.timeout or magics.settings.connect_timeout,
        roots=_roots_of(options),
        dev=options.dev,
        watch=options.watch,
    )
    listing = _listing(magics, session)
    if session.development is not None:
        listing.noted([session.development.watched])
    return listing


def _reconnect(magics: "MCPMagics", options: Namespace) -> Listing | str:
    if options.name not in magics.client.known:
        magics.server(options.name)
    session = magics.client.reconnect(options.name, options.mode)
    if session.development is None:
        return _listing(magics, session)
    changes = session.development.changes() or ["It offers the same as before."]
    return "\n".join([f"{session.name} was started again.", *changes])


def _listing(magics: "MCPMagics", session: "MCPServerSession") -> Listing:
    """Return a table of the tools of a server that was just connected, with notes about them."""
    names = mcp_listing.longer_names(session.name, magics.client.tools)
    notes = [*trust_notes(session), *names, mcp_listing.summary(session)]
    return mcp_listing.offer(session).noted(notes)


def _disconnect(magics: "MCPMagics", options: Namespace) -> str:
    if options.all and options.name:
        msg = "Give NAME or --all, not both."
        raise UsageError(msg)
    if not options.all and not options.name:
        msg = "Name a server, or add --all."
        raise UsageError(msg)
    names = [options.name]
    if options.all:
        names = list(magics.client.servers)
    if options.all and options.forget:
        names = list(magics.client.known)
    sentences = [_disconnected(magics, name, is_forgotten=options.forget) for name in names]
    return "\n".join(sentences) or "No server was connected."


def _disconnected(magics: "MCPMagics", name: str, *, is_forgotten: bool) -> str:
    """Disconnect the server *name*, and return a message about the result."""
    client = magics.client
    if not (is_forgotten and name in client.former):
        magics.server(name)
    session = client.known[name]
    what = name
    if session.tools:
        what = f"{name} with its {counted(len(session.tools), 'tool')}"
    if is_forgotten:
        return f"Forgot {what}. {_forget(magics, session)}".strip()
    was_there = session.is_connected or session.tools
    client.disconnect(name)
    if was_there:
        return f"Disconnected {what}. %mcp reconnect {shlex.quote(name)} brings it back."
    return f"{name} was not connected. %mcp reconnect {shlex.quote(name)} tries it again."


def _forget(magics: "MCPMagics", session: "MCPServerSession") -> str:
    """Forget how to connect a server, and its tokens; return a message about the tokens."""
    magics.client.forget(session.name)
    if session.entry.transport not in ("http", "sse"):
        return ""
    from toolbench.mcp.authorization.logout import log_out  # noqa: PLC0415 - with the first server

    return log_out(session)


def _given(options: Namespace) -> list[str]:
    """Return the parts that the line of `connect` has: its words, its options, and `--`."""
    written = {"name": "name", "target": options.target, "program": "--"}
    return [
        written.get(name, f"--{name}")
        for name, value in vars(options).items()
        if value not in (None, False)
    ]


def _check(options: Namespace) -> None:
    """Check that all options of the line have an effect on this kind of server.

    Raises:
        UsageError: If an option would have no effect.
    """
    given = _given(options)
    if options.watch and not options.dev:
        msg = "--watch belongs to --dev: add it, or leave --watch out."
        raise UsageError(msg)
    if options.replay:
        unfit = {*given} - {"name", "--replay", "--mode"}
        why = "--replay answers from the file and starts nothing: leave out {}."
    elif options.registry:
        unfit = {*given} - _WITH_REGISTRY
        why = "--registry determines what runs, and its form asks for the rest: leave out {}."
    elif options.version:
        unfit = {"--version"}
        why = "{} is for a server of a registry: add --registry ID."
    elif options.config:
        unfit = {*given} - {"--config", "--only", "--approve", "--record", "--timeout"}
        why = "--config takes its servers from the file: leave out {}. --only NAME,... selects some of them."
    elif options.only or options.approve:
        unfit = {"--only", "--approve"}
        why = "{} is for the servers of a file: add --config FILE."
    elif options.program is None:
        unfit = {"--cwd", "--env", "--dev", "--watch"}
        why = "{} is for a server that a command starts: add -- and the command."
    else:
        unfit = {"--header", "--auth"}
        why = "{} is for a URL: a command takes --env NAME."
    ignored = [word for word in given if word in unfit]
    if ignored:
        raise UsageError(why.format(" and ".join(ignored)))


def check_target(words: Sequence[str], names: Mapping[str, Any]) -> None:
    """Check that the target in `%mcp connect NAME TARGET` is a URL or a Python object.

    Args:
        words: The words after `connect`, without options.
        names: The variables of the notebook, by name.

    Raises:
        UsageError: If the target is neither a URL nor a Python object. If it looks like a command,
            the message shows the syntax for commands.
    """
    if any(word.startswith("-") for word in words[:2]):
        return
    target = words[1:]
    if not target or target[0].startswith(WEB):
        return
    if len(target) == 1 and is_object(target[0], names):
        return
    line = f"%mcp connect {words[0]} -- "
    msg = f"{target[0]!r} is not a URL (http://… or https://…) and not an object of this notebook. "
    if target[0].endswith(".py"):
        msg += f"To start it: {line}python {shlex.join(target)}"
    elif len(target) > 1 or shutil.which(config.own_program(target[0])):
        msg += f"A command comes after two dashes: {line}{shlex.join(target)}"
    else:
        msg += f"No program on the PATH has this name. {line}COMMAND starts a server."
    raise UsageError(msg)


def is_object(word: str, names: Mapping[str, Any]) -> bool:
    """Tell whether *word* means a Python object: one of the variables *names*, or `module:name`."""
    return _bare(word) in names or _IN_MODULE.fullmatch(word) is not None


def _bare(word: str) -> str:
    """Return the name of the variable in *word*, which is written `name` or `${name}`."""
    return word.removeprefix("${").removesuffix("}")


def entry_of(options: Namespace, names: Mapping[str, Any]) -> Any:
    """Return the server that a `%mcp connect` line describes, in a form that the client accepts.

    The result is a configuration entry, a URL or a Python object. An entry includes the settings on
    the line, such as headers.

    Args:
        options: The parsed line.
        names: The variables of the notebook, by name.

    Raises:
        UsageError: If the line has no target, or has an option that does not fit the target.
    """
    if not options.name:
        msg = "Give the server a name: %mcp connect NAME URL, or NAME -- COMMAND ARG..."
        raise UsageError(msg)
    if bool(options.target) == bool(options.program):
        msg = f"Where is {options.name!r}? Give a URL, or -- and the command that starts it."
        raise UsageError(msg)
    if options.program:
        program, *arguments = options.program
        entry: Any = {
            "command": config.own_program(program),
            "args": arguments,
            "env": config.environment_of(options.env or ()),
        }
    else:
        entry = names.get(_bare(options.target), options.target)
    settings = _settings(options, names)
    if not settings:
        return entry
    if isinstance(entry, str) and entry.startswith(WEB):
        entry = {"url": entry}
    if not isinstance(entry, dict) or not ("url" in entry or "command" in entry):
        option = next(name for name in ("header", "auth", "cwd") if getattr(options, name))
        msg = f"--{option} is for a URL or a command, not for an object."
        raise UsageError(msg)
    before = entry.get("headers")
    if "headers" in settings and isinstance(before, dict):
        settings["headers"] = {**before, **settings["headers"]}
    # A reconnect reads them again
    variables = config.LiveVariables(names, config.names_in(settings))
    return {**entry, **settings, "notebookVariables": variables}


def _settings(options: Namespace, names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the line's headers, token and folder as keys of a server's configuration.

    Raises:
        UsageError: If one of them cannot be used.
    """
    settings: dict[str, Any] = {}
    if options.header:
        settings["headers"] = dict(map(_header, options.header))
    if options.auth is not None:
        settings["auth"] = _auth(options.auth, names)
    if options.cwd is not None:
        folder = Path(options.cwd).expanduser().absolute()
        if not folder.is_dir():
            msg = f"--cwd takes a folder: there is none at {str(folder)!r}."
            raise UsageError(msg)
        settings["cwd"] = str(folder)
    return settings


def _header(text: str) -> tuple[str, str]:
    name, value = config.header_in(text)
    if not config.names_in(value) and any(secrets_in(value, name)):
        msg = (
            f"The value of the header {name!r} would be saved with the notebook. Put the secret into "
            f"a variable, and write --header '{name}: ${{VARIABLE}}'."
        )
        raise UsageError(msg)
    return name, value


def _auth(word: str, names: Mapping[str, Any]) -> str:
    if word.lower() == "oauth":
        return "oauth"
    name = word
    variable = config.reference(word)
    if variable is not None:
        name = variable.name
    if not name.isidentifier() or not (os.environ.get(name) or config.is_text(names.get(name))):
        msg = (
            "--auth takes oauth, or the name of a variable that holds the token: an environment "
            "variable, or a string in this notebook. There is no such variable; do not write "
            "the token itself into the line."
        )
        raise UsageError(msg)
    return f"${{{name}}}"


def _roots_of(options: Namespace) -> list[str]:
    """Return the folders of `--root`, as file URLs.

    Raises:
        UsageError: If a folder does not exist, or a URL is not a file URL.
    """
    try:
        return [root_url(word) for word in options.root or ()]
    except ToolbenchError as error:
        msg = f"--root: {error}"
        raise UsageError(msg) from None


MODES = ("auto", "legacy")
_MODE = Argument("--mode", choices=MODES, help="which protocol")
HOW = (
    Argument(
        "--env",
        action="append",
        metavar="NAME[=VALUE]",
        help="an environment variable for the command, which gets few others, such as PATH and HOME; "
        "without a value: its value here",
    ),
    Argument(
        "--header",
        action="append",
        metavar="'NAME: VALUE'",
        help="a header for a URL; ${VAR} in it is a variable",
    ),
    Argument(
        "--auth",
        metavar="oauth|VAR",
        help="authorize in the browser, or the variable that holds the token",
    ),
    Argument("--timeout", type=seconds, metavar="SECONDS", help="stop connecting after this time"),
    Argument("--cwd", metavar="DIR", help="where the command starts"),
)
"""The options that say how to reach a URL, or how to start a command."""
COMMANDS = {
    "connect": Command(
        "NAME URL-OR-OBJECT, NAME -- COMMAND ARG..., --config or --registry",
        _connect,
        (
            Argument("name", nargs="?", help="what the server is called here"),
            Argument(
                "target",
                nargs="?",
                offers="target",
                help="a URL, an object of the notebook, or module:name",
            ),
            Argument("--config", metavar="FILE", help="a file with mcpServers, or a server.json"),
            Argument(
                "--only",
                type=listed_names,
                metavar="A,B",
                help="names from the file, with commas between them",
            ),
            Argument(
                "--approve",
                action="store_true",
                help="approve the servers of the file as they are now",
            ),
            Argument(
                "--registry",
                metavar="ID",
                help="a server of the MCP registry: a form, then your approval; %%mcp registry finds its ID",
            ),
            Argument("--version", metavar="V", help="with --registry: not the latest version"),
            _MODE,
            Argument("--record", metavar="FILE", help="write all messages to a file"),
            Argument(
                "--replay", metavar="FILE", help="answer from a recording; nothing is started"
            ),
            *HOW,
            Argument(
                "--root",
                action="append",
                metavar="DIR",
                help="a folder that the server may ask for",
            ),
            Argument(
                "--dev",
                action="store_true",
                help="you develop it: after a change of its source files, its next use starts it again",
            ),
            Argument(
                "--watch",
                action="store_true",
                help="with --dev: a change starts it again immediately",
            ),
        ),
    ),
    "reconnect": Command(
        "start a server again",
        _reconnect,
        (SERVER, _MODE),
    ),
    "disconnect": Command(
        "stop a server, or --all",
        _disconnect,
        (
            Argument("name", nargs="?", offers="server", help="the server"),
            Argument("--all", action="store_true", help="all servers"),
            Argument(
                "--forget",
                action="store_true",
                help="and forget how to connect it again, and its tokens, which are revoked if possible",
            ),
        ),
    ),
}
"""The commands of `%mcp` that open and close connections."""
