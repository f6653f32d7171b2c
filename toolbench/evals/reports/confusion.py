"""Count, for each expected tool, which tools were called."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from toolbench.evals.trials.trial import Trial

NO_CALL = "(no call)"


class Confusion(Mapping[str, Mapping[str, int]]):
    """For each expected tool (`NO_CALL` if no call was expected): how often each tool was called.

    `confusion["split_bill"]["get_weather"]`: split_bill was expected, get_weather was called.
    """

    def __init__(self, trials: Iterable[Trial]) -> None:
        """Count the answers of *trials*; trials without an answer are left out."""
        self._counts: dict[str, Counter[str]] = {}
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
        while missing or more:
            name = missing.pop(0) if missing else NO_CALL
            self._count(name, more.pop(0) if more else NO_CALL, 1)
        if not expected and not called:
            self._count(NO_CALL, NO_CALL, 1)

    def _count(self, expected: str, called: str, count: int) -> None:
        self._counts.setdefault(expected, Counter())[called] += count

    def __getitem__(self, expected: str) -> Mapping[str, int]:
        return self._counts[expected]

    def __iter__(self) -> Iterator[str]:
        return iter(self._counts)

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def columns(self) -> list[str]:
        """All called tools; the expected tools come first."""
        called = {name for counts in self._counts.values() for name in counts}
        known = [name for name in self._counts if name in called]
        return [*known, *sorted(called - set(known))]

    @property
    def pairs(self) -> list[tuple[str, str, int]]:
        """The confused pairs: expected tool, called tool, count; the most frequent first."""
        wrong = [
            (expected, called, count)
            for expected, counts in self._counts.items()
            for called, count in counts.items()
            if called != expected
        ]
        return sorted(wrong, key=lambda pair: -pair[2])

    def __repr__(self) -> str:
        return "\n".join(
            f"{expected} -> {', '.join(f'{n} {c}' for n, c in counts.most_common())}"
            for expected, counts in self._counts.items()
        )
