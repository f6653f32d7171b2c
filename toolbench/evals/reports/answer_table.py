"""The answers of an evaluation as a table, with a row for each trial."""

from collections.abc import Iterator, Sequence
from typing import Any

from toolbench.evals.trials.trial import Trial


class AnswerTable:
    """A table of trials with the methods of a DataFrame, so that it is shown like one."""

    columns = (
        *("model", "case", "repeat", "expected", "called", "answer"),
        *("tokens", "seconds", "what is wrong"),
    )

    def __init__(self, trials: Sequence[Trial]) -> None:
        """Show *trials*."""
        self._trials = trials

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return len(self._trials), len(self.columns)

    def itertuples(
        self,
        index: bool = True,  # noqa: FBT001, FBT002 - pandas' signature
        name: None = None,
    ) -> Iterator[tuple[Any, ...]]:
        """Return the rows like pandas, with the number of the answer first."""
        rows = map(_row, self._trials)
        return ((n, *row) if index else row for n, row in enumerate(rows, 1))


def _row(trial: Trial) -> tuple[Any, ...]:
    states = {True: "as expected", False: "wrong", None: "none came"}
    expected = ", ".join(call.name for call in trial.case.calls) or "no call"
    called = ", ".join(trial.called) or "no call"
    is_answer = trial.error is None
    return (
        trial.model,
        trial.title,
        trial.repeat,
        expected,
        called if is_answer else "",
        states[trial.passed],
        "" if trial.tokens is None else trial.tokens,
        round(trial.seconds, 3),
        trial.error or "; ".join(trial.problems),
    )
