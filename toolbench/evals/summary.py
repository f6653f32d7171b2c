"""The numbers of an evaluation: rates of each model, and confused tools."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from toolbench.evals.intervals import Rate
from toolbench.evals.trial import Trial, by_model
from toolbench.wording import duration

NO_CALL = "(no call)"


class Confusion(dict[str, Counter[str]]):
    """How often each tool was called, for each tool that was expected.

    For example, `confusion["split_bill"]["get_weather"]` is the number of answers that called
    get_weather when split_bill was expected. If no call was expected, the key is `NO_CALL`.
    """

    def __init__(self, trials: Iterable[Trial]) -> None:
        """Count the answers of *trials*; trials without an answer are left out."""
        super().__init__()
        for trial in trials:
            if trial.error is None:
                self._add(trial)

    def _add(self, trial: Trial) -> None:
        expected = Counter(call.name for call in trial.case.calls)
        called = Counter(trial.called)
        for name, count in (expected & called).items():
            self._count(name, name, count)
        missing = sorted((expected - called).elements())
        more = sorted((called - expected).elements())
        for name, other in zip_longest(missing, more, fillvalue=NO_CALL):
            self._count(name, other, 1)
        if not expected and not called:
            self._count(NO_CALL, NO_CALL, 1)

    def _count(self, expected: str, called: str, count: int) -> None:
        self.setdefault(expected, Counter())[called] += count

    @property
    def columns(self) -> list[str]:
        """All called tools; those that were expected come first."""
        called: set[str] = set().union(*self.values())
        known = [name for name in self if name in called]
        return [*known, *sorted(called.difference(known))]

    @property
    def pairs(self) -> list[tuple[str, str, int]]:
        """The confused pairs: expected tool, called tool, count; the most frequent first."""
        wrong: list[tuple[str, str, int]] = []
        for expected, counts in self.items():
            for called, count in counts.items():
                if called != expected:
                    wrong.append((expected, called, count))
        return sorted(wrong, key=lambda pair: -pair[2])

    def __repr__(self) -> str:
        lines = []
        for expected, counts in self.items():
            called = [f"{name} {count}" for name, count in counts.most_common()]
            lines.append(f"{expected} -> {', '.join(called)}")
        return "\n".join(lines)


RATES = {
    "passed": "passed",
    "picked": "right tool",
    "filled": "right arguments",
    "called_when_none": "called, none expected",
    "forbidden": "called what is forbidden",
    "repaired": "repaired",
}
"""The names of the rates in reports, by the attribute of a `ModelSummary` and of a `Trial`."""


@dataclass(frozen=True)
class ModelSummary:
    """The rates of one model. A trial without an answer counts only in `errors`."""

    trials: int
    errors: int
    passed: Rate
    """How often the answer was as the case expects."""
    picked: Rate
    """How often the expected tools were called, among the answers with expected calls."""
    filled: Rate
    """How often all arguments were right, among the answers with the right tools."""
    called_when_none: Rate
    """How often a tool was called, among the answers where no call was expected. Lower is better."""
    forbidden: Rate
    """How often a forbidden tool was called, among the cases that forbid tools. Lower is better."""
    repaired: Rate
    """How often a call had to be repaired, among the answers with calls. Lower is better."""
    tokens: int | None
    """Tokens of all requests and answers; None if the model does not report them."""
    cost: float | None
    """The total cost in US dollars; None if the model does not report it."""
    seconds: float
    """The mean time of an answer."""

    @classmethod
    def of(cls, trials: Iterable[Trial]) -> "ModelSummary":
        """Return the summary of *trials*, all of one model."""
        answered: list[Trial] = []
        errors, seconds = 0, 0.0
        tokens: int | None = None
        cost: float | None = None
        for trial in trials:
            if trial.tokens is not None:
                tokens = (tokens or 0) + trial.tokens
            if trial.cost is not None:
                cost = (cost or 0.0) + trial.cost
            if trial.error is None:
                answered.append(trial)
                seconds += trial.seconds
            else:
                errors += 1
        return cls(
            trials=len(answered) + errors,
            errors=errors,
            tokens=tokens,
            cost=cost,
            seconds=seconds / max(1, len(answered)),
            **{name: _rate(answered, name) for name in RATES},
        )


def _rate(trials: list[Trial], name: str) -> Rate:
    values = [value for t in trials if (value := getattr(t, name)) is not None]
    return Rate(sum(values), len(values))


class Summary(dict[str, ModelSummary]):
    """A `ModelSummary` for each model, by name.

    If there is only one model, its rates are also attributes of this object.
    """

    def __init__(self, trials: Iterable[Trial], models: Iterable[str]) -> None:
        """Summarise *trials* of *models*."""
        super().__init__()
        for name, group in by_model(trials, models).items():
            self[name] = ModelSummary.of(group)

    def __getattr__(self, name: str) -> Any:
        if len(self) == 1 and not name.startswith("_"):
            [only] = self.values()
            return getattr(only, name)
        msg = f"There are {len(self)} models: use summary['name'].{name} for one of them."
        raise AttributeError(msg)

    def table(self, *, has_rates: bool = True) -> tuple[list[str], list[list[str]]]:
        """Return the column headings and the rows of a table that has a row for each model.

        A column is left out if it has no value for any model. If *has_rates* is false, the columns
        with rates are left out, too.
        """
        rows = [_row(name, summary) for name, summary in self.items()]
        heads = [head for head in rows[0] if any(row[head] != "-" for row in rows)]
        if not has_rates:
            heads = [head for head in heads if head not in RATES.values()]
        return heads, [[row[head] for head in heads] for row in rows]

    def __repr__(self) -> str:
        heads, rows = self.table()
        lines = []
        for row in rows:
            facts = zip(heads, row, strict=True)
            lines.append(", ".join(f"{head}: {text}" for head, text in facts if text != "-"))
        return "\n".join(lines)


def _row(name: str, s: ModelSummary) -> dict[str, str]:
    row = {"model": name}
    for attribute, head in RATES.items():
        row[head] = str(getattr(s, attribute))
    row |= {"no answer": "-", "tokens": "-", "cost": "-"}
    row["time of an answer"] = duration(s.seconds)
    if s.errors:
        row["no answer"] = str(s.errors)
    if s.tokens is not None:
        row["tokens"] = f"{s.tokens:,}"
    if s.cost is not None:
        row["cost"] = f"${s.cost:.4f}"
    return row
