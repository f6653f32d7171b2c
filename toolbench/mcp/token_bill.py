"""How many tokens the tools of a server cost a model, in each request that offers them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self
from weakref import WeakKeyDictionary

from toolbench.llm.lint import cost_of
from toolbench.llm.tokens import TokenCount
from toolbench.mcp.definition import MCPToolDefinition

_costs: WeakKeyDictionary[MCPToolDefinition, TokenCount] = WeakKeyDictionary()


@dataclass(frozen=True)
class TokenBill:
    """The tokens of each tool (its name, description and arguments), and their total.

    Tools that a server keeps for its app are left out, because no model gets them.
    """

    total: TokenCount
    tools: dict[str, TokenCount]
    """The cost of each tool by its name on the server, in the server's order."""

    @classmethod
    def of(cls, tools: Iterable[MCPToolDefinition]) -> Self:
        """Count the tokens of *tools*."""
        costs = {tool.remote_name: _cost(tool) for tool in tools if tool.is_for_models}
        tokens = sum(cost.tokens for cost in costs.values())
        exact = all(cost.exact for cost in costs.values())
        return cls(TokenCount(tokens, exact=exact), costs)

    def number(self, name: str) -> str:
        """Return the tokens of the tool *name*, as a number; empty if no model gets it."""
        return self.tools[name].number if name in self.tools else ""

    @property
    def dearest(self) -> list[tuple[str, TokenCount]]:
        """The tools with their costs, the dearest first."""
        return sorted(self.tools.items(), key=lambda item: -item[1].tokens)


def _cost(tool: MCPToolDefinition) -> TokenCount:
    """Return the cost of *tool*. It is counted once and kept: counting 1,000 tools takes 0.1 s."""
    if (cost := _costs.get(tool)) is None:
        cost = _costs[tool] = cost_of([tool])
    return cost
