"""The keys of trials in a file: the same key means the same request to the same model."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolbench.evals.case import Case
from toolbench.evals.identity import model_identity, tool_identity, value_text
from toolbench.evals.saved_lines import SavedLines
from toolbench.evals.scoring import AnyTool, redactor_of
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
        tool_identities = [tool_identity(tool) for tool in tools.values()] if is_run else []
        work = [identity.text for identity in tool_identities] if is_run else None
        of_models = {name: model_identity(model) for name, model in models.items()}
        self.left_out = frozenset[str]().union(
            *(identity.left_out for identity in (*tool_identities, *of_models.values()))
        )
        """The names of values that the keys leave out although the code reads them."""
        self._models = {
            name: lines.stretched(name, identity.text, offered[name], work, system_prompt)
            for name, identity in of_models.items()
        }
        self._cases = _numbered(self._text(case, case.to_dict(), tools) for case in cases)
        self._prompts = _numbered(self._text(case, case.prompt, tools) for case in cases)

    def of(self, model: str, case: int, repeat: int) -> str:
        """Return the key of an answer of *model* to the case at index *case*."""
        return self._lines.key(self._models[model], self._cases[case], repeat)

    def of_request(self, model: str, case: int, repeat: int) -> str:
        """Return the key of the same answer, whatever the case expects."""
        return self._lines.key(self._models[model], "prompt", self._prompts[case], repeat)

    def _text(self, case: Case, value: Any, tools: Mapping[str, AnyTool]) -> str:
        """Return a hash of *value*, a part of *case*; a slow one if the case has secrets."""
        text = value_text(value)
        if redactor_of(case, [], tools).secrets:
            return self._lines.stretched(text)
        return self._lines.key(text)


def _numbered(texts: Iterable[str]) -> list[str]:
    """Return *texts*, each with a number: how often it came up to there."""
    times: Counter[str] = Counter()
    numbered = []
    for text in texts:
        times[text] += 1
        numbered.append(f"{text} {times[text]}")
    return numbered
