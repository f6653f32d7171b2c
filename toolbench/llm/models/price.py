"""Compute the cost of an answer from the price of tokens."""

from dataclasses import dataclass, replace

from toolbench.llm.models.protocol import Answer


@dataclass(frozen=True)
class Price:
    """A price in US dollars for a million tokens; a cost that the provider reports has priority."""

    input: float
    output: float

    def priced(self, answer: Answer) -> Answer:
        """Return *answer* with its cost, if the cost can be computed."""
        usage = answer.usage
        if usage is None or usage.cost is not None:
            return answer
        if usage.input_tokens is None or usage.output_tokens is None:
            return answer
        cost = usage.input_tokens * self.input + usage.output_tokens * self.output
        return replace(answer, usage=replace(usage, cost=cost / 1_000_000))
