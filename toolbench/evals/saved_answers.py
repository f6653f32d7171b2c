"""Save the answers of an evaluation and the results of their calls, so that none is repeated.

Each answer has its own line, and so has each of its calls that ran. Scores are normally computed
again from the answer. If a secret in the answer is masked, this is not possible. The saved scores
are then used, unless the case has changed since they were computed.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from secrets import token_hex
from typing import Any, NamedTuple

from pydantic import ValidationError

from toolbench.evals.case import Case
from toolbench.evals.execution import can_run
from toolbench.evals.identity import model_text, value_text
from toolbench.evals.saved_lines import SavedLines
from toolbench.evals.scoring import AnyTool, Scored, redactor_of
from toolbench.evals.trial import Trial
from toolbench.jsonschema.types import Json
from toolbench.llm.models import Model

Task = tuple[str, int, int]
"""The name of a model, the index of a case, and the number of the answer, from 1."""
Results = dict[int, Json]
"""The results of an answer's finished calls, by the position of the call in the answer."""


class SavedAnswer(NamedTuple):
    """An answer from the file."""

    task: Task
    trial: Trial
    """The answer, with its saved scores."""
    results: Results
    is_whole: bool
    """Whether nothing in the answer is masked, so that it can be scored again."""


class SavedAnswers:
    """Reads and writes the answers of one evaluation.

    Two requests are the same if they have the same model, options, messages and offered tools.
    """

    def __init__(
        self,
        lines: SavedLines,
        models: Mapping[str, Model],
        offered: Mapping[str, Any],
        tools: Mapping[str, AnyTool],
        cases: Sequence[Case],
        *,
        system_prompt: str | None,
    ) -> None:
        """Prepare the keys of requests; *offered* maps models to the tools in their format."""
        self.lines, self._cases = lines, cases
        self._scored_for: list[str] = []
        self._prompts: list[str] = []
        # Of an answer, so that no other answer has its results
        self._ids: dict[Task, str] = {}
        self._models: dict[str, str] = {}
        for name, model in models.items():
            request = (name, model_text(model), offered[name], system_prompt)
            self._models[name] = lines.stretched(*request)
        times: Counter[str] = Counter()
        for case in cases:
            hashed = lines.key
            if redactor_of(case, [], tools).secrets:
                # A slow hash: a secret is not found by trying many values
                hashed = lines.stretched
            self._scored_for.append(hashed(value_text(case.to_dict())))
            prompt = hashed(case.prompt)
            times[prompt] += 1
            self._prompts.append(f"{prompt} {times[prompt]}")

    def _key(self, task: Task) -> str:
        model, case, repeat = task
        return self.lines.key(self._models[model], self._prompts[case], repeat)

    def read(
        self, plan: Iterable[Task], *, with_errors: bool, is_run: bool
    ) -> Iterator[SavedAnswer]:
        """Yield the saved answers to the requests in *plan*.

        Args:
            plan: The requests of the evaluation.
            with_errors: If only an error was saved for a request, whether to yield the error as the
                answer.
            is_run: Whether this evaluation runs the calls in the answers. If so, an answer with a
                secret is left out if some of its calls have not run, because they cannot run
                without the secret.

        Raises:
            ToolbenchError: If the file cannot be read, or an answer in it is damaged.
        """
        tasks = {self._key(task): task for task in plan}
        results: defaultdict[str, Results] = defaultdict(dict)
        # The one answer to each request: the last one, and no error if there is another
        chosen: dict[str, tuple[int, Json]] = {}
        for number, line in self.lines.lines():
            key = line["key"]
            if key not in tasks:
                continue
            if "result" in line:
                results[line["answer"]][line["call"]] = line["result"]
            elif "error" not in line:
                chosen[key] = number, line
            elif with_errors:
                chosen.setdefault(key, (number, line))
        for key, (number, line) in chosen.items():
            task = tasks[key]
            try:
                trial = Trial.from_dict(line, self._cases[task[1]])
            except ValidationError as error:
                raise self.lines.damaged(number, error) from None
            known = results[line["answer"]]
            is_whole = "scored_for" not in line
            if not is_whole and self._scored_for[task[1]] != line["scored_for"]:
                continue
            if not is_whole and is_run and len(known) < line["to_run"]:
                # Its other calls cannot run: they have a secret, which is hidden
                continue
            self._ids[task] = line["answer"]
            yield SavedAnswer(task, trial, known, is_whole)

    def add(self, task: Task, scored: Scored) -> None:
        """Save an answer before its calls run."""
        answer = self._ids.setdefault(task, token_hex(8))
        line = {"answer": answer, **scored.trial.to_dict()}
        if not scored.is_whole:
            line["scored_for"] = self._scored_for[task[1]]
            line["to_run"] = sum(map(can_run, scored.calls))
        self.lines.add(self._key(task), line)

    def add_result(self, task: Task, place: int, result: Json) -> None:
        """Save the result of the call at *place* in an answer."""
        line = {"answer": self._ids[task], "call": place, "result": result}
        self.lines.add(self._key(task), line)
