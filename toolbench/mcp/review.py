"""Review a server's approval, cost, effects and lint findings before a model gets its tools."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple, Self, get_args
from weakref import WeakKeyDictionary

from toolbench.display.css import REMARK
from toolbench.display.escape import Html, escape, on_one_line
from toolbench.display.page import Card, Tone, cards_html, notice
from toolbench.llm.lint import Finding, Severity, lint_tools
from toolbench.llm.tokens import TokenCount, tool_tokens
from toolbench.mcp.errors import short_reason
from toolbench.mcp.snapshots.diff import Change
from toolbench.mcp.tool import MCPToolDefinition
from toolbench.mcp.trust.trust import OfferWarning, warnings_of
from toolbench.wording import counted, listed

if TYPE_CHECKING:
    from toolbench.mcp.server_session import MCPServerSession


_costs: WeakKeyDictionary[MCPToolDefinition, TokenCount] = WeakKeyDictionary()


@dataclass(frozen=True)
class TokenBill:
    """The number of tokens that each tool adds to a request by its name, description and arguments.

    Tools that only an app of the server may call are left out, because they are not sent to models.
    """

    total: TokenCount
    tools: dict[str, TokenCount]
    """The tokens of each tool by its name on the server, in the server's order."""

    @classmethod
    def of(cls, tools: Iterable[MCPToolDefinition]) -> Self:
        """Count the tokens of *tools*."""
        costs = dict[str, TokenCount]()
        tokens = 0
        for tool in tools:
            if tool.is_for_models:
                cost = costs[tool.remote_name] = _cost(tool)
                tokens += cost.tokens
        return cls(TokenCount(tokens, exact=False), costs)

    def number(self, name: str) -> str:
        """Return the number of tokens of the tool *name* as a string; empty if no model gets it."""
        if name in self.tools:
            return self.tools[name].number
        return ""

    @property
    def dearest(self) -> list[tuple[str, TokenCount]]:
        """The tools with their tokens, most expensive first."""
        return sorted(self.tools.items(), key=lambda item: -item[1].tokens)


def _cost(tool: MCPToolDefinition) -> TokenCount:
    """Return the tokens of *tool*, counted only once, as this takes 0.1 s for 1,000 tools."""
    if (cost := _costs.get(tool)) is None:
        cost = _costs[tool] = tool_tokens(tool)
    return cost


_NAME = "font-size:13px;background:transparent;padding:0"
_PARTS = {"name", "description", "annotations", "arguments"}
"""The parts of a tool that the message of a finding names itself."""
_SEVERITIES: tuple[Severity, ...] = get_args(Severity)
# The number of findings or changes that are shown at once
_LISTED = 8
# The number of findings or changes that a click shows
_FOLDED = 200
# The most tools named in one sentence
_LISTED_TOOLS = 12
# From this number of tokens in every request, a server counts as expensive
_EXPENSIVE = 5_000


class Verdict(NamedTuple):
    """A sentence on whether to use a server, and the colour in which it is shown."""

    tone: Tone
    sentence: str


@dataclass(frozen=True)
class ServerReview:
    """Facts about a server, to be read before its tools are used.

    Attributes:
        server: The name of the server.
        tools: The number of tools that can be called.
        cost: The tokens that the tools add to each request to a model; see `TokenBill`.
        destructive: The tools that declare that they may delete or overwrite data.
        undeclared: The tools that do not declare what they change.
        disabled: The tools that cannot be called, each with the reason.
        findings: Problems that lint finds in the tools that are sent to models, worst first.
        changes: The changes since the server was approved, most severe first. While there are
            unapproved changes, the tools cannot be called.
        warnings: Strings of the server that contain invisible characters.
        error: Why the server does not answer or does not list its tools. Empty if there is no
            problem.
    """

    server: str
    tools: int
    cost: TokenCount
    destructive: tuple[str, ...]
    undeclared: tuple[str, ...]
    disabled: tuple[str, ...]
    findings: tuple[Finding, ...]
    changes: tuple[Change, ...] = ()
    warnings: tuple[OfferWarning, ...] = ()
    error: str = ""

    @property
    def counts(self) -> str:
        """A sentence with the numbers of tools, tokens, undeclared tools and lint findings."""
        findings = counted(len(self.findings), "finding")
        return (
            f"{counted(self.tools, 'tool')}, {self.cost} in every request, "
            f"{len(self.undeclared)} of undeclared effect, {findings} of lint."
        )

    @property
    def verdict(self) -> Verdict:
        """Whether to use the server, judged by what its tools declare; no tool is called."""
        risky = len(self.destructive) + len(self.undeclared)
        if self.changes:
            return Verdict(
                "danger",
                "Not yet: it waits for your approval. Its tools or instructions changed since it was "
                "approved here, so its tools are not called. "
                f"To accept what changed: %mcp approve {quote(self.server)}",
            )
        if self.warnings:
            return Verdict(
                "danger",
                "Not before you know why its text has hidden characters: a model reads them, and a "
                "person does not see them.",
            )
        if self.error:
            return Verdict("danger", f"Not now: {self.error}")
        if not self.tools:
            return Verdict("danger", "No: it has no tool that can be called.")
        if self._number("error"):
            return Verdict("danger", "Not as it is: lint has errors, with which calls fail.")
        if risky:
            change = "can delete something, or does not say what it changes"
            if risky > 1:
                change = "can delete something, or do not say what they change"
            return Verdict(
                "warning",
                f"With care: {risky} of {counted(self.tools, 'tool')} {change}. Read the arguments "
                "before such a call runs.",
            )
        if self.concerns:
            return Verdict("info", "Yes, but read the notes below.")
        return Verdict(
            "success", "Yes, as far as its tools describe what they do: this review calls none."
        )

    def _number(self, severity: Severity) -> int:
        return sum(finding.severity == severity for finding in self.findings)

    @property
    def concerns(self) -> list[str]:
        """Sentences about risks; an empty list does not mean that the server is safe."""
        concerns = []
        for names, text in (
            (self.destructive, "can delete or overwrite data"),
            (self.undeclared, "of undeclared effect, treated as dangerous"),
            (self.disabled, "cannot be called"),
        ):
            if names:
                tools = counted(len(names), "tool")
                concerns.append(f"{tools} {text}: {listed(names, _LISTED_TOOLS)}.")
        counts = []
        for severity in ("error", "warning"):
            if number := self._number(severity):
                counts.append(counted(number, severity))
        if counts:
            concerns.append(f"Lint: {', '.join(counts)}. Such tools may confuse a model.")
        if self.cost.tokens > _EXPENSIVE:
            concerns.append(f"Its tools cost {self.cost} in every request: leave some out.")
        return concerns

    def to_html(self) -> Html:
        """Return the review as HTML that needs no kernel."""
        tone, sentence = self.verdict
        command = f": <code>%tools lint --source mcp:{escape(self.server)}</code> lists them all"
        tab = f": a page with all is in the tab Changes of <code>%mcp explore {escape(quote(self.server))}</code>"
        parts = [
            notice(sentence, tone),
            _list_html("What changed since it was approved", map(_change_html, self.changes), tab),
            _list_html("Check this text", map(_warning_html, self.warnings)),
            *(notice(concern, "warning") for concern in self.concerns),
            _list_html("What lint says", map(_finding_html, self.findings), command),
        ]
        if not self.findings:
            parts.append(Html("<p>Lint: no findings.</p>"))
        title = f"Should I use {self.server}?"
        return cards_html([Card(title, Html("".join(parts)), self.counts)])

    def __str__(self) -> str:
        verdict = self.verdict.sentence
        lines = [
            f"{self.server}: {self.counts}",
            verdict,
            *(f"- {change.severity}: {change.text}" for change in self.changes),
            *(f"Look at {warning}" for warning in self.warnings),
            *self.concerns,
            *map(_finding_text, self.findings),
        ]
        # Names from a server may contain line breaks
        return "\n".join(map(on_one_line, lines))

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self.to_html()}


def _list_html(head: str, texts: Iterable[str], beyond: str = "") -> Html:
    """Return a list of *texts*, which are HTML, with the title *head*.

    Only the first texts are visible; a click on "and N more" shows the others. If there are too
    many to include all, the last are left out, and *beyond* says where to find them.
    """
    every = list(texts)
    if not every:
        return Html("")
    first, rest = every[:_LISTED], every[_LISTED:]
    folded = ""
    if rest:
        left_out = len(rest) - _FOLDED
        last = ""
        if left_out > 0:
            last = f"<p>and {left_out:,} more{beyond}.</p>"
        folded = (
            f'<details><summary style="cursor:pointer">and {len(rest):,} more</summary>'
            f"{_lines_html(rest[:_FOLDED])}{last}</details>"
        )
    return Html(f'<div style="{REMARK}">{head}</div>{_lines_html(first)}{folded}')


def _lines_html(texts: Sequence[str]) -> str:
    style = "overflow-wrap:anywhere;margin:2px 0;padding-left:1.4em"
    lines = "".join(f'<li style="margin:0 0 4px">{text}</li>' for text in texts)
    return f'<ul style="{style}">{lines}</ul>'


def _change_html(change: Change) -> str:
    return f"{change.severity}: {escape(change.text)}"


def _warning_html(warning: OfferWarning) -> str:
    return f'<code style="{_NAME}">{escape(warning.where)}</code>: {escape(warning.text)}'


def _finding_text(finding: Finding) -> str:
    subject = ".".join(filter(None, (finding.tool, finding.place)))
    return f"{subject}: {finding.message} {finding.effect} [{finding.rule}]"


def _finding_html(finding: Finding) -> str:
    """Return a finding as a line with tool and rule, and the argument if the message lacks it."""
    part = ""
    if finding.place and finding.where not in _PARTS:
        part = f", {escape(finding.place)}"
    return (
        f'<code style="{_NAME}">{escape(finding.tool)}</code>{part}: {escape(finding.message)} '
        f'{escape(finding.effect)} <span style="{REMARK};white-space:nowrap">{escape(finding.rule)}</span>'
    )


def review_of(session: "MCPServerSession") -> ServerReview:
    """Review the tools of *session*; no tool is called."""
    tools = list(session.tools)
    destructive, undeclared, for_models = [], [], []
    for tool in tools:
        if tool.is_for_models:
            for_models.append(tool)
        if tool.hints.effect == "destructive":
            destructive.append(tool.remote_name)
        elif tool.hints.effect == "undeclared":
            undeclared.append(tool.remote_name)
    findings = lint_tools(for_models)
    offer = {"tools": session.tools.raw, "instructions": session.instructions}
    changes = []
    if session.trust is not None:
        changes = session.trust.changes()
    return ServerReview(
        server=session.name,
        tools=len(tools),
        cost=TokenBill.of(tools).total,
        destructive=tuple(destructive),
        undeclared=tuple(undeclared),
        disabled=tuple(f"{tool.name} ({tool.reason})" for tool in session.tools.disabled),
        findings=tuple(sorted(findings, key=lambda f: _SEVERITIES.index(f.severity))),
        changes=tuple(changes),
        warnings=tuple(warnings_of(session.keep_secret(()).value(offer))),
        error=_why_not_now(session),
    )


def _why_not_now(session: "MCPServerSession") -> str:
    if session.error is not None:
        return short_reason(session.name, session.error)
    # After a lost connection, the next call connects again
    if session.is_connected or session.status == "lost":
        return ""
    return f"it is not connected. %mcp reconnect {quote(session.name)} connects it."
