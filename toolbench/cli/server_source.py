"""Where a command finds its servers: a configuration, a recording, a URL, or a program it starts."""

import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from toolbench.cli.terminal import CommandError, ServerLines, say
from toolbench.core.background_loop import portal
from toolbench.errors import ServerError, did_you_mean

if TYPE_CHECKING:
    from toolbench.mcp.client import MCPClient
    from toolbench.mcp.config.server_entry import ServerEntry
    from toolbench.mcp.elicitation import Answer, Question

OPTION = Parameter(negative=(), show_default=False)
"""The parameter for an option without a `--no-` form."""
_HERE = Path("mcp.json")
_WAYS = (
    "Where is the server? There is no mcp.json in this folder. Name it in one of four ways:\n"
    "  --config FILE       a file with mcpServers\n"
    "  --replay FILE       a recording, which answers in its place\n"
    "  URL                 as the first word: http://127.0.0.1:8000/mcp\n"
    "  -- COMMAND ARG...   a command that starts it, at the end of the line"
)
WEB = ("http://", "https://")
"""How the URL of a server begins."""


@Parameter(name="*", group="Where the servers are")
@dataclass(frozen=True, kw_only=True)
class Source:
    """The options that say where the servers of a command are, and how they are connected."""

    config: Path | None = None
    """The file with `mcpServers`. By default, this is `mcp.json` in the current folder."""
    approve: Annotated[bool, OPTION] = False
    """Approve the servers of the file as they are now."""
    replay: Path | None = None
    """The file of a recording, whose answers are used. No server is started."""
    env: Annotated[tuple[str, ...], OPTION] = ()
    """An environment variable for the command: NAME=VALUE, or NAME to pass on its value here."""
    header: Annotated[tuple[str, ...], OPTION] = ()
    """A header for the URL, as 'NAME: VALUE'. `${VAR}` in it stands for an environment variable."""
    mode: Annotated[Literal["auto", "legacy"], OPTION] = "auto"
    """The protocol for a command or a URL. Use `legacy` (2025) for servers that ask questions."""
    timeout: float | None = None
    """Seconds to wait for the connection, and for each answer."""


def servers_of(
    source: Source,
    program: Sequence[str],
    words: Sequence[str],
    *,
    is_discovering: bool = False,
) -> tuple[dict[str, "ServerEntry"], list[str]]:
    """Find the servers that a command line names.

    Args:
        source: The options of the command line that say where the servers are.
        program: The command after `--`, which starts a server.
        words: The words of the command line. The first word may be the URL of a server.
        is_discovering: Whether to search the configurations of all MCP clients on this machine if
            the command line has a server's name, but does not say where the server is.

    Returns:
        The servers by name, and *words* without the URL. If the server comes from a URL or a
        command, its name is empty.

    Raises:
        CommandError: If the command line does not say where the servers are, or says so more than
            once, or if a file cannot be read.
    """
    from toolbench.mcp.config.discovery import discover  # noqa: PLC0415 - not for all commands
    from toolbench.mcp.config.reader import read_config, read_entry  # noqa: PLC0415 - the same
    from toolbench.mcp.recording.recording import Recording, replay_config  # noqa: PLC0415 - the same

    rest, config, url = list(words), source.config, ""
    named = _named_sources(source, program)
    if not named and rest and rest[0].startswith(WEB):
        url = rest.pop(0)
    elif not named and is_discovering and rest:
        _check_options(source, is_file=True, is_command=False, is_url=False)
        found = {server.name: server.entry for server in discover()}
        return {name: entry for name, entry in found.items() if entry is not None}, rest
    elif not named and _HERE.is_file():
        config = _HERE
    elif not named:
        raise CommandError(_WAYS)
    _check_options(source, is_file=config is not None, is_command=bool(program), is_url=bool(url))
    try:
        if program or url:
            return {"": read_entry(_entry(source, program, url))}, rest
        if source.replay is not None:
            return read_config(replay_config(Recording.read(source.replay))), rest
        return read_config(str(config)), rest
    except ServerError as error:
        raise CommandError(str(error)) from None


def _named_sources(source: Source, program: Sequence[str], *others: str) -> list[str]:
    """Return *others*, followed by the options of a line that name a source of servers.

    Raises:
        CommandError: If there are several.
    """
    given = {"--config": source.config, "--replay": source.replay, "-- COMMAND": program}
    named = [*others, *(option for option, value in given.items() if value)]
    if len(named) > 1:
        msg = f"Give one source of servers, not {' and '.join(named)}."
        raise CommandError(msg)
    return named


def without_url(source: Source, program: Sequence[str], files: Sequence[str]) -> Sequence[str]:
    """Return *files* without the URL of a server, which may come first.

    Raises:
        CommandError: If there is a URL, and the line has another source of servers too.
    """
    if not (files and files[0].startswith(WEB)):
        return files
    _named_sources(source, program, "a URL")
    return files[1:]


def _check_options(source: Source, *, is_file: bool, is_command: bool, is_url: bool) -> None:
    """Check that all options have an effect on this kind of source.

    Raises:
        CommandError: If an option would have no effect.
    """
    if source.timeout is not None and not source.timeout > 0:
        msg = f"--timeout takes seconds above 0, not {source.timeout:g}."
        raise CommandError(msg)
    for option, is_given, fits, place in (
        ("--approve", source.approve, is_file, "the servers of a file"),
        ("--env", source.env, is_command, "a server that a command starts"),
        ("--header", source.header, is_url, "a URL"),
        ("--mode", source.mode != "auto", is_command or is_url, "a URL or a command"),
    ):
        if is_given and not fits:
            msg = f"{option} is for {place}."
            raise CommandError(msg)


def _entry(source: Source, program: Sequence[str], url: str) -> dict[str, Any]:
    from toolbench.mcp.config.program import environment_of, own_program  # noqa: PLC0415 - as above
    from toolbench.mcp.config.reader import header_in  # noqa: PLC0415 - the same

    if url:
        headers = dict(header_in(text) for text in source.header)
        return {"url": url, "headers": headers, "mode": source.mode}
    command, *arguments = program
    return {
        "command": own_program(command),
        "args": arguments,
        "mode": source.mode,
        "env": environment_of(source.env),
    }


def server_in(target: str, entries: Mapping[str, Any]) -> str:
    """Return the server's name in *target*, which has the form `SERVER.NAME` or `NAME`.

    The result is empty if *target* does not begin with the name of a server in *entries*.
    """
    if "" in entries and "." in target:
        return target.partition(".")[0]
    return next((name for name in entries if target.startswith(f"{name}.")), "")


def chosen(entries: Mapping[str, "ServerEntry"], server: str) -> dict[str, "ServerEntry"]:
    """Return the server called *server* in *entries*. If *server* is empty, return all servers.

    A server that comes from a command or a URL has no name in *entries*. The result has it under
    the name *server*.

    Raises:
        CommandError: If there is no such server.
    """
    if "" in entries:
        return {server or "server": entries[""]}
    if not server:
        return dict(entries)
    if server not in entries:
        msg = f"The configuration has no server {server!r}.{did_you_mean(server, entries)}"
        raise CommandError(msg)
    return {server: entries[server]}


def the_one(entries: Mapping[str, "ServerEntry"], server: str) -> dict[str, "ServerEntry"]:
    """Return the server called *server*, or the only server in *entries* if *server* is empty.

    Raises:
        CommandError: If there is no such server, or if *server* is empty and there are several.
    """
    one = chosen(entries, server)
    if len(one) > 1:
        msg = f"Which server? There are: {', '.join(one)}."
        raise CommandError(msg)
    return one


@contextmanager
def connected(entries: Mapping[str, "ServerEntry"], source: Source) -> Iterator["MCPClient"]:
    """Connect to the servers in *entries* for a `with` block, and yield the client.

    The stderr output and the log messages of the servers are copied to the stderr of this process.

    Raises:
        ConsentError: If the servers of a file are not approved.
        ServerError: If no server answers.
    """
    # A package of FastMCP's would check the types of its calls, which takes as long as all of toolbench
    os.environ.setdefault("PY_KEY_VALUE_DISABLE_BEARTYPE", "true")
    from toolbench.mcp.client import MCPClient  # noqa: PLC0415 - as above
    from toolbench.mcp.wire import sdk_session, transports  # noqa: F401, PLC0415 - FastMCP

    if not gc.isenabled():
        # What is there by now stays: it is never looked at
        gc.freeze()
        gc.enable()

    ask: Callable[[Question], Answer] | None = None
    if source.replay is None:
        ask = _ask
    client = MCPClient(elicitation_handler=ask, sampling_handler=ask)
    if source.timeout is not None:
        client.timeout = source.timeout
    with client:
        sessions = client.add({"mcpServers": entries}, approve=source.approve)
        for session in sessions:
            if session.error:
                say(session.error)
            if source.timeout is not None:
                session.call_seconds = source.timeout
            if session.era == "modern" and "logging" in session.capabilities:
                # It may send nothing before it is asked to; this sends no request
                session.log.set_level("info")
        lines = ServerLines(sessions)
        try:
            with portal.drawing(lines.write):
                yield client
        finally:
            lines.write()


def has_terminal() -> bool:
    """Tell whether a user can answer questions: stdin is a terminal, not a pipe or a file."""
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


def _ask(question: "Question") -> "Answer":
    """Ask the user a *question* of a server. If no user can be asked, write it to stderr."""
    from toolbench.mcp.elicitation import Answer, ask_here  # noqa: PLC0415 - as above
    from toolbench.runs.current_run import active_run  # noqa: PLC0415 - the same

    answer = Answer("decline", by_somebody=False)
    # A run knows whether anybody is there, and its presets
    if has_terminal() or active_run() is not None:
        answer = ask_here(question)
    if not answer and not answer.by_somebody:
        how = 'toolbench call --answer \'{"field": "value"}\' answers it, and `answers` in a check.'
        say(f"{question.whole}\nIt was declined, because {answer.absence}. {how}")
    return answer
