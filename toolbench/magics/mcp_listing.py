"""The tables of %mcp: servers, tools, resources, prompts, logs."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from shlex import quote
from typing import TYPE_CHECKING, get_args

from toolbench.core.declarations import Effect
from toolbench.display.caps import shorten
from toolbench.display.escape import STYLE, on_one_line
from toolbench.display.filter import Filter
from toolbench.magics.table import Listing
from toolbench.mcp.monitoring.log import LOG_KEYS, LOG_ORDERS
from toolbench.mcp.monitoring.traffic import TRAFFIC_KEYS, paired
from toolbench.mcp.server_html import status_words
from toolbench.mcp.servers import kept
from toolbench.wording import counted, listed

if TYPE_CHECKING:
    from toolbench.mcp.config.discovery import DiscoveredServer
    from toolbench.mcp.review import TokenBill
    from toolbench.mcp.server_session import MCPServerSession
    from toolbench.mcp.tool import MCPToolDefinition

_NO_SERVERS = (
    "No servers yet. Start one to try with %mcp connect example, start yours with %mcp connect NAME "
    "-- COMMAND, or connect with %mcp connect NAME URL. %mcp discover finds configured ones."
)

# Tools named in one sentence
_NAMES = 12
# Tools whose longer name has a sentence of its own
_LONGER = 3
# Tools that are listed when their server is connected; of more, groups are shown
_LISTED = 25
# Notes of one kind, such as changes, that are shown when a server is connected
_NOTES = 8


def servers(sessions: "Iterable[MCPServerSession]") -> Listing:
    """Return a table with the state of each server, and the number and token cost of its tools.

    A note gives the reason of a failure, or the number of tools that cannot be called.
    """
    columns = ("server", "status", "protocol", "tools", "tokens", "note")
    rows = []
    for session in sessions:
        bill, tokens = token_bill(session), ""
        if bill.tools:
            tokens = bill.total.number
        status, protocol = status_words(session.status), session.protocol_version or ""
        number: int | str = len(session.tools)
        if not session.tools.is_loaded:
            number = ""
        rows.append((session.name, status, protocol, number, tokens, _note(session)))
    return Listing(columns, rows, _NO_SERVERS)


def tools(session: "MCPServerSession") -> Listing:
    """Return a table of a server's tools with the cost of each tool in tokens.

    Notes below the table name the tools that cannot be called, and give the reasons.
    """
    bill = token_bill(session)
    rows = []
    for tool in session.tools:
        rows.append((tool.name, bill.number(tool.remote_name), _first_line(tool.description)))
    return Listing(
        (f"tool of {session.name}", "tokens", "what it does"),
        rows,
        _nothing(session, "tools"),
        notes=[*_not_for_models(session), *_disabled(session), *_problems(session)],
    )


def offer(session: "MCPServerSession") -> Listing:
    """Return a table of the tools of a server that was just connected; see `tools`.

    If the server has many tools, the cell shows only groups of tools. Python code still gets a row
    for each tool.
    """
    listing, disabled = tools(session), _disabled(session)
    if len(listing) + len(disabled) <= _LISTED:
        return listing
    name = session.name
    overview = groups(name, list(session.tools))
    notes = [
        # By addresses: names may be longer here, or become so
        f"All of them: %mcp list {quote(name)}. Those of a group: %tools {name}.PATTERN",
        f"A group for a model: %%chat --tools {name}.PATTERN",
        *_not_for_models(session),
        *first_of(disabled, f"%mcp list {quote(name)} shows why"),
        *_problems(session),
    ]
    listing.overview = overview.noted(notes)
    return listing


def first_of(notes: Sequence[str], more: str) -> list[str]:
    """Shorten a list of notes. If there are too many, one note replaces the rest and counts them.

    Args:
        notes: The notes.
        more: The end of the added note, which tells the user how to see all notes.
    """
    rest = len(notes) - _NOTES
    if rest <= 0:
        return list(notes)
    return [*notes[:_NOTES], f"and {rest:,} more: {more}"]


def summary(session: "MCPServerSession") -> str:
    """Summarise a server's tools in a few words: their number and their cost in tokens.

    The summary also counts the tools that do not declare whether they change anything.
    """
    offered, bill = list(session.tools), token_bill(session)
    undeclared = sum(tool.hints.effect == "undeclared" for tool in offered)
    parts = [counted(len(offered), "tool")]
    if undeclared:
        parts.append(f"{undeclared:,} undeclared")
    if bill.tools:
        parts.append(str(bill.total))
    return ", ".join(parts)


def longer_names(server: str, tools: "Sequence[MCPToolDefinition]") -> list[str]:
    """Explain which tools of *server* have a longer name here, because other servers use the name.

    *tools* are the tools of all servers.
    """
    namesakes: dict[str, list[str]] = {}
    for tool in tools:
        if tool.server != server:
            words = f"that of {tool.server} is {tool.name}"
            namesakes.setdefault(tool.remote_name, []).append(words)
    notes = []
    for tool in tools:
        if tool.server == server and tool.name != tool.remote_name:
            others = listed(
                namesakes.get(tool.remote_name, ["another server had it first"]), _NAMES
            )
            notes.append(f"{tool.remote_name} is {tool.name} here; {others}.")
    more = len(notes) - _LONGER
    if more <= 0:
        return notes
    return [*notes[:_LONGER], f"{counted(more, 'more tool')} got the server's name in front."]


def without_place(
    added: "Iterable[MCPServerSession]", servers: "Mapping[str, MCPServerSession]"
) -> list[str]:
    """Return a message about each new session that failed while an earlier session was kept.

    Args:
        added: The new sessions.
        servers: The current sessions of the client, by name. If a new session failed, its name
            belongs to the earlier session.
    """
    failures = []
    for session in added:
        if servers.get(session.name) is not session:
            failures.append(f"{session.error}\n{kept(session.name, servers)}")
    return failures


def resources(session: "MCPServerSession") -> Listing:
    """Return a table of the resources of a server, and then of its resource templates."""
    rows = []
    if session.is_connected:
        for resource in session.resources:
            rows.append((resource.uri, resource.title or resource.name, resource.mime_type))
        for template in session.resources.templates:
            kind = template.mime_type or "template"
            rows.append((template.uri_template, template.title or template.name, kind))
    return Listing(("resource", "name", "type"), rows, _nothing(session, "resources"))


def prompts(session: "MCPServerSession") -> Listing:
    """Return a table of the prompts of a server, and of the arguments of each prompt."""
    rows = []
    if session.is_connected:
        for prompt in session.prompts:
            names = []
            for argument in prompt.arguments:
                name = argument.name
                if not argument.required:
                    name = f"[{name}]"
                names.append(name)
            rows.append((prompt.name, ", ".join(names), _first_line(prompt.description)))
    columns = ("prompt", "arguments", "what it does")
    return Listing(columns, rows, _nothing(session, "prompts"))


def discovered_servers(discovered: "Iterable[DiscoveredServer]") -> Listing:
    """Return a table of the servers that other programs on this machine have configured."""
    return Listing(
        ("server", "from", "how", "in"),
        [(s.name, s.source, s.summary, s.path) for s in discovered],
        "No program on this machine is configured with MCP servers.",
        notes=["%mcp connect --config FILE --only NAME connects one."],
    )


def traffic(session: "MCPServerSession", words: str = "") -> Listing:
    """Return a table of the messages to and from a server that match a filter.

    A request and its answer are in the same row. Each new connection has its own row.

    Args:
        session: The session with the server.
        words: The filter. If it is empty, all messages are returned.

    Raises:
        FilterError: If the filter uses a key that messages do not have.
    """
    only = Filter(words, TRAFFIC_KEYS)
    exchanges = [each for each in paired(session.traffic) if only.matches(each)]
    rows, shown = [], []
    for each in exchanges:
        began = datetime.fromtimestamp(each.message.time, UTC).astimezone()
        method = each.value("method")
        outcome = each.outcome.removeprefix(f"{each.state}: ")
        # A line break in a name must not look like another row
        tool, shown_method = on_one_line(each.tool), ""
        if each.before is None:
            shown_method = str(each).removesuffix(f" {tool}")
        shown.append((each.value("time"), tool, shown_method, each.ms or "", each.state, outcome))
        if each.message.kind == "noise":
            outcome = each.subject
        rows.append((began, each.tool, method, each.ms, each.state, outcome))
    columns = ("time", "tool", "method", "ms", "state", "outcome")
    listing = Listing(columns, rows, _none_of(len(session.traffic), words))
    if shown:
        listing.overview = _last_of(columns, shown, "rows", ".to_dataframe()")
    return listing


def lines(session: "MCPServerSession", what: str, words: str = "") -> Listing:
    """Return a table of a server's log messages or stderr lines that match a filter.

    The cell shows only the last lines. Python code gets all lines.

    Args:
        session: The session with the server.
        what: The lines to return: `log` or `stderr`.
        words: The filter. If it is empty, all lines are returned.

    Raises:
        FilterError: If the filter uses a key that the lines do not have.
    """
    keys: Sequence[str] = ()
    if what == "log":
        keys = LOG_KEYS
    only = Filter(words, keys, LOG_ORDERS)
    rows: list[tuple[object, ...]] = []
    for line in getattr(session, what):
        if isinstance(line, str):
            # Its colours
            line = STYLE.sub("", line)
        if only.matches(line):
            rows.append((line,))
    columns = (f"{what} of {session.name}",)
    listing = Listing(columns, rows, _none_of(len(getattr(session, what)), words))
    if len(rows) > _LAST:
        listing.overview = _last_of(columns, rows, "lines", ".rows")
    return listing


def _none_of(count: int, words: str) -> str:
    if count and words:
        return f"Nothing matches {words!r}."
    return "Nothing so far."


def _last_of(
    columns: Sequence[str], rows: Sequence[Sequence[object]], noun: str, whole: str
) -> Listing:
    """Return a table of the last *rows*.

    If rows are left out, a note says that *whole*, an attribute of the result, has all of them.
    """
    notes = []
    if len(rows) > _LAST:
        notes = [
            f"The last {_LAST} of {len(rows):,} {noun}. The value of the line has all in {whole}."
        ]
    return Listing(columns, rows[-_LAST:], notes=notes)


def token_bill(session: "MCPServerSession") -> "TokenBill":
    """Return what the tools of a server cost a model, in tokens."""
    from toolbench.mcp.review import TokenBill  # noqa: PLC0415 - once one is connected

    return TokenBill.of(session.tools)


def _not_for_models(session: "MCPServerSession") -> list[str]:
    """Return a sentence about the tools that models do not get; an empty list if there are none."""
    names = [tool.name for tool in session.tools if not tool.is_for_models]
    if not names:
        return []
    what = f"{counted(len(names), 'tool')} that the server keeps for its app"
    return [f"No model gets {what}: {listed(names, _NAMES)}"]


def _disabled(session: "MCPServerSession") -> list[str]:
    """Return a sentence about each tool that cannot be called, with the reason."""
    return [f"Cannot be called: {tool.name!r}: {tool.reason}" for tool in session.tools.disabled]


def _problems(session: "MCPServerSession") -> list[str]:
    """Return the problems of a server; if it failed after its tools were listed, the failure."""
    if session.error is None:
        return session.problems
    if session.tools:
        return [_why(session)]
    return []


def _note(session: "MCPServerSession") -> str:
    from toolbench.mcp.errors import short_reason  # noqa: PLC0415 - loaded with the first session

    if session.status == "closed":
        return f"%mcp reconnect {quote(session.name)} connects it"
    if session.error:
        return short_reason(session.name, session.error)
    if not session.tools.is_approved:
        return f"waits for your approval: %mcp approve {quote(session.name)}"
    disabled = session.tools.disabled
    if not disabled:
        return ""
    what = counted(len(disabled), "tool")
    return f"{what} cannot be called: %mcp list {quote(session.name)} shows why"


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _nothing(session: "MCPServerSession", what: str) -> str:
    if not session.is_connected or (what == "tools" and session.error):
        return _why(session)
    return f"{session.name} has no {what}."


def doctor_lines(sessions: "Iterable[MCPServerSession]", said: str | None = None) -> list[str]:
    """Return a line of advice for each session that did not connect.

    Args:
        sessions: The sessions.
        said: An error message. If it is given, only sessions whose error is part of this message
            get advice.
    """
    lines = []
    for session in sessions:
        error = session.error
        if error is not None and not session.is_connected and error in (said or error):
            lines.append(f"%mcp doctor {quote(session.name)} checks each step.")
    return lines


def _why(session: "MCPServerSession") -> str:
    reason = session.error or "it is not connected"
    again = f"%mcp reconnect {quote(session.name)} tries again."
    return f"{session.name} ({status_words(session.status)}): {reason}\n{again}"


# Lines of a log: thousands would make a notebook that nobody can scroll
_LAST = 200
# Characters of a name in the table of groups
_LONGEST = 40

Tools = Sequence["MCPToolDefinition"]


def groups(server: str, tools: Tools) -> Listing:
    """Return a table that groups a server's tools by the beginning of their names.

    Each row has the number of tools in a group, their cost in tokens, and how many of them have
    each effect. The name of a group is a pattern, such as `issues_*`, which the user can pass to
    `%tools SERVER.PATTERN`.

    Args:
        server: The name of the server.
        tools: The tools of the server.
    """
    from toolbench.mcp.tool_groups import OTHERS, groups_of  # noqa: PLC0415 - as above

    found, notes = groups_of(tools), []
    if found and found[-1].name == OTHERS:
        names = [_short(tool.remote_name) for tool in found[-1]]
        notes = [f"Other names: {listed(names, _NAMES)}"]
    known = {tool.hints.effect for tool in tools}
    effects: list[Effect] = [effect for effect in get_args(Effect) if effect in known]
    rows = []
    for group in found:
        numbers = [group.effects.get(effect, "") for effect in effects]
        tokens = ""
        if group.cost.tokens:
            tokens = group.cost.number
        rows.append((_short(group.name), len(group), tokens, *numbers))
    columns = (f"tools of {server}", "number", "tokens", *effects)
    return Listing(columns, rows, f"{server} has no tools.", notes=notes)


def _short(name: str) -> str:
    return shorten(" ".join(name.split()), _LONGEST)
