"""%mcp: connect servers, look at them, disconnect."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand

from toolbench.magics.listing import Listing
from toolbench.magics.parsers import HelpWanted, LineParser, split

if TYPE_CHECKING:
    from toolbench.mcp.client import MCPClient
    from toolbench.mcp.session import MCPServerSession


def _parser() -> LineParser:
    parser = LineParser("mcp", description="Connect MCP servers and look at them.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    connect = commands.add_parser(
        "connect", help="NAME URL, NAME -- COMMAND ARG..., or --config"
    )
    connect.add_argument("name", nargs="?")
    connect.add_argument("url", nargs="?")
    connect.add_argument("--config", metavar="FILE", help="a file of mcpServers")
    connect.add_argument("--only", default="", help="names out of the file, by commas")
    connect.add_argument("--mode", choices=("auto", "legacy"), default=None)
    commands.add_parser("list", help="the servers")
    for name, about in _LOOKS.items():
        commands.add_parser(name, help=about).add_argument("name")
    reconnect = commands.add_parser("reconnect", help="start a server again")
    reconnect.add_argument("name")
    reconnect.add_argument("--mode", choices=("auto", "legacy"))
    disconnect = commands.add_parser("disconnect", help="stop a server, or --all")
    disconnect.add_argument("name", nargs="?")
    disconnect.add_argument("--all", action="store_true")
    commands.add_parser("discover", help="servers other programs are configured with")
    return parser


_LOOKS = {
    "tools": "its tools",
    "resources": "its resources",
    "prompts": "its prompts",
    "log": "what it logged",
    "stderr": "what it wrote to stderr",
    "traffic": "the messages that went back and forth",
}
COMMANDS = ("connect", "list", *_LOOKS, "reconnect", "disconnect", "discover")
MCP = _parser()


@magics_class
class MCPMagics(Magics):
    """The magic of MCP servers."""

    def __init__(self, shell: Any, client: "Callable[[], MCPClient]") -> None:
        """Work on the servers of what *client* returns."""
        super().__init__(shell)
        self._client = client

    @no_var_expand
    @line_magic
    def mcp(self, line: str) -> Any:
        """Connect and look at servers."""
        head, dashes, tail = line.partition(" -- ")
        try:
            wanted = MCP.parse_line(head)
        except HelpWanted as text:
            print(text)  # noqa: T201 - in the cell that asked
            return None
        if wanted.command == "connect":
            return self._connect(wanted, split(tail) if dashes else [])
        run = getattr(self, f"_{wanted.command}", None)
        return run(wanted) if run else self._look(wanted.command, wanted.name)

    def _connect(self, wanted: Any, command: list[str]) -> Listing:
        client = self._client()
        if wanted.config:
            client.add(
                wanted.config, only=wanted.only.split(",") if wanted.only else None
            )
            return _overview(client)
        entry = _entry(wanted, command)
        session = client.connect(wanted.name, entry, mode=wanted.mode)
        return _tools(session)

    def _list(self, wanted: Any) -> Listing:
        return _overview(self._client())

    def _reconnect(self, wanted: Any) -> Listing:
        session = self._client().server(wanted.name)
        session.reconnect(mode=wanted.mode)
        return _tools(session)

    def _disconnect(self, wanted: Any) -> None:
        client = self._client()
        if not wanted.all and not wanted.name:
            msg = "Say which server, or --all."
            raise UsageError(msg)
        for name in list(client.servers) if wanted.all else [wanted.name]:
            client.disconnect(name)

    def _discover(self, wanted: Any) -> Listing:
        from toolbench.mcp.discover import (  # noqa: PLC0415 - loads FastMCP
            discover,
        )

        found = discover()
        return Listing(
            ("server", "from", "how"),
            [(s.name, s.source, s.summary) for s in found],
            "No program on this machine is configured with MCP servers.",
        )

    def _look(self, what: str, name: str) -> Any:
        return _SHOW[what](self._client().server(name))


def _entry(wanted: Any, command: list[str]) -> dict[str, Any]:
    if not wanted.name:
        msg = "Give the server a name: %mcp connect NAME URL, or NAME -- COMMAND ARG..."
        raise UsageError(msg)
    if command and wanted.url is None:
        return {"command": _own_program(command[0]), "args": command[1:]}
    if wanted.url and not command:
        return {"url": wanted.url}
    msg = f"Where is {wanted.name!r}? Give a URL, or -- and the command that starts it."
    raise UsageError(msg)


def _own_program(name: str) -> str:
    """The program of the kernel's own environment, as if that were activated; else *name*."""
    beside = Path(sys.executable).parent / name
    return str(beside) if Path(name).name == name and beside.is_file() else name


def _overview(client: "MCPClient") -> Listing:
    return Listing(
        ("server", "status", "protocol", "tools", "note"),
        [
            (s.name, s.status, s.protocol_version or "", len(s.tools), s.error or "")
            for s in client.servers.values()
        ],
        "No server is connected. %mcp connect NAME -- COMMAND starts one.",
    )


def _tools(session: "MCPServerSession") -> Listing:
    return Listing(
        (f"tool of {session.name}", "what it does"),
        [(t.name, t.description.strip().partition("\n")[0]) for t in session.tools],
        f"{session.name} has no tools.",
    )


def _resources(session: "MCPServerSession") -> Listing:
    return Listing(
        ("resource", "name", "type"),
        [(r.uri, r.name, r.mime_type or "") for r in session.resources],
        f"{session.name} has no resources.",
    )


def _prompts(session: "MCPServerSession") -> Listing:
    return Listing(
        ("prompt", "what it does"),
        [(p.name, p.description or "") for p in session.prompts],
        f"{session.name} has no prompts.",
    )


def _lines(what: str) -> "Callable[[MCPServerSession], Listing]":
    def show(session: "MCPServerSession") -> Listing:
        rows = [(line,) for line in getattr(session, what)]
        return Listing((f"{what} of {session.name}",), rows, "Nothing so far.")

    return show


_SHOW: "dict[str, Callable[[MCPServerSession], Listing]]" = {
    "tools": _tools,
    "resources": _resources,
    "prompts": _prompts,
    "log": _lines("log"),
    "stderr": _lines("stderr"),
    "traffic": _lines("traffic"),
}

MCPMagics.mcp.__doc__ = MCP.help_text()
