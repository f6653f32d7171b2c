"""Call one tool with many sets of arguments, here or on a cluster; each call becomes a row."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from itertools import count
from os import PathLike
from pathlib import Path
from threading import Event
from time import perf_counter
from typing import Any

from pydantic import ValidationError

from toolbench.core.executor import FunctionExecutor
from toolbench.core.functions import tool as tool_of
from toolbench.core.registry import the_tool
from toolbench.core.tool import ToolDefinition
from toolbench.errors import CaseError
from toolbench.evals.consent import ask_for_all
from toolbench.evals.grid import Calls
from toolbench.evals.identity import tool_text, value_text
from toolbench.evals.progress import ProgressLine
from toolbench.evals.saved_lines import SavedLines
from toolbench.evals.sweep_call import LOST, Result, Row, make_calls
from toolbench.evals.sweep_report import SweepReport
from toolbench.evals.workers import (
    Lane,
    cancel,
    check_options,
    completed,
    ended,
    for_processes,
    is_process_pool,
    room,
    submitted,
    threads,
)
from toolbench.jsonschema.types import Json
from toolbench.redaction.detect import Secrecy
from toolbench.runs.exception_text import sentence_of
from toolbench.runs.policy import has_changed, policy
from toolbench.runs.secret_question import ask_before
from toolbench.values import plain
from toolbench.wording import counted

AnyTool = ToolDefinition[Any, Any]

# Seconds that a batch of calls should take
_ALOFT = 0.05
# Calls of a batch
_LARGEST = 256


@dataclass(frozen=True, eq=False, slots=True)
class _Call:
    """One call of the sweep: its arguments, and its position, by which the rows are sorted."""

    place: int
    arguments: Mapping[str, Any]
    masked: Mapping[str, Any]
    repeat: int
    key: str


# Calls that are sent to an executor together
_Batch = tuple[_Call, ...]


def sweep(
    tool: Any,
    inputs: Any,
    *,
    executor: Executor | None = None,
    save: str | PathLike[str] | None = None,
    resume: bool = True,
    version: str | None = None,
    repeats: int = 1,
    workers: int = 4,
    retry_errors: bool = False,
    confirm: bool = True,
    on_progress: Callable[[str], object] | None = None,
) -> SweepReport:
    """Call *tool* with many sets of arguments, and return a row for each call.

    If a call raises an exception, its row contains the error. Calls are not added to `history()`.
    If consent is needed, you are asked once, before the first call. After an interrupt, the report
    contains the calls that have finished.

    With an executor that uses other processes, such as those of a cluster:

    - Each worker has its own copy of the tool. For a server's tool, each worker has its own session
      with the server, which closes after ten seconds without a call.
    - Variables such as `${TOKEN}` and the tool's secrets are looked up on the worker.
    - If a worker dies, the rows of its calls have the state `lost`. To make only these calls again,
      repeat the sweep with the same *save*.
    - Quick calls are sent to a worker together, about 50 ms of work at a time.
    - A tool that is defined in a notebook requires the optional dependency
      `jupyter-toolbench[processes]`. With ipyparallel, also call `cluster[:].use_cloudpickle()`.

    Args:
        tool: The tool, a function, or the name of a registered tool.
        inputs: The sets of arguments: a grid, a list of dicts, or a DataFrame with one call per
            row. A grid, such as `{"x": range(5), "y": ["a", "b"]}`, stands for all combinations of
            its values. In a grid, a string, an object or a number counts as one value. If a cell of
            a DataFrame is empty, the argument is left out of the call.
        executor: The `concurrent.futures.Executor` that makes the calls. If left out, threads are
            used. But if the tool is neither a plain function nor read-only, only one thread is
            used, because the tool may have state.
        save: A JSONL file to which each finished call is written as a line. Only one sweep at a
            time can use the file.
        resume: Whether to reuse a result in *save* for a call of the same tool with the same
            arguments. Two tools count as the same if their names, schemas, versions (see *version*)
            and sources are equal. The source of a tool is the code of its function or of its
            executor's class. For a server's tool, the configuration of the server is compared
            instead.
        version: A label for everything that the source does not show, such as other functions,
            files, or the state of the tool's executor. Pass a new label when any of these has
            changed. By default, the label of the tool, as in `meta={"version": "2"}`, or the
            version of its server.
        repeats: How often each call is made.
        workers: The number of threads.
        retry_errors: Whether to repeat a call if *save* contains an error for it.
        confirm: Whether to ask for consent if the policy requires it. Use False if the user has
            already been asked.
        on_progress: A function that is called from time to time with a line of text.

    Raises:
        CaseError: If *inputs* are not calls of the tool, or another argument is not valid.
        ConsentError: If consent was needed and not given. In this case, no call was made.
        NotImplementedError: If the tool has no executor.
        SecretError: If a secret of the tool has no value, and the user does not give one.
        ToolNotFoundError: If there is no tool of that name.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.evals import sweep
        >>> @tool(read_only=True)
        ... def price(people: int, tip: float = 0) -> float:
        ...     "Return the share of a bill of 84 euros."
        ...     return 84 * (1 + tip) / people
        >>> columns = sweep(price, {"people": [2, 4], "tip": [0, 0.5]}).columns
        >>> columns["people"], columns["tip"], columns["result"]
        ([2, 2, 4, 4], [0, 0.5, 0, 0.5], [42.0, 63.0, 21.0, 31.5])
    """
    check_options(repeats=repeats, workers=workers, executor=executor)
    if isinstance(tool, str | ToolDefinition):
        tool = the_tool(tool)
    else:
        tool = tool_of(tool)
    tool = tool.as_listed()
    tool.as_executable()
    calls = Calls(tool, inputs)
    with ExitStack() as undo:
        work = _Sweep(tool, calls, repeats)
        if save is not None:
            lines = undo.enter_context(closing(SavedLines(Path(save), "sweep")))
            work.resume(lines, version, is_wanted=resume, with_errors=not retry_errors)
        return work.run(executor, workers, on_progress, confirm=confirm)


class _Sweep:
    """The work of one sweep, from the arguments to the report."""

    def __init__(self, tool: AnyTool, calls: Calls, repeats: int) -> None:
        self._tool, self._inputs, self._repeats = tool, calls, repeats
        # Identifies the tool in the file; "" without a file
        self._digest = ""
        self._stretched: dict[str, str] = {}
        self._lines: SavedLines | None = None
        self._rows: dict[int, Row] = {}
        self._notes: list[str] = []
        # Whether the calls are made in threads of this process
        self._is_near = True
        # Calls of the next batch
        self._size = 1
        self._stop = Event()
        # Why the work ended early
        self._ended: str | None = None

    def _calls(self) -> Iterator[_Call]:
        times: Counter[str] = Counter()
        place = count()
        for arguments in self._inputs:
            masked = self._masked(arguments)
            key = self._key(arguments, masked)
            if key:
                times[key] += 1
                key = f"{key}-{times[key]}"
            for repeat in range(1, self._repeats + 1):
                yield _Call(next(place), arguments, masked, repeat, f"{key}-{repeat}")

    def _key(self, arguments: Mapping[str, Any], masked: Mapping[str, Any]) -> str:
        """Return the key of a call in the file; empty if there is no file."""
        if self._lines is None:
            return ""
        text = value_text(arguments)
        secrecy = self._tool.secrecy
        hidden = text if masked is arguments else value_text(secrecy.hide(arguments)[0])
        if hidden == text:
            return self._lines.key(self._digest, text)
        # a slow hash: it is made once for each secret, not for each call
        secrets = _secrets_text(secrecy, arguments)
        if secrets not in self._stretched:
            self._stretched[secrets] = self._lines.stretched(secrets)
        return self._lines.key(self._digest, hidden, self._stretched[secrets])

    def _masked(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return *arguments* with secrets masked, for files and keys."""
        secrecy = self._tool.secrecy
        if secrecy.is_harmless(arguments):
            return arguments
        masked: Mapping[str, Any] = plain(secrecy.hide(arguments)[0])
        return masked

    def resume(
        self, lines: SavedLines, version: str | None, *, is_wanted: bool, with_errors: bool
    ) -> None:
        """Save new rows in *lines*; if *is_wanted*, also take finished calls from there."""
        self._lines = lines
        self._digest = lines.stretched(tool_text(self._tool, version))
        if not is_wanted:
            return
        known: dict[str, tuple[int, Json]] = {}
        for number, line in lines.lines():
            if with_errors or line.get("state") == "ok":
                known[line["key"]] = number, line
        if not known:
            return
        for call in self._calls():
            if call.key not in known:
                continue
            number, line = known[call.key]
            try:
                self._rows[call.place] = Row.from_dict(line, call.masked, call.repeat)
            except ValidationError as error:
                raise lines.damaged(number, error) from None
        if self._rows:
            self._notes.append(
                f"Taken from {lines.path}: {counted(len(self._rows), 'row')} of the same source and "
                "version. If anything else has changed that the tool reads, give another version=."
            )

    def run(
        self,
        executor: Executor | None,
        workers: int,
        on_progress: Callable[[str], object] | None,
        *,
        confirm: bool,
    ) -> SweepReport:
        """Make the remaining calls, and return the report of all calls."""
        planned = len(self._inputs) * self._repeats
        left = planned - len(self._rows)
        name = self._tool.name
        self._allow(left, confirm=confirm)
        # Workers elsewhere look in their own environment
        if left and (executor is None or isinstance(executor, ThreadPoolExecutor)):
            ask_before(self._tool)
        line = ProgressLine(f"Sweep of {name}", left, on_progress)
        line.show(line.text)
        stopped: str | None = None
        began = perf_counter()
        with ExitStack() as undo:
            undo.callback(line.erase)
            lane = self._lane(executor, workers, undo)
            try:
                stopped = self._work(lane, line)
            except KeyboardInterrupt:
                stopped = "It was interrupted"
                self._stop.set()
                for batch, future in ended([lane]):
                    if future.exception() is None:
                        self._add(batch, future.result(), line)
                cancel([lane])
        return SweepReport(
            name,
            [self._rows[place] for place in sorted(self._rows)],
            arguments=[*self._tool.input_node.properties],
            axes=self._inputs.axes,
            planned=planned,
            stopped=stopped,
            notes=self._notes,
            is_saved=self._lines is not None,
            seconds=perf_counter() - began,
            definition=self._tool,
        )

    def _allow(self, left: int, *, confirm: bool) -> None:
        if self._tool.blocked:
            raise CaseError(self._tool.blocked)
        verdict, why = policy.verdict_on(self._tool)
        if verdict == "deny":
            msg = f"{self._tool.name} was not called: denied, because {why}."
            raise CaseError(msg)
        if confirm:
            ask_for_all([self._tool], left)

    # --- the work ------------------------------------------------------------------

    def _lane(self, executor: Executor | None, workers: int, undo: ExitStack) -> Lane[_Batch]:
        """Return the lane, or queue of tasks, that gives the calls to *executor* or to threads."""
        batches = self._batches()
        if executor is None:
            if not _may_run_together(self._tool):
                workers = 1
            submit = partial(self._submit, self._tool, self._stop)
            return Lane(threads(workers, undo), batches, submit, workers + 1)
        self._is_near = isinstance(executor, ThreadPoolExecutor)
        tool: Any = self._tool
        if not self._is_near:
            tool = getattr(tool, "for_workers", lambda: tool)()
        if tool is self._tool and is_process_pool(executor):
            tool = for_processes(tool)
        stop = None
        if self._is_near:
            stop = self._stop
        return Lane(executor, batches, partial(self._submit, tool, stop), room(executor))

    def _submit(
        self, tool: Any, stop: Event | None, executor: Executor, batch: _Batch
    ) -> "Future[list[Result]]":
        arguments = [dict(call.arguments) for call in batch]
        is_near = stop is not None
        return submitted(executor, make_calls, tool, arguments, stop, is_near=is_near)

    def _batches(self) -> Iterator[_Batch]:
        """Yield the remaining calls in batches of about 50 ms."""
        waiting: list[_Call] = []
        for call in self._calls():
            if call.place in self._rows:
                continue
            waiting.append(call)
            if len(waiting) >= self._size:
                if self._has_changed():
                    return
                yield tuple(waiting)
                waiting = []
        if waiting and not self._has_changed():
            yield tuple(waiting)

    def _has_changed(self) -> bool:
        """Tell whether the server changed or disabled the tool, so that the sweep must end."""
        if has_changed(self._tool) or self._tool.blocked:
            self._ended = f"It ended because the server changed {self._tool.name}"
        return self._ended is not None

    def _work(self, lane: Lane[_Batch], line: ProgressLine) -> str | None:
        """Make all calls. Return why the work ended early; None if it did not."""
        for batch, future in completed([lane], draw=line.draw):
            try:
                results: list[Result] = future.result()
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - a cluster may raise any error
                why = f"Its worker failed: {sentence_of(error)}"
                lost: Result = {"state": LOST, "error": why, "seconds": 0.0}
                results = [lost] * len(batch)
            self._add(batch, results, line)
        if lane.broken:
            return f"The executor broke ({lane.broken})"
        return self._ended

    def _add(self, batch: _Batch, results: list[Result], line: ProgressLine) -> None:
        for call, result in zip(batch, results, strict=False):
            if call.place in self._rows:
                # It was kept before an interrupt
                continue
            row = Row(call.masked, call.repeat, **result)
            # A lost call is made again on resume
            if self._lines is not None and row.state != LOST:
                self._lines.add(call.key, {"arguments": call.masked, **result})
            self._rows[call.place] = row
            line.errors += row.error is not None
        line.done += len(results)
        line.draw()
        if not self._is_near:
            self._adapt(sum(result["seconds"] for result in results), len(results))

    def _adapt(self, seconds: float, calls: int) -> None:
        """Set the size of the next batches from the time that the last calls took."""
        if calls:
            each = seconds / calls
            largest = min(2 * self._size, _LARGEST)
            if each:
                largest = min(int(_ALOFT / each), largest)
            self._size = max(1, largest)


def _secrets_text(secrecy: Secrecy, arguments: Mapping[str, Any]) -> str:
    """Return the secrets in *arguments* as one text, including secrets inside longer strings."""
    try:
        by_path = secrecy.mask(arguments)[1]
    except RecursionError:
        # Nested too deep to be searched
        by_path = {(): arguments}
    return value_text([by_path, secrecy.secrets_in(arguments)])


def _may_run_together(tool: AnyTool) -> bool:
    """Tell whether *tool* is a plain function or read-only, so its calls may run in parallel."""
    return tool.hints.readOnlyHint is True or isinstance(tool.executor, FunctionExecutor)
