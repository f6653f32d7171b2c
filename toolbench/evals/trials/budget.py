"""Keep what an evaluation costs below a limit."""

from toolbench.errors import CaseError


class Budget:
    """What answers may cost, all together; what they will cost is taken from those that came."""

    def __init__(self, limit: float | None) -> None:
        """Allow *limit* US dollars; None: no limit.

        Raises:
            CaseError: If the limit is no sum of money.
        """
        if limit is not None and not limit > 0:  # NaN is not
            msg = f"max_cost is more than 0 dollars, not {limit!r}."
            raise CaseError(msg)
        self._limit = limit
        self.spent: float | None = None
        self._priced = 0
        self._running = 0
        self._answers = 0
        self.is_over = False
        """Whether a request was held back for its cost."""

    @property
    def is_unknown(self) -> bool:
        """Whether there is a limit, and answers came that do not say what they cost."""
        return self._limit is not None and self._answers > self._priced

    def may_begin(self) -> bool:
        """Tell whether one more request fits, and take it as begun if so.

        Until the first answer has come, requests are made one at a time: it is unknown yet what
        one costs.
        """
        if self._limit is None:
            return True
        if not self._answers:
            if self._running:
                return False
        elif self.spent is not None:
            each = self.spent / self._priced
            if self.spent + each * (self._running + 1) > self._limit * (1 + 1e-9):
                self.is_over = self._running == 0 or self.is_over
                return False
        self._running += 1
        return True

    def count(self, cost: float | None, *, is_answer: bool) -> None:
        """Note that a request is over, and what its answer cost."""
        self._running -= 1
        if is_answer:
            self._answers += 1
        if cost is not None:
            self._priced += 1
            self.spent = (self.spent or 0.0) + cost
