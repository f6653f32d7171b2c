"""A view of lines that keep arriving, such as those of a log or of a process."""

from collections.abc import Sequence
from typing import Any

from toolbench.display.ansi import from_ansi
from toolbench.display.escape import Html
from toolbench.display.page import notice
from toolbench.display.render import inline_html
from toolbench.widgets.kit.parts import Parts, put
from toolbench.wording import counted

# Lines of one widget
PIECE = 25
# Widgets
_PIECES = 8
# Characters of one line
_LONGEST = 2_000
# Characters; a longer line shows only its beginning
_FOLDED = 300
# Characters of this beginning
_BEGIN = 200


class Feed:
    """A view of the last lines, for example of a log. The newest line is at the end.

    The view is scrolled to the newest line. When lines are added, earlier lines are not sent to the
    page again.
    """

    def __init__(self, parts: Parts, *, nothing: str) -> None:
        """Show the sentence *nothing* until there are lines."""
        self._parts = parts
        self._nothing = nothing
        self._pieces: list[tuple[Any, list[Html]]] = []
        self._dropped = 0
        self._head = parts.html()
        # In another box, because only the outer box scrolls from its end
        self._box = parts.column()
        self.widget = parts.column(self._head, parts.column(self._box, kind="toolbench-feed"))
        self._arrange()

    def say_nothing(self, nothing: str) -> None:
        """Change the sentence that is shown while there are no lines."""
        self._nothing = nothing
        self._arrange()

    def restart(self, lines: Sequence[Html]) -> None:
        """Replace all lines with *lines*."""
        old = [widget for widget, _ in self._pieces]
        self._pieces, self._dropped = [], 0
        # This also removes the old widgets from the box, in one step
        self.add(lines)
        self._parts.drop(old)

    def add(self, lines: Sequence[Html]) -> None:
        """Add *lines* at the end, and drop the oldest lines if there are too many.

        The lines are in several widgets. Only those widgets that get new lines are sent to the
        page.
        """
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
        if not self._pieces and self._nothing:
            head = notice(self._nothing, "neutral")
        elif self._dropped:
            text = f"{counted(self._dropped, 'earlier line')} not shown"
            head = Html(f'<span class="toolbench-dim">{text}</span>')
        put(self._head, head)
        self._box.children = [widget for widget, _ in self._pieces]


def line_html(content: Html) -> Html:
    """Return *content* as a line of a feed."""
    return Html(f'<div class="toolbench-line tex2jax_ignore mathjax_ignore">{content}</div>')


def text_html(text: str) -> Html:
    """Return *text* as HTML with its colours.

    Only the beginning of a long text is shown, until the user clicks on it.
    """
    shown = from_ansi(text)
    rest = len(shown) - _LONGEST
    if rest > 0:
        shown = shown[:_LONGEST] + f"… {rest:,} more characters"
    if len(shown) <= _FOLDED:
        return inline_html(shown)
    begin, end = inline_html(shown[:_BEGIN]), inline_html(shown[_BEGIN:])
    return Html(f'<details class="toolbench-long"><summary>{begin}…</summary>{end}</details>')
