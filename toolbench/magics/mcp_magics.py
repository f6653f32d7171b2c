"""%mcp: connect servers, look at them, disconnect."""

import re
import shlex
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand

from toolbench.errors import ToolNotFoundError
from toolbench.magics import mcp_listing
from toolbench.magics.listing import Listing
from toolbench.magics.mcp_listing import LOOKS
from toolbench.magics.parsers import HelpWanted, LineParser, split

if TYPE_CHECKING:
    from toolbench.mcp.client import MCPClient
    from toolbench.mcp.session import MCPServerSession

MODES = ("auto", "legacy")
CONNECT_OPTIONS = ("--config", "--only", "--mode", "--env")
_IN_MODULE = re.compile(r"[\w.]+:\w+")  # module:name, as FastMCP writes it


def _parser() -> LineParser:
    parser = LineParser(
        "mcp",
        description="Connect MCP servers and look at them.",
        examples=(
            "%mcp connect time -- python -m mcp_server_time",
            "%mcp connect docs https://example.com/mcp",
            "%mcp connect notes server       where `server` is a FastMCP object here",
            "%mcp connect --config mcp.json --only time,docs",
            "%mcp explore time",
        ),
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    explore = commands.add_parser("explore", help="see and try all they offer")
    explore.add_argument("name", nargs="?")
    connect = commands.add_parser(
        "connect", help="NAME URL-OR-OBJECT, NAME -- COMMAND ARG..., or --config"
    )
    connect.add_argument("name", nargs="?")
    connect.add_argument(
        "target", nargs="?", help="a URL, an object of the notebook, or module:name"
    )
    connect.add_argument("--config", metavar="FILE", help="a file of mcpServers")
    connect.add_argument("--only", default="", help="names out of the file, by commas")
    connect.add_argument("--mode", choices=MODES, help="the protocol's era")
    connect.add_argument(
        "--env",
        action="append",
        metavar="NAME[=VALUE]",
        help="an environment variable for the command; without a value, as it is here",
    )
    commands.add_parser("list", help="the servers")
    for name, (about, _) in LOOKS.items():
        commands.add_parser(name, help=about).add_argument("name")
    reconnect = commands.add_parser("reconnect", help="start a server again")
    reconnect.add_argument("name")
    reconnect.add_argument("--mode", choices=MODES)
    disconnect = commands.add_parser("disconnect", help="stop a server, or --all")
    disconnect.add_argument("name", nargs="?")
    disconnect.add_argument("--all", action="store_true")
    commands.add_parser("discover", help="servers other programs are configured with")
    return parser


COMMANDS = (
    *("explore", "connect", "list", *LOOKS),
    *("reconnect", "disconnect", "discover"),
)
MCP = _parser()


@magics_class
class MCPMagics(Magics):
    """The magic of MCP servers."""

    def __init__(self, shell: Any, client: "Callable[[], MCPClient]") -> None:
        """Work on the servers of what *client* returns."""
        super().__init__(shell)
        self._names: dict[str, Any] = shell.user_ns
        self._client = client
        self._warming: Thread | None = None

    @no_var_expand
    @line_magic
    def mcp(self, line: str) -> Any:
        """Connect and look at servers."""
        head, dashes, tail = line.partition(" -- ")
        options, words = apart(split(head))
        _check_target(words, self._names)
        try:
            wanted = MCP.parse_args([*words[:1], *options, *words[1:]])
        except HelpWanted as text:
            print(text)  # noqa: T201 - in the cell that asked
            return None
        self._warm()
        if wanted.command == "connect":
            shown = self._connect(wanted, split(tail) if dashes else [])
        elif wanted.command in LOOKS:
            shown = LOOKS[wanted.command][1](self._server(wanted.name))
        else:
            shown = getattr(self, f"_{wanted.command or 'explore'}")(wanted)
        refresh_explorers()
        return shown

    def _warm(self) -> None:
        """Load FastMCP, from the first command on, while the person goes on typing."""
        if self._warming is None:
            from toolbench.mcp import warm  # noqa: PLC0415 - not for %load_ext

            self._warming = warm()

    def _server(self, name: str) -> "MCPServerSession":
        client = self._client()
        if not client.servers:
            msg = f"No server {name!r}. %mcp connect starts one."
            raise ToolNotFoundError(msg)
        return client.server(name)

    def _explore(self, wanted: Any) -> Any:
        client = self._client()
        name = getattr(wanted, "name", None)
        if name is not None:
            self._server(name)
        if not hasattr(self.shell, "kernel"):  # a terminal shows no widgets
            return mcp_listing.servers(client.servers.values())
        from toolbench.widgets.explorer import (  # noqa: PLC0415 - brings toolbench.mcp
            Explorer,
        )

        return Explorer(client, name)

    def _connect(self, wanted: Any, command: list[str]) -> Listing:
        client = self._client()
        if self._warming is not None:  # two threads must not load it at once
            self._warming.join()
        if wanted.config:
            only = wanted.only.split(",") if wanted.only else None
            client.add(wanted.config, only=only)
            return mcp_listing.servers(client.servers.values())
        entry = _entry(wanted, command, self._names)
        return mcp_listing.tools(client.connect(wanted.name, entry, mode=wanted.mode))

    def _list(self, wanted: Any) -> Listing:
        return mcp_listing.servers(self._client().servers.values())

    def _reconnect(self, wanted: Any) -> Listing:
        session = self._server(wanted.name)
        session.reconnect(mode=wanted.mode)
        return mcp_listing.tools(session)

    def _disconnect(self, wanted: Any) -> None:
        client = self._client()
        if not wanted.all and not wanted.name:
            msg = "Say which server, or --all."
            raise UsageError(msg)
        for name in list(client.servers) if wanted.all else [wanted.name]:
            self._server(name)
            client.disconnect(name)

    def _discover(self, wanted: Any) -> Listing:
        from toolbench.mcp.discover import discover  # noqa: PLC0415 - as above

        return mcp_listing.found(discover())


def apart(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the options of `connect` and the other words: argparse wants the options first."""
    if words[:1] != ["connect"]:
        return [], words
    options: list[str] = []
    rest: list[str] = []
    left = iter(words)
    for word in left:
        if word in CONNECT_OPTIONS:
            options += [word, *islice(left, 1)]
        else:
            (options if word.startswith(CONNECT_OPTIONS) else rest).append(word)
    return options, rest


def _check_target(words: list[str], names: dict[str, Any]) -> None:
    """Explain what is wrong with `connect NAME FOO`, where FOO is nothing to connect to.

    Raises:
        UsageError: It says how a command is given, if FOO looks like one.
    """
    if words[:1] != ["connect"] or any(word.startswith("-") for word in words[1:3]):
        return
    name, target = words[1:2], words[2:]
    if not target or target[0].startswith(("http://", "https://")):
        return
    if len(target) == 1 and (
        _bare(target[0]) in names or _IN_MODULE.fullmatch(target[0])
    ):
        return
    line = f"%mcp connect {name[0]} -- "
    msg = f"{target[0]!r} is no URL (http://… or https://…) and no object of this notebook. "
    if target[0].endswith(".py"):
        msg += f"To start it: {line}python {shlex.join(target)}"
    elif len(target) > 1 or _is_program(target[0]):
        msg += f"A command comes after two dashes: {line}{shlex.join(target)}"
    else:
        msg += f"No program on the PATH is called so either. {line}COMMAND starts one."
    raise UsageError(msg)


def _bare(word: str) -> str:
    """The name of a variable, which may be written as elsewhere: `${name}`."""
    return word.removeprefix("${").removesuffix("}")


def _entry(wanted: Any, command: list[str], names: dict[str, Any]) -> Any:
    """What `connect` connects to: a command, a URL, or an object that serves."""
    if not wanted.name:
        msg = "Give the server a name: %mcp connect NAME URL, or NAME -- COMMAND ARG..."
        raise UsageError(msg)
    if command and wanted.target is None:
        given = (word.partition("=") for word in wanted.env or ())
        env = {
            name: value if equals else f"${{env:{name}}}"
            for name, equals, value in given
        }
        return {"command": _own_program(command[0]), "args": command[1:], "env": env}
    if wanted.target and not command:
        return names.get(_bare(wanted.target), wanted.target)
    msg = f"Where is {wanted.name!r}? Give a URL, or -- and the command that starts it."
    raise UsageError(msg)


def _own_program(name: str) -> str:
    """The program of the kernel's own environment, as if that were activated; else *name*."""
    beside = Path(sys.executable).parent / name
    return str(beside) if Path(name).name == name and beside.is_file() else name


def _is_program(name: str) -> bool:
    return shutil.which(_own_program(name)) is not None


def targets(names: dict[str, Any]) -> list[str]:
    """Return which *names* stand for something a server is: a FastMCP object, or an entry."""
    return [
        name
        for name, value in list(names.items())  # threads may add some
        if not name.startswith("_") and _is_server(value)
    ]


_KEYS = {"command", "url", "mcpServers", "openapi"}
_CLASSES = {"FastMCP", "MCPServer", "FakeMCPServer"}


def _is_server(value: Any) -> bool:
    kind = type(value)  # its `__class__` may run code
    if kind is dict:
        return not _KEYS.isdisjoint(value)
    with suppress(Exception):  # a metaclass may do anything
        return any(base.__name__ in _CLASSES for base in kind.__mro__)
    return False


def refresh_explorers() -> None:
    """Have the explorers that are open show which servers there are now."""
    module = sys.modules.get("toolbench.widgets.explorer.explorer")
    for explorer in list(module.open_explorers) if module is not None else ():
        explorer.look()


MCPMagics.mcp.__doc__ = MCP.help_text()
