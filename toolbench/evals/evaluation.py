"""Evaluate models: ask them to answer cases, and score the answers."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from toolbench.agent.toolset import SearchToolsExecutor, Toolset
from toolbench.core.state import ConversationState
from toolbench.core.tool_names import tool_at
from toolbench.errors import CaseError, did_you_mean
from toolbench.evals.budget import Budget, Requests
from toolbench.evals.case import Case
from toolbench.evals.cases import Cases
from toolbench.evals.execution import CallRunner, can_run
from toolbench.evals.progress import ProgressLine, announce
from toolbench.evals.report import EvalReport
from toolbench.evals.saved_answers import Results, SavedAnswers, Task
from toolbench.evals.saved_lines import SavedLines
from toolbench.evals.scoring import (
    AnyTool,
    Scored,
    as_answered,
    redactor_of,
    redactor_of_model,
    scored_answer,
)
from toolbench.evals.trial import Trial
from toolbench.evals.workers import (
    InThisThread,
    Lane,
    cancel,
    check_options,
    completed,
    ended,
    room,
    submitted,
    threads,
)
from toolbench.jsonschema.types import Json
from toolbench.llm.calls import ToolCall
from toolbench.llm.compose import system_message, user_message
from toolbench.llm.models import (
    Answer,
    CancelToken,
    LocalModel,
    Model,
    PersonModel,
    RecordedModel,
    ScriptedModel,
    as_model,
)
from toolbench.llm.models.model import offered
from toolbench.llm.models.tracing import answer_of
from toolbench.tracing import tracing
from toolbench.values import clip, copied
from toolbench.wording import counted

# Names of each kind that get a sentence
_MOST = 10


def absent_tools(cases: Iterable[Case], offered: Collection[str]) -> list[str]:
    """Return a sentence for each tool that *cases* expect or forbid but that is not *offered*."""
    expected: Counter[str] = Counter()
    forbidden: Counter[str] = Counter()
    for case in cases:
        expected.update({call.name for call in case.calls}.difference(offered))
        forbidden.update(set(case.forbid).difference(offered))
    return [
        *_sentences(expected, "expected", ": no answer can pass", offered),
        *_sentences(forbidden, "forbidden", "", offered),
    ]


def _sentences(names: Counter[str], verb: str, effect: str, offered: Collection[str]) -> list[str]:
    sentences = [
        f"{clip(name)} is {verb} in {counted(count, 'case')}, and no tool of that name is "
        f"offered{effect}.{did_you_mean(name, offered)}"
        for name, count in names.most_common(_MOST)
    ]
    if len(names) > _MOST:
        sentences.append(
            f"{counted(len(names) - _MOST, 'more name')} of tools that are not offered: {verb}."
        )
    return sentences


def models_of(model: Any) -> dict[str, Model]:
    """Return the models in *model*, which is one model or several, by their names.

    Raises:
        CaseError: If there is no model.
    """
    if isinstance(model, Mapping):
        models = {str(name): as_model(one) for name, one in model.items()}
    else:
        only = as_model(model)
        models = {only.name: only}
    if not models:
        msg = "There is no model: give one, or several as {name: model}."
        raise CaseError(msg)
    return models


def cases_of(cases: Iterable[Case | Mapping[str, Any]], tools: Mapping[str, AnyTool]) -> Cases:
    """Return *cases* with tool addresses, such as `server.tool`, replaced by offered names."""
    named = Cases(cases)
    for place, case in enumerate(named):
        seen: dict[str, str] = {}
        for name in {*case.forbid, *(call.name for call in case.calls)} - tools.keys():
            tool = tool_at(name, tools.values())
            if tool is not None:
                seen[name] = tool.name
        if seen:
            calls = [replace(call, name=seen.get(call.name, call.name)) for call in case.calls]
            forbid = [seen.get(name, name) for name in case.forbid]
            named[place] = replace(case, expect=calls or None, forbid=forbid)
    return named


def tools_of(specs: Iterable[Any], undo: ExitStack) -> dict[str, AnyTool]:
    """Make tools from *specs*, as an `Agent` does; *undo* closes the tools that were made here."""
    if isinstance(specs, str):
        specs = [specs]
    toolset = Toolset(specs, ConversationState(), parts={})
    undo.callback(toolset.close)
    return {
        name: tool
        for name, tool in toolset.tools.items()
        if not isinstance(tool.executor, SearchToolsExecutor)
    }


Stop = Literal["interrupted", "max_cost", "executor"]

# One answer after another
_IN_TURN = (ScriptedModel, RecordedModel, LocalModel)


def evaluate(
    model: Any,
    tools: Iterable[Any],
    cases: Iterable[Case | Mapping[str, Any]],
    *,
    repeats: int = 1,
    execute: bool = False,
    executor: Executor | None = None,
    save: str | PathLike[str] | None = None,
    max_cost: float | None = None,
    system_prompt: str | None = None,
    workers: int = 4,
    retry_errors: bool = False,
    on_progress: Callable[[str], object] | None = None,
) -> EvalReport:
    """Let each model answer the prompts of all cases, score the answers, and return a report.

    A trial is one answer of a model to one prompt. Its score comes from comparing the calls in the
    answer with the expected calls, not from another model. If a model or the network fails, the
    trial has an error and does not count as a wrong answer. After an interrupt, the report contains
    the trials that have finished.

    Args:
        model: A model, as for `as_model`, or several models by their names: `{"small": small}`.
        tools: The tools, as for `Agent`: tools, classes of tools, functions, registered names.
        cases: The cases. A case refers to a tool by the name that the models see, or by its
            address.
        repeats: The number of answers of each model to each case.
        execute: Whether to run the calls in the answers, one after another in this thread. If the
            policy requires consent, you are asked once for all calls, before the first request. You
            are also asked about a call that the model rates HIGH, unless you have already approved
            its tool.
        executor: The `concurrent.futures.Executor` that makes the requests. If left out, threads
            are used. The executor of a cluster gets the model and the messages. Scripted, recorded
            and local models always answer in this process, one request at a time. `PersonModel`
            asks its questions in the thread that calls `evaluate`.
        save: A JSONL file to which answers, and the results of calls that ran, are written. If the
            file already contains an answer of the same model to the same prompt with the same
            tools, this answer is used, and its finished calls do not run again. Its score is
            computed again. Therefore, pass the same file again after an interrupt, or after you
            have corrected a case. Two models count as the same if their names, URLs and options are
            equal. For functions, the sources must be equal, too. Give a different model a different
            name. The file contains no secrets. Therefore, if an answer contained a secret and you
            have changed what its case expects, the answer is requested again. If a call did not
            run, for example because you declined, you are asked again the next time. Only one
            evaluation or sweep at a time can use a file.
        max_cost: The maximum cost in US dollars, including the answers in *save*. A request that
            could exceed the limit is not made. The cost of a request is estimated from the price of
            the model and from the model's most expensive answer. Requests that are already running
            are not stopped, and still cost money.
        system_prompt: The instructions for the models.
        workers: The maximum number of threads that make requests at the same time.
        retry_errors: Whether to repeat a request if *save* contains only an error for it.
        on_progress: A function that is called from time to time with a line of text: the estimate,
            the progress, or a possible problem with the cases or the file. If left out, problems
            are shown as warnings.

    Raises:
        CaseError: If there are no cases, or an argument is not valid.
        ConsentError: If calls need consent to run, and the user declined.
        RegistrationError: If one of *tools* is not a tool.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.evals import Case, evaluate
        >>> from toolbench.llm import ScriptedModel, as_openai_call
        >>> @tool
        ... def weather(city: str) -> str:
        ...     "The weather in a city."
        ...     return "sunny"
        >>> expected = {"name": "weather", "arguments": {"city": "Oslo"}}
        >>> call = as_openai_call(weather, {"city": "Oslo"})
        >>> model = ScriptedModel([{"role": "assistant", "tool_calls": [call]}], name="small")
        >>> report = evaluate(model, [weather], [Case("Is it sunny in Oslo?", expected)])
        >>> report.summary["small"].passed
        <Rate 1 of 1 (21% to 100%)>
    """
    check_options(repeats=repeats, workers=workers, executor=executor)
    with ExitStack() as undo:
        models, offer = models_of(model), tools_of(tools, undo)
        evaluation = _Evaluation(
            models,
            offer,
            cases_of(cases, offer),
            repeats=repeats,
            execute=execute,
            system_prompt=system_prompt,
        )
        if save is not None:
            lines = undo.enter_context(closing(SavedLines(Path(save), "evaluate")))
            evaluation.resume(lines, with_errors=not retry_errors)
        announce(evaluation.notes, on_progress)
        return evaluation.run(executor, workers, Budget(max_cost), on_progress)


def _ask(
    model: Model,
    messages: Sequence[Json],
    tools: Sequence[Json],
    cancel_token: CancelToken | None = None,
    carrier: Mapping[str, str] | None = None,
) -> tuple[Answer, float]:
    """Ask *model* for one answer; return the answer, and how many seconds it took.

    This may run in a worker of an executor. *carrier* is the trace context of the trial.
    """
    began = perf_counter()
    with tracing.continued(carrier or {}):
        answer = answer_of(model, messages, tools, cancel=cancel_token)
    return answer, perf_counter() - began


class _Evaluation:
    """The work of one evaluation, from the plan to the report."""

    def __init__(
        self,
        models: dict[str, Model],
        tools: dict[str, AnyTool],
        cases: Cases,
        *,
        repeats: int,
        execute: bool,
        system_prompt: str | None,
    ) -> None:
        if not cases:
            msg = "There are no cases: an evaluation needs at least one Case(prompt, expect)."
            raise CaseError(msg)
        self._models, self._tools, self._cases = models, tools, cases
        self._repeats, self._execute = repeats, execute
        self._system_prompt = system_prompt
        self._offered = {
            name: offered([*tools.values()], model.provider) for name, model in models.items()
        }
        self.notes = absent_tools(cases, tools)
        """Notes for the user, to show before the first request."""
        self._saved: SavedAnswers | None = None
        self._trials: dict[Task, Trial] = {}
        self._results: defaultdict[Task, Results] = defaultdict(dict)
        # Answers of the file with calls that have not run
        self._open: dict[Task, list[ToolCall]] = {}
        self._runner = CallRunner()
        self._token = CancelToken()
        # The spans of the trials that are not over, if a tracer is configured
        self._spans: dict[Task, Any] = {}

    # --- the plan ------------------------------------------------------------------

    def _plan(self) -> Iterator[Task]:
        for place in range(len(self._cases)):
            for repeat in range(1, self._repeats + 1):
                for name in self._models:
                    yield name, place, repeat

    def _todo(self, models: Iterable[str]) -> Iterator[Task]:
        model_names = frozenset(models)
        return (t for t in self._plan() if t[0] in model_names and t not in self._trials)

    def resume(self, lines: SavedLines, *, with_errors: bool) -> None:
        """Take the answers of this evaluation from *lines*, and save new answers there."""
        self._saved = SavedAnswers(
            *(lines, self._models, self._offered, self._tools, self._cases),
            system_prompt=self._system_prompt,
        )
        answers = self._saved.read(self._plan(), with_errors=with_errors, is_run=self._execute)
        for task, trial, results, is_whole in answers:
            self._results[task] = results
            if trial.error is None and is_whole:
                scored = self._scored(task, as_answered(trial))
                trial = scored.trial
                places = [place for place, call in enumerate(scored.calls) if can_run(call)]
                if self._execute and not results.keys() >= set(places):
                    self._open[task] = scored.calls
            if self._execute:
                trial = replace(trial, results=tuple(results[place] for place in sorted(results)))
            self._trials[task] = _lightened(trial)

    # --- the work ------------------------------------------------------------------

    def run(
        self,
        executor: Executor | None,
        workers: int,
        budget: Budget,
        on_progress: Callable[[str], object] | None,
    ) -> EvalReport:
        """Make the remaining requests, and return the report of all trials."""
        # From the file
        for task, trial in self._trials.items():
            budget.count(task, task[0], trial.cost, is_answer=trial.error is None)
        requests = Requests(self._models, [*self._tools.values()], self._system_prompt)
        todo = list(self._todo(self._models))
        estimate = requests.estimate((name, self._cases[place]) for name, place, _ in todo)
        if self._execute:
            count = sum(map(self._most_calls, [*self._open, *todo]))
            self._runner.ask(self._tools.values(), count)
        line = ProgressLine("Evaluation", estimate.requests, on_progress, estimate=estimate)
        line.show(line.text)
        stop: Stop | None = None
        began = perf_counter()
        with ExitStack() as undo:
            undo.callback(self._end_spans)
            lanes = self._lanes(executor, workers, undo, is_limited=budget.is_limited)
            undo.callback(line.erase)
            try:
                for task, calls in self._open.items():
                    self._run_calls(task, calls)
                if self._runner.is_interrupted:
                    raise KeyboardInterrupt
                self._work(lanes, budget, requests, line)
            except KeyboardInterrupt:
                stop = "interrupted"
                self._runner.is_interrupted = True
                for task, future in ended(lanes):
                    # Not kept before the interrupt
                    if task not in self._trials:
                        self._note(task, future)
                self._token.cancel("the evaluation was interrupted")
                cancel(lanes)
        if stop is None and any(lane.broken for lane in lanes):
            stop = "executor"
        if stop is None and budget.is_over:
            stop = "max_cost"
        return EvalReport(
            [self._trials[task] for task in self._plan() if task in self._trials],
            models=[*self._models],
            tools=[*self._tools.values()],
            planned=len(self._cases) * self._repeats * len(self._models),
            estimate=estimate,
            stopped=stop,
            notes=self.notes,
            is_cost_unknown=budget.is_unknown,
            is_saved=self._saved is not None,
            seconds=perf_counter() - began,
        )

    def _work(
        self, lanes: list[Lane[Task]], budget: Budget, requests: Requests, line: ProgressLine
    ) -> None:
        def may_begin(task: Task) -> bool:
            name, place, _ = task
            return budget.may_begin(task, name, requests.cost(name, self._cases[place]))

        for task, future in completed(lanes, may_begin=may_begin, draw=line.draw):
            trial = self._note(task, future)
            budget.count(task, task[0], trial.cost, is_answer=trial.error is None)
            line.done += 1
            line.errors += trial.error is not None
            line.cost = budget.spent
            line.draw()
            if self._runner.is_interrupted:
                raise KeyboardInterrupt

    def _note(self, task: Task, future: "Future[Any]") -> Trial:
        """Save the trial of *task*, and run its calls; *future* contains the answer or an error."""
        scored = self._scored(task, future)
        is_lost = not future.cancelled() and isinstance(future.exception(), BrokenExecutor)
        if self._saved is not None and not is_lost:
            self._saved.add(task, scored)
        self._trials[task] = _lightened(scored.trial)
        span = self._spans.pop(task, None)
        try:
            with tracing.use(span):
                self._run_calls(task, scored.calls)
        finally:
            _end_span(span, scored.trial)
        return self._trials[task]

    def _most_calls(self, task: Task) -> int:
        """Return how many calls in the answer to *task* the question for consent must cover."""
        if task in self._open:
            # All that are left: they are known
            return sum(map(can_run, self._open[task])) - len(self._results[task])
        return max(1, len(self._cases[task[1]].calls))

    def _run_calls(self, task: Task, calls: list[ToolCall]) -> None:
        """Run those *calls* of an answer that have no result, and save each result immediately."""
        if not self._execute:
            return

        def keep(place: int, result: Json) -> None:
            if self._saved is not None:
                self._saved.add_result(task, place, result)
            self._results[task][place] = result

        limit = self._most_calls(task)
        hide = redactor_of_model(self._models[task[0]])
        hide = hide.joined(redactor_of(self._cases[task[1]], calls, self._tools))
        results = self._runner.run(calls, limit, self._results[task], keep, hide)
        self._trials[task] = replace(self._trials[task], results=results)

    def _lanes(
        self,
        executor: Executor | None,
        workers: int,
        undo: ExitStack,
        *,
        is_limited: bool,
    ) -> list[Lane[Task]]:
        """Return lanes, each of which is a queue of tasks for one executor.

        A model that takes one request at a time has its own lane; all other models share one.
        """
        lanes: list[Lane[Task]] = []
        together: list[str] = []
        for name, model in self._models.items():
            if isinstance(model, PersonModel):
                lanes.append(self._lane([name], InThisThread(), 1))
            elif isinstance(model, _IN_TURN):
                lanes.append(self._lane([name], threads(1, undo), 1))
            else:
                together.append(name)
        if together and executor is not None:
            # a cancel token works only in this process
            is_near = isinstance(executor, ThreadPoolExecutor)
            lanes.append(self._lane(together, executor, room(executor), is_near=is_near))
        elif together:
            # with a limit, no request waits in the pool: the limit is checked before
            width = workers if is_limited else 2 * workers
            lanes.append(self._lane(together, threads(workers, undo), width))
        return lanes

    def _lane(
        self,
        names: list[str],
        executor: Executor,
        width: int,
        *,
        is_near: bool = True,
    ) -> Lane[Task]:
        submit = partial(self._submit, self._token if is_near else None)
        return Lane(executor, self._todo(names), submit, width)

    def _submit(self, token: CancelToken | None, executor: Executor, task: Task) -> "Future[Any]":
        name, place, _ = task
        model = self._models[name]
        messages = [user_message(self._cases[place].prompt, model.provider)]
        if self._system_prompt:
            messages.insert(0, system_message(self._system_prompt, model.provider))
        # A model may change what it gets
        tools = copied(self._offered[name])
        is_near = token is not None
        attributes = {"toolbench.case": self._cases[place].name or "", "gen_ai.request.model": name}
        span = self._spans[task] = tracing.begin("trial", attributes, kind="INTERNAL")
        carrier = tracing.carrier(span)
        return submitted(executor, _ask, model, messages, tools, token, carrier, is_near=is_near)

    def _end_spans(self) -> None:
        """End the spans that are still open because an interrupt stopped their trials."""
        while self._spans:
            tracing.end(self._spans.popitem()[1], {}, error="cancelled")

    # --- a trial -------------------------------------------------------------------

    def _scored(self, task: Task, future: "Future[Any]") -> Scored:
        """Return the scored answer to *task*; *future* contains the answer or an error."""
        name, place, repeat = task
        return scored_answer(
            future,
            self._models[name],
            self._tools,
            name=name,
            case=self._cases[place],
            repeat=repeat,
        )


def _end_span(span: Any, trial: Trial) -> None:
    """End the *span* of *trial* with an attribute for whether the trial passed."""
    attributes: dict[str, Any] = {}
    if trial.passed is not None:
        attributes["toolbench.trial.passed"] = trial.passed
    error = ""
    if trial.error is not None:
        error = "no_answer"
    tracing.end(span, attributes, error=error)


def _lightened(trial: Trial) -> Trial:
    """Return *trial*, without its message if it passed, as reports show messages of failures."""
    if trial.passed:
        return replace(trial, message=None)
    return trial
