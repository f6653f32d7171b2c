"""Keep the cost of an evaluation below a limit."""

from toolbench.errors import CaseError


class Budget:
    """A limit for the cost of all answers; the mean cost so far predicts the next ones."""

    def __init__(self, limit: float | None) -> None:
        """Allow *limit* US dollars; None for no limit.

        Raises:
            CaseError: If the limit is not more than 0.
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
        """Whether a request was not made because of its cost."""

    @property
    def is_unknown(self) -> bool:
        """Whether there is a limit, but some answers do not report their cost."""
        return self._limit is not None and self._answers > self._priced

    def may_begin(self) -> bool:
        """Tell whether the limit allows one more request; if so, count it as begun.

        Until the first answer has arrived, only one request is made at a time, as the cost of
        a request is not known.
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
        """Note the end of a request, and the cost of its answer."""
        self._running -= 1
        if is_answer:
            self._answers += 1
        if cost is not None:
            self._priced += 1
            self.spent = (self.spent or 0.0) + cost
