"""The keys of trials in a file: the same key means the same request to the same model."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from toolbench.evals.cases.case import Case
from toolbench.evals.identity import model_text, tool_text, value_text
from toolbench.evals.saved_lines import SavedLines
from toolbench.evals.trials.scoring import AnyTool, redactor_of
from toolbench.llm.models import Model


class TrialKeys:
    """Makes the keys under which the trials of one evaluation are saved in a file."""

    def __init__(
        self,
        lines: SavedLines,
        models: Mapping[str, Model],
        offered: Mapping[str, Any],
        tools: Mapping[str, AnyTool],
        cases: Sequence[Case],
        *,
        system_prompt: str | None,
        is_run: bool,
    ) -> None:
        """Make the parts of the keys.

        If *is_run* is true, the calls run, so the tools' code is a part too.
        """
        self._lines = lines
        work = [tool_text(tool) for tool in tools.values()] if is_run else None
        self._models = {
            name: lines.stretched(name, model_text(model), offered[name], work, system_prompt)
            for name, model in models.items()
        }
        times: Counter[str] = Counter()
        self._cases: list[str] = []
        for case in cases:
            text = self._case_text(case, tools)
            times[text] += 1
            self._cases.append(f"{text} {times[text]}")

    def of(self, model: str, case: int, repeat: int) -> str:
        """Return the key of an answer of *model* to the case at index *case*."""
        return self._lines.key(self._models[model], self._cases[case], repeat)

    def _case_text(self, case: Case, tools: Mapping[str, AnyTool]) -> str:
        redactor = redactor_of(case, [], tools)
        text = value_text(case.to_dict())
        if not redactor.secrets:
            return self._lines.key(text)
        return self._lines.stretched(text)
