"""Call a server's tool for `toolbench call`: once, or many times to see how long it takes."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import anyio

from toolbench.cli.exit_codes import ExitCode
from toolbench.cli.server_source import has_terminal
from toolbench.cli.terminal import Outcome, ServerLines, say
from toolbench.core.background_loop import portal
from toolbench.core.schema import Observation
from toolbench.jsonschema.validate import SchemaValidator, validator_of
from toolbench.mcp.client import MCPClient
from toolbench.mcp.elicitation import wait_answering
from toolbench.mcp.errors import CallFailedError
from toolbench.mcp.results import failed_observation, tool_observation, with_way_back
from toolbench.mcp.tool import MCPToolDefinition
from toolbench.network import error_kind
from toolbench.runs.perform import perform
from toolbench.runs.questions import Answer, answering, decline
from toolbench.runs.run import Run, run_here
from toolbench.wording import counted


class ToolCall:
    """A call of a tool from the line of a shell, made once or many times."""

    def __init__(
        self,
        client: MCPClient,
        tool: MCPToolDefinition,
        arguments: Mapping[str, Any],
        lines: ServerLines,
        *,
        is_agreed: bool,
    ) -> None:
        """Prepare the call.

        Args:
            client: The client of the tool.
            tool: The tool.
            arguments: The arguments of the call.
            lines: Writes what the server says, during the call too.
            is_agreed: Whether the user has said yes in advance.
        """
        self._session = client.server(tool.server)
        self._tool = tool
        self._lines = lines
        self._is_agreed = is_agreed
        self._run = run_here(tool, arguments, "magic")
        if not has_terminal():
            self._run.dialogue.asker = decline

    def once(self, presets: Sequence[Any]) -> Outcome:
        """Call the tool, and return the result as the server sent it.

        *presets* answer questions of the server, in turn; without them, the user is asked.
        """
        raw: list[dict[str, Any]] = []
        with ExitStack() as undo:
            if presets:
                undo.enter_context(answering(*presets, by=self._session.name))
            self._perform(partial(self._sent, raw))
        if not raw:
            return self._unfinished(), None
        hide = self._session.keep_secret(self._run.secrets.own.secrets)
        result = tool_observation(self._tool.remote_name, raw[0], self._promise())
        for warning in [*self._session.notices, *self._session.remarks, *result.warnings]:
            say(f"Warning: {hide.text(warning)}")
        if with_way_back(result, self._session.name) is not result:
            say("This server needs the older protocol to ask: add --mode legacy.")
        code = ExitCode.OK
        if result.is_error or not result.as_declared:
            code = ExitCode.FAILED
        return code, hide.value(raw[0])

    def _sent(self, raw: list[dict[str, Any]], run: Run) -> Observation:
        """Send the call, add the server's result to *raw*, and return it as an observation."""
        self._lines.follow(run)
        send = partial(
            self._session.call_tool,
            self._tool.remote_name,
            run.build().to_arguments(),
            on_progress=run.progress,
        )
        answerer = self._session.answerer
        try:
            raw.append(wait_answering(send, answerer=answerer, meanwhile=self._lines))
        except CallFailedError as error:
            run.error_kind = error_kind(error)
            return failed_observation(self._tool.remote_name, str(error), error.asides)
        return tool_observation(self._tool.remote_name, raw[0])

    def often(self, count: int, at_once: int) -> Outcome:
        """Call the tool *count* times, *at_once* at a time over one connection; return the times.

        Consent is asked for once. Questions of the server are declined.
        """
        timed: list[_Timed] = []
        self._perform(partial(self._all_sent, timed, count, at_once))
        if not timed:
            return self._unfinished(), None
        failed = [each.problem for each in timed if each.problem]
        code = ExitCode.OK
        if failed:
            code = ExitCode.FAILED
            first = self._session.keep_secret(()).text(failed[0])
            say(f"{len(failed)} of {counted(count, 'call')} failed; the first: {first}")
        seconds = max(each.ended for each in timed) - min(each.began for each in timed)
        return code, {
            "tool": f"{self._tool.server}.{self._tool.remote_name}",
            "calls": count,
            "at_once": at_once,
            **_times([(each.ended - each.began) * 1_000 for each in timed]),
            "errors": len(failed),
            "error_rate": len(failed) / count,
            "calls_per_second": round(count / seconds, 1),
        }

    def _all_sent(self, timed: list["_Timed"], count: int, at_once: int, run: Run) -> Observation:
        send = partial(
            self._session.call_tool,
            self._tool.remote_name,
            run.build().to_arguments(),
            answerer=_declined,
        )
        portal.call(_repeated, send, count, at_once, timed)
        return Observation.from_text(f"{counted(count, 'call')} made.")

    def _perform(self, work: Callable[[Run], Observation]) -> Observation:
        return perform(self._run, confirm=not self._is_agreed, work=work)

    def _promise(self) -> SchemaValidator | None:
        if self._tool.output_schema is None:
            return None
        return validator_of(self._tool.output_schema)

    def _unfinished(self) -> ExitCode:
        """Say why there is no result of the server, and return the exit code."""
        run = self._run
        declined = getattr(run.outcome, "for_person", "")
        text = declined or run.secrets.redactor.text(run.outcome.text)
        if run.state == "denied":
            say(declined or f"{text} --yes says yes in advance.")
            return ExitCode.REFUSED
        say(text)
        if run.problems:
            return ExitCode.USAGE
        if run.error_kind == "network" or not self._session.is_connected:
            return ExitCode.CONNECTION
        return ExitCode.FAILED


class _Timed(NamedTuple):
    """One of many calls: when it began and ended, in seconds, and why it failed; empty if it did not."""

    began: float
    ended: float
    problem: str


async def _repeated(send: Callable[[], Any], count: int, at_once: int, timed: list[_Timed]) -> None:
    """Call *send* *count* times, *at_once* at a time, and add to *timed*."""
    waiting = iter(range(count))

    async def worker() -> None:
        for _ in waiting:
            began = perf_counter()
            problem = ""
            try:
                result = await send()
            except CallFailedError as error:
                problem = str(error)
            else:
                if result.get("isError") is True:
                    problem = tool_observation("", result).text or "the tool failed"
            timed.append(_Timed(began, perf_counter(), problem))

    async with anyio.create_task_group() as group:
        for _ in range(min(at_once, count)):
            group.start_soon(worker)


async def _declined(question: Any) -> Answer:
    return Answer("decline", by_somebody=False)


def _times(milliseconds: list[float]) -> dict[str, float]:
    """Return the percentiles of *milliseconds*: each is the time of one of the calls."""
    ordered = sorted(milliseconds)
    times = {"min": ordered[0]}
    for percent in (50, 90, 99):
        times[f"p{percent}"] = ordered[math.ceil(len(ordered) * percent / 100) - 1]
    times["max"] = ordered[-1]
    return {name: round(time, 3) for name, time in times.items()}
