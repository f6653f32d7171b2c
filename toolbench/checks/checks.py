"""A list of checks, which is read from a file and run one after another."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from os import PathLike, fspath
from pathlib import Path
from time import perf_counter
from typing import Any, overload

from toolbench.checks.check import Check
from toolbench.checks.check_file import CheckFile, text_of
from toolbench.checks.report import CheckReport, CheckResult, State
from toolbench.core.registry import find_tool
from toolbench.core.tool import ToolDefinition, after_reload
from toolbench.core.tool_names import ToolAddress, tool_at
from toolbench.core.user_modules import module_of
from toolbench.errors import (
    CaseError,
    Problem,
    ToolbenchError,
    ToolNotFoundError,
    did_you_mean,
)
from toolbench.evals.consent import ask_for_all
from toolbench.files import write_named
from toolbench.mcp.client import MCPClient
from toolbench.runs.perform import perform
from toolbench.runs.questions import answering, decline
from toolbench.runs.record import RunRecord, is_lost, recorded
from toolbench.runs.run import Run, run_here
from toolbench.values import clip, plain

AnyTool = ToolDefinition[Any, Any]


class Checks(Sequence[Check]):
    """Checks in the order in which they run.

    Examples:
        >>> from toolbench.checks import Check, Checks
        >>> checks = Checks([Check("finds Emma", "library.search", arguments={"title": "Emma"})])
        >>> file = checks.write("library.checks.yaml")
        >>> [check.name for check in Checks.read(file)]
        ['finds Emma']
    """

    def __init__(self, checks: Iterable[Check], file: CheckFile | None = None) -> None:
        """Make a list of *checks*, which come from *file*, if any."""
        self._checks = tuple(checks)
        self.file = file
        """The file from which the checks were read, if any."""

    @classmethod
    def read(cls, path: str | PathLike[str]) -> "Checks":
        """Read the file *path*.

        Raises:
            CaseError: If there is no such file, or it cannot be used.
        """
        file = CheckFile(path)
        if not file.path.exists():
            msg = f"There is no file {str(file.path)!r}."
            raise CaseError(msg)
        return cls(file.read(), file)

    def write(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the checks to the file *path*.

        Raises:
            FileError: If the file has other content and *overwrite* is false, or cannot be written.
        """
        return write_named(fspath(path), text_of(self), overwrite=overwrite)

    def run(
        self,
        tools: Any = None,
        *,
        confirm: bool = True,
        attended: bool = True,
        on_result: Callable[[CheckResult], object] | None = None,
    ) -> CheckReport:
        """Run the checks one after another, and return the report. An interrupt ends the run early.

        The policy applies to each call. If calls need consent, the user is asked once for all of
        them, before the first check.

        Args:
            tools: The tools to check: an `MCPClient`, or a list of tools. If left out, the tools of
                the notebook, registered tools, and tools of connected servers are used.
            confirm: Whether to ask for consent if the policy requires it. Use False if the user has
                already agreed.
            attended: Whether the user can be asked. If False, calls that need consent are refused.
                Questions of tools are then declined, unless the check contains an answer.
            on_result: A function that is called with each result as soon as its check has run.

        Raises:
            ConsentError: If consent was needed and not given. In this case, no check was run.
        """
        began = perf_counter()
        found = [_found(check, tools) for check in self._checks]
        agreed = frozenset[str]()
        if confirm and attended:
            agreed = ask_for_all(tool for tool in found if isinstance(tool, ToolDefinition))
        results, stopped = list[CheckResult](), None
        try:
            for check, tool in zip(self._checks, found, strict=True):
                if isinstance(tool, ToolDefinition):
                    is_agreed = not confirm or tool.name in agreed
                    result = _result(check, tool, is_agreed=is_agreed, attended=attended)
                else:
                    result = CheckResult(check, "missing", (Problem((), str(tool)),))
                results.append(result)
                if on_result is not None:
                    on_result(result)
        except KeyboardInterrupt:
            stopped = "It was interrupted"
        return CheckReport(
            results,
            planned=len(self._checks),
            stopped=stopped,
            seconds=perf_counter() - began,
            file=self.file,
        )

    def __repr__(self) -> str:
        return f"Checks({list(self._checks)!r})"

    @overload
    def __getitem__(self, index: int) -> Check: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Check, ...]: ...
    def __getitem__(self, index: int | slice) -> Check | tuple[Check, ...]:
        return self._checks[index]

    def __iter__(self) -> Iterator[Check]:
        return iter(self._checks)

    def __len__(self) -> int:
        return len(self._checks)


def _found(check: Check, tools: Any) -> AnyTool | ToolbenchError:
    """Return the tool of *check*, or the error that says why there is no such tool."""
    try:
        return tool_of(check.tool, tools)
    except ToolbenchError as error:
        return error


def tool_of(name: str, tools: Any = None) -> AnyTool:
    """Return the tool that a check calls *name*.

    *tools* has the same meaning as in `Checks.run`.

    Raises:
        ToolNotFoundError: If there is no such tool.
        UserModuleError: If the module of the tool cannot be imported.
    """
    try:
        return _listed(name, tools)
    except ToolNotFoundError:
        # A server may have a colon in the name of a tool
        place, colon, variable = name.rpartition(":")
        if not colon:
            raise
    tool: Any = getattr(module_of(place), variable, None)
    if isinstance(tool, ToolDefinition):
        return after_reload(tool)
    msg = f"{place} has no tool {variable!r}."
    raise ToolNotFoundError(msg)


def _listed(name: str, tools: Any) -> AnyTool:
    if tools is None:
        return find_tool(name)
    if isinstance(tools, MCPClient):
        return tools.tool(name)
    listed: list[AnyTool] = list(tools)
    for each in listed:
        if each.name == name:
            return each
    addressed = tool_at(name, listed)
    if addressed is None:
        names = [each.name for each in listed]
        near = did_you_mean(name, names) or f" There are: {', '.join(names) or 'none'}."
        msg = f"There is no tool {name!r}.{near}"
        raise ToolNotFoundError(msg)
    return addressed


def _result(check: Check, tool: AnyTool, *, is_agreed: bool, attended: bool) -> CheckResult:
    """Make the call of *check*, and compare its result."""
    run = run_here(tool, dict(check.arguments), "magic")
    if not attended:
        run.dialogue.asker = decline
    with ExitStack() as undo:
        if check.answers:
            server = ToolAddress.of(tool).server or None
            undo.enter_context(answering(*check.answers, by=server))
        perform(run, confirm=not is_agreed)
    return judged(check, run)


def judged(check: Check, run: Run) -> CheckResult:
    """Return the result of *check*, whose call was made by *run*, without secrets."""
    observation = recorded(run.outcome, run.secrets.redactor)
    if run.state == "denied":
        refused = Problem((), observation.text)
        return CheckResult(check, "refused", (refused,), run=run)
    problems = tuple(check.problems(observation, run.seconds))
    state: State = "passed"
    if problems:
        state = "failed"
    return CheckResult(check, state, problems, run.seconds, observation, run)


# Characters of the name that a call gets
_LONGEST = 80


def check_of(record: RunRecord, name: str = "") -> Check:
    """Return a check that repeats the call of *record* and expects the same result.

    Args:
        record: The record of a run that has ended.
        name: The name of the check. If left out, the name is a short form of the call.

    Raises:
        CaseError: If the call has no result, for example because it was stopped. Also if the record
            does not contain the whole call, for example because secrets are never recorded.
    """
    if record.state not in ("ok", "error") or record.unanswered:
        msg = f"Run {record.id} of {record.tool} has no result that can be expected again: {record.state}."
        raise CaseError(msg)
    if record.lost or is_lost(plain([answer.content for answer in record.answers])):
        what = ", ".join(record.lost) or "an answer"
        msg = f"Run {record.id} of {record.tool} cannot be repeated: the history keeps no secret, and not all of {what}."
        raise CaseError(msg)
    words = [f"{key}={clip(value, 30)}" for key, value in record.arguments.items()]
    name = name or " ".join([record.tool, *words])[:_LONGEST]
    answers = [answer.preset for answer in record.answers]
    return Check.of_result(
        name, _address_of(record), record.arguments, record.observation, answers=answers
    )


def _address_of(record: RunRecord) -> str:
    """Return the address of the tool of *record*, as `MODULE:TOOL` if it can be imported."""
    tool = record.definition
    if isinstance(tool, ToolDefinition) and tool.source == ToolDefinition.source:
        place = tool.action_type.__module__
        module = sys.modules.get(place)
        if place != "__main__" and module is not None:
            for variable, value in list(vars(module).items()):
                if value is tool:
                    return f"{place}:{variable}"
    return str(record.address or record.tool)
