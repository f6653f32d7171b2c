"""Estimate the requests, tokens and cost of an evaluation before it starts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.evals.cases.case import Case
from toolbench.llm.models import Model, Price
from toolbench.llm.models.model import offered
from toolbench.values import clip
from toolbench.wording import counted, estimate_tokens

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
