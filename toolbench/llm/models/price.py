"""What tokens cost."""

from dataclasses import dataclass, replace

from toolbench.llm.models.protocol import Answer


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens; a provider that says itself what it took is believed."""

    input: float
    output: float

    def priced(self, answer: Answer) -> Answer:
        """Return *answer* with what it cost, if that can be told."""
        usage = answer.usage
        if usage is None or usage.cost is not None:
            return answer
        if usage.input_tokens is None or usage.output_tokens is None:
            return answer
        cost = usage.input_tokens * self.input + usage.output_tokens * self.output
        return replace(answer, usage=replace(usage, cost=cost / 1_000_000))
