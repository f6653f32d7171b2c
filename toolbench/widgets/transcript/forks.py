"""Forks: conversations that begin at a step of another conversation.

The panel of a fork is below the panel of the other conversation.
"""

from collections.abc import Callable

from toolbench.agent.conversation import Conversation
from toolbench.display.css import REMARK
from toolbench.display.escape import Html, escape
from toolbench.widgets.kit.notebook_variables import Variables
from toolbench.widgets.kit.parts import Parts
from toolbench.widgets.live_view import LiveView

# The start of a fork's name if the conversation has no variable
_STEM = "chat"


class Forks:
    """The forks of one conversation; each has its own panel and its own variable."""

    def __init__(
        self,
        parts: Parts,
        variables: Variables,
        open_panel: Callable[[Conversation], LiveView],
    ) -> None:
        """Make the widget for the forks. There is no fork yet.

        Args:
            parts: The factory of the widgets around the panels.
            variables: The variables into which the forks are put.
            open_panel: A function that returns the panel of a fork.
        """
        self._parts, self._open = parts, open_panel
        self._variables = variables
        self._panels: list[tuple[Html, LiveView]] = []
        self.widget = parts.column()

    def begin(self, conversation: Conversation, event: int, step: int) -> None:
        """Begin a fork of *conversation* with all events up to the event with the number *event*.

        *step* is the number of the step that the event belongs to.
        """
        fork = conversation.fork(event)
        stem = self._variables.name_of(conversation) or _STEM
        name = self._variables.put_anew(stem, fork)
        title = Html(
            f"<div><strong>Fork at step {step}</strong> "
            f'<span style="{REMARK}">in the variable <code>{escape(name)}</code>; say more '
            f"with <code>%%chat {escape(name)}</code></span></div>"
        )
        panel = self._open(fork)
        self._panels.append((title, panel))
        head = self._parts.html(title)
        box = self._parts.column(head, panel, kind="toolbench-fork")
        self.widget.children = (*self.widget.children, box)

    @property
    def is_busy(self) -> bool:
        """Whether the model or a tool is at work in one of the forks."""
        return any(panel.is_busy for _, panel in self._panels)

    @property
    def still(self) -> Html:
        """The panels as HTML, for a saved notebook."""
        return Html("".join(f"{title}{panel.still}" for title, panel in self._panels))

    def close(self) -> None:
        """Close the panels; the conversations stay in their variables."""
        for _, panel in self._panels:
            panel.close()
        self._panels = []
