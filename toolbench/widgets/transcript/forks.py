"""The conversations that were begun from a step of another one, each in a panel below it."""

from collections.abc import Callable
from typing import Any, Protocol

from toolbench.core.state import Conversation
from toolbench.display.escape import Html, escape
from toolbench.display.html.css import REMARK
from toolbench.widgets.kit.notebook_variables import Variables
from toolbench.widgets.kit.parts import Parts

_STEM = "chat"  # of the name of a fork whose conversation is in no variable


class ForkPanel(Protocol):
    """The panel of a conversation."""

    @property
    def is_busy(self) -> bool:
        """Whether something goes on in it."""

    @property
    def still(self) -> Html:
        """What it shows, for a saved notebook."""

    def close(self) -> None:
        """Close it and all its widgets."""


class Forks:
    """Begins conversations and shows them; each is in a variable of its own."""

    def __init__(
        self,
        parts: Parts,
        variables: Variables,
        open_panel: Callable[[Conversation], ForkPanel],
    ) -> None:
        """Keep them in *variables*, and show them in panels that *open_panel* opens.

        The other widgets are of *parts*.
        """
        self._parts, self._open = parts, open_panel
        self._variables = variables
        self._panels: list[tuple[Html, Any]] = []
        self.widget = parts.column()

    def begin(self, conversation: Conversation, event: int, step: int) -> None:
        """Begin one like *conversation*, with all that happened up to *event*, of the step *step*."""
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
        """Whether something goes on in one of them."""
        return any(panel.is_busy for _, panel in self._panels)

    @property
    def still(self) -> Html:
        """What they show, for a saved notebook."""
        return Html("".join(f"{title}{panel.still}" for title, panel in self._panels))

    def close(self) -> None:
        """Close the panels; the conversations stay in their variables."""
        for _, panel in self._panels:
            panel.close()
        self._panels = []
