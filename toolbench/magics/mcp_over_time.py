"""%mcp snapshot, diff, stubs, approve, record, rerun: save and compare what a server offers."""

import shlex
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

# Their names are imported with their first use
from toolbench import checks, evals, export, llm, mcp
from toolbench.errors import ServerError
from toolbench.files import write_named
from toolbench.magics.commands import OVERWRITE, SERVER, Argument, Command, check_overwrite
from toolbench.magics.line import UsageError, listed_names
from toolbench.magics.mcp_listing import first_of
from toolbench.magics.table import Listing
from toolbench.magics.tool_magics import YES
from toolbench.runs.input_prompt import require_yes
from toolbench.runs.questions import YES_OR_NO, ConsentLabels, Question
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.checks.report import CheckReport
    from toolbench.llm.models import Model
    from toolbench.magics.mcp_magics import MCPMagics
    from toolbench.mcp.server_session import MCPServerSession
    from toolbench.mcp.snapshots.snapshot import Snapshot
    from toolbench.mcp.tool import MCPToolDefinition
    from toolbench.mcp.trust.trust import Offer


def _snapshot(magics: "MCPMagics", options: Namespace) -> str:
    from toolbench.mcp import over_time  # noqa: PLC0415 - heavy

    file = options.file or over_time.file_of(options.name, ".snapshot.json")
    session = magics.newest(options.name)
    return over_time.write_snapshot(session, file, overwrite=options.overwrite)


def _stubs(magics: "MCPMagics", options: Namespace) -> str:
    session = magics.newest(options.name)
    path = export.export_stubs(session, options.file, overwrite=options.overwrite)
    functions = counted(len(session.tools), "function")
    return f"{path}: {functions}, which call {options.name!r} while it is connected."


def _diff(magics: "MCPMagics", options: Namespace) -> Listing:
    # They bring what compares schemas
    from toolbench.mcp import over_time  # noqa: PLC0415
    from toolbench.mcp.snapshots.page import changes_page  # noqa: PLC0415

    check_overwrite(options, "--html")
    if bool(options.eval) != bool(options.model):
        msg = "Give both: --eval with a file of cases, and --model with the model to test."
        raise UsageError(msg)
    found = over_time.compare(magics.newest(options.name), options.other)
    notes = found.about_calls
    if found.changes:
        notes = [found.verdict, *notes]
    if options.html:
        page = changes_page(found.changes, before=found.before, after=found.after)
        path = write_named(options.html, page, overwrite=options.overwrite)
        notes.append(f"As a page: {path}")
    if options.lint:
        notes += _lint(found.older, found.newer)
    if options.eval:
        notes += _evals(found.older, found.newer, options.eval, magics.model_named(options.model))
    return Listing(
        ("meaning", "where", "what changed"),
        [(change.severity, change.where, change.text) for change in found.changes],
        found.verdict,
        notes=notes,
    )


def _lint(before: "Snapshot", after: "Snapshot") -> list[str]:
    """Return sentences about lint findings that are new in *after* or no longer there."""
    old, new = _findings(before), _findings(after)
    notes = [f"Lint, new: {text}" for text in new if text not in old]
    notes += [f"Lint, gone: {text}" for text in old if text not in new]
    return notes or ["Lint finds the same on both sides."]


def _findings(snapshot: "Snapshot") -> list[str]:
    found = []
    for tool in _tools(snapshot):
        found += [f"{tool.name}: {finding.message}" for finding in llm.lint_tool(tool)]
    return found


def _evals(before: "Snapshot", after: "Snapshot", cases: str, model: "Model") -> list[str]:
    """Let *model* answer cases with the old and with the new tools, and compare the answers.

    *cases* is the path of the file with the cases. No tool is called. The result is a list of
    sentences about the differences.
    """
    questions = evals.Cases.read(cases)
    old, new = (evals.evaluate(model, _tools(side), questions) for side in (before, after))
    [change] = new.compare(old) or [None]
    if change is None:
        return ["Evals: the model gave no answer on one of the sides."]
    return [
        f"Evals, {change}",
        *(f"Evals, worse: {case}" for case in change.worse),
        *(f"Evals, better: {case}" for case in change.better),
    ]


def _tools(snapshot: "Snapshot") -> "list[MCPToolDefinition]":
    """Return the tools in *snapshot*. They have descriptions and schemas, but cannot be called."""
    return [
        mcp.MCPToolDefinition(
            name=name,
            description=str(entry.get("description") or ""),
            observation_type=mcp.MCPToolObservation,
            server="",
            remote_name=name,
            schema=entry.get("inputSchema") or {},
        )
        for name, entry in snapshot.json["tools"].items()
    ]


def _record(magics: "MCPMagics", options: Namespace) -> Listing | str:
    from toolbench.mcp import over_time  # noqa: PLC0415 - heavy

    if not options.as_checks:
        check_overwrite(options, "--as-notebook")
    if options.so_far:
        if not options.file or options.stop or options.as_notebook or options.as_checks:
            msg = "--so-far takes a FILE, and no other option."
            raise UsageError(msg)
        # The bug may have killed it
        session = magics.client.former.get(options.name) or magics.server(options.name)
        return over_time.record_so_far(session, options.file)
    session = magics.server(options.name)
    wanted = (options.file, options.stop, options.as_notebook, options.as_checks)
    if sum(map(bool, wanted)) > 1:
        msg = "Give only one of FILE, --stop, --as-notebook and --as-checks."
        raise UsageError(msg)
    if options.file:
        return over_time.record(session, options.file)
    if options.stop:
        return over_time.stop_recording(session)
    if session.recording is None:
        raise ServerError(over_time.recording_state(session))
    return _recorded(session, session.recording, options)


def _recorded(session: "MCPServerSession", path: Path, options: Namespace) -> Listing | str:
    """Return the recorded calls of *session*, or write the notebook that repeats them."""
    from toolbench.mcp.recording.notebook import write_notebook  # noqa: PLC0415 - heavy
    from toolbench.mcp.recording.recording import Recording  # noqa: PLC0415 - the same

    recording = Recording.read(path)
    name = recording.recorded_name(session.name)
    if options.as_notebook:
        with mcp.MCPClient() as client:
            replay = client.connect(name or session.name, replay=path)
            book = write_notebook(replay, options.as_notebook, overwrite=options.overwrite)
        # With `-p nbval` also where a folder's settings say `-p no:nbval`, as those of toolbench do
        command = shlex.join(["pytest", "-p", "nbval", "--nbval", str(book)])
        return f"{book}: {command} replays it."
    if options.as_checks:
        found = checks.recorded_checks(recording, session.name)
        path = found.write(options.as_checks, overwrite=options.overwrite)
        own = sum(call.server == name for call in recording.calls)
        return (
            f"{path}: {counted(len(found), 'check')} of {counted(own, 'call')}. "
            f"%tools check {shlex.quote(str(path))} runs them."
        )
    rows = []
    for call in recording.calls:
        if call.server == name:
            outcome = "ok"
            if call.result is None or call.result.get("isError"):
                outcome = "error"
            rows.append((call.tool, dict(call.arguments), outcome))
    heads = (f"call of {options.name}", "arguments", "result")
    return Listing(heads, rows, f"No call yet. The recording is {path}.")


def _rerun(magics: "MCPMagics", options: Namespace) -> "CheckReport":
    against = None
    if options.against is not None:
        against = magics.newest(options.against)
    return checks.rerun(
        magics.newest(options.name),
        options.recording,
        against=against,
        tools=options.tools,
        confirm=not options.yes,
    )


def _approve(magics: "MCPMagics", options: Namespace) -> str:
    from toolbench.mcp import over_time  # noqa: PLC0415 - heavy

    session = magics.server(options.name)
    # The question and the approval are about one offer, even if the server lists another meanwhile
    offer = over_time.trust_of(session).offer
    if not offer.is_approved:
        _ask_to_approve(options.name, offer)
    return over_time.approve(session, offer)


def _ask_to_approve(server: str, offer: "Offer") -> None:
    """Show the user what changed in *offer*, and ask whether its tools may be called.

    Raises:
        ConsentError: If the user declines, or cannot be asked.
    """
    lines = _lines_of(offer)
    whole = "\n".join(lines)
    shown = "\n".join(first_of(lines, f"%mcp review {shlex.quote(server)} lists them all"))
    if whole == shown:
        whole = ""
    question = Question(
        f"Server {server!r} changed since it was approved here:\n{shown}\n"
        "If you approve, its tools can be called as they are now.",
        YES_OR_NO,
        consent=ConsentLabels(act="Approve", refusal="Don't approve"),
        whole=whole,
    )
    require_yes(
        question,
        refused=f"Server {server!r} was not approved: you declined.",
        unasked=(
            f"Server {server!r} was not approved: nobody can be asked whether its changes are "
            f"welcome.\n{shown}\nIf they are, write in Python:\n"
            "from toolbench import mcp\n"
            f"trust = mcp.session({server!r}).trust\n"
            "trust.approve(trust.offer)"
        ),
    )


def trust_notes(session: "MCPServerSession") -> list[str]:
    """Return notes to read before the first call to *session*, which has just connected."""
    trust = session.trust
    if trust is None:
        return []
    all_of_them = f"%mcp review {shlex.quote(session.name)} lists them all"
    warnings = [_on_one_line(f"Look at {warning}") for warning in trust.warnings()]
    notes = first_of(warnings, all_of_them)
    offer = trust.offer
    if not offer.is_approved:
        notes += [
            "Its tools or instructions changed since it was approved here, so its tools are not called:",
            *first_of(_lines_of(offer), all_of_them),
            f"To accept this: %mcp approve {shlex.quote(session.name)}",
        ]
    return notes


def _lines_of(offer: "Offer") -> list[str]:
    return [_on_one_line(f"- {change.severity}: {change.text}") for change in offer.changes()]


def _on_one_line(note: str) -> str:
    """Return *note* on one line, so that a server cannot fake another note by a line break."""
    return " ".join(note.split())


COMMANDS = {
    "snapshot": Command(
        "write what a server offers into a file, to compare it later",
        _snapshot,
        (
            SERVER,
            Argument("file", nargs="?", help="NAME.snapshot.json if left out"),
            OVERWRITE,
        ),
    ),
    "diff": Command(
        "show what changed in a server, and which calls fail now",
        _diff,
        (
            SERVER,
            Argument(
                "other",
                offers="server",
                help="the older side: a snapshot, a recording or a server",
            ),
            Argument("--lint", action="store_true", help="lint both sides too"),
            Argument(
                "--eval", metavar="CASES", help="let --model answer a file of cases on both sides"
            ),
            Argument(
                "--model", offers="model", help="a name that %%model gave, a variable, or a URL"
            ),
            Argument("--html", metavar="FILE", help="write a page with old and new side by side"),
            OVERWRITE,
        ),
    ),
    "stubs": Command(
        "write a typed Python module with a function for each tool",
        _stubs,
        (SERVER, Argument("file", help="the module, as in my_server.py"), OVERWRITE),
    ),
    "approve": Command(
        "accept the changed tools of a server, so that they can be called", _approve, (SERVER,)
    ),
    "record": Command(
        "write the messages of a server into a file, from now on or --so-far, or list recorded calls",
        _record,
        (
            SERVER,
            Argument("file", nargs="?", help="the recording; without it, list the recorded calls"),
            Argument(
                "--so-far",
                action="store_true",
                help="write what went back and forth until now, as far as it is kept, and no more",
            ),
            Argument("--stop", action="store_true", help="end the recording"),
            Argument(
                "--as-notebook", metavar="FILE", help="write a notebook that repeats the calls"
            ),
            Argument(
                "--as-checks", metavar="FILE", help="write checks that expect the recorded results"
            ),
            OVERWRITE,
        ),
    ),
    "rerun": Command(
        "make the calls of a recording again, and compare the results",
        _rerun,
        (
            SERVER,
            Argument("recording", help="the recording; its server of this name, or its only one"),
            Argument(
                "--tools",
                type=listed_names,
                default=[],
                metavar="a,b",
                help="tools to call although they are not read-only; nothing is asked then",
            ),
            YES,
            Argument(
                "--against",
                offers="server",
                metavar="OTHER",
                help="call this server too, and compare with its results, not the recorded ones",
            ),
        ),
    ),
}
"""The commands of `%mcp` that save what a server offers, or compare it with earlier."""
