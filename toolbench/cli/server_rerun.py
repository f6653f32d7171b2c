"""Make the calls of a recording again for `toolbench rerun`."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from toolbench.checks.reruns import rerun
from toolbench.cli.exit_codes import ExitCode
from toolbench.cli.server_checks import code_of, say_result
from toolbench.cli.server_source import chosen, has_terminal
from toolbench.cli.terminal import CommandError, Outcome, say
from toolbench.errors import ServerError
from toolbench.mcp.client import MCPClient
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.recording.recording import Recording
from toolbench.runs.questions import Answer, answering

Entries = Mapping[str, ServerEntry]


def recorded_servers(words: Sequence[str], entries: Entries) -> tuple[Recording, Entries]:
    """Read a recording, and choose the servers whose recorded calls are repeated.

    Args:
        words: The words of the command line: the name of a server, which may be left out, and the
            file of the recording.
        entries: The servers that the command line offers, by name.

    Returns:
        The recording, and the chosen servers. Without a name, these are all servers in the
        recording.

    Raises:
        CommandError: If the recording cannot be read, or if a chosen server is not in the recording
            or not in *entries*.
    """
    if not words or len(words) > 2:
        msg = "Give a recording: toolbench rerun SERVER RECORDING. Without SERVER, all of it are called."
        raise CommandError(msg)
    *names, file = words
    wanted: dict[str, ServerEntry] = {}
    try:
        recording = Recording.read(file)
        if not names and len(entries) == 1:
            # The server of a URL or a command has no name
            names = ["".join(entries) or recording.tape().server]
        for name in names or recording.servers:
            # It may be the only server of the recording under another name
            recording.tape(recording.recorded_name(name))
            wanted |= chosen(entries, name)
    except ServerError as error:
        raise CommandError(str(error)) from None
    return recording, wanted


def repeat(
    client: MCPClient, recording: Recording, named: Sequence[str], *, is_agreed: bool
) -> Outcome:
    """Repeat the calls of *recording* with the servers of *client*; write each result to stderr."""
    sessions = [session for session in client.servers.values() if not session.error]
    with ExitStack() as undo:
        if not has_terminal():
            undo.enter_context(answering(Answer("decline", by_somebody=False)))
        report = rerun(
            sessions, recording, tools=named, confirm=not is_agreed, on_result=say_result
        )
    say(report.verdict)
    say(report.about_changes)
    for change in report.changes or ():
        say(f"- {change.severity}: {change.text}")
    code = code_of(report, client)
    if report.passed and len(sessions) < len(client.servers):
        code = ExitCode.CONNECTION
    elif report.passed and all(result.state == "not called" for result in report):
        code = ExitCode.REFUSED
    return code, report.to_dict()
