"""Call a server's tool for `toolbench call`: once, or many times to see how long it takes."""

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from time import perf_counter
from typing import Any

import anyio

from toolbench.cli.exit_codes import ExitCode
from toolbench.cli.server_source import has_terminal
from toolbench.cli.terminal import Outcome, say
from toolbench.core.background_loop import portal
from toolbench.core.schema import Observation
from toolbench.errors import ServerError
from toolbench.jsonschema.validate import SchemaValidator, validator_of
from toolbench.mcp.errors import CallFailedError
from toolbench.mcp.results import MCPToolObservation, tool_observation
from toolbench.mcp.server_session import MCPServerSession
from toolbench.mcp.tool import MCPToolDefinition
from toolbench.runs.perform import perform
from toolbench.runs.questions import Answer, answering, decline
from toolbench.runs.run import Run, run_here
from toolbench.wording import counted


def once(
    run: Run, session: MCPServerSession, presets: Sequence[Any], *, is_agreed: bool
) -> Outcome:
    """Call a tool once, and return its result as the server sent it.

    Args:
        run: The call, which has not been started.
        session: The connection to the server of the tool.
        presets: The answers to the server's questions, in order. If there are none, the user is
            asked.
        is_agreed: Whether the user has approved the call in advance.
    """
    with ExitStack() as undo:
        if presets:
            undo.enter_context(answering(*presets, by=session.name))
        result = perform(run, confirm=not is_agreed)
    hide = session.keep_secret(run.secrets.own.secrets)
    for warning in getattr(result, "warnings", ()):
        say(f"Warning: {hide.text(warning)}")
    if not isinstance(result, MCPToolObservation) or not _is_answer(result):
        return _unfinished(run, session), None
    code = ExitCode.OK
    if result.is_error or not result.as_declared:
        code = ExitCode.FAILED
    return code, hide.value(result.to_mcp_result())


def often(
    run: Run,
    session: MCPServerSession,
    tool: MCPToolDefinition,
    count: int,
    at_once: int,
    *,
    is_agreed: bool,
) -> Outcome:
    """Call a tool many times over one connection, and return how long the calls took.

    The user is asked for approval only once. Questions of the server are declined.

    Args:
        run: The call, which has not been started.
        session: The connection to the server of the tool.
        tool: The tool.
        count: The number of calls.
        at_once: The number of calls that run at the same time.
        is_agreed: Whether the user has approved the calls in advance.
    """
    calls = _Calls(session, tool, count)

    def work(run: Run) -> Observation:
        portal.call(calls.make, run.build().to_arguments(), min(at_once, count))
        return Observation.from_text(f"{counted(count, 'call')} made.")

    perform(run, confirm=not is_agreed, work=work)
    if not calls.milliseconds:
        return _unfinished(run, session), None
    code, failed = ExitCode.OK, len(calls.problems)
    if failed:
        code = ExitCode.FAILED
        first = session.keep_secret(()).text(calls.problems[0])
        say(f"{failed} of {counted(count, 'call')} failed; the first: {first}")
    return code, {
        "tool": f"{session.name}.{tool.remote_name}",
        "calls": count,
        "at_once": at_once,
        **_times(calls.milliseconds),
        "errors": failed,
        "error_rate": failed / count,
    }


class _Calls:
    """Many calls of one tool: how long they took, and why some of them failed."""

    def __init__(self, session: MCPServerSession, tool: MCPToolDefinition, count: int) -> None:
        self._session = session
        self._tool = tool.remote_name
        self._promise: SchemaValidator | None = None
        if tool.output_schema is not None:
            self._promise = validator_of(tool.output_schema)
        self._waiting = iter(range(count))
        self.milliseconds: list[float] = []
        self.problems: list[str] = []

    async def make(self, arguments: dict[str, Any], at_once: int) -> None:
        """Make all calls with *arguments*; at most *at_once* calls run at the same time."""
        async with anyio.create_task_group() as group:
            for _ in range(at_once):
                group.start_soon(self._make_some, arguments)

    async def _make_some(self, arguments: dict[str, Any]) -> None:
        for _ in self._waiting:
            began, result = perf_counter(), None
            try:
                result = await self._session.call_tool(self._tool, arguments, answerer=_declined)
            except (CallFailedError, ServerError) as error:
                self.problems.append(str(error))
            self.milliseconds.append((perf_counter() - began) * 1_000)
            if result is not None:
                self._judge(tool_observation(self._tool, result, self._promise))

    def _judge(self, result: MCPToolObservation) -> None:
        """Note a problem if *result* is an error, or does not fit the tool's output schema."""
        if result.is_error:
            self.problems.append(result.text or "the tool failed")
        elif not result.as_declared:
            self.problems.append(result.warnings[-1])


async def _declined(question: Any) -> Answer:
    return Answer("decline", by_somebody=False)


def _is_answer(result: MCPToolObservation) -> bool:
    """Tell whether *result* came from the server; if it sent none, toolbench made an error."""
    return not result.is_error or bool(result.blocks) or result.structured is not None


def run_of(tool: MCPToolDefinition, arguments: Mapping[str, Any]) -> Run:
    """Return a run that calls *tool*. If no terminal can ask the user, questions are declined."""
    run = run_here(tool, arguments, "magic")
    if not has_terminal():
        run.dialogue.asker = decline
    return run


def _unfinished(run: Run, session: MCPServerSession) -> ExitCode:
    """Explain on stderr why the server sent no result, and return the exit code."""
    declined = getattr(run.outcome, "for_person", "")
    text = declined or run.secrets.redactor.text(run.outcome.text)
    if run.state == "denied":
        say(declined or f"{text} --yes approves in advance.")
        return ExitCode.REFUSED
    say(text)
    if run.problems:
        return ExitCode.USAGE
    if run.error_kind == "network" or not session.is_connected:
        return ExitCode.CONNECTION
    return ExitCode.FAILED


def _times(milliseconds: list[float]) -> dict[str, float]:
    """Return percentiles of the times of calls: `p50`, `p90` and `p99`, in milliseconds."""
    ordered, times = sorted(milliseconds), {}
    for percent in (50, 90, 99):
        time = ordered[math.ceil(len(ordered) * percent / 100) - 1]
        times[f"p{percent}"] = round(time, 3)
    return times
