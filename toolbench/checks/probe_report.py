"""The report of a probe: what a server was asked, its answers, and the rules that they break."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from toolbench.display.caps import text_line
from toolbench.display.escape import Html, escape, link
from toolbench.display.page import Tone, fold, notice, section
from toolbench.display.tables import TableHead, table_html, table_text
from toolbench.evals.junit import JUnitCase, junit_xml
from toolbench.evals.report_parts import ReportEntries, framed, heading, page, scrolled, written
from toolbench.wording import counted, duration

if TYPE_CHECKING:
    from toolbench.mcp.review import ServerReview

State = Literal["ok", "wrong", "advice", "not asked"]
_WORST_FIRST: tuple[State, ...] = ("wrong", "advice", "not asked", "ok")
# Rows of a report as text, and findings that are shown in full
_ROWS, _SHOWN = 200, 50


@dataclass(frozen=True)
class ProbeResult:
    """The result of one question, with secrets masked and invisible characters made visible.

    Examples:
        >>> from toolbench.checks import probe
        >>> from toolbench.testing import FakeMCPServer
        >>> first = probe(FakeMCPServer("shop"))[0]
        >>> first.question, first.era, first.state
        ('server/discover', '2026-07-28', 'ok')
    """

    question: str
    era: str
    """The version of MCP in which the question was asked."""
    state: State
    """ok; wrong (it breaks a MUST of the specification); advice (it breaks a SHOULD); not asked."""
    sent: str = ""
    """The request, as JSON."""
    came: str = ""
    """The answer; if the question was not asked, the reason."""
    rule: str = ""
    """The sentence of the specification that the answer breaks."""
    source: str = ""
    """The URL of that sentence."""
    what_to_do: str = ""
    seconds: float = 0.0

    @property
    def error(self) -> str | None:
        """What is wrong, in several lines; None if nothing is wrong."""
        if self.state != "wrong":
            return None
        return self.text

    @property
    def text(self) -> str:
        """The whole result in several lines."""
        lines = [self.came]
        for name, value in (
            ("sent", self.sent),
            ("rule", self.rule),
            ("source", self.source),
            ("what to do", self.what_to_do),
        ):
            if value:
                lines.append(f"{name}: {value}")
        return "\n".join(lines)


class ProbeReport(ReportEntries[ProbeResult]):
    """The answers of one server to the questions of a probe, in the order of the questions.

    Examples:
        >>> from toolbench.checks import probe
        >>> from toolbench.testing import FakeMCPServer
        >>> report = probe(FakeMCPServer("shop"))
        >>> report.passed, [finding.question for finding in report.findings]
        (True, ['subscriptions/listen: acknowledged'])
    """

    def __init__(
        self,
        server: str,
        results: Sequence[ProbeResult],
        *,
        stopped: str | None = None,
        seconds: float = 0.0,
    ) -> None:
        """Make a report of *results*; users get reports from `probe`."""
        super().__init__(
            results,
            planned=len(results),
            stopped=stopped,
            notes=(),
            seconds=seconds,
            is_saved=False,
        )
        self.server = server
        """The name of the server."""
        self.review: ServerReview | None = None
        """The review of the server, which is shown above the report, if there is one."""

    @cached_property
    def findings(self) -> list[ProbeResult]:
        """The results with the state "wrong", followed by those with the state "advice"."""
        found = [each for each in self if each.state in ("wrong", "advice")]
        return sorted(found, key=lambda each: _WORST_FIRST.index(each.state))

    @property
    def passed(self) -> bool:
        """Whether no answer is wrong, and the probe was not stopped early."""
        return self.stopped is None and not self.errors

    @property
    def verdict(self) -> str:
        """One sentence with the numbers of results: wrong, advice, not asked, ok."""
        states = [each.state for each in self]
        counts = [f"{states.count(state):,} {state}" for state in _WORST_FIRST if state in states]
        text = f"{counted(len(self), 'question')} in {duration(self.seconds)}: {', '.join(counts)}"
        if self.stopped is not None:
            text = f"{text}. {self.stopped}"
        return f"{text}."

    def _table_columns(self) -> dict[str, list[Any]]:
        names = ("question", "era", "state", "came", "rule", "source", "what_to_do", "sent")
        return {name: [getattr(each, name) for each in self] for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {
            "server": self.server,
            "passed": self.passed,
            "stopped": self.stopped,
            "seconds": round(self.seconds, 6),
            "results": [asdict(each) for each in self],
        }

    def to_text(self) -> str:
        """Return the verdict, the rows and the findings as text."""
        lines = [text_line(self.verdict)]
        if len(self):
            lines.append(table_text(self._rows, rows=_ROWS))
        for each in self.findings[:_SHOWN]:
            lines += ["", f"{each.state}: {each.question} ({each.era})"]
            lines += map(text_line, each.text.splitlines())
        return "\n".join(lines)

    @property
    def _rows(self) -> TableHead:
        rows = []
        for number, each in enumerate(self):
            rows.append((number, each.question, each.era, each.state, each.came))
        columns = ("question", "era", "state", "what came")
        return TableHead(columns, (len(self), len(columns)), tuple(rows))

    def to_html(self, path: str | PathLike[str] | None = None, *, overwrite: bool = False) -> str:
        """Return the report as one page that needs no kernel.

        Args:
            path: A file to which the page is also written.
            overwrite: Whether to replace a file that has other content.

        Raises:
            FileError: If the file exists with other content, or cannot be written.
        """
        return written(page(f"Probe of {self.server}", self._html()), path, overwrite=overwrite)

    def to_junit(self, path: str | PathLike[str] | None = None, *, overwrite: bool = False) -> str:
        """Return the report as JUnit XML for a CI.

        Only results with the state "wrong" become failures. All other results pass.

        Args:
            path: A file to which the XML is also written.
            overwrite: Whether to replace a file that has other content.

        Raises:
            FileError: If the file exists with other content, or cannot be written.
        """
        cases = []
        for each in self:
            name = f"{each.question} [{each.era}]"
            cases.append(JUnitCase(name=name, seconds=each.seconds, failure=each.error))
        text = junit_xml({self.server: cases}, "toolbench.probe")
        return written(text, path, overwrite=overwrite)

    def _html(self) -> Html:
        tone: Tone = "success"
        if not self.passed:
            tone = "danger"
        elif self.findings:
            tone = "warning"
        parts = [heading(f"Is {self.server} right?", "probe"), notice(self.verdict, tone)]
        for each in self.findings[:_SHOWN]:
            parts.append(
                section(f"{each.state}: {each.question} ({each.era})", _finding_html(each))
            )
        if len(self):
            table = scrolled(table_html(self._rows, rows=_ROWS))
            parts.append(fold("All questions", table, is_open=not self.findings))
        return framed(parts)

    def __repr__(self) -> str:
        return f"<ProbeReport: {self.verdict}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        text, html = self.to_text(), self._html()
        if self.review is not None:
            text, html = f"{self.review}\n\n{text}", Html(f"{self.review.to_html()}{html}")
        return {"text/plain": text, "text/html": html}


def _finding_html(result: ProbeResult) -> Html:
    style = "overflow-wrap:anywhere;margin:2px 0"
    lines = [escape(result.came)]
    if result.sent:
        lines.append(Html(f"Sent: <code>{escape(result.sent)}</code>"))
    if result.rule:
        where = link(result.source, escape("specification"))
        lines.append(Html(f"“{escape(result.rule)}” ({where})"))
    if result.what_to_do:
        lines.append(escape(result.what_to_do))
    return Html("".join(f'<p style="{style}">{line}</p>' for line in lines))
