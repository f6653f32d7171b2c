"""Estimate what an evaluation costs, and keep the cost below a limit."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
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
    """A limit for the cost of all answers; it reserves money for each running request.

    The expected cost of a request is the higher of two numbers: the cost of its model's most
    expensive answer so far, and the estimate for the request.
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
        """Whether the limit was exceeded, or a request was not made because it might exceed the limit."""
        return self._has_refused or self._exceeds(self.spent or 0.0)

    @property
    def is_unknown(self) -> bool:
        """Whether there is a limit, but some answers do not report their cost."""
        return self.is_limited and self._answers.total() > self._priced

    def may_begin(self, request: Hashable, model: str, estimate: float | None = None) -> bool:
        """Tell whether the limit still allows *request*; if it does, reserve money for it.

        While the cost of a model is unknown, only one request to it is made at a time.

        Args:
            request: A key for the request; `count` gets the same key.
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
        """Note the end of *request* and the cost of its answer, also for an answer from a file."""
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
    """The number of requests, and estimates of tokens and cost."""

    requests: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    """The cost in US dollars; None if the price of a model is not known."""

    def __str__(self) -> str:
        tokens = self.input_tokens + self.output_tokens
        cost = "cost not known" if self.cost is None else f"≈ {self.cost:.4f} dollars"
        return f"{counted(self.requests, 'request')}, ≈ {tokens:,} tokens, {cost}"


def estimated(
    models: Mapping[str, Model],
    tools: Sequence[ToolDefinition[Any, Any]],
    todo: Iterable[tuple[str, Case]],
    system_prompt: str | None,
) -> Estimate:
    """Estimate the tokens and the cost of the requests *todo*: pairs of a model's name and a case.

    The tokens of a request are estimated from its text; an answer is assumed to have 100 tokens.
    """
    base = _base(models, tools, system_prompt)
    prompts: dict[str, int] = {}
    requests, read = dict.fromkeys(models, 0), dict.fromkeys(models, 0)
    for name, case in todo:
        if case.prompt not in prompts:
            prompts[case.prompt] = estimate_tokens(case.prompt)
        requests[name] += 1
        read[name] += base[name] + prompts[case.prompt]
    prices = {name: getattr(model, "price", None) for name, model in models.items()}
    costs = [
        _cost(prices[name], read[name], requests[name] * ANSWER)
        for name in models
        if requests[name]
    ]
    known = [cost for cost in costs if cost is not None]
    count = sum(requests.values())
    return Estimate(
        count,
        sum(read.values()),
        count * ANSWER,
        sum(known) if len(known) == len(costs) else None,
    )


def request_costs(
    models: Mapping[str, Model],
    tools: Sequence[ToolDefinition[Any, Any]],
    system_prompt: str | None,
) -> Callable[[str, Case], float | None]:
    """Return a function that estimates the cost of a request, or returns None without a price."""
    base = _base(models, tools, system_prompt)

    def cost(name: str, case: Case) -> float | None:
        price = getattr(models[name], "price", None)
        return _cost(price, base[name] + estimate_tokens(case.prompt), ANSWER)

    return cost


def _base(
    models: Mapping[str, Model],
    tools: Sequence[ToolDefinition[Any, Any]],
    system_prompt: str | None,
) -> dict[str, int]:
    """Return the tokens that each request to a model has in addition to its prompt."""
    return {
        name: estimate_tokens(clip(offered(tools, model.provider), _WHOLE))
        + estimate_tokens(system_prompt or "")
        for name, model in models.items()
    }


def _cost(price: Any, read: int, written: int) -> float | None:
    if not isinstance(price, Price):
        return None
    return (read * price.input + written * price.output) / 1_000_000
