"""Run the checks of files for `toolbench check`: what they need, what is written, and the exit code."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolbench.checks.checks import Checks
from toolbench.checks.report import JUNIT, CheckReport, CheckResult, junit_cases
from toolbench.cli.exit_codes import ExitCode
from toolbench.cli.server_source import chosen, has_terminal, server_in
from toolbench.cli.terminal import CommandError, Outcome, say
from toolbench.display.escape import on_one_line
from toolbench.errors import did_you_mean
from toolbench.evals.junit import JUnitCase, junit_xml
from toolbench.evals.report_parts import written
from toolbench.mcp.client import MCPClient
from toolbench.wording import duration

if TYPE_CHECKING:
    from toolbench.mcp.config.server_entry import ServerEntry


def checks_in(files: Sequence[str], only: Sequence[str]) -> list[Checks]:
    """Return the checks of each of *files*; if there are names in *only*, those checks alone.

    Raises:
        CaseError: If a file cannot be used.
        CommandError: If there is no file, or no check of a name in *only*.
    """
    if not files:
        msg = "Which checks? Give a file NAME.checks.yaml."
        raise CommandError(msg)
    read = [Checks.read(file) for file in files]
    names = {check.name for checks in read for check in checks}
    for name in only:
        if name not in names:
            msg = f"There is no check {name!r}.{did_you_mean(name, names)}"
            raise CommandError(msg)
    if not only:
        return read
    chosen_checks = []
    for checks in read:
        kept = [check for check in checks if check.name in only]
        chosen_checks.append(Checks(kept, checks.file))
    return chosen_checks


def need_servers(files: Sequence[Checks]) -> bool:
    """Tell whether a check of *files* calls a tool that is not imported from a module."""
    return any(not check.is_of_module for checks in files for check in checks)


def servers_named(
    files: Sequence[Checks], entries: Mapping[str, "ServerEntry"]
) -> dict[str, "ServerEntry"]:
    """Return those of *entries* that the checks of *files* name; all if one names a tool alone.

    Raises:
        CommandError: If they name several servers, and a command or a URL is one.
    """
    names = set()
    for checks in files:
        names |= {server_in(check.tool, entries) for check in checks if not check.is_of_module}
    if "" not in entries:
        return {name: entry for name, entry in entries.items() if name in names or "" in names}
    names.discard("")
    if len(names) > 1:
        msg = f"The checks name {', '.join(sorted(names))}, and a command or a URL is one server."
        raise CommandError(msg)
    return chosen(entries, "".join(names))


def run_checks(
    files: Sequence[Checks],
    client: MCPClient | None,
    *,
    is_agreed: bool,
    junit: Path | None,
    overwrite: bool,
) -> Outcome:
    """Run the checks of *files* with the tools of *client*, write what comes out, and return it.

    Raises:
        ConsentError: If the user does not agree to the calls.
        FileError: If *junit* cannot be written.
    """
    tools: Any = client
    if client is None:
        tools = ()
    reports = list[CheckReport]()
    for checks in files:
        report = checks.run(
            tools, confirm=not is_agreed, attended=has_terminal(), on_result=_say_result
        )
        reports.append(report)
        if report.stopped is not None:
            break
    if junit is not None:
        cases = list[JUnitCase]()
        for report in reports:
            cases += junit_cases(report)
        written(junit_xml(cases, JUNIT), junit, overwrite=overwrite)
    return _code(reports, client), _document(reports)


def _say_result(result: CheckResult) -> None:
    line = f"{result.state:7} {on_one_line(result.check.name)}"
    if result.run is not None:
        line = f"{line} ({duration(result.seconds)})"
    say(line)
    for problem in (result.error or "").splitlines():
        say(f"        {problem}")


def _code(reports: Sequence[CheckReport], client: MCPClient | None) -> ExitCode:
    """Return the exit code: that a check could not run says more than that one has failed."""
    if any(report.stopped is not None for report in reports):
        return ExitCode.INTERRUPTED
    states = {result.state for report in reports for result in report}
    if states <= {"passed"}:
        return ExitCode.OK
    if client is not None and not all(each.is_connected for each in client.servers.values()):
        return ExitCode.CONNECTION
    if "missing" in states:
        return ExitCode.USAGE
    if "refused" in states:
        return ExitCode.REFUSED
    return ExitCode.FAILED


def _document(reports: Sequence[CheckReport]) -> dict[str, Any]:
    results = []
    for report in reports:
        for result in report:
            file = {}
            if report.file is not None:
                file = {"file": str(report.file.path)}
            results.append({**file, **result.to_dict()})
    return {
        "passed": all(report.passed for report in reports),
        "checks": sum(report.planned for report in reports),
        "failed": sum(len(report.failures) for report in reports),
        "seconds": round(sum(report.seconds for report in reports), 6),
        "results": results,
    }
