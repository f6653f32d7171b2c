"""The plain widgets a panel is put together from, and how they look."""

from typing import Any

import ipywidgets as w

from toolbench.display.escape import Html
from toolbench.widgets.pool import Pool

STYLE = Html("""<style>
.toolbench-box { width: 100%; overflow: visible; min-width: 0; }
.toolbench-row { width: 100%; overflow: visible; flex-flow: row wrap; align-items: center; gap: 6px; }
.toolbench-text { width: auto; overflow: visible; margin: 2px; }
.toolbench-text > .widget-html-content { line-height: 1.45; font-size: var(--jp-ui-font-size1, 13px); }
.toolbench-button { width: auto; min-width: 5em; }
.toolbench-field { width: 100%; max-width: 48em; }
.toolbench-code { width: 100%; max-width: 60em; height: 14em; }
.toolbench-code textarea { font-family: var(--jp-code-font-family, monospace); height: 100%; }
.toolbench-bar { width: 160px; }
.toolbench-hidden { display: none; }
.toolbench-tabs { width: 100%; }
</style>""")


class Parts(Pool):
    """Makes the widgets of one panel; `close` closes them all."""

    def button(
        self, label: str, *, look: str = "", tip: str = "", icon: str = ""
    ) -> Any:
        """Return a button; *look* is ipywidgets' `button_style`."""
        return self.make(
            w.Button,
            "toolbench-button",
            description=label,
            button_style=look,
            tooltip=tip or label,
        )

    def html(self, content: str = "") -> Any:
        """Return markup of our own making; never give it text of others unescaped."""
        return self.make(w.HTML, "toolbench-text", value=content)

    def chooser(self, label: str, options: list[Any]) -> Any:
        """Return a drop-down list."""
        return self.make(
            w.Dropdown, "toolbench-field", options=options, description=label
        )

    def column(self, *children: Any) -> Any:
        """Return *children* below each other."""
        return self.make(w.VBox, "toolbench-box", children=children)

    def row(self, *children: Any) -> Any:
        """Return *children* beside each other, wrapped where there is no room."""
        return self.make(w.HBox, "toolbench-row", children=children)
