"""Read and run the checks of `toolbench check`, and report their results."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from toolbench.checks.checks import Checks
from toolbench.checks.report import CheckReport, CheckResult
from toolbench.cli.exit_codes import ExitCode
from toolbench.cli.server_source import chosen, has_terminal, server_in
from toolbench.cli.terminal import CommandError, Outcome, say
from toolbench.display.escape import on_one_line
from toolbench.errors import did_you_mean
from toolbench.mcp.client import MCPClient
from toolbench.wording import duration

if TYPE_CHECKING:
    from toolbench.mcp.config.server_entry import ServerEntry


def checks_in(files: Sequence[str], only: Sequence[str]) -> Checks:
    """Return the checks in *files*. If *only* has names, return only the checks with these names.

    Raises:
        CaseError: If a file cannot be used.
        CommandError: If *files* is empty, if the files have no checks, or if a name in *only* is
            not the name of a check.
    """
    if not files:
        msg = "Which checks? Give a file NAME.checks.yaml."
        raise CommandError(msg)
    read = [Checks.read(file) for file in files]
    found = [check for checks in read for check in checks]
    if not found:
        # A file that was cut off would pass
        msg = f"There is no check in {', '.join(files)}."
        raise CommandError(msg)
    names = [check.name for check in found]
    for name in only:
        if name not in names:
            msg = f"There is no check {name!r}.{did_you_mean(name, names)}"
            raise CommandError(msg)
    file = None
    if len(read) == 1:
        file = read[0].file
    return Checks([check for check in found if not only or check.name in only], file)


def servers_named(checks: Checks, entries: Mapping[str, "ServerEntry"]) -> dict[str, "ServerEntry"]:
    """Return the servers in *entries* that *checks* need.

    If a check names a tool without the tool's server, all servers are returned.

    Raises:
        CommandError: If the checks name several servers, but the command line gives the command or
            the URL of only one server.
    """
    names = {server_in(check.tool, entries) for check in checks if not check.is_of_module}
    if "" not in entries:
        return {name: entry for name, entry in entries.items() if name in names or "" in names}
    names.discard("")
    if len(names) > 1:
        msg = f"The checks name {', '.join(sorted(names))}, and a command or a URL is one server."
        raise CommandError(msg)
    return chosen(entries, "".join(names))


def run_checks(
    checks: Checks,
    client: MCPClient | None,
    *,
    is_agreed: bool,
    junit: Path | None,
    overwrite: bool,
) -> Outcome:
    """Run *checks* with the tools of *client*, and write each result to stderr.

    Raises:
        ConsentError: If the user does not agree to the calls.
        FileError: If *junit* cannot be written.
    """
    report = checks.run(
        client, confirm=not is_agreed, attended=has_terminal(), on_result=say_result
    )
    say(report.verdict)
    report.to_junit(junit, overwrite=overwrite)
    return code_of(report, client), report.to_dict()


def say_result(result: CheckResult) -> None:
    """Write the result of one check to stderr."""
    line = f"{result.state:10} {on_one_line(result.check.name)}"
    if result.run is not None:
        line = f"{line} ({duration(result.seconds)})"
    say(line)
    for problem in (result.error or "").splitlines():
        say(f"           {problem}")
    if result.state == "refused" and not has_terminal():
        say("           --yes approves in advance.")


def code_of(report: CheckReport, client: MCPClient | None) -> ExitCode:
    """Return the exit code for *report*.

    If some checks could not run and others failed, the result says why checks could not run.
    """
    if report.stopped is not None:
        return ExitCode.INTERRUPTED
    if report.passed:
        return ExitCode.OK
    kinds = {result.run.error_kind for result in report.failures if result.run is not None}
    # A server whose connection broke may have been connected again since then
    if "network" in kinds:
        return ExitCode.CONNECTION
    if client is not None and not all(each.is_connected for each in client.servers.values()):
        return ExitCode.CONNECTION
    states = {result.state for result in report}
    if "missing" in states:
        return ExitCode.USAGE
    if "refused" in states:
        return ExitCode.REFUSED
    return ExitCode.FAILED
