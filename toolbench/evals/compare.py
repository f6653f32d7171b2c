"""Compare two reports: the cases that got better or worse, and whether this may be chance."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from toolbench.display.escape import Html
from toolbench.display.page import notice
from toolbench.display.tables import listing_html
from toolbench.evals.intervals import Rate, Stratum, p_value
from toolbench.evals.trial import Trial, by_model
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.evals.report import EvalReport

LEVEL = 0.05
"""The p-value below which a difference is significant."""


@dataclass(frozen=True)
class CaseChange:
    """A case that passed more often or less often than before."""

    case: str
    before: Rate
    after: Rate

    def __str__(self) -> str:
        return (
            f"{self.case}: {self.before.hits} of {self.before.total} -> "
            f"{self.after.hits} of {self.after.total}"
        )


@dataclass(frozen=True)
class ModelChange:
    """The changes of one model between two reports."""

    model: str
    before: Rate
    """The rate of passed answers in the earlier report, of the cases that are in both reports."""
    after: Rate
    p_value: float
    """The probability of such a difference by chance; see `intervals.p_value`."""
    better: tuple[CaseChange, ...]
    worse: tuple[CaseChange, ...]

    @property
    def is_significant(self) -> bool:
        """Whether the difference is significant, at the level of 5 %."""
        return self.p_value < LEVEL

    def __str__(self) -> str:
        if not self.is_significant:
            word = "no difference beyond chance"
        else:
            word = "better" if self.after > self.before else "worse"
        return (
            f"{self.model}: {word}: {self.before} before, {self.after} after, "
            f"p = {self.p_value:.3g}; {counted(len(self.better), 'case')} better, "
            f"{counted(len(self.worse), 'case')} worse"
        )


class Comparison(tuple[ModelChange, ...]):
    """The changes between two reports: a tuple with one `ModelChange` for each model.

    Examples:
        >>> from toolbench.evals import Case, evaluate
        >>> from toolbench.llm import ScriptedModel
        >>> def report_of(text):
        ...     return evaluate(ScriptedModel([text], name="small"), [], [Case("Hello")])
        >>> [change] = report_of("Hi!").compare(report_of("Good morning!"))
        >>> change.before, change.after, change.is_significant
        (<Rate 1 of 1 (21% to 100%)>, <Rate 1 of 1 (21% to 100%)>, False)
    """

    _problem: str

    def __new__(
        cls, changes: Iterable[ModelChange], problem: str = "The reports have no case in common."
    ) -> Self:
        """Make a comparison of *changes*; if there are none, *problem* is shown instead."""
        comparison = super().__new__(cls, changes)
        comparison._problem = problem
        return comparison

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or self._problem

    def to_html(self) -> Html:
        """Return the changes as HTML that needs no kernel."""
        parts = []
        for change in self:
            tone = "neutral"
            if change.is_significant:
                tone = "success" if change.after > change.before else "danger"
            parts.append(notice(str(change), tone))  # type: ignore[arg-type]
            rows = [(c.case, "better", str(c.before), str(c.after)) for c in change.better]
            rows += [(c.case, "worse", str(c.before), str(c.after)) for c in change.worse]
            if rows:
                table = listing_html(("case", "change", "before", "after"), rows)
                parts.append(Html(f'<div style="margin:0 0 10px">{table}</div>'))
        if not parts:
            return notice(self._problem, "warning")
        return Html("".join(parts))

    def _repr_mimebundle_(self, **options: object) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.to_html()}


def compared(after: "EvalReport", before: "EvalReport") -> Comparison:
    """Compare the reports *before* and *after*, for each model that is in both reports.

    If each report has only one model, the two models are compared even if their names differ.
    """
    now, then = _by_model(after), _by_model(before)
    if len(now) == len(then) == 1:
        [(name, trials)], [(old_name, old)] = now.items(), then.items()
        title = name if name == old_name else f"{old_name} -> {name}"
        pairs = [(title, trials, old)]
    else:
        pairs = [(name, now[name], then[name]) for name in now if name in then]
    titles = _titles([*before, *after])
    changes = [_change(name, trials, old, titles) for name, trials, old in pairs]
    answered = [change for change in changes if change.before.total]
    errors = [*after.errors, *before.errors]
    if not errors:
        return Comparison(answered)
    problem = f"No case has an answer in both reports. The first error: {errors[0].error}"
    return Comparison(answered, problem)


Key = tuple[str, str]
"""The identity of a case: its title and its prompt. The prompt may contain a secret."""
Results = Mapping[Key, tuple[int, int]]
"""For each case, the number of passed answers and of all answers."""


def _key(trial: Trial) -> Key:
    return trial.case.title, trial.case.prompt


def _titles(trials: Iterable[Trial]) -> Mapping[Key, str]:
    """Return the title to show for each case.

    If a trial masks a secret in the title of its case, the title of the trial is used.
    """
    titles: dict[Key, str] = {}
    for trial in trials:
        if _key(trial) not in titles or trial.title != trial.case.title:
            titles[_key(trial)] = trial.title
    return titles


def _by_model(report: "EvalReport") -> dict[str, Results]:
    groups = by_model(report, report.models)
    return {name: _results(trials) for name, trials in groups.items()}


def _results(trials: Iterable[Trial]) -> Results:
    results: dict[Key, tuple[int, int]] = {}
    for trial in trials:
        if (passed := trial.passed) is not None:
            hits, total = results.get(_key(trial), (0, 0))
            results[_key(trial)] = (hits + passed, total + 1)
    return results


def _change(model: str, after: Results, before: Results, titles: Mapping[Key, str]) -> ModelChange:
    shared = [key for key in after if key in before]
    strata = [Stratum(*before[key], *after[key]) for key in shared]
    changes = [CaseChange(titles[key], Rate(*before[key]), Rate(*after[key])) for key in shared]
    return ModelChange(
        model,
        _total(before[key] for key in shared),
        _total(after[key] for key in shared),
        p_value(strata),
        tuple(change for change in changes if change.after > change.before),
        tuple(change for change in changes if change.after < change.before),
    )


def _total(results: Iterable[tuple[int, int]]) -> Rate:
    counts = list(results)
    return Rate(sum(h for h, _ in counts), sum(t for _, t in counts))
