"""%mcp: connect, list, inspect and disconnect servers."""

import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from threading import Thread
from typing import TYPE_CHECKING, Any

from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand

from toolbench.errors import ToolNotFoundError
from toolbench.files import write_named
from toolbench.magics import mcp_connect, mcp_listing, mcp_over_time
from toolbench.magics.catalog import Catalog
from toolbench.magics.commands import (
    logout_command,
    roots_command,
    skills_command,
    task_commands,
)
from toolbench.magics.commands.config_text import config_text
from toolbench.magics.commands.serving_command import ServingCommand
from toolbench.magics.mcp_connect import check_target, entry_of
from toolbench.magics.mcp_listing import LOOKS
from toolbench.magics.option_checks import check_mcp
from toolbench.magics.parsers import (
    HelpWanted,
    LineParser,
    UsageError,
    hides_secrets,
    split,
    with_whole_lists,
)
from toolbench.magics.table import Listing
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.llm.models import Model
    from toolbench.mcp.client import MCPClient
    from toolbench.mcp.session import MCPServerSession

MODES = ("auto", "legacy")


def _parser() -> LineParser:
    parser = LineParser(
        "mcp",
        description="Connect MCP servers and look at them.",
        examples=(
            "%mcp connect time -- python -m mcp_server_time",
            "%mcp connect docs https://example.com/mcp",
            "%mcp connect notes server       where `server` is a FastMCP object here",
            "%mcp connect --config mcp.json --only time,docs",
            "%mcp connect --config mcp.json --approve      its servers need no question then",
            "%mcp connect time --record time.jsonl -- python -m mcp_server_time",
            "%mcp connect time --replay time.jsonl",
            "%mcp explore time",
            "%mcp serve                      the tools of this notebook, to agents",
        ),
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    explore = commands.add_parser("explore", help="browse and try tools, resources and prompts")
    explore.add_argument("name", nargs="?")
    connect = commands.add_parser(
        "connect", help="NAME URL-OR-OBJECT, NAME -- COMMAND ARG..., or --config"
    )
    mcp_connect.add_options(connect, MODES)
    commands.add_parser("list", help="the servers")
    mcp_listing.add_parsers(commands)
    reconnect = commands.add_parser("reconnect", help="start a server again")
    reconnect.add_argument("name")
    reconnect.add_argument("--mode", choices=MODES)
    disconnect = commands.add_parser("disconnect", help="stop a server, or --all")
    disconnect.add_argument("name", nargs="?")
    disconnect.add_argument("--all", action="store_true")
    disconnect.add_argument(
        "--forget", action="store_true", help="and forget how to connect it again"
    )
    review = commands.add_parser("review", help="show its tools, tokens, risks and lint findings")
    review.add_argument("name")
    save = commands.add_parser("save", help="write the configuration of the servers")
    save.add_argument("file", nargs="?", default="mcp.json")
    mcp_over_time.add_yes(save)
    mcp_over_time.add_parsers(commands)
    task_commands.add_parsers(commands)
    logout_command.add_parsers(commands)
    roots_command.add_parsers(commands)
    skills_command.add_parsers(commands)
    serve = commands.add_parser("serve", help="tools of this notebook, to agents")
    serve.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="which tools; without names, all of this notebook",
    )
    serve.add_argument("--stop", action="store_true", help="stop serving")
    commands.add_parser("discover", help="servers in the configurations of other programs")
    return parser


_OF_A_SERVER = {
    **mcp_over_time.COMMANDS,
    **task_commands.COMMANDS,
    **logout_command.COMMANDS,
    **roots_command.COMMANDS,
    **skills_command.COMMANDS,
}
MCP = _parser()


@magics_class
class MCPMagics(Magics):
    """The magic `%mcp`."""

    def __init__(
        self,
        shell: Any,
        client: "Callable[[], MCPClient]",
        catalog: Catalog,
        model_named: "Callable[[str], Model]",
    ) -> None:
        """Manage the servers of the client that *client* returns, and serve the tools of *catalog*.

        *model_named* returns the model of a name that a line has.
        """
        super().__init__(shell)
        self._model_named = model_named
        self._serve = ServingCommand(catalog)
        self._names: dict[str, Any] = shell.user_ns
        self._client = client
        self._warming: Thread | None = None

    @no_var_expand
    @line_magic
    @hides_secrets
    def mcp(self, line: str) -> Any:
        """Connect and look at servers."""
        head, dashes, tail = line.partition(" -- ")
        options, words = _apart(with_whole_lists(split(head), MCP.commands["connect"].lists))
        check_target(words, self._names)
        try:
            parsed_line = MCP.parse_args([*words[:1], *options, *words[1:]])
        except HelpWanted as text:
            print(text)  # noqa: T201 - in the cell that asked
            return None
        command = split(tail) if dashes else None
        mcp_connect.take_file(parsed_line, command)
        check_mcp(parsed_line, command)
        self._warm()
        try:
            return self._view(parsed_line, command or [])
        finally:
            # A server that failed is in the lists too
            refresh_explorers()

    def _view(self, parsed_line: Any, command: list[str]) -> Any:
        """Do what *parsed_line* says, and return what the cell shows."""
        if parsed_line.command == "connect":
            return self._connect(parsed_line, command)
        if parsed_line.command in _OF_A_SERVER:
            if model := getattr(parsed_line, "model", None):
                parsed_line.model = self._model_named(model)
            return _OF_A_SERVER[parsed_line.command](parsed_line, self._server)
        if parsed_line.command in LOOKS:
            return mcp_listing.look(parsed_line, self._server(parsed_line.name))
        return getattr(self, f"_{parsed_line.command or 'explore'}")(parsed_line)

    def _warm(self) -> None:
        """Load FastMCP in a thread at the first command: the person can go on typing meanwhile."""
        if self._warming is None:
            from toolbench.mcp import warm  # noqa: PLC0415 - not for %load_ext

            self._warming = warm()

    def _server(self, name: str) -> "MCPServerSession":
        client = self._client()
        if not client.servers and name not in client.former:
            msg = f"No server {name!r}. %mcp connect starts one."
            raise ToolNotFoundError(msg)
        return client.server(name)

    def _explore(self, options: Any) -> Any:
        client = self._client()
        name = getattr(options, "name", None)
        if name is not None and name not in client.known:
            self._server(name)
        # A terminal shows no widgets
        if not hasattr(self.shell, "kernel"):
            return mcp_listing.servers(client.known.values())
        from toolbench.widgets.explorer import (  # noqa: PLC0415 - brings toolbench.mcp
            Explorer,
        )

        return Explorer(client, name)

    def _connect(self, options: Any, command: list[str]) -> Listing:
        client = self._client()
        # Two threads must not load FastMCP at once
        if self._warming is not None:
            self._warming.join()
        if options.config:
            added = client.add(
                options.config,
                only=options.only or None,
                record=options.record,
                timeout=options.timeout,
                approve=options.approve,
            )
            listing = mcp_listing.servers(client.servers.values())
            notes = [
                f"{session.name}: {note}"
                for session in added
                for note in mcp_over_time.trust_notes(session)
            ]
            failures = mcp_listing.without_place(added, client.servers)
            return listing.noted([*failures, *notes])
        if options.replay and not options.name:
            client.add(None, replay=options.replay)
            return mcp_listing.servers(client.servers.values())
        if mcp_connect.is_name_only(options, command) and options.name in client.known:
            return self._reconnect(options)
        entry = None if options.replay else entry_of(options, command, self._names)
        session = client.connect(
            options.name,
            entry,
            mode=options.mode,
            record=options.record,
            replay=options.replay,
            timeout=options.timeout,
            roots=mcp_connect.roots_of(options),
        )
        return self._listing(session)

    def _listing(self, session: "MCPServerSession") -> Listing:
        """Return a table of the tools of a server that was just connected, with notes about them."""
        names = mcp_listing.longer_names(session.name, self._client().tools)
        notes = [*mcp_over_time.trust_notes(session), *names, mcp_listing.summary(session)]
        return mcp_listing.offer(session).noted(notes)

    def _list(self, options: Any) -> Listing:
        return mcp_listing.servers(self._client().known.values())

    def _read(self, options: Any) -> Any:
        return self._server(options.name).read_resource(options.uri)

    def _reconnect(self, options: Any) -> Listing:
        if options.name not in self._client().known:
            self._server(options.name)
        session = self._client().reconnect(options.name, options.mode)
        return self._listing(session)

    def _disconnect(self, options: Any) -> None:
        client = self._client()
        if not options.all and not options.name:
            msg = "Name a server, or add --all."
            raise UsageError(msg)
        every = client.known if options.forget else client.servers
        names = list(every) if options.all else [options.name]
        for name in names:
            if not (options.forget and name in client.former):
                self._server(name)
            session = client.known[name]
            tools = session.tools
            what = f"{name} with its {counted(len(tools), 'tool')}" if tools else name
            outcome = f"Disconnected {what}. %mcp reconnect {name} brings it back."
            if options.forget:
                client.forget(name)
                outcome = f"Forgot {what}."
            else:
                if not session.is_connected and not tools:
                    outcome = f"{name} was not connected. %mcp reconnect {name} tries it again."
                client.disconnect(name)
            print(outcome)  # noqa: T201 - in the cell that asked
        if not names:
            print("No server was connected.")  # noqa: T201 - as above

    def _review(self, options: Any) -> Any:
        from toolbench.mcp.review import review_of  # noqa: PLC0415 - as above

        return review_of(self._server(options.name))

    def _save(self, options: Any) -> None:
        text, notes = config_text(self._client().servers.values())
        path = write_named(options.file, text, overwrite=options.yes)
        print("\n".join([f"Wrote {path}.", *notes]))  # noqa: T201 - in the cell that asked

    def _discover(self, options: Any) -> Listing:
        from toolbench.mcp.config.discovery import discover  # noqa: PLC0415 - as above

        return mcp_listing.discovered_servers(discover())


def _apart(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the options among the words of `connect`, which argparse needs first, and the other words."""
    if words[:1] != ["connect"]:
        return [], words
    connect = MCP.commands["connect"]
    # With --help nothing else of the line is checked
    known = tuple(name for name in connect.long_options if name != "--help")
    options: list[str] = []
    rest: list[str] = []
    left = iter(words)
    for word in left:
        if word in connect.value_options:
            options += [word, *islice(left, 1)]
        elif word.startswith(known):
            options.append(word)
        else:
            rest.append(word)
    return options, rest


def targets(names: dict[str, Any]) -> list[str]:
    """Return the names of the variables that hold a FastMCP object or a configuration entry."""
    return [
        name
        # Threads may add some
        for name, value in list(names.items())
        if not name.startswith("_") and _is_server(value)
    ]


_KEYS = {"command", "url", "mcpServers", "openapi"}
_CLASSES = {"FastMCP", "MCPServer", "FakeMCPServer"}


def _is_server(value: Any) -> bool:
    # Its `__class__` may run code
    kind = type(value)
    if kind is dict:
        return not _KEYS.isdisjoint(value)
    # A metaclass may do anything
    with suppress(Exception):
        return any(base.__name__ in _CLASSES for base in kind.__mro__)
    return False


def refresh_explorers() -> None:
    """Update the list of servers in the open explorers."""
    module = sys.modules.get("toolbench.widgets.explorer.explorer")
    for explorer in list(module.open_explorers) if module is not None else ():
        explorer.look()


MCPMagics.mcp.__doc__ = MCP.help_text()
