"""The tab of a server's MCP log, and of the stderr of its process."""

from datetime import UTC, datetime
from typing import ClassVar

from toolbench.display.ansi import on_page
from toolbench.display.escape import Html, escape
from toolbench.mcp.monitoring.log import LEVELS, LogEntry
from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.explorer.panes.feed import Feed
from toolbench.widgets.explorer.panes.pane import Lock, Pane
from toolbench.wording import counted

# Characters of one line
_LONGEST = 2_000
# Characters; a longer line shows only its beginning
_FOLDED = 300
# Characters of this beginning
_BEGIN = 200
_COLORS = {
    "warning": on_page((160, 110, 0)),
    "error": on_page((190, 50, 60)),
    "critical": on_page((190, 50, 60)),
    "alert": on_page((190, 50, 60)),
    "emergency": on_page((190, 50, 60)),
}
_NOTHING = "The server logged nothing."
_NOISE = "lines on stdout that are not messages"


class LogPane(Pane):
    """Two feeds: the MCP log from a chosen level up, and the lines on stderr."""

    title = "Log"
    hears: ClassVar[frozenset[str]] = frozenset({"log", "stderr", "status"})

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Show the log entries and the lines on stderr that have arrived so far."""
        super().__init__(session, lock)
        parts = self._parts
        self._seen_log = self._seen_stderr = 0
        self._level = parts.chooser("From level", list(LEVELS))
        self._log: Feed[LogEntry] = Feed(parts, _entry_html, nothing=_NOTHING)
        self._stderr: Feed[str] = Feed(
            parts, _line_html, nothing="Nothing on the process's stderr."
        )
        self._noise = parts.html()
        self.on(self._level, self._restart)
        self.widget = parts.column(
            parts.html("<strong>MCP log</strong>"),
            *(self._level, self._log.widget),
            parts.html("<strong>stderr</strong>"),
            *(self._stderr.widget, self._noise),
        )
        self.refresh()

    def refresh(self) -> None:
        """Add the log entries and the lines on stderr that are new."""
        log, stderr = self.session.log, self.session.stderr
        new = max(log.total - self._seen_log, 0)
        self._seen_log += new
        lasting = set(map(id, log.at_least(self._level.value)))
        entries = list(log)[-new:] if new else []
        self._log.add([entry for entry in entries if id(entry) in lasting])
        self._say_nothing()
        lines = max(stderr.total - self._seen_stderr, 0)
        self._seen_stderr += lines
        self._stderr.add(list(stderr)[-lines:] if lines else [])
        self._show_noise()

    def _restart(self) -> None:
        self._seen_log = self.session.log.total
        self._log.restart(self.session.log.at_least(self._level.value))
        self._say_nothing()

    def _say_nothing(self) -> None:
        """Say why the log is empty: nothing was logged, or nothing of the chosen level."""
        below = len(self.session.log)
        text = _NOTHING
        if below:
            text = f"Nothing at {self._level.value} or above; {counted(below, 'message')} below."
        self._log.say_nothing(text)

    def _show_noise(self) -> None:
        noise = self.session.noise
        lines = "".join(_line_html(line) for line in noise)
        html = f"<details><summary>{_NOISE}</summary>{lines}</details>" * bool(noise)
        if self._noise.value != html:
            self._noise.value = html


def clock(seconds: float) -> str:
    """Return the local time of day, with milliseconds, at *seconds* since the epoch."""
    return f"{datetime.fromtimestamp(seconds, UTC).astimezone():%H:%M:%S.%f}"[:-3]


def _entry_html(entry: LogEntry) -> Html:
    color = _COLORS.get(entry.level)
    style = f' style="color:{color}"' if color else ""
    where = f"{entry.logger}: " if entry.logger else ""
    return Html(
        f'<div class="toolbench-line tex2jax_ignore mathjax_ignore">'
        f'<span class="toolbench-dim">{clock(entry.time)}</span> '
        f"<span{style}>{escape(entry.level)}</span> "
        f"{escape(where)}{_text_html(entry.text)}</div>"
    )


def _line_html(line: str) -> Html:
    return Html(
        f'<div class="toolbench-line tex2jax_ignore mathjax_ignore">{_text_html(line)}</div>'
    )


def _text_html(text: str) -> Html:
    """Return *text* as HTML. A long text shows only its beginning until a click on it."""
    rest = len(text) - _LONGEST
    text = text if rest <= 0 else f"{text[:_LONGEST]}… {rest:,} more characters"
    if len(text) <= _FOLDED:
        return escape(text)
    begin, end = escape(text[:_BEGIN]), escape(text[_BEGIN:])
    return Html(f'<details class="toolbench-long"><summary>{begin}…</summary>{end}</details>')
