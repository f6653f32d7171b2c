"""The tab of a server's MCP log, and of the stderr of its process."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from toolbench.display.ansi import on_page
from toolbench.display.escape import Html, escape
from toolbench.display.page import notice
from toolbench.mcp.monitoring.log import LEVELS, LogEntry
from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.explorer.tabs import Lock, Pane
from toolbench.widgets.kit.parts import Parts, put
from toolbench.wording import counted

# Lines of one widget
PIECE = 25
# Widgets
_PIECES = 8


class Feed:
    """A view of the last lines, scrolled to the end, where the newest is. Old lines are not sent again."""

    def __init__(self, parts: Parts, *, nothing: str) -> None:
        """Show the sentence *nothing*, because there are no lines yet."""
        self._parts = parts
        self._nothing = nothing
        self._pieces: list[tuple[Any, list[Html]]] = []
        self._dropped = 0
        self._head = parts.html(notice(nothing, "neutral"))
        # Inside another box: only that one counts from its end
        self._box = parts.column()
        self.widget = parts.column(self._head, parts.column(self._box, kind="toolbench-feed"))

    def say_nothing(self, nothing: str) -> None:
        """While there are no lines, show the sentence *nothing* from now on."""
        self._nothing = nothing
        self._arrange()

    def restart(self, lines: Sequence[Html]) -> None:
        """Replace all lines by *lines*."""
        old = [widget for widget, _ in self._pieces]
        self._pieces, self._dropped = [], 0
        # Also takes the old widgets out of the box, in one step
        self.add(lines)
        self._parts.drop(old)

    def add(self, lines: Sequence[Html]) -> None:
        """Add *lines* at the end, and drop the oldest. Only widgets with a new line are sent to the page."""
        lasting = lines[-PIECE * _PIECES :]
        self._dropped += len(lines) - len(lasting)
        while lasting:
            if not self._pieces or len(self._pieces[-1][1]) == PIECE:
                self._pieces.append((self._parts.html(), []))
            widget, shown = self._pieces[-1]
            room = PIECE - len(shown)
            shown += lasting[:room]
            lasting = lasting[room:]
            widget.value = "".join(shown)
        old, self._pieces = self._pieces[:-_PIECES], self._pieces[-_PIECES:]
        self._dropped += PIECE * len(old)
        self._arrange()
        self._parts.drop(widget for widget, _ in old)

    def _arrange(self) -> None:
        head = Html("")
        if not self._pieces:
            head = notice(self._nothing, "neutral")
        elif self._dropped:
            text = f"{counted(self._dropped, 'earlier line')} not shown"
            head = Html(f'<span class="toolbench-dim">{text}</span>')
        put(self._head, head)
        self._box.children = [widget for widget, _ in self._pieces]


# Characters of one line
_LONGEST = 2_000
# Characters; a longer line shows only its beginning
_FOLDED = 300
# Characters of this beginning
_BEGIN = 200
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
    """Two feeds: the MCP log from a chosen level up, and the lines on stderr."""

    title = "Log"
    hears: ClassVar[frozenset[str]] = frozenset({"log", "stderr", "status"})

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Show the log entries and the lines on stderr that have arrived so far."""
        super().__init__(session, lock)
        parts = self._parts
        self._seen_log = self._seen_stderr = 0
        self._level = parts.chooser("From level", list(LEVELS))
        self._log = Feed(parts, nothing=_NOTHING)
        self._stderr = Feed(parts, nothing="Nothing on the process's stderr.")
        self._noise = parts.html()
        self.on(self._level, self._restart)
        log = [parts.html("<strong>MCP log</strong>"), self._level, self._log.widget]
        stderr = [parts.html("<strong>stderr</strong>"), self._stderr.widget, self._noise]
        self.widget = parts.column(*log, *stderr)
        self.refresh()

    def refresh(self) -> None:
        """Add the log entries and the lines on stderr that are new."""
        log, stderr = self.session.log, self.session.stderr
        lasting = set(map(id, log.at_least(self._level.value)))
        before, self._seen_log = self._seen_log, log.total
        entries = _newest(log, self._seen_log - before)
        self._log.add([_entry_html(entry) for entry in entries if id(entry) in lasting])
        self._say_nothing()
        before, self._seen_stderr = self._seen_stderr, stderr.total
        lines = _newest(stderr, self._seen_stderr - before)
        self._stderr.add([_line_html(_text_html(line)) for line in lines])
        self._show_noise()

    def _restart(self) -> None:
        self._seen_log = self.session.log.total
        entries = self.session.log.at_least(self._level.value)
        self._log.restart([_entry_html(entry) for entry in entries])
        self._say_nothing()

    def _say_nothing(self) -> None:
        """Say why the log is empty: nothing was logged, or nothing of the chosen level."""
        below = len(self.session.log)
        text = _NOTHING
        if below:
            text = f"Nothing at {self._level.value} or above; {counted(below, 'message')} below."
        self._log.say_nothing(text)

    def _show_noise(self) -> None:
        html = "".join(_line_html(_text_html(line)) for line in self.session.noise)
        if html:
            html = f"<details><summary>{_NOISE}</summary>{html}</details>"
        put(self._noise, Html(html))


def _newest(items: Any, count: int) -> list[Any]:
    """Return the last *count* of *items*, which keeps the newest; all if it has fewer."""
    kept = list(items)
    return kept[max(0, len(kept) - count) :]


def _entry_html(entry: LogEntry) -> Html:
    level = escape(entry.level)
    if entry.level in _COLORS:
        level = Html(f'<span style="color:{_COLORS[entry.level]}">{level}</span>')
    text = _text_html(entry.text)
    if entry.logger:
        text = Html(f"{escape(entry.logger)}: {text}")
    time = f"{datetime.fromtimestamp(entry.time, UTC).astimezone():%H:%M:%S.%f}"[:-3]
    return _line_html(Html(f'<span class="toolbench-dim">{time}</span> {level} {text}'))


def _line_html(content: Html) -> Html:
    return Html(f'<div class="toolbench-line tex2jax_ignore mathjax_ignore">{content}</div>')


def _text_html(text: str) -> Html:
    """Return *text* as HTML. A long text shows only its beginning until a click on it."""
    rest = len(text) - _LONGEST
    if rest > 0:
        text = f"{text[:_LONGEST]}… {rest:,} more characters"
    if len(text) <= _FOLDED:
        return escape(text)
    begin, end = escape(text[:_BEGIN]), escape(text[_BEGIN:])
    return Html(f'<details class="toolbench-long"><summary>{begin}…</summary>{end}</details>')
