"""Review a server before a model gets its tools: their cost, effects and lint findings."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Protocol, get_args

from toolbench.display.card_html import Card, cards_html
from toolbench.display.escape import Html, escape
from toolbench.display.page import notice
from toolbench.llm.lint import Finding, Severity, lint_tools
from toolbench.llm.tokens import TokenCount
from toolbench.mcp.token_bill import TokenBill
from toolbench.wording import counted, listed

_SEVERITIES: tuple[Severity, ...] = get_args(Severity)
_LISTED_FINDINGS = 8  # findings shown
_LISTED_TOOLS = 12  # tools named in one sentence
_EXPENSIVE = 5_000  # tokens in every request


class Reviewed(Protocol):
    """The protocol of sessions that can be reviewed."""

    name: str
    tools: Any

    @property
    def status(self) -> str:
        """The state of the session, in one word."""


@dataclass(frozen=True)
class ServerReview:
    """Facts about a server. A person reads them before the tools of the server are used.

    Attributes:
        server: The name of the server.
        tools: The number of tools that can be called.
        cost: The tokens that the tools add to each request to a model; see `TokenBill`.
        destructive: The tools that declare that they may delete or overwrite.
        undeclared: The tools that do not declare what they change.
        disabled: The tools that cannot be called, each with its reason.
        findings: The findings of lint in the tools for models, the worst first.
    """

    server: str
    tools: int
    cost: TokenCount
    destructive: tuple[str, ...]
    undeclared: tuple[str, ...]
    disabled: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def summary(self) -> str:
        """The numbers of tools, undeclared tools and tokens, on one line."""
        undeclared = f"{len(self.undeclared)} undeclared, " if self.undeclared else ""
        return f"{counted(self.tools, 'tool')}, {undeclared}{self.cost}"

    @property
    def concerns(self) -> list[str]:
        """Sentences about risks for a person. An empty list does not mean that the server is safe."""
        errors = sum(finding.severity == "error" for finding in self.findings)
        warnings = sum(finding.severity == "warning" for finding in self.findings)
        sentences = [
            (self.destructive, "can delete or overwrite data"),
            (
                self.undeclared,
                "of undeclared effect, treated as dangerous",
            ),
            (self.disabled, "cannot be called"),
        ]
        concerns = [
            f"{counted(len(names), 'tool')} {text}: {listed(names, _LISTED_TOOLS)}."
            for names, text in sentences
            if names
        ]
        if errors or warnings:
            concerns.append(
                f"Lint: {counted(errors, 'error')}, {counted(warnings, 'warning')}. "
                "Such tools may confuse a model."
            )
        if self.cost.tokens > _EXPENSIVE:
            concerns.append(
                f"Its tools cost {self.cost} in every request: leave some out."
            )
        return concerns

    def to_html(self) -> Html:
        """Return the review as a card that needs no kernel."""
        concerns = self.concerns or ["No problem was seen here."]
        tone: Any = "warning" if self.concerns else "success"
        parts = [notice(concern, tone) for concern in concerns]
        counts = Counter(finding.severity for finding in self.findings)
        words = [counted(counts[s], s) for s in _SEVERITIES if counts[s]]
        parts.append(Html(f"<p>Lint: {', '.join(words) or 'nothing to remark'}.</p>"))
        first = self.findings[:_LISTED_FINDINGS]
        lines = "".join(f"<li>{escape(str(finding))}</li>" for finding in first)
        rest = len(self.findings) - len(first)
        more = f"<li>and {rest} more</li>" if rest else ""
        parts.append(
            Html(
                f'<ul style="overflow-wrap:anywhere;padding-left:1.4em">{lines}{more}</ul>'
                if first
                else ""
            )
        )
        title = f"Should I use {self.server}?"
        return cards_html([Card(title, Html("".join(parts)), self.summary)])

    def __str__(self) -> str:
        lines = [f"{self.server}: {self.summary}", *self.concerns, *self.findings]
        return "\n".join(map(str, lines))

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self.to_html()}


def review_of(session: Reviewed) -> ServerReview:
    """Review the tools of *session*; no tool is called."""
    tools = list(session.tools)
    findings = lint_tools(tool for tool in tools if tool.is_for_models)
    effects = {tool.remote_name: tool.hints.effect for tool in tools}
    disabled = getattr(session.tools, "disabled", ())
    return ServerReview(
        server=session.name,
        tools=len(tools),
        cost=TokenBill.of(tools).total,
        destructive=_with(effects, "destructive"),
        undeclared=_with(effects, "undeclared"),
        disabled=tuple(f"{tool.name} ({tool.reason})" for tool in disabled),
        findings=tuple(sorted(findings, key=lambda f: _SEVERITIES.index(f.severity))),
    )


def _with(effects: dict[str, str], effect: str) -> tuple[str, ...]:
    return tuple(name for name, known in effects.items() if known == effect)
