"""Repeat the calls of a recording: each at the server of today, with the answers that its questions got.

The results are compared as those of checks, and what the server offers as `%mcp diff` does.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from toolbench.checks.check import Check
from toolbench.checks.rerun_report import RerunReport, RerunRow
from toolbench.core.coercion import masked_observation
from toolbench.core.schema import Observation
from toolbench.errors import Problem, ServerError, ToolNotFoundError, did_you_mean
from toolbench.mcp.elicitation import answering as answering_servers
from toolbench.mcp.elicitation import ask_here
from toolbench.mcp.recording.matcher import with_recorded_secrets
from toolbench.mcp.recording.recording import RecordedCall, Recording, offer_in
from toolbench.mcp.results import MCPToolObservation, failed_observation, tool_observation
from toolbench.mcp.snapshots.diff import Change, by_severity
from toolbench.mcp.snapshots.snapshot import Snapshot
from toolbench.mcp.tool import MCPToolDefinition
from toolbench.redaction import has_mark, without_numbers
from toolbench.runs.consent_question import one_line
from toolbench.runs.perform import perform
from toolbench.runs.policy import Reason, ask_consent, policy
from toolbench.runs.questions import YES_OR_NO, ConsentLabels, Question, answering
from toolbench.runs.run import run_here
from toolbench.values import clip, every_part
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.mcp.server_session import MCPServerSession

# A call is slower if it takes so many times as long, and so many seconds more
_TIMES, _SECONDS = 2.0, 0.5
# Calls that a question shows at once, and characters of the arguments of each
_MOST, _LONGEST = 10, 300
_NOT_NAMED = "it is not declared read-only: name it to call it"


@dataclass(eq=False)
class _Call:
    """A recorded call, and what makes it again."""

    session: "MCPServerSession"
    recorded: RecordedCall
    tool: MCPToolDefinition | None
    against: MCPToolDefinition | None = None
    """The tool of the other server, if the results are compared with those of another server."""
    is_agreed: bool = False
    """Whether the call may run without a question."""
    why: str = ""
    """Why the call is not made; empty if it is."""

    @property
    def tools(self) -> list[MCPToolDefinition]:
        """The tools that are called."""
        return [tool for tool in (self.against, self.tool) if tool is not None]

    @property
    def address(self) -> str:
        """The address of the tool, `SERVER.TOOL`."""
        return f"{self.session.name}.{self.recorded.tool}"

    @property
    def words(self) -> str:
        """The call on one line."""
        arguments = clip(without_numbers(dict(self.recorded.arguments)), _LONGEST)
        return one_line(f"{self.address} {arguments}")


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
    _check_names(calls, tools)
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
    if session.entry.transport != "replay" and session.recording == recording.path.absolute():
        msg = (
            f"{recording.path} is being written: the calls of the rerun would go into it. "
            f"End the recording first: %mcp record {session.name} --stop."
        )
        raise ServerError(msg)
    name = recording.tape(recording.recorded_name(session.name)).server
    for recorded in recording.calls:
        if recorded.server != name:
            continue
        call = _Call(session, recorded, session.tools.present(recorded.tool))
        owners = [session]
        if against is not None:
            call.against = against.tools.present(recorded.tool)
            owners.insert(0, against)
        call.why = _obstacle(call, owners, is_compared=against is None)
        yield call


def _obstacle(call: _Call, owners: "list[MCPServerSession]", *, is_compared: bool) -> str:
    """Return why *call* cannot be made or judged; empty if it can. *owners* are the servers."""
    recorded = call.recorded
    hidden = [name for name, value in recorded.arguments.items() if _has_secret(value)]
    if hidden:
        return f"the recording hides a secret of its arguments: {', '.join(hidden)}"
    if _has_secret(list(recorded.answers)):
        return "the recording hides a secret of its answers"
    outcome = (recorded.result, recorded.error, recorded.failure)
    if is_compared and outcome == (None, None, None):
        return "the recording has no result of it"
    # Of a tool that worked then, it is an error now
    is_news = is_compared and recorded.result is not None and not recorded.result.get("isError")
    for owner in owners:
        tool = owner.tools.present(recorded.tool)
        if tool is None and not is_news:
            return f"{owner.name} has no tool {recorded.tool!r}"
        if tool is not None and tool.blocked:
            return tool.blocked
        if tool is not None and policy.ruling_on(tool).verdict == "deny":
            return f"denied, because {policy.ruling_on(tool).words}"
    return ""


def _has_secret(value: Any) -> bool:
    return any(isinstance(part, str) and has_mark(part) for part in every_part(value))


def _changes(
    session: "MCPServerSession", recording: Recording, against: "MCPServerSession | None"
) -> Sequence[Change]:
    """Return how what *session* offers differs from the other side."""
    before = recording.snapshot(recording.recorded_name(session.name))
    if against is not None:
        before = _offer_of(against)
    return before.diff(_offer_of(session))


def _offer_of(session: "MCPServerSession") -> Snapshot:
    if session.entry.transport == "replay":
        # It has only the lists that were asked for
        return offer_in(session.entry.url, session.name)
    return session.snapshot()


# --- consent ------------------------------------------------------------------------------


def _agree(calls: Sequence[_Call], named: Collection[str], *, confirm: bool) -> str:
    """Ask once whether those of *calls* may be made that change something; set why others are not.

    Return why nobody agreed; empty if nobody was asked, or the answer is yes.
    """
    for call in calls:
        call.is_agreed = not confirm or _is_named(call, named)
    asked = []
    for call in calls:
        if not (call.why or call.is_agreed or all(map(_is_harmless, call.tools))):
            asked.append(call)
    refusal = ""
    if named:
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


def _check_names(calls: Sequence[_Call], named: Collection[str]) -> None:
    """Check that each name of *named* is of a tool that is called.

    Raises:
        ToolNotFoundError: If one is not.
    """
    known = {name for call in calls for name in (call.recorded.tool, call.address)}
    for name in named:
        if name not in known:
            msg = f"The recording has no call of a tool {name!r}.{did_you_mean(name, known)}"
            raise ToolNotFoundError(msg)


def _is_named(call: _Call, named: Collection[str]) -> bool:
    """Tell whether *named* has the tool of *call*, and the policy does not ask about it by name."""
    if call.recorded.tool not in named and call.address not in named:
        return False
    return not any(policy.ruling_on(tool).reason is Reason.NAMED for tool in call.tools)


def _is_harmless(tool: MCPToolDefinition) -> bool:
    """Tell whether *tool* changes nothing, or the policy allows it by name."""
    ruling = policy.ruling_on(tool)
    is_allowed = ruling.verdict == "allow" and ruling.reason is Reason.NAMED
    return is_allowed or tool.is_replayed or tool.hints.effect == "read-only"


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
    check = Check(
        call.words,
        call.address,
        arguments=without_numbers(dict(recorded.arguments)),
        answers=recorded.answers,
        expect={"loosen": ["times", "ids"], "warnings": True},
    )
    if call.why:
        return RerunRow(check, "not called", call.why)
    if call.tool is None:
        return RerunRow(check, "error", f"{call.session.name} has no tool {recorded.tool!r} now")
    before: Observation = _recorded_result(recorded)
    was = recorded.seconds
    if call.against is not None:
        before, was, refusal = _made(call, call.against)
        if refusal:
            return RerunRow(check, "not called", refusal)
    after, seconds, refusal = _made(call, call.tool)
    if refusal:
        return RerunRow(check, "not called", refusal)
    return _judged(check.accepting(before), before, after, was, seconds)


def _recorded_result(recorded: RecordedCall) -> MCPToolObservation:
    """Return the recorded result as an observation."""
    if recorded.failure is not None:
        return failed_observation(recorded.tool, recorded.failure)
    if recorded.result is None:
        return failed_observation(recorded.tool, str((recorded.error or {}).get("message")))
    return tool_observation(recorded.tool, recorded.result)


def _made(call: _Call, tool: MCPToolDefinition) -> tuple[Observation, float, str]:
    """Call *tool*; return the result without secrets, its seconds, and why it was not called."""
    # As recorded: what does not fit the tool's schema is for the server to refuse
    action = tool.unchecked_action(without_numbers(dict(call.recorded.arguments)))
    run = run_here(tool, action, "magic")
    # A handler of the session would give other answers
    with answering_servers(ask_here), answering(*call.recorded.answers, by=tool.server):
        perform(run, confirm=not call.is_agreed)
    observation = masked_observation(run.outcome, run.secrets.redactor)
    if run.state == "denied":
        return observation, 0.0, observation.text
    return observation, run.seconds, ""


def _judged(
    check: Check, before: Observation, after: Observation, was: float | None, seconds: float
) -> RerunRow:
    """Return the row of a call that was made: how *after* differs from what *check* expects."""
    recorded = before.to_mcp_result()
    seen = with_recorded_secrets(recorded, after.to_mcp_result())
    shown = tool_observation(check.tool, seen)
    problems: tuple[Problem, ...] = tuple(check.problems(shown, seconds))
    row = RerunRow(check, "same", "", problems, shown, seconds, was)
    if problems:
        why = "\n".join(map(str, problems))
        if after.is_error and not before.is_error:
            return row.judged("error", why)
        return row.judged("differs", why)
    if was is not None and seconds > _TIMES * was and seconds - was >= _SECONDS:
        return row.judged("slower", f"{seconds:.1f} s, and {was:.1f} s then")
    return row
