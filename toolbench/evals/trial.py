"""One answer of a model to one case, and its score."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict

from toolbench.evals.case import Case
from toolbench.jsonschema.types import Json

_FIELDS = (
    *("called", "calls", "picked", "filled", "called_when_none", "forbidden"),
    *("repaired", "problems", "error", "seconds", "input_tokens"),
    *("output_tokens", "cost", "message", "results", "finish_reason"),
)


class _SavedCall(BaseModel):
    model_config = ConfigDict(strict=True)

    name: str
    arguments: dict[str, Any]
    repairs: list[str] = []


class _SavedResult(BaseModel):
    model_config = ConfigDict(strict=True)

    run: int | None
    name: str
    state: str
    text: str


class SavedTrial(BaseModel):
    """The fields that a line of a file needs to become a trial."""

    model_config = ConfigDict(strict=True)

    model: str
    case: str
    repeat: int
    prompt: str = ""
    called: list[str] = []
    calls: list[_SavedCall] = []
    picked: bool | None = None
    filled: bool | None = None
    called_when_none: bool | None = None
    forbidden: bool | None = None
    repaired: bool | None = None
    problems: list[str] = []
    error: str | None = None
    seconds: float = 0.0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    message: dict[str, Any] | None = None
    results: list[_SavedResult] = []
    finish_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """One answer with its scores. A score is None if it does not apply."""

    model: str
    case: Case = field(repr=False)
    repeat: int
    """The number of the answer to the case, from 1."""
    called: tuple[str, ...] = ()
    """The names of the called tools, in order."""
    calls: tuple[Json, ...] = ()
    """The model's calls: `name`, `arguments` (secrets hidden), and `repairs` if there were any."""
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
    """The answer in its provider's format; kept only for a limited number of failures."""
    results: tuple[Json, ...] = ()
    """The results of the calls, if calls run: `run` (None if the call did not), `state`, `text`."""
    finish_reason: str | None = None
    title: str = ""
    """The title of the case, with the secrets of the expected and sent calls hidden."""
    prompt: str = ""
    """The prompt of the case, with the same secrets hidden."""

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
        right = self.filled if self.case.calls else not self.called_when_none
        return bool(right) and not self.forbidden

    @property
    def problem(self) -> str:
        """The first difference of an answer that did not pass."""
        return self.problems[0] if self.problems else "not as expected"

    @property
    def tokens(self) -> int | None:
        """Tokens of request and answer; None if the model does not report them."""
        known = [n for n in (self.input_tokens, self.output_tokens) if n is not None]
        return sum(known) if known else None

    def to_dict(self) -> Json:
        """Return the trial as JSON data, without the prompt if the prompt is the same as in the case."""
        fields = {name: getattr(self, name) for name in _FIELDS}
        filled = {k: v for k, v in fields.items() if v not in (None, (), "")}
        return {
            "model": self.model,
            "case": self.title,
            "repeat": self.repeat,
            **filled,
            **({} if self.prompt == self.case.prompt else {"prompt": self.prompt}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], case: Case) -> "Trial":
        """Return the trial of *case* from the data of `to_dict`."""
        fields = {name: data[name] for name in _FIELDS if name in data}
        for name in ("called", "calls", "problems", "results"):
            fields[name] = tuple(fields.get(name, ()))
        texts = {"title": data["case"], "prompt": data.get("prompt", "")}
        return cls(data["model"], case, data["repeat"], **fields, **texts)
