"""One answer of a model to one case, and its score."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolbench.evals.cases.case import Case
from toolbench.jsonschema.types import Json

_FIELDS = (
    *("called", "calls", "picked", "filled", "called_when_none", "forbidden"),
    *("repaired", "problems", "error", "seconds", "input_tokens"),
    *("output_tokens", "cost", "message", "results", "finish_reason"),
)


@dataclass(frozen=True, slots=True)
class Trial:
    """One answer. A score is None where the question does not arise."""

    model: str
    case: Case
    repeat: int
    """Which answer to the case it is, from 1."""
    called: tuple[str, ...] = ()
    """The tools it called, in order."""
    calls: tuple[Json, ...] = ()
    """The calls: `name`, `arguments` (secrets hidden), and `repairs` if there were any."""
    picked: bool | None = None
    """Whether it called the expected tools, each as often as expected, and no other."""
    filled: bool | None = None
    """Whether it filled every argument right; None if it did not pick the right tools."""
    called_when_none: bool | None = None
    """Whether it called a tool though none was expected; None if one was."""
    forbidden: bool | None = None
    """Whether it called what the case forbids; None if the case forbids nothing."""
    repaired: bool | None = None
    """Whether a call had to be repaired before it fitted; None if there was no call."""
    problems: tuple[str, ...] = ()
    """Everything that is not as expected, a sentence each."""
    error: str | None = None
    """Why there was no answer, of the model or the network; then nothing is scored."""
    seconds: float = 0.0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    """In US dollars, as far as the model says it."""
    message: Mapping[str, Any] | None = None
    """The answer as its provider has it; kept of failures, as long as there are not too many."""
    results: tuple[Json, ...] = ()
    """What came of the calls, where they were run: `run`, `state`, `text`."""
    finish_reason: str | None = None

    @property
    def passed(self) -> bool | None:
        """Whether the answer is all that the case expects; None if there was no answer."""
        if self.error is not None:
            return None
        right = self.filled if self.case.calls else not self.called_when_none
        return bool(right) and not self.forbidden

    @property
    def problem(self) -> str:
        """The first thing that is not as expected, of an answer that did not pass."""
        return self.problems[0] if self.problems else "not as expected"

    @property
    def tokens(self) -> int | None:
        """Tokens read and written; None if the model does not say."""
        known = [n for n in (self.input_tokens, self.output_tokens) if n is not None]
        return sum(known) if known else None

    def to_dict(self) -> Json:
        """Return what came of the trial, JSON-ready; the case is told apart by its title."""
        fields = {name: getattr(self, name) for name in _FIELDS}
        filled = {k: v for k, v in fields.items() if v not in (None, (), "")}
        return {
            "model": self.model,
            "case": self.case.title,
            "repeat": self.repeat,
            **filled,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], case: Case) -> "Trial":
        """Return the trial of *case* that `to_dict` wrote down."""
        fields = {name: data[name] for name in _FIELDS if name in data}
        for name in ("called", "calls", "problems", "results"):
            fields[name] = tuple(fields.get(name, ()))
        return cls(str(data["model"]), case, int(data["repeat"]), **fields)
