"""%mcp: connect, list, inspect and disconnect servers."""

from argparse import SUPPRESS, Namespace
from collections.abc import Callable, Iterable
from contextlib import suppress
from json import dumps
from shlex import join, quote
from typing import TYPE_CHECKING, Any

from IPython.core.magic import line_magic, magics_class, no_var_expand

# Their names are imported with their first use
from toolbench import checks, serving, widgets
from toolbench.core.tool import ToolDefinition
from toolbench.display.filter import help_line, text_of
from toolbench.errors import ServerError, ToolNotFoundError
from toolbench.files import write_named
from toolbench.jsonschema.node import read
from toolbench.magics import (
    mcp_connect,
    mcp_doctor,
    mcp_listing,
    mcp_over_time,
    mcp_registry,
    mcp_timeline,
)
from toolbench.magics.call_arguments import fill_in, from_words
from toolbench.magics.catalog import AnyTool, Catalog
from toolbench.magics.commands import (
    OVERWRITE,
    SERVER,
    Argument,
    Command,
    Family,
    filter_words,
)
from toolbench.magics.line import (
    NotebookMagics,
    UsageError,
    answers_in_cell,
    listed_names,
    split,
    with_whole_lists,
    words_with_quotes,
)
from toolbench.magics.settings import Toolbench
from toolbench.magics.table import Listing
from toolbench.magics.tool_magics import tell_changes
from toolbench.mcp.monitoring.log import LEVELS, LOG_KEYS
from toolbench.mcp.monitoring.traffic import TRAFFIC_KEYS
from toolbench.widgets.live_view import announced
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.llm.models import Model
    from toolbench.mcp.client import MCPClient
    from toolbench.mcp.lists.prompts import MCPPromptObservation
    from toolbench.mcp.server_session import MCPServerSession
    from toolbench.serving.served_tools import Served


@magics_class
class MCPMagics(NotebookMagics):
    """The magic `%mcp`."""

    def __init__(
        self,
        shell: Any,
        client: "Callable[[], MCPClient]",
        catalog: Catalog,
        model_named: "Callable[[str], Model]",
        settings: Toolbench,
    ) -> None:
        """Prepare the magic for *shell*.

        Args:
            shell: The IPython shell.
            client: A function that returns the client with the servers of the notebook.
            catalog: The catalog of the tools that `%mcp serve` can serve.
            model_named: A function that returns the model with a name that is written in a line.
            settings: The settings of the notebook, such as the time limit for connecting.
        """
        super().__init__(shell, catalog)
        self.model_named = model_named
        self.settings = settings
        self.served: Served | None = None
        """The server that `%mcp serve` started last; None if it has not started one."""
        self._client = client

    @no_var_expand
    @line_magic
    @answers_in_cell
    def mcp(self, line: str) -> Any:
        """Connect and look at servers."""
        head, dashes, tail = line.partition(" -- ")
        words = split(head)
        if words[:1] in (["log"], ["timeline"]):
            words = words_with_quotes(head)
        program = None
        if dashes:
            program = split(tail)
        if words[:1] == ["connect"]:
            connect = MCP.parsers["connect"]
            rest = connect.without_options(with_whole_lists(words[1:], connect.lists))
            mcp_connect.check_target(rest, self.namespace)
        elif dashes and words[:1] != ["doctor"]:
            takers = "Only %mcp connect and %mcp doctor take a command after --"
            msg = f"{takers}, not %mcp {' '.join(words[:1])}."
            raise UsageError(msg)
        try:
            return MCP.run(self, words, program=program)
        except ServerError as error:
            lines = mcp_listing.doctor_lines(self.client.servers.values(), str(error))
            error.args = ("\n".join([str(error), *lines[:1]]),)
            raise

    @property
    def client(self) -> "MCPClient":
        """The client of the servers of this notebook."""
        return self._client()

    def server(self, name: str) -> "MCPServerSession":
        """Return the connection to the server *name*.

        Raises:
            ToolNotFoundError: If there is no such server.
        """
        client = self.client
        if not client.servers and name not in client.former:
            msg = f"No server {name!r}. %mcp connect starts one, as %mcp connect example does."
            raise ToolNotFoundError(msg)
        return client.server(name)

    def newest(self, name: str) -> "MCPServerSession":
        """Return the session with the server *name*.

        If the server is under development (`--dev`) and its source has changed, restart it first.

        Raises:
            ToolNotFoundError: If there is no such server.
        """
        session = self.server(name)
        # Why it does not start is a part of what the line shows
        with suppress(ServerError):
            tell_changes(session)
        return session


def _explore(magics: MCPMagics, options: Namespace) -> Any:
    client = magics.client
    if options.name is not None and options.name not in client.known:
        magics.server(options.name)
    if options.name in client.servers:
        magics.newest(options.name)
    # A terminal shows no widgets
    if not hasattr(magics.shell, "kernel"):
        return mcp_listing.servers(client.known.values())
    return widgets.Explorer(client, options.name)


def _list(magics: MCPMagics, options: Namespace) -> Listing:
    if options.name is None:
        return mcp_listing.servers(magics.client.known.values())
    return mcp_listing.tools(magics.newest(options.name))


def _resources(magics: MCPMagics, options: Namespace) -> Listing:
    return mcp_listing.resources(magics.newest(options.name))


def _read(magics: MCPMagics, options: Namespace) -> Any:
    return magics.newest(options.name).read_resource(options.uri)


def _prompts(magics: MCPMagics, options: Namespace) -> Listing:
    if options.words:
        line = f"%mcp prompt {join([options.name, *options.words])}"
        MCP.parsers["prompts"].error(f"%mcp prompts lists the prompts; {line} gets one")
    return mcp_listing.prompts(magics.newest(options.name))


def _prompt(magics: MCPMagics, options: Namespace) -> "MCPPromptObservation":
    prompts = magics.newest(options.name).prompts
    prompt = prompts.named(options.prompt)
    arguments = from_words(options.arguments, read(prompt.schema))
    prompt.check(arguments)
    return prompts.get(prompt.name, **fill_in(arguments, magics.namespace))


def _skills(magics: MCPMagics, options: Namespace) -> Any:
    session = magics.newest(options.name)
    if options.skill is not None:
        return session.skills.read(options.skill, options.file)
    rows = []
    for skill in session.skills:
        files: int | str = len(skill.files)
        if skill.is_dynamic:
            files = "made when read"
        rows.append((skill.name, files, skill.description.strip().partition("\n")[0]))
    notes = []
    if rows:
        notes = [
            f"%mcp skills {quote(session.name)} SKILL [FILE] reads one; its digest is checked."
        ]
    columns = (f"skill of {session.name}", "files", "what it is for")
    return Listing(columns, rows, f"{session.name} has no skills.", notes=notes)


def _log(magics: MCPMagics, options: Namespace) -> Listing:
    if sum(map(bool, (options.stderr, options.traffic, options.level))) > 1:
        msg = "Give only one of --stderr, --traffic and --level."
        raise UsageError(msg)
    # The quotes in the line are those of a filter
    session, words = magics.server(options.name.strip('"')), text_of(options.filter)
    if options.traffic:
        return mcp_listing.traffic(session, words)
    if options.stderr:
        return mcp_listing.lines(session, "stderr", words)
    if options.level:
        session.log.set_level(options.level)
    return mcp_listing.lines(session, "log", words)


def _review(magics: MCPMagics, options: Namespace) -> Any:
    from toolbench.mcp.review import review_of  # noqa: PLC0415 - brings toolbench.mcp

    if options.tools and not options.probe:
        msg = "--tools names tools that --probe may call: give --probe too."
        raise UsageError(msg)
    session = magics.newest(options.name)
    if not options.probe:
        return review_of(session)
    with announced(f"Asking {session.name} …"):
        report = checks.probe(session, tools=options.tools)
    report.review = review_of(session)
    return report


def _tasks(magics: MCPMagics, options: Namespace) -> Listing:
    session = magics.server(options.name)
    rows = [(task.id, task.tool, task.status, task.message) for task in session.tasks]
    return Listing(
        ("task", "tool", "state", "what it says"),
        rows,
        f"No call of this session with {session.name} became a task.",
    )


def _roots(magics: MCPMagics, options: Namespace) -> Listing:
    if options.none and options.folders:
        msg = "Give folders or --none, not both."
        raise UsageError(msg)
    session = magics.server(options.name)
    if options.none or options.folders:
        session.roots.change(*options.folders)
    notes = []
    if session.roots and not session.roots.is_declared and session.is_connected:
        notes = [
            f"{session.name} was connected without roots and does not ask for them: "
            f"%mcp reconnect {quote(session.name)} declares them."
        ]
    return Listing(
        (f"root of {session.name}",),
        [(url,) for url in session.roots],
        f"{session.name} gets no roots. %mcp roots {quote(session.name)} DIR gives it one.",
        notes=notes,
    )


def _save(magics: MCPMagics, options: Namespace) -> str:
    text, notes = config_text(magics.client.servers.values())
    path = write_named(options.file, text, overwrite=options.overwrite)
    return "\n".join([f"Wrote {path}.", *notes])


def config_text(sessions: "Iterable[MCPServerSession]") -> tuple[str, list[str]]:
    """Return a configuration file for the servers of *sessions*, and notes about what it lacks."""
    from toolbench.mcp.config.writer import write_config  # noqa: PLC0415 - with the first server

    sessions = list(sessions)
    others = [session.name for session in sessions if not session.protocol_version]
    written = write_config(s for s in sessions if s.protocol_version)
    servers = counted(len(written.config["mcpServers"]), "server")
    notes = [f"It has {servers}. %mcp connect --config FILE connects them again."]
    remarks = {
        "Secrets are not in the file. Set these variables before you use it: {}.": written.variables,
        "Left out, because they exist in this session only: {}.": written.left_out,
        "Left out, because they did not connect: {}.": others,
        "The objects in 'auth' are not in the file: add them to {}.": written.without_objects,
    }
    for remark, names in remarks.items():
        if names:
            notes.append(remark.format(", ".join(names)))
    return f"{dumps(written.config, indent=2, ensure_ascii=False)}\n", notes


def _serve(magics: MCPMagics, options: Namespace) -> "Served | str":
    # People write commas too
    names = listed_names(",".join(options.names))
    if options.stop:
        return _stop_serving(magics, names)
    for name in names:
        magics.catalog.find(name)
    if not names and not _own_tools(magics.catalog):
        msg = (
            "This notebook defines no tool yet. Define one with @tool, or name tools to "
            "serve: %mcp serve NAME ..."
        )
        raise UsageError(msg)
    if magics.served is not None:
        magics.served.close()
    with announced("Starting the server …"):
        magics.served = serving.serve(names or (lambda: _own_tools(magics.catalog)))
    return magics.served


def _stop_serving(magics: MCPMagics, names: list[str]) -> str:
    if names:
        msg = f"--stop stops the whole server: leave out {' '.join(names)}."
        raise UsageError(msg)
    if magics.served is None or magics.served.is_closed:
        msg = "Nothing is served by %mcp serve."
        raise UsageError(msg)
    magics.served.close()
    return f"{magics.served.name!r} is not served any more."


def _own_tools(catalog: Catalog) -> list[AnyTool]:
    """Return the tools that this notebook defines itself and that can be run."""
    own = []
    for entry in catalog.entries(source="notebook"):
        if entry.source != "notebook":
            continue
        tool = entry.make()
        kind = type(tool)
        is_own = kind is ToolDefinition or not kind.__module__.startswith("toolbench.")
        if tool.executor is not None and is_own:
            own.append(tool)
    return own


def _discover(magics: MCPMagics, options: Namespace) -> Listing:
    from toolbench.mcp.config.discovery import discover  # noqa: PLC0415 - brings toolbench.mcp

    return mcp_listing.discovered_servers(discover())


_ANY_NAME = Argument("name", nargs="?", offers="server", help="one server")
MCP = Family(
    "mcp",
    {
        "explore": Command("browse and try tools, resources and prompts", _explore, (_ANY_NAME,)),
        **mcp_connect.COMMANDS,
        **mcp_doctor.COMMANDS,
        "list": Command("the servers; with NAME, its tools", _list, (_ANY_NAME,)),
        "resources": Command("its resources and resource templates", _resources, (SERVER,)),
        "read": Command(
            "read a resource, listed or linked to", _read, (SERVER, Argument("uri", help="which"))
        ),
        "prompts": Command(
            "its prompts",
            _prompts,
            (SERVER, Argument("words", nargs="*", default=[], help=SUPPRESS)),
        ),
        "prompt": Command(
            "the messages of a prompt, with its arguments filled in",
            _prompt,
            (
                SERVER,
                Argument("prompt", help="the name of a prompt"),
                Argument(
                    "arguments",
                    nargs="*",
                    default=[],
                    metavar="key=value",
                    help="the value is text; ${name} is a variable of the notebook",
                ),
            ),
        ),
        "skills": Command(
            "its skills; with a SKILL, read it",
            _skills,
            (
                SERVER,
                Argument("skill", nargs="?", help="the name of a skill"),
                Argument("file", nargs="?", default="SKILL.md", help="a file of it"),
            ),
        ),
        "log": Command(
            "what it logged, wrote to stderr, or sent and received",
            _log,
            (
                SERVER,
                filter_words(f"{help_line(LOG_KEYS)}; with --traffic: {', '.join(TRAFFIC_KEYS)}"),
                Argument(
                    "--stderr",
                    action="store_true",
                    help="the last 200 lines that it wrote to stderr; the value has up to 2,000",
                ),
                Argument(
                    "--traffic",
                    action="store_true",
                    help="the messages that went back and forth",
                ),
                Argument(
                    "--level",
                    choices=LEVELS,
                    metavar="LEVEL",
                    help="ask the server for log messages of this level and above",
                ),
            ),
        ),
        **mcp_timeline.COMMANDS,
        "review": Command(
            "its tools, tokens, risks and lint findings",
            _review,
            (
                SERVER,
                Argument(
                    "--probe",
                    action="store_true",
                    help="ask it too: is it right by the specification of MCP?",
                ),
                Argument(
                    "--tools",
                    type=listed_names,
                    default=[],
                    metavar="a,b",
                    help="with --probe: tools to call although they are not read-only",
                ),
            ),
        ),
        **mcp_over_time.COMMANDS,
        "tasks": Command("the tasks that calls of this session started", _tasks, (SERVER,)),
        "roots": Command(
            "the folders it may ask for; DIR... or --none replaces them",
            _roots,
            (
                SERVER,
                Argument("folders", nargs="*", default=[], metavar="DIR", help="the folders"),
                Argument("--none", action="store_true", help="remove all of them"),
            ),
        ),
        "save": Command(
            "write the configuration of the servers",
            _save,
            (Argument("file", nargs="?", default="mcp.json", help="where"), OVERWRITE),
        ),
        "serve": Command(
            "tools of this notebook, to agents",
            _serve,
            (
                Argument(
                    "names",
                    nargs="*",
                    offers="tool",
                    metavar="NAME",
                    help="which tools; without names, all that this notebook defines, also later. Runtime "
                    "tools and tools of other servers have to be named",
                ),
                Argument(
                    "--stop",
                    action="store_true",
                    help="stop serving, as %%unload_ext toolbench and the end of the kernel do",
                ),
            ),
        ),
        "discover": Command("servers in the configurations of other programs", _discover),
        **mcp_registry.COMMANDS,
    },
    description="Connect MCP servers and inspect them.",
    default="explore",
    examples=(
        "%mcp connect example            a server of toolbench, to try",
        "%mcp connect time -- python -m mcp_server_time",
        "%mcp connect docs https://example.com/mcp",
        "%mcp connect notes server       where `server` is a FastMCP object here",
        "%mcp connect --config mcp.json --only time,docs",
        "%mcp connect --config mcp.json --approve      its servers need no question then",
        "%mcp connect time --replay time.jsonl",
        "%mcp record time time.jsonl     from now on",
        "%mcp registry weather           servers of the MCP registry",
        "%mcp doctor time",
        "%mcp explore time",
        "%mcp prompt notes summarize topic=ships",
        "%mcp log time --stderr",
        "%mcp log time --traffic tool:now error ms>500",
        "%mcp timeline time error ms>500",
        "%mcp serve                      the tools of this notebook, to agents",
    ),
)


def targets(names: dict[str, Any]) -> list[str]:
    """Return the names of the variables to which `%mcp connect` can connect.

    Their values are FastMCP objects or entries of a configuration.
    """
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


MCPMagics.mcp.__doc__ = MCP.help_text()
