"""Three panes: a list, the picked item, and details.

If the page is 900 pixels wide or more, the panes are beside each other, and the list is as high as
the other panes. On a narrower page the panes are below each other.
"""

from collections.abc import Sequence
from typing import Any

import ipywidgets as w

from toolbench.widgets.kit.parts import Parts


class Panes:
    """Three panes; the third is hidden while it is empty."""

    def __init__(self, parts: Parts) -> None:
        """Make the panes, all empty."""
        self._list = parts.column(kind="toolbench-pane-list")
        self._main = parts.column(kind="toolbench-pane-main")
        self._aside = parts.column(kind="toolbench-pane-aside")
        self.widget = parts.make(
            w.HBox, "toolbench-panes", children=(self._list, self._main, self._aside)
        )

    def fill(
        self,
        *,
        lists: Sequence[Any] | None = None,
        main: Sequence[Any] | None = None,
        aside: Sequence[Any] | None = None,
    ) -> None:
        """Put widgets into the panes. If an argument is None, its pane stays as it is.

        Only changes are sent to the page.
        """
        for place, children in (
            (self._list, lists),
            (self._main, main),
            (self._aside, aside),
        ):
            if children is not None and place.children != tuple(children):
                place.children = tuple(children)
