"""One answer of a model to one case, and its score."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from toolbench.evals.case import Case
from toolbench.jsonschema.types import Json

_EMPTY: tuple[Any, ...] = (None, (), "")


@dataclass(frozen=True, slots=True)
class Trial:
    """One answer of a model with its scores. A score that does not apply is None.

    Examples:
        >>> from toolbench.evals import Case, evaluate
        >>> from toolbench.llm import ScriptedModel
        >>> [trial] = evaluate(ScriptedModel(["Good morning!"]), [], [Case("Hello")])
        >>> trial.passed, trial.called, trial.repeat
        (True, (), 1)
    """

    model: str
    case: Case = field(repr=False)
    repeat: int
    """The number of the answer to the case, from 1."""
    called: tuple[str, ...] = ()
    """The names of the called tools, in order."""
    calls: tuple[Json, ...] = ()
    """The model's calls: `name`, `arguments` (with secrets masked), and any `repairs`."""
    picked: bool | None = None
    """Whether the answer called exactly the expected tools, each as often as expected."""
    filled: bool | None = None
    """Whether all arguments are right; None if the tools are not right."""
    called_when_none: bool | None = None
    """Whether the answer called a tool, but should not; None if a call was expected."""
    forbidden: bool | None = None
    """Whether the answer called a forbidden tool; None if the case forbids no tool."""
    repaired: bool | None = None
    """Whether a call had to be repaired to be valid; None if there was no call."""
    problems: tuple[str, ...] = ()
    """All differences from the expectation, a sentence each."""
    error: str | None = None
    """Why the model or the network gave no answer; then there are no scores."""
    seconds: float = 0.0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    """The cost in US dollars, if the model reports it."""
    message: Mapping[str, Any] | None = None
    """The answer in its provider's format; a report keeps it only for failures."""
    results: tuple[Json, ...] = ()
    """The results of the calls that ran: `run` (None if it did not), `state`, `text`."""
    finish_reason: str | None = None
    title: str = ""
    """The title of the case, with the secrets of the expected and sent calls masked."""
    prompt: str = ""
    """The prompt of the case, with the same secrets masked."""

    def __post_init__(self) -> None:
        # The dataclass is frozen
        set_field = object.__setattr__
        set_field(self, "title", self.title or self.case.title)
        set_field(self, "prompt", self.prompt or self.case.masked_prompt)

    @property
    def passed(self) -> bool | None:
        """Whether the answer is as the case expects; None if there was no answer."""
        if self.error is not None:
            return None
        is_right = bool(self.filled)
        if not self.case.calls:
            is_right = not self.called_when_none
        return is_right and not self.forbidden

    @property
    def problem(self) -> str:
        """The first difference of an answer that did not pass."""
        if not self.problems:
            return "not as expected"
        return self.problems[0]

    @property
    def tokens(self) -> int | None:
        """Tokens of request and answer; None if the model does not report them."""
        if self.input_tokens is None and self.output_tokens is None:
            return None
        return (self.input_tokens or 0) + (self.output_tokens or 0)

    def to_dict(self) -> Json:
        """Return the trial as JSON data; the prompt is left out if it equals the case's prompt."""
        data: Json = {"model": self.model, "case": self.title, "repeat": self.repeat}
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name not in ("case", "title", "prompt") and value not in _EMPTY:
                data[each.name] = value
        if self.prompt != self.case.prompt:
            data["prompt"] = self.prompt
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], case: Case) -> "Trial":
        """Return the trial of *case* from the data of `to_dict`.

        Raises:
            ValidationError: If the data is not that of a trial.
        """
        return _adapter().validate_python({**data, "case": case, "title": data.get("case")})


def by_model(trials: Iterable[Trial], models: Iterable[str] = ()) -> dict[str, list[Trial]]:
    """Return *trials* by model; *models* come first, and are included even without trials."""
    groups: dict[str, list[Trial]] = {name: [] for name in models}
    for trial in trials:
        groups.setdefault(trial.model, []).append(trial)
    return groups


@cache
def _adapter() -> TypeAdapter[Trial]:
    return TypeAdapter(Trial)
