"""The tab with a server's MCP log and its process's stderr."""

from typing import Any, ClassVar

from toolbench.display.ansi import on_page
from toolbench.display.escape import Html, escape
from toolbench.mcp.monitoring.log import LOG_KEYS, LOG_ORDERS, LogEntry
from toolbench.mcp.server_session import MCPServerSession
from toolbench.widgets.explorer.tabs import Lock, Pane
from toolbench.widgets.kit.feed import Feed, line_html, text_html
from toolbench.widgets.kit.filter_field import FilterField
from toolbench.widgets.kit.parts import put
from toolbench.wording import counted, time_of_day

_RED = on_page((190, 50, 60))
_COLORS = {
    "warning": on_page((160, 110, 0)),
    "error": _RED,
    "critical": _RED,
    "alert": _RED,
    "emergency": _RED,
}
_NOTHING = "The server logged nothing."
_NOISE = "lines on stdout that are not messages"


class LogPane(Pane):
    """Two lists that grow: the MCP log, which can be filtered, and the lines on stderr."""

    title = "Log"
    hears: ClassVar[frozenset[str]] = frozenset({"log", "stderr", "status"})

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Show the log entries and the lines on stderr that have arrived so far."""
        super().__init__(session, lock)
        parts = self._parts
        self._seen_log = self._seen_stderr = 0
        self._filter = FilterField(parts, "Filter log", LOG_KEYS, orders=LOG_ORDERS)
        self._log = Feed(parts, nothing=_NOTHING)
        self._stderr = Feed(parts, nothing="Nothing on the process's stderr.")
        self._noise = parts.html()
        self.on(self._filter.text, self._restart)
        log = [parts.html("<strong>MCP log</strong>"), self._filter.widget, self._log.widget]
        stderr = [parts.html("<strong>stderr</strong>"), self._stderr.widget, self._noise]
        self.widget = parts.column(*log, *stderr)
        self.refresh()

    def refresh(self) -> None:
        """Add the log entries and the lines on stderr that are new."""
        log, stderr = self.session.log, self.session.stderr
        before, self._seen_log = self._seen_log, log.total
        entries = _newest(log, self._seen_log - before)
        self._log.add([_entry_html(entry) for entry in entries if self._filter.matches(entry)])
        self._say_nothing()
        before, self._seen_stderr = self._seen_stderr, stderr.total
        lines = _newest(stderr, self._seen_stderr - before)
        self._stderr.add([line_html(text_html(line)) for line in lines])
        self._show_noise()

    def _restart(self) -> None:
        self._seen_log = self.session.log.total
        entries = filter(self._filter.matches, self.session.log)
        self._log.restart(list(map(_entry_html, entries)))
        self._say_nothing()

    def _say_nothing(self) -> None:
        """Show why the log is empty: nothing was logged, or nothing matches the filter."""
        count = len(self.session.log)
        text = _NOTHING
        if count:
            text = f"None of {counted(count, 'message')} matches."
        self._log.say_nothing(text)

    def _show_noise(self) -> None:
        html = "".join(line_html(text_html(line)) for line in self.session.noise)
        if html:
            html = f"<details><summary>{_NOISE}</summary>{html}</details>"
        put(self._noise, Html(html))


def _newest(items: Any, count: int) -> list[Any]:
    """Return the last *count* of *items*, or all of them if there are fewer."""
    kept = list(items)
    return kept[max(0, len(kept) - count) :]


def _entry_html(entry: LogEntry) -> Html:
    level = escape(entry.level)
    if entry.level in _COLORS:
        level = Html(f'<span style="color:{_COLORS[entry.level]}">{level}</span>')
    text = text_html(entry.text)
    if entry.logger:
        text = Html(f"{escape(entry.logger)}: {text}")
    time = time_of_day(entry.time)
    return line_html(Html(f'<span class="toolbench-dim">{time}</span> {level} {text}'))
