"""Repeat the calls of a recording on the present server, with the recorded answers to questions.

The results are compared as in checks. The tools, prompts and resources that the server offers are
compared as by `%mcp diff`.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from toolbench.checks.check import Check
from toolbench.checks.checks import judged
from toolbench.checks.recorded import arguments_of, obstacle, recorded_result, words_of
from toolbench.checks.report import CheckReport, CheckResult, State
from toolbench.core.coercion import masked_observation
from toolbench.errors import CaseError, Problem, ServerError, ToolNotFoundError, did_you_mean
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
from toolbench.wording import counted, duration

if TYPE_CHECKING:
    from toolbench.mcp.server_session import MCPServerSession

# A call is slower if it takes so many times as long, and so many seconds more
_TIMES, _SECONDS = 2.0, 0.5
_NOT_NAMED = "it is not declared read-only: name it to call it"


@dataclass(eq=False)
class _Call:
    """A recorded call, and how to make it again."""

    recorded: RecordedCall
    check: Check
    """A check that makes the call, and does not yet expect a result."""
    tools: list[MCPToolDefinition] = field(default_factory=list)
    """The tools to call, in order: the tool of *against*, if given, and the tool of the server."""
    why: str = ""
    """Why the call is not made; empty if it is made."""
    state: State = "not called"
    """The state of the row for the call, if the call is not made."""
    is_agreed: bool = False
    """Whether the call may run without asking."""


def rerun(
    sessions: "MCPServerSession | Sequence[MCPServerSession]",
    recording: Recording | str | Path,
    *,
    against: "MCPServerSession | None" = None,
    tools: Collection[str] = (),
    confirm: bool = True,
    on_result: Callable[[CheckResult], object] | None = None,
) -> CheckReport:
    """Make the calls of *recording* again, and report for each whether its result is the same.

    Tools get the recorded answers to their questions. A question that was not recorded is declined.
    Date-times and ids may differ, and a recorded secret matches any value. The policy applies to
    each call. A tool that is not declared read-only is called only if *tools* or `policy.allow`
    names it, or if the user agrees. The user is asked once for all calls. An interrupt ends the
    run.

    Args:
        sessions: The server to call. If the recording has several servers, this is a list of
            sessions with the same names as in the recording.
        recording: The recording, or its file.
        against: A server on which the calls are made first. The results of this server are then
            used in place of the recorded results.
        tools: The names of tools that are called even though they are not read-only. If you name
            any tool, the user is not asked, and other tools that are not read-only are not called.
        confirm: Whether to ask about tools that *tools* does not name. Use False if the user has
            already agreed to all calls.
        on_result: A function that is called with each row as soon as its call has ended.

    Raises:
        CaseError: If the recording has no call of the server.
        ServerError: If the recording cannot be read, does not contain the server, or is still being
            written.
        ToolNotFoundError: If the recording has no call of a tool in *tools*.

    Examples:
        >>> from toolbench.checks import rerun
        >>> from toolbench.mcp import create_mcp_tools
        >>> from toolbench.testing import FakeMCPServer
        >>> server = FakeMCPServer("shop")
        >>> server.answer("price", {"eur": 3})
        >>> with create_mcp_tools(server, record="shop.mcp.jsonl") as client:
        ...     result = client["price"](sku=12)
        >>> server.answer("price", {"eur": 4})
        >>> with create_mcp_tools(server) as client:
        ...     [row] = rerun(client.servers["shop"], "shop.mcp.jsonl", tools=["price"])
        >>> row.state, row.problems[0].message
        ('differs', '3 was expected, and 4 was returned')
    """
    began, stopped = perf_counter(), None
    if not isinstance(recording, Recording):
        recording = Recording.read(recording)
    if not isinstance(sessions, Sequence):
        sessions = [sessions]
    calls, changes, notes = list[_Call](), list[Change](), list[str]()
    for session in sessions:
        calls += _calls_of(session, recording, against)
        try:
            changes += _changes(session, recording, against)
        except ServerError as error:
            notes.append(f"Not compared: {error}")
    if not calls:
        msg = f"The recording {str(recording.path)!r} has no call that could be made again."
        raise CaseError(msg)
    _agree(calls, tools, confirm=confirm)
    results = list[CheckResult]()
    try:
        for call in calls:
            results.append(_result(call))
            if on_result is not None:
                on_result(results[-1])
    except KeyboardInterrupt:
        stopped = "It was interrupted"
    before, after = recording.path.name, ", ".join(session.name for session in sessions)
    if against is not None:
        before = against.name
    return CheckReport(
        results,
        planned=len(calls),
        stopped=stopped,
        seconds=perf_counter() - began,
        title=f"{before} rerun at {after}",
        changes=by_severity(changes),
        notes=notes,
    )


def _calls_of(
    session: "MCPServerSession", recording: Recording, against: "MCPServerSession | None"
) -> Iterator[_Call]:
    """Yield the recorded calls of *session*, with `why` set for calls that cannot be made."""
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
            call = _Call(recorded, _check_of(recorded, session.name))
            call.why = obstacle(recorded, is_compared=against is None)
            for side in sides:
                tool = side.tools.present(recorded.tool)
                if tool is not None:
                    call.tools.append(tool)
                    continue
                call.why = f"{side.name} has no tool {recorded.tool!r}"
                if recorded.result is not None and not recorded.result.get("isError"):
                    call.state = "error"
            yield call


def _check_of(recorded: RecordedCall, server: str) -> Check:
    address = f"{server}.{recorded.tool}"
    return Check(
        words_of(recorded, address),
        address,
        arguments=arguments_of(recorded),
        answers=recorded.answers,
        expect={"loosen": ["times", "ids"], "warnings": True},
    )


def _changes(
    session: "MCPServerSession", recording: Recording, against: "MCPServerSession | None"
) -> Sequence[Change]:
    """Return the changes from the recording, or from *against*, to what *session* offers."""
    before = recording.snapshot(recording.recorded_name(session.name))
    if against is not None:
        before = _offer_of(against)
    changes = before.diff(_offer_of(session))
    # Several servers may have a tool of the same name
    return [replace(change, text=f"{session.name}: {change.text}") for change in changes]


def _offer_of(session: "MCPServerSession") -> Snapshot:
    if session.entry.transport == "replay":
        # It has only the lists that were asked for
        return offer_in(session.entry.url, session.name)
    return session.snapshot()


# --- consent ------------------------------------------------------------------------------


def _agree(calls: Sequence[_Call], named: Collection[str], *, confirm: bool) -> None:
    """Ask once for consent to the *calls* that may change something; set `why` if it is not given.

    Raises:
        ToolNotFoundError: If no call is of a tool in *named*.
    """
    known = {name for call in calls for name in (call.recorded.tool, call.check.tool)}
    for name in named:
        if name not in known:
            msg = f"The recording has no call of a tool {name!r}.{did_you_mean(name, known)}"
            raise ToolNotFoundError(msg)
    asked = list[_Call]()
    for call in calls:
        is_named = call.recorded.tool in named or call.check.tool in named
        call.is_agreed = is_named or not confirm
        if not (call.why or call.is_agreed) and any(map(_needs_a_yes, call.tools)):
            asked.append(call)
            call.why = _NOT_NAMED
    # Who names tools has chosen
    if asked and not named:
        consent = ask_consent(_question(asked), None, is_asked_once=False)
        for call in asked:
            call.is_agreed, call.why = True, ""
            if not consent.answer:
                call.state, call.why = "refused", f"{_NOT_NAMED}, or agree; {consent.who}"


def _needs_a_yes(tool: MCPToolDefinition) -> bool:
    """Tell whether the user must be asked about *tool*, because a call may change something."""
    verdict, reason, _ = policy.ruling_on(tool)
    is_ruled = verdict == "deny" or (verdict == "allow" and reason is Reason.NAMED)
    is_harmless = tool.is_replayed or tool.hints.effect == "read-only"
    return not (is_ruled or is_harmless or tool.blocked)


def _question(calls: Sequence[_Call]) -> Question:
    """Return the question that asks whether *calls* may be made, and lists them."""
    number = counted(len(calls), "call")
    head = (
        f"{number} of the recording are of tools that are not declared read-only. Make them again?"
    )
    lines = [f"  {call.check.name}" for call in calls]
    effects = {tool.hints.effect for call in calls for tool in call.tools}
    labels = ConsentLabels(act=f"Run {number}", is_dangerous="destructive" in effects)
    return Question("\n".join([head, *lines]), YES_OR_NO, bare=True, consent=labels)


# --- one call -----------------------------------------------------------------------------


def _result(call: _Call) -> CheckResult:
    """Make *call*, and compare its result."""
    if call.why:
        return CheckResult(call.check, call.state, (Problem((), call.why),))
    before, was = recorded_result(call.recorded), call.recorded.seconds
    for tool in call.tools:
        run = _made(call, tool)
        if run.state == "denied":
            return judged(call.check, run)
        after = masked_observation(run.outcome, run.secrets.redactor)
        if tool is not call.tools[-1]:
            before, was = after, run.seconds
    # A secret of then is any value
    seen = with_recorded_secrets(before.to_mcp_result(), after.to_mcp_result())
    shown = tool_observation(call.recorded.tool, seen)
    check = call.check.accepting(before)
    problems = tuple(check.problems(shown))
    state: State = "same"
    if problems:
        state = "differs"
        if shown.is_error and not before.is_error:
            state = "error"
    elif was is not None and run.seconds > _TIMES * was and run.seconds - was >= _SECONDS:
        state = "slower"
        problems = (Problem((), f"{duration(run.seconds)}, and {duration(was)} then"),)
    return CheckResult(check, state, problems, run.seconds, shown, run)


def _made(call: _Call, tool: MCPToolDefinition) -> Run:
    """Make *call* with *tool*, and return the run."""
    # As recorded: what does not fit the tool's schema is for the server to refuse
    run = run_here(tool, tool.unchecked_action(call.check.arguments), "magic")
    # A handler of the session would give other answers
    with answering_servers(ask_here), answering(*call.check.answers, by=tool.server):
        perform(run, confirm=not call.is_agreed)
    return run
