"""Repeat the calls of a recording: each at the server of today, with the answers that its questions got.

The results are compared as those of checks, and what the server offers as `%mcp diff` does.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from toolbench.checks.check import Check
from toolbench.checks.recorded import arguments_of, obstacle, recorded_result, words_of
from toolbench.checks.rerun_report import RerunReport, RerunRow, State
from toolbench.core.coercion import masked_observation
from toolbench.core.schema import Observation
from toolbench.errors import CaseError, ServerError, ToolNotFoundError, did_you_mean
from toolbench.mcp.elicitation import answering as answering_servers
from toolbench.mcp.elicitation import ask_here
from toolbench.mcp.recording.matcher import with_recorded_secrets
from toolbench.mcp.recording.recording import RecordedCall, Recording, offer_in
from toolbench.mcp.results import tool_observation
from toolbench.mcp.snapshots.diff import Change, by_severity
from toolbench.mcp.snapshots.snapshot import Snapshot
from toolbench.mcp.tool import MCPToolDefinition
from toolbench.runs.perform import perform
from toolbench.runs.policy import Reason, ask_consent, policy
from toolbench.runs.questions import YES_OR_NO, ConsentLabels, Question, answering
from toolbench.runs.run import Run, run_here
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.mcp.server_session import MCPServerSession

# A call is slower if it takes so many times as long, and so many seconds more
_TIMES, _SECONDS = 2.0, 0.5
# Calls that a question shows at once
_MOST = 10
_NOT_NAMED = "it is not declared read-only: name it to call it"


@dataclass(eq=False)
class _Call:
    """A recorded call, and what makes it again."""

    recorded: RecordedCall
    address: str
    """The address of the tool, `SERVER.TOOL`."""
    tools: list[MCPToolDefinition]
    """The tools that are called: of the other server, if there is one, and of the server."""
    why: str
    """Why the call is not made; empty if it is."""
    is_agreed: bool = False
    """Whether the call may run without a question."""

    @property
    def words(self) -> str:
        """The call on one line."""
        return words_of(self.recorded, self.address)


def rerun(
    sessions: "MCPServerSession | Sequence[MCPServerSession]",
    recording: Recording | str | Path,
    *,
    against: "MCPServerSession | None" = None,
    tools: Collection[str] = (),
    confirm: bool = True,
    on_row: Callable[[RerunRow], object] | None = None,
) -> RerunReport:
    """Make the calls of *recording* again, and return a row for each: is the result the same?

    Questions are answered as recorded. Date-times and ids may differ, and what was secret is any
    value. A tool that is not declared read-only is called only if *tools* names it, `policy.allow`
    does, or the user agrees, who is asked once. The policy holds for each call; an interrupt ends it.

    Args:
        sessions: The server to call; several if the recording has several, each by its name there.
        recording: The recording, or its file.
        against: Another server, which is called too: its results are compared with those of the
            first in place of the recorded ones.
        tools: The names of tools that are called although they are not read-only. If there are any,
            nothing is asked.
        confirm: Whether to ask about the other tools; False if the user has agreed.
        on_row: Gets each row as soon as it is there.

    Raises:
        CaseError: If the recording has no call of the server.
        ServerError: If the recording cannot be read or lacks a server, or is being written.
        ToolNotFoundError: If it has no call of one of *tools*.
    """
    began, stopped = perf_counter(), None
    if not isinstance(recording, Recording):
        recording = Recording.read(recording)
    if isinstance(sessions, Sequence):
        servers = list(sessions)
    else:
        servers = [sessions]
    before = recording.path.name
    if against is not None:
        before = against.name
    calls, changes, notes = list[_Call](), list[Change](), list[str]()
    for session in servers:
        calls += _calls_of(session, recording, against)
        try:
            changes += _changes(session, recording, against)
        except ServerError as error:
            notes.append(f"What {session.name} offers was not compared: {error}")
    if not calls:
        msg = f"The recording {str(recording.path)!r} has no call that could be made again."
        raise CaseError(msg)
    refusal = _agree(calls, tools, confirm=confirm)
    rows = list[RerunRow]()
    try:
        for call in calls:
            rows.append(_row(call))
            if on_row is not None:
                on_row(rows[-1])
    except KeyboardInterrupt:
        stopped = "It was interrupted"
    return RerunReport(
        rows,
        before=before,
        after=", ".join(session.name for session in servers),
        changes=by_severity(changes),
        planned=len(calls),
        stopped=stopped,
        notes=notes,
        refusal=refusal,
        seconds=perf_counter() - began,
    )


def _calls_of(
    session: "MCPServerSession", recording: Recording, against: "MCPServerSession | None"
) -> Iterator[_Call]:
    """Yield the recorded calls of *session*, and why some of them cannot be made."""
    path = session.recording
    is_replay = session.entry.transport == "replay"
    if path is not None and not is_replay and path.resolve() == recording.path.resolve():
        msg = (
            f"{path} is being written: the calls of the rerun would go into it. "
            f"End the recording first: %mcp record {session.name} --stop."
        )
        raise ServerError(msg)
    name = recording.tape(recording.recorded_name(session.name)).server
    sides = [side for side in (against, session) if side is not None]
    for recorded in recording.calls:
        if recorded.server == name:
            found = [side.tools.present(recorded.tool) for side in sides]
            tools = [tool for tool in found if tool is not None]
            why = obstacle(recorded, is_compared=against is None)
            if len(tools) < len(sides) and (against is not None or not _has_worked(recorded)):
                why = f"{sides[found.index(None)].name} has no tool {recorded.tool!r}"
            yield _Call(recorded, f"{session.name}.{recorded.tool}", tools, why)


def _has_worked(recorded: RecordedCall) -> bool:
    return recorded.result is not None and not recorded.result.get("isError")


def _changes(
    session: "MCPServerSession", recording: Recording, against: "MCPServerSession | None"
) -> Sequence[Change]:
    """Return how what *session* offers differs from the other side."""
    before = recording.snapshot(recording.recorded_name(session.name))
    if against is not None:
        before = _offer_of(against)
    changes = before.diff(_offer_of(session))
    if len(recording.servers) == 1:
        return changes
    # Each of them may have a tool of the same name
    return [replace(change, text=f"{session.name}: {change.text}") for change in changes]


def _offer_of(session: "MCPServerSession") -> Snapshot:
    if session.entry.transport == "replay":
        # It has only the lists that were asked for
        return offer_in(session.entry.url, session.name)
    return session.snapshot()


# --- consent ------------------------------------------------------------------------------


def _agree(calls: Sequence[_Call], named: Collection[str], *, confirm: bool) -> str:
    """Ask once whether those of *calls* may be made that change something; set why others are not.

    Return why nobody agreed; empty if nobody was asked, or the answer is yes.

    Raises:
        ToolNotFoundError: If no call is of a tool in *named*.
    """
    known = {name for call in calls for name in (call.recorded.tool, call.address)}
    for name in named:
        if name not in known:
            msg = f"The recording has no call of a tool {name!r}.{did_you_mean(name, known)}"
            raise ToolNotFoundError(msg)
    asked, refusal = list[_Call](), ""
    for call in calls:
        is_named = call.recorded.tool in named or call.address in named
        call.is_agreed = not confirm or (is_named and not any(map(_is_ruled, call.tools)))
        if not (call.why or call.is_agreed or all(map(_asks_itself, call.tools))):
            asked.append(call)
    if asked and named:
        # The user has chosen
        for call in asked:
            call.why = _NOT_NAMED
    elif asked:
        consent = ask_consent(_question(asked), None, is_asked_once=False)
        if not consent.answer:
            refusal = f"{_NOT_NAMED}, or agree; {consent.who}"
        for call in asked:
            call.is_agreed, call.why = not refusal, refusal
    return refusal


def _is_ruled(tool: MCPToolDefinition) -> bool:
    """Tell whether the policy has a rule for *tool* itself, which is followed at its call."""
    return policy.ruling_on(tool).reason is Reason.NAMED


def _asks_itself(tool: MCPToolDefinition) -> bool:
    """Tell whether a call of *tool* needs no yes here: it changes nothing, or it is asked or refused then."""
    is_harmless = tool.is_replayed or tool.hints.effect == "read-only"
    return is_harmless or bool(tool.blocked) or _is_ruled(tool)


def _question(calls: Sequence[_Call]) -> Question:
    """Return the question whether *calls* may be made."""
    number = counted(len(calls), "call")
    head = (
        f"{number} of the recording are of tools that are not declared read-only. Make them again?"
    )
    lines = [f"  {call.words}" for call in calls]
    shown, whole = lines, ""
    if len(lines) > _MOST:
        shown, whole = [*lines[:_MOST], f"  and {len(lines) - _MOST:,} more"], "\n".join(lines)
    effects = {tool.hints.effect for call in calls for tool in call.tools}
    labels = ConsentLabels(act=f"Run {number}", is_dangerous="destructive" in effects)
    return Question("\n".join([head, *shown]), YES_OR_NO, bare=True, consent=labels, whole=whole)


# --- one call -----------------------------------------------------------------------------


def _row(call: _Call) -> RerunRow:
    """Make *call*, and judge its result."""
    recorded = call.recorded
    expect = {"loosen": ["times", "ids"], "warnings": True}
    check = Check(
        call.words,
        call.address,
        arguments=arguments_of(recorded),
        answers=recorded.answers,
        expect=expect,
    )
    if call.why:
        return RerunRow(check, "not called", call.why)
    if not call.tools:
        return RerunRow(check, "error", f"There is no tool {recorded.tool!r} now")
    runs = list[Run]()
    for tool in call.tools:
        runs.append(_made(call, tool))
        if runs[-1].state == "denied":
            return RerunRow(check, "not called", runs[-1].outcome.text)
    results = [masked_observation(run.outcome, run.secrets.redactor) for run in runs]
    before, was = recorded_result(recorded), recorded.seconds
    if len(runs) > 1:
        before, was = results[0], runs[0].seconds
    return _judged(check.accepting(before), before, results[-1], was, runs[-1].seconds)


def _made(call: _Call, tool: MCPToolDefinition) -> Run:
    """Make *call* of *tool*, and return its run."""
    # As recorded: what does not fit the tool's schema is for the server to refuse
    run = run_here(tool, tool.unchecked_action(arguments_of(call.recorded)), "magic")
    # A handler of the session would give other answers
    with answering_servers(ask_here), answering(*call.recorded.answers, by=tool.server):
        perform(run, confirm=not call.is_agreed)
    return run


def _judged(
    check: Check, before: Observation, after: Observation, was: float | None, seconds: float
) -> RerunRow:
    """Return the row of a call that was made: how *after* differs from what *check* expects."""
    seen = with_recorded_secrets(before.to_mcp_result(), after.to_mcp_result())
    shown = tool_observation(check.tool, seen)
    problems = tuple(check.problems(shown))
    state: State = "same"
    why = "\n".join(map(str, problems))
    if problems:
        state = "differs"
        if after.is_error and not before.is_error:
            state = "error"
    elif was is not None and seconds > _TIMES * was and seconds - was >= _SECONDS:
        state, why = "slower", f"{seconds:.1f} s, and {was:.1f} s then"
    return RerunRow(check, state, why, problems, shown, seconds, was)
