"""Three panes: a list, the picked item, and details.

If the page is 900 pixels wide or more, the panes are beside each other, and the list is as high as
the other panes. On a narrower page the panes are below each other.
"""

from collections.abc import Sequence
from typing import Any

import ipywidgets as w

from toolbench.display.escape import Html
from toolbench.widgets.kit.look import STYLE as LOOK
from toolbench.widgets.kit.parts import Parts
from toolbench.widgets.lines.message_style import STYLE as MESSAGE_STYLE


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


_LIST = "clamp(18em, 24cqw, 20em)"
"""The width of the list, so that four tabs stand on one line in a window of 1,280 pixels."""
_ASIDE = "minmax(0, clamp(24em, 34cqw, max(29em, 24cqw)))"
"""The width of the details, so that there a call of a name of 22 letters is not cut."""

STYLE = Html(f"""{LOOK}{MESSAGE_STYLE}<style>
.toolbench-workbench {{ container-type: inline-size; width: 100%; overflow: visible; }}
.toolbench-panes {{ width: 100%; overflow: hidden; flex-flow: column; align-items: stretch; box-sizing: border-box;
 border: 1px solid var(--tb-line); border-radius: 8px; background: var(--tb-paper); }}
.toolbench-panes > .toolbench-box {{ min-width: 0; width: auto; }}
.toolbench-panes > .toolbench-box:has(*) ~ .toolbench-box:has(*) {{ border-top: 1px solid var(--tb-line); }}
.toolbench-pane-main .toolbench-card {{ border: 0; border-radius: 0; }}
.toolbench-pane-main .toolbench-actions {{ border-radius: 0; border-bottom: 1px solid var(--tb-line);
 margin-bottom: -1px; }} /* at the edge of the panes it is their border */
.toolbench-pane-main .toolbench-panel > :not(.toolbench-card) {{ margin: 10px 14px 12px; width: auto; }}
.toolbench-pane-main .toolbench-panel > .toolbench-box:not(:has(*)) {{ margin: 0; }}
.toolbench-pane-main > .toolbench-box > .toolbench-text {{ margin: 10px 14px; }}
.toolbench-panes > .toolbench-box:not(:has(*)) {{ display: none; }}
.toolbench-pane-list .toolbench-picker.toolbench-box > .toolbench-search.toolbench-field {{ width: auto; max-width: none; margin: 8px 8px 6px; flex-flow: column; align-items: stretch; }}
.toolbench-picker .toolbench-search > .widget-label {{ position: absolute; width: 1px; height: 1px;
 overflow: hidden; clip-path: inset(50%); }}
.toolbench-picker .toolbench-search > input {{ max-width: none; width: 100%; flex: none; background: var(--tb-paper); }}
.toolbench-picker .toolbench-list {{ flex-flow: column; align-items: stretch; }}
.toolbench-picker .toolbench-list > select {{ flex: none; max-width: none; width: 100%; }}
.toolbench-live .toolbench-picker :is(.toolbench-list, .toolbench-narrow) {{ display: none; }}
.toolbench-text:has(> * > [hidden]:only-child) {{ display: none; }}
.toolbench-pane-list > .toolbench-text:not(:has(> .widget-html-content:empty)) {{ margin: 0; padding: 9px 12px 3px; }}
.toolbench-foot {{ border-top: 1px solid var(--tb-line); padding: 8px 12px; color: var(--tb-muted); }}
.toolbench-pane-list .toolbench-foot {{ margin: 0; }}
.toolbench-pane-aside .toolbench-box > .toolbench-button {{ margin: 4px 0; }}
.toolbench-pane-aside :is(.toolbench-text, .toolbench-field) {{ margin-left: 0; margin-right: 0; }}
.toolbench-pane-aside .toolbench-field {{ width: 100%; }}
.toolbench-pane-main .toolbench-page {{ padding: 10px 14px 12px; }}
.toolbench-pane-main .toolbench-page :is(.toolbench-text, .toolbench-button) {{ margin-left: 0; margin-right: 0; }}
.toolbench-pane-list .toolbench-tabs.jupyter-widgets.jupyter-widget-tab > .widget-tab-contents {{ padding: 4px 0 0; }}
:is(.toolbench-pane-list, .toolbench-pane-aside) .toolbench-tabs.jupyter-widgets.jupyter-widget-tab > .lm-TabBar .lm-TabBar-tab {{
 padding: 4px 5px; font-size: 12px; }}
:is(.toolbench-pane-list, .toolbench-pane-aside) .toolbench-tabs.jupyter-widgets.jupyter-widget-tab > .lm-TabBar > .lm-TabBar-content {{
 flex-wrap: wrap; }} /* in a narrow pane a tab goes into a second line, not out of sight */
.toolbench-pane-aside .toolbench-tabs.jupyter-widgets.jupyter-widget-tab > .widget-tab-contents {{ padding: 10px 12px; }}
.toolbench-pane-list .toolbench-text {{ margin-left: 8px; margin-right: 8px; }}
@container (min-width: 900px) {{
 .toolbench-workbench .toolbench-panes {{ display: grid; grid-template-columns: {_LIST} minmax(0, 1fr); min-height: 36em; }}
 .toolbench-workbench .toolbench-panes:has(> .toolbench-pane-aside > *) {{
  grid-template-columns: {_LIST} minmax(0, 1fr) {_ASIDE}; }}
 .toolbench-panes > .toolbench-box:has(*) ~ .toolbench-box:has(*) {{ border-top: 0; border-left: 1px solid var(--tb-line); }}
 .toolbench-panes > .toolbench-pane-list {{ min-height: 36em; max-height: 72em; }}
 .toolbench-pane-list :is(.toolbench-grows, .toolbench-tabs, .widget-tab-contents, .toolbench-box, .toolbench-picker) {{
  flex: 1 1 auto; min-height: 0; display: flex; flex-direction: column; }}
 .toolbench-pane-list .toolbench-hidden {{ display: none; }}
 .toolbench-pane-list .lm-mod-hidden {{ display: none; }}
}}
</style>""")
"""The style sheet: the first child of a widget with panes."""
