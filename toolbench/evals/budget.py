"""Estimate what an evaluation costs, and keep the cost below a limit."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.errors import CaseError
from toolbench.evals.case import Case
from toolbench.llm.models import Model, Price
from toolbench.llm.models.model import offered
from toolbench.values import clip
from toolbench.wording import counted, estimate_tokens


class Budget:
    """A limit for the total cost of the answers.

    While a request is running, its expected cost is reserved: it counts towards the limit. The
    expected cost is the estimate for the request, or the cost of the most expensive answer of the
    same model so far, whichever is higher.
    """

    def __init__(self, limit: float | None) -> None:
        """Allow *limit* US dollars; None for no limit.

        Raises:
            CaseError: If the limit is not a number above 0.
        """
        is_number = isinstance(limit, Real) and not isinstance(limit, bool)
        # NaN is not
        if limit is not None and not (is_number and limit > 0):
            msg = f"max_cost is more than 0 dollars, not {limit!r}."
            raise CaseError(msg)
        self._limit = limit
        self.spent: float | None = None
        self._dearest: dict[str, float] = {}
        self._answers: Counter[str] = Counter()
        self._priced = 0
        self._running: dict[Hashable, tuple[str, float]] = {}
        self._has_refused = False

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return self._limit is not None

    @property
    def is_over(self) -> bool:
        """Whether the limit was exceeded, or a request was held back because it might exceed it."""
        return self._has_refused or self._exceeds(self.spent or 0.0)

    @property
    def is_unknown(self) -> bool:
        """Whether there is a limit, but some answers do not report their cost."""
        return self.is_limited and self._answers.total() > self._priced

    def may_begin(self, request: Hashable, model: str, estimate: float | None = None) -> bool:
        """Tell whether the limit allows *request*. If so, reserve its expected cost.

        While the cost of a model is unknown, only one request to this model is allowed at a time.

        Args:
            request: A key for the request. Pass the same key to `count` when the request has ended.
            model: The name of the request's model.
            estimate: The estimated cost of the request, if the price is known.
        """
        if not self.is_limited:
            return True
        is_new = not self._answers[model] and estimate is None
        if is_new and any(name == model for name, _ in self._running.values()):
            return False
        requests = [*self._running.values(), (model, estimate or 0.0)]
        reserved = sum(max(cost, self._dearest.get(name, 0)) for name, cost in requests)
        if self._exceeds((self.spent or 0.0) + reserved):
            self._has_refused = self._has_refused or not self._running
            return False
        self._running[request] = (model, estimate or 0.0)
        return True

    def count(self, request: Hashable, model: str, cost: float | None, *, is_answer: bool) -> None:
        """Record the cost of an answer, and that *request* has ended.

        Also call this for each answer that comes from a file. `may_begin` is not called for it.
        """
        self._running.pop(request, None)
        self._answers[model] += is_answer
        if cost is not None:
            self._priced += 1
            self.spent = (self.spent or 0.0) + cost
            self._dearest[model] = max(cost, self._dearest.get(model, 0.0))

    def _exceeds(self, cost: float) -> bool:
        return self._limit is not None and cost > self._limit * (1 + 1e-9)


# The assumed number of tokens of an answer
ANSWER = 100
# Characters
_WHOLE = 10_000_000


@dataclass(frozen=True)
class Estimate:
    """The number of requests, with estimates of their tokens and cost.

    Examples:
        >>> from toolbench.evals import Estimate
        >>> print(Estimate(requests=12, input_tokens=4_800, output_tokens=600, cost=0.02))
        12 requests, ≈ 5,400 tokens, ≈ 0.0200 dollars
    """

    requests: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    """The cost in US dollars; None if the price of a model is unknown."""

    def __str__(self) -> str:
        tokens = self.input_tokens + self.output_tokens
        cost = "cost not known"
        if self.cost is not None:
            cost = f"≈ {self.cost:.4f} dollars"
        return f"{counted(self.requests, 'request')}, ≈ {tokens:,} tokens, {cost}"


class Requests:
    """The expected size and cost of the requests of an evaluation.

    The tokens of a request are estimated from its text; an answer is assumed to have 100 tokens.
    """

    def __init__(
        self,
        models: Mapping[str, Model],
        tools: Sequence[ToolDefinition[Any, Any]],
        system_prompt: str | None,
    ) -> None:
        """Estimate the tokens of the tools and the system prompt, which each request contains."""
        self._base: dict[str, int] = {}
        self._prices: dict[str, Price] = {}
        for name, model in models.items():
            tool_text = clip(offered(tools, model.provider), _WHOLE)
            self._base[name] = estimate_tokens(tool_text) + estimate_tokens(system_prompt or "")
            price = getattr(model, "price", None)
            if isinstance(price, Price):
                self._prices[name] = price

    def tokens(self, model: str, case: Case) -> int:
        """Return the estimated tokens of the request that asks *model* the prompt of *case*."""
        return self._base[model] + estimate_tokens(case.prompt)

    def cost(self, model: str, case: Case) -> float | None:
        """Return the estimated cost of a request and its answer; None if the price is unknown."""
        price = self._prices.get(model)
        if price is None:
            return None
        read = self.tokens(model, case) * price.input
        return (read + ANSWER * price.output) / 1_000_000

    def estimate(self, todo: Iterable[tuple[str, Case]]) -> Estimate:
        """Estimate all requests in *todo*, which has pairs of a model's name and a case."""
        count = tokens = 0
        total: float | None = 0.0
        for name, case in todo:
            count += 1
            tokens += self.tokens(name, case)
            cost = self.cost(name, case)
            if cost is None:
                total = None
            elif total is not None:
                total += cost
        return Estimate(count, tokens, count * ANSWER, total)
