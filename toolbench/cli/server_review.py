"""Review a server, and probe it for errors, for `toolbench review`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolbench.checks.probing import probe
from toolbench.cli.exit_codes import ExitCode
from toolbench.cli.terminal import Outcome, say
from toolbench.mcp.review import review_of
from toolbench.values import plain

if TYPE_CHECKING:
    from toolbench.mcp.server_session import MCPServerSession


def reviewed(session: "MCPServerSession") -> tuple[ExitCode, dict[str, Any]]:
    """Review the server of *session*, and return an exit code and the review as a JSON document."""
    facts = review_of(session)
    code = ExitCode.OK
    if facts.verdict.tone == "danger":
        code = ExitCode.FAILED
    document = {
        "verdict": facts.verdict._asdict(),
        **plain(facts),
        "cost": facts.cost.tokens,
        "concerns": facts.concerns,
    }
    return code, document


def probed(
    session: "MCPServerSession", named: Sequence[str], junit: Path | None, *, overwrite: bool
) -> Outcome:
    """Test whether the server of *session* follows MCP's rules, and write the results to stderr.

    *named* are the names of tools that may be called even if they are not read-only.

    Raises:
        FileError: If *junit* cannot be written.
        ServerError: If the server cannot be reached.
        ToolNotFoundError: If the server has no tool with a name in *named*.
    """
    report = probe(session, tools=named)
    for each in report.findings:
        say(f"{each.state}: {each.question} ({each.era})")
        for line in each.text.splitlines():
            say(f"  {line}")
    say(report.verdict)
    report.to_junit(junit, overwrite=overwrite)
    code = ExitCode.OK
    if report.stopped is not None:
        code = ExitCode.INTERRUPTED
    elif report.errors:
        code = ExitCode.FAILED
    return code, report.to_dict()
