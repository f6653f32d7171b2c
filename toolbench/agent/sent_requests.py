"""The requests sent to a conversation's model, with the tokens of each part."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolbench.agent.context import text_of, tokens_of
from toolbench.display.css import CELL, REMARK, TABLE, TEXT_COLOR, TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.page import fold, notice, short
from toolbench.jsonschema.types import Json
from toolbench.llm.models import Usage
from toolbench.llm.providers import Provider
from toolbench.wording import counted, estimate_tokens

# Messages, or tools, in a table
_ROWS = 200
# Characters of a message in a row
_BRIEF = 160
# Characters of the exact request that a cell shows
_EXACT = 40_000


Hide = Callable[[Json, Provider], Json]


@dataclass(frozen=True)
class SentRequest:
    """One request as it was sent to the model. Secrets are hidden in it."""

    messages: Sequence[Json] = field(repr=False)
    """The messages of the conversation in the provider's format, oldest first."""
    tools: Sequence[Json] = field(repr=False)
    """The tools in the provider's format."""
    model: str = ""
    provider: Provider = "openai"
    usage: Usage | None = None
    """The tokens and cost of the answer, if the model reports them; else None."""

    @property
    def message_tokens(self) -> list[int]:
        """The estimated number of tokens of each message."""
        return [tokens_of(message) for message in self.messages]

    @property
    def tool_tokens(self) -> dict[str, int]:
        """The estimated number of tokens of each tool's definition, by name."""
        return {
            name_of(tool): estimate_tokens(json.dumps(tool, ensure_ascii=False))
            for tool in self.tools
        }

    @property
    def tokens(self) -> int:
        """The estimated number of tokens of the whole request."""
        return sum(self.message_tokens) + sum(self.tool_tokens.values())

    @property
    def cost(self) -> float | None:
        """The cost of the answer in dollars, as the model reports it; None if not known."""
        if self.usage is None:
            return None
        return self.usage.cost

    def to_dict(self) -> dict[str, Any]:
        """Return the request as JSON data."""
        return {
            "model": self.model,
            "provider": self.provider,
            "messages": list(self.messages),
            "tools": list(self.tools),
        }

    @property
    def summary(self) -> str:
        """The size of the request, in a few words."""
        parts = (
            counted(len(self.messages), "message"),
            counted(len(self.tools), "tool"),
            f"about {counted(self.tokens, 'token')}",
        )
        return ", ".join(parts)

    def to_html(self, *, exact: bool = True) -> Html:
        """Return a table of the messages, a table of the tools, and the exact request.

        Args:
            exact: Whether to show the exact request too, which is long.
        """
        message_rows = []
        for message, tokens in zip(self.messages, self.message_tokens, strict=True):
            message_rows.append((str(message.get("role", "?")), text_of(message), tokens))
        tool_rows = []
        for (name, tokens), tool in zip(self.tool_tokens.items(), self.tools, strict=False):
            tool_rows.append((name, str(_function(tool).get("description", "")), tokens))
        html = _table("Message", message_rows) + _table("Tool", tool_rows)
        if exact:
            html += fold("The exact request", self._exact_html())
        return Html(f'<div {NO_MATHS} style="{TEXT_FONT};{TEXT_COLOR}">{html}</div>')

    def _exact_html(self) -> Html:
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=1, default=str)
        html = (
            f'<pre {NO_MATHS} tabindex="0" style="max-height:30em;overflow:auto;'
            f'white-space:pre-wrap;overflow-wrap:anywhere">{escape(text[:_EXACT])}</pre>'
        )
        left_out = len(text) - _EXACT
        if left_out > 0:
            note = f"The last {left_out:,} characters are left out: .messages and .tools have them."
            html += notice(note, "neutral")
        return Html(html)

    def __repr__(self) -> str:
        return f"<Request to {self.model}: {self.summary}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.to_html()}


class SentRequests(Sequence[SentRequest]):
    """The requests of one conversation, oldest first.

    Each request begins with the messages of the request before it, until older messages are
    condensed. So the requests share one list of messages, and of each request only the number of
    its messages is stored.
    """

    def __init__(self, hide: Hide | None = None) -> None:
        """Make an empty list of requests.

        Args:
            hide: Returns a message of a provider with its secrets hidden, before the user sees it.
        """
        self._hide = hide
        self._requests: list[tuple[list[Json], int, SentRequest]] = []

    def without_secrets(self, hide: Hide) -> "SentRequests":
        """Return a view of these requests in which *hide* hides the secrets of each message."""
        view = SentRequests(hide)
        view._requests = self._requests
        return view

    def add(self, messages: list[Json], request: SentRequest) -> None:
        """Add *request*. Its messages are all items that *messages* has now; the list may grow later."""
        entry = replace(request, messages=())
        if self._requests:
            known = self._requests[-1][2].tools
            # One list for all of them, if they are the same
            if list(known) == list(request.tools):
                entry = replace(entry, tools=known)
        self._requests.append((messages, len(messages), entry))

    def answered(self, usage: Usage | None) -> None:
        """Note the tokens and cost of the answer to the last request."""
        messages, count, request = self._requests[-1]
        self._requests[-1] = messages, count, replace(request, usage=usage)

    def __len__(self) -> int:
        return len(self._requests)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        messages, count, request = self._requests[index]
        shown = messages[:count]
        if self._hide is not None:
            shown = [self._hide(message, request.provider) for message in shown]
        return replace(request, messages=shown)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'request')}>"


def name_of(tool: Mapping[str, Any]) -> str:
    """Return the name of *tool*, in any provider's format."""
    return str(_function(tool).get("name", "?"))


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    function = tool.get("function")
    if isinstance(function, Mapping):
        return function
    return tool


def _table(title: str, rows: Sequence[tuple[str, str, int]]) -> Html:
    if not rows:
        return Html("")
    head = lines = rest = ""
    for word in (title, "Text", "Tokens"):
        head += f'<th scope="col" style="{CELL}">{word}</th>'
    for name, text, tokens in rows[:_ROWS]:
        lines += (
            f'<tr><th scope="row" style="{CELL};font-weight:600;white-space:nowrap">{short(name)}'
            f'</th><td style="{CELL};width:100%">{short(text, _BRIEF)}</td>'
            f'<td style="{CELL};text-align:right">{tokens:,}</td></tr>'
        )
    more = len(rows) - _ROWS
    if more > 0:
        rest = f'<div style="{REMARK}">{more:,} more are left out.</div>'
    return Html(
        f'<table {NO_MATHS} style="{TABLE};width:100%;margin-bottom:8px"><thead><tr>{head}</tr>'
        f"</thead><tbody>{lines}</tbody></table>{rest}"
    )
