"""%mcp snapshot, diff, stubs, approve, record: save and compare what a server offers."""

import shlex
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolbench.errors import ServerError
from toolbench.files import write_named
from toolbench.magics.commands import OVERWRITE, Argument, Command, check_overwrite
from toolbench.magics.line import UsageError
from toolbench.magics.mcp_listing import first_of
from toolbench.magics.table import Listing
from toolbench.runs.input_prompt import require_yes
from toolbench.runs.questions import YES_OR_NO, ConsentLabels, Question
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.llm.models import Model
    from toolbench.magics.mcp_magics import MCPMagics
    from toolbench.mcp.session import MCPServerSession
    from toolbench.mcp.snapshots.diff import Change
    from toolbench.mcp.snapshots.snapshot import Snapshot
    from toolbench.mcp.tool import MCPToolDefinition
    from toolbench.mcp.trust.trust import Offer

_SHOWN_CALLS = 10


def _snapshot(magics: "MCPMagics", options: Namespace) -> None:
    session = magics.server(options.name)
    file = options.file or f"{options.name}.snapshot.json"
    path = session.snapshot().write(file, overwrite=options.overwrite)
    tools = counted(len(session.tools), "tool")
    print(f"{path}: {tools}. %mcp diff {options.name} {path} compares.")  # noqa: T201 - in the cell that asked


def _stubs(magics: "MCPMagics", options: Namespace) -> None:
    from toolbench.export import export_stubs  # noqa: PLC0415 - only for this line

    session = magics.server(options.name)
    path = export_stubs(session, options.file, overwrite=options.overwrite)
    functions = counted(len(session.tools), "function")
    print(f"{path}: {functions}, which call {options.name!r} while it is connected.")  # noqa: T201 - as above


def _diff(magics: "MCPMagics", options: Namespace) -> Listing:
    from toolbench.mcp.snapshots.check_calls import (  # noqa: PLC0415 - heavy
        check_calls,
        older_side,
    )
    from toolbench.mcp.snapshots.diff import by_severity  # noqa: PLC0415 - the same
    from toolbench.mcp.snapshots.page import changes_page  # noqa: PLC0415

    check_overwrite(options, "--html")
    if bool(options.eval) != bool(options.model):
        msg = "Give both: --eval with a file of cases, and --model with the model to test."
        raise UsageError(msg)
    session = magics.server(options.name)
    before, calls = older_side(session, options.other)
    after = session.snapshot()
    changes = by_severity(before.diff(after))
    checked = check_calls(after, calls, before=before)
    notes = [checked.summary, *(f"- {call}" for call in checked[:_SHOWN_CALLS])]
    if options.html:
        page = changes_page(changes, before=options.other, after=options.name)
        path = write_named(options.html, page, overwrite=options.overwrite)
        notes.append(f"As a page: {path}")
    if options.lint:
        notes += _lint(before, after)
    if options.eval:
        notes += _evals(before, after, options.eval, magics.model_named(options.model))
    return Listing(
        ("meaning", "where", "what changed"),
        [(c.severity, c.where, c.text) for c in changes],
        f"{options.name} offers the same as {options.other}.",
        notes=[_total(changes), *notes] if changes else notes,
    )


def _total(changes: "list[Change]") -> str:
    from toolbench.mcp.snapshots.diff import SEVERITIES  # noqa: PLC0415 - heavy

    counts = {s: sum(c.severity == s for c in changes) for s in SEVERITIES}
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count) + "."


def _lint(before: "Snapshot", after: "Snapshot") -> list[str]:
    """Return sentences about findings of lint that only one of the two snapshots has."""
    old, new = _findings(before), _findings(after)
    return [
        *(f"Lint, new: {text}" for text in new if text not in old),
        *(f"Lint, gone: {text}" for text in old if text not in new),
    ] or ["Lint finds the same on both sides."]


def _findings(snapshot: "Snapshot") -> list[str]:
    from toolbench.llm.lint import lint_tool  # noqa: PLC0415 - heavy

    return [
        f"{tool.name}: {finding.message}"
        for tool in _tools(snapshot)
        for finding in lint_tool(tool)
    ]


def _evals(before: "Snapshot", after: "Snapshot", cases: str, model: "Model") -> list[str]:
    """Return sentences that compare a model's answers to *cases* with the tools before and after.

    No tool is called.
    """
    from toolbench.evals import Cases, evaluate  # noqa: PLC0415 - heavy

    questions = Cases.read(cases)
    old, new = (evaluate(model, _tools(side), questions) for side in (before, after))
    [change] = new.compare(old) or [None]
    if change is None:
        return ["Evals: the model gave no answer on one of the sides."]
    return [
        f"Evals, {change}",
        *(f"Evals, worse: {case}" for case in change.worse),
        *(f"Evals, better: {case}" for case in change.better),
    ]


def _tools(snapshot: "Snapshot") -> "list[MCPToolDefinition]":
    """Return the tools of *snapshot* for reading only: they cannot call a server."""
    from toolbench.mcp.results import MCPToolObservation  # noqa: PLC0415 - the same
    from toolbench.mcp.tool import MCPToolDefinition  # noqa: PLC0415 - heavy

    return [
        MCPToolDefinition(
            name=name,
            description=str(entry.get("description") or ""),
            observation_type=MCPToolObservation,
            server="",
            remote_name=name,
            schema=entry.get("inputSchema") or {},
        )
        for name, entry in snapshot.json["tools"].items()
    ]


def _record(magics: "MCPMagics", options: Namespace) -> Listing | None:
    session = magics.server(options.name)
    check_overwrite(options, "--as-notebook")
    if sum(map(bool, (options.file, options.stop, options.as_notebook))) > 1:
        msg = "Give only one of FILE, --stop and --as-notebook."
        raise UsageError(msg)
    if options.file:
        path = session.start_recording(options.file)
        print(  # noqa: T201 - in the cell that asked
            f"{options.name} is recorded in {path} from now on. "
            f"%mcp record {options.name} --stop ends it."
        )
        return None
    if session.recording is None:
        msg = (
            f"Server {options.name!r} is not recorded. "
            f"%mcp record {options.name} FILE records it from now on."
        )
        raise ServerError(msg)
    if options.stop:
        _stop_recording(session)
        return None
    return _recorded(session, session.recording, options)


def _stop_recording(session: "MCPServerSession") -> None:
    path = session.stop_recording()
    if path is None:
        msg = f"Server {session.name!r} is replayed from {str(session.recording)!r}, not recorded."
        raise ServerError(msg)
    print(  # noqa: T201 - as above
        f"{path} is complete. %mcp connect {session.name} --replay {path} answers from it."
    )


def _recorded(session: "MCPServerSession", path: Path, options: Namespace) -> Listing | None:
    """Show the recorded calls of *session*, or write the notebook that repeats them."""
    from toolbench.mcp.client import MCPClient  # noqa: PLC0415 - heavy
    from toolbench.mcp.recording.notebook import write_notebook  # noqa: PLC0415
    from toolbench.mcp.recording.recording import Recording  # noqa: PLC0415

    recording = Recording.read(path)
    name = recording.recorded_name(session.name)
    if options.as_notebook:
        with MCPClient() as client:
            replay = client.connect(name or session.name, replay=path)
            book = write_notebook(replay, options.as_notebook, overwrite=options.overwrite)
        # With `-p nbval` also where a folder's settings say `-p no:nbval`, as those of toolbench do
        command = shlex.join(["pytest", "-p", "nbval", "--nbval", str(book)])
        print(f"{book}: {command} replays it.")  # noqa: T201 - as above
        return None
    return Listing(
        (f"call of {options.name}", "arguments", "result"),
        [
            (c.tool, dict(c.arguments), _outcome(c.result))
            for c in recording.calls
            if c.server == name
        ],
        f"No call yet. The recording is {path}.",
    )


def _outcome(result: Mapping[str, Any] | None) -> str:
    if result is None or result.get("isError"):
        return "error"
    return "ok"


def _approve(magics: "MCPMagics", options: Namespace) -> None:
    session = magics.server(options.name)
    trust = session.trust
    if trust is None:
        msg = f"Server {options.name!r} needs no approval: only programs and URLs do."
        raise ServerError(msg)
    # The question and the approval are about one offer, even if the server lists another meanwhile
    offer = trust.offer
    if not offer.is_approved:
        _ask_to_approve(options.name, offer)
    trust.approve(offer)
    tools = counted(len(session.tools), "tool")
    print(f"{options.name}: {tools} approved as they are now.")  # noqa: T201 - as above


def _ask_to_approve(server: str, offer: "Offer") -> None:
    """Show the person what changed in *offer*, and ask whether its tools may be called.

    Raises:
        ConsentError: If the person says no, or no person can be asked.
    """
    lines = _lines_of(offer)
    whole = "\n".join(lines)
    shown = "\n".join(first_of(lines, f"%mcp review {server} lists them all"))
    question = Question(
        f"Server {server!r} changed since it was approved here:\n{shown}\n"
        "A yes lets its tools be called as they are now.",
        YES_OR_NO,
        consent=ConsentLabels(act="Approve", refusal="Don't approve"),
        whole=whole if whole != shown else "",
    )
    require_yes(
        question,
        refused=f"Server {server!r} was not approved: you did not approve it.",
        unasked=(
            f"Server {server!r} was not approved: no person can be asked whether its changes are "
            f"welcome.\n{shown}\nIf they are, write in Python:\n"
            "from toolbench.mcp.servers import connected\n"
            f"trust = connected.session({server!r}).trust\n"
            "trust.approve(trust.offer)"
        ),
    )


def trust_notes(session: "MCPServerSession") -> list[str]:
    """Return notes that a person should read before the first call to *session*, just connected."""
    trust = session.trust
    if trust is None:
        return []
    all_of_them = f"%mcp review {session.name} lists them all"
    warnings = [_on_one_line(f"Look at {warning}") for warning in trust.warnings()]
    notes = first_of(warnings, all_of_them)
    offer = trust.offer
    if not offer.is_approved:
        notes += [
            "Its tools or instructions changed since it was approved here, so its tools are not called:",
            *first_of(_lines_of(offer), all_of_them),
            f"To accept this: %mcp approve {session.name}",
        ]
    return notes


def _lines_of(offer: "Offer") -> list[str]:
    return [_on_one_line(f"- {change.severity}: {change.text}") for change in offer.changes()]


def _on_one_line(note: str) -> str:
    """Return *note*, which has names of a server: no name may look like a note of its own."""
    return " ".join(note.split())


_NAME = Argument("name", offers="server", help="the server")
COMMANDS = {
    "snapshot": Command(
        "write what a server offers into a file, to compare it later",
        _snapshot,
        (
            _NAME,
            Argument("file", nargs="?", help="NAME.snapshot.json if left out"),
            OVERWRITE,
        ),
    ),
    "diff": Command(
        "show what changed in a server, and which calls fail now",
        _diff,
        (
            _NAME,
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
        (_NAME, Argument("file", help="the module, as in my_server.py"), OVERWRITE),
    ),
    "approve": Command(
        "accept the changed tools of a server, so that they can be called", _approve, (_NAME,)
    ),
    "record": Command(
        "write the messages of a connected server into a file from now on, or list the recorded calls",
        _record,
        (
            _NAME,
            Argument("file", nargs="?", help="the recording; without it, list the recorded calls"),
            Argument("--stop", action="store_true", help="end the recording"),
            Argument(
                "--as-notebook", metavar="FILE", help="write a notebook that repeats the calls"
            ),
            OVERWRITE,
        ),
    ),
}
"""The commands of `%mcp` for what a server offers over time."""
