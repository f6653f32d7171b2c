"""`%tools lint`: a report of parts that may confuse a model, and of the cost in tokens."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import Html, escape
from toolbench.display.render import bundle
from toolbench.display.tables import listing_html
from toolbench.llm.lint import Finding, Severity, cost_of, lint_tools
from toolbench.wording import counted

_ORDER: tuple[Severity, ...] = ("error", "warning", "hint")
_LOOKS: dict[Severity, str] = {"error": "bold red", "warning": "yellow", "hint": "blue"}


class LintReport:
    """A sequence of the findings of several tools, the worst first."""

    def __init__(self, tools: Iterable[ToolDefinition[Any, Any]]) -> None:
        """Lint *tools*, each alone and all together."""
        looked_at = list(tools)
        findings = lint_tools(looked_at)
        self.findings = sorted(findings, key=lambda f: _ORDER.index(f.severity))
        self.cost = cost_of(looked_at)
        """The cost, in each request, of offering the tools to a model."""
        self._count = len(looked_at)

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, index: int) -> Finding:
        return self.findings[index]

    def __repr__(self) -> str:
        return self._repr_mimebundle_()["text/plain"]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        if not self.findings:
            return bundle(Text(self._summary))
        text = bundle(Group(Text(self._summary), self._table()))["text/plain"]
        return {"text/plain": text, "text/html": self._html()}

    def _html(self) -> Html:
        rows = [
            (f.tool, f.severity, f.where, f"{f.message} {f.fix}", f.rule) for f in self.findings
        ]
        columns = ("tool", "severity", "where", "issue and fix", "rule")
        summary = escape(self._summary)
        return Html(f"<div>{summary}</div>{listing_html(columns, rows)}")

    @property
    def _summary(self) -> str:
        times = Counter(summary.severity for summary in self.findings)
        kinds = [counted(times[kind], kind) for kind in _ORDER if times[kind]]
        summary = ", ".join(kinds) or "Nothing to remark"
        tools = counted(self._count, "tool")
        return f"{summary} in {tools}. Offering them costs {self.cost} in every request."

    def _table(self) -> Table:
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        table.add_column(no_wrap=True)
        table.add_column("tool", overflow="fold", max_width=26)
        table.add_column("where", overflow="fold", max_width=20)
        table.add_column("issue and fix", ratio=1)
        table.add_column("rule", no_wrap=True)
        for finding in self.findings:
            table.add_row(
                Text(finding.severity, _LOOKS[finding.severity]),
                Text(finding.tool),
                Text(finding.where),
                Text(f"{finding.message} {finding.fix}"),
                Text(finding.rule),
            )
        return table
