"""Make the plain widgets of a panel, and their style sheet."""

from typing import Any

import ipywidgets as w

from toolbench.display.ansi.colors import MUTED
from toolbench.display.escape import Html
from toolbench.display.html.css import LINE, PRE
from toolbench.widgets.kit.debounce import HeldButton
from toolbench.widgets.kit.pool import Pool

HIDDEN = "toolbench-hidden"
"""The CSS class of hidden widgets."""
SUBMIT = "toolbench-submit"
"""The CSS class of the button that Ctrl+Enter presses."""

STYLE = Html(f"""<style>
.toolbench-box {{ width: 100%; overflow: visible; min-width: 0; }}
.toolbench-panel:focus {{ outline: none; }} /* while its Run is disabled */
.toolbench-row {{ width: 100%; overflow: visible; flex-flow: row wrap; align-items: center; gap: 2px 6px; }}
.toolbench-text {{ width: auto; max-width: 100%; overflow: visible; margin: 2px; min-width: 0; }}
.toolbench-text > .widget-html-content {{ line-height: 1.45; font-size: var(--jp-ui-font-size1, 13px); }}
.toolbench-text:has(> .widget-html-content:empty) {{ display: none; }}
.toolbench-button {{ width: auto; min-width: 5em; }}
.toolbench-field {{ width: calc(100% - 4px); max-width: 48em; height: auto; flex-flow: row wrap; }}
.toolbench-row > .toolbench-field {{ flex: 0 1 30em; }}
.toolbench-field > .widget-label {{ width: auto; min-width: 5em; text-align: left; }}
.toolbench-field > :is(select, input) {{ flex: 1 1 16em; min-width: 0; max-width: 30em; height: 28px; }}
.toolbench-list {{ max-width: none; }}
.toolbench-list > select {{ max-width: none; height: auto; padding: 4px; }}
.toolbench-code {{ width: 100%; max-width: 60em; height: auto; flex-flow: column; }}
.toolbench-code > .widget-label {{ width: auto; text-align: left; }}
.toolbench-code > textarea {{ font-family: var(--jp-code-font-family, monospace);
 font-size: var(--jp-code-font-size, 13px); height: 15em; width: 100%; flex: none; }}
.toolbench-refusal {{ flex-flow: row wrap; align-items: center; gap: 2px 6px; width: auto; overflow: visible; margin: 0; }}
.toolbench-refusal:not(:has(*)) {{ display: none; }}
.toolbench-refusal:has(*) ~ * {{ display: none; }} /* what is said of the run before */
.toolbench-wrong {{ color: var(--jp-error-color1, #c62828); font-weight: 600; }}
.toolbench-box .toolbench-link {{ width: auto; min-width: 0; margin: 0; padding: 0 2px; background: transparent; text-decoration: underline;
 color: var(--jp-error-color1, #c62828); }}
.toolbench-prose {{ width: calc(100% - 4px); max-width: 48em; height: auto; flex-flow: column; }}
.toolbench-prose > .widget-label {{ width: auto; text-align: left; }}
.toolbench-prose > textarea {{ width: 100%; height: 5em; flex: none; }}
.toolbench-bar {{ width: 160px; margin: 0 4px; }}
.toolbench-hidden {{ display: none; }}
.toolbench-live .toolbench-runs > .toolbench-row > .toolbench-field {{ display: none; }}
.toolbench-tabs {{ width: 100%; margin: 4px 0 6px; }}
.toolbench-tabs.jupyter-widgets.jupyter-widget-tab > .lm-TabBar .lm-TabBar-tab {{ flex: 0 1 auto; min-width: max-content;
 margin: 0; padding: 2px 10px; border: 0; border-bottom: 2px solid transparent; background: transparent; color: {MUTED}; }}
.toolbench-tabs.jupyter-widgets.jupyter-widget-tab > .lm-TabBar .lm-TabBar-tab.lm-mod-current {{ font-weight: 600;
 border-color: var(--jp-brand-color1, #1976d2); color: var(--jp-ui-font-color1, inherit); }}
.toolbench-tabs.jupyter-widgets.jupyter-widget-tab > .lm-TabBar .lm-TabBar-tab.lm-mod-current::before {{ display: none; }}
.toolbench-tabs.jupyter-widgets.jupyter-widget-tab > .lm-TabBar > .lm-TabBar-content {{ border-bottom: {LINE}; }}
.toolbench-tabs.jupyter-widgets.jupyter-widget-tab > .widget-tab-contents {{ border: 0; padding: 10px 4px 4px;
 background: transparent; }}
.toolbench-box > .toolbench-button {{ align-self: flex-start; }}
.toolbench-log {{ gap: 0; width: auto; max-height: 32em; overflow: auto; margin: 4px 2px;
 flex-direction: column-reverse; /* stays at its end while it grows */
 border-left: 3px solid var(--jp-border-color2, rgba(128,128,128,.4)); padding-left: 10px; }}
.toolbench-log:not(:has(.toolbench-out, .toolbench-shown)) {{ display: none; }}
.toolbench-log > .toolbench-box {{ flex: none; }}
.toolbench-log .toolbench-text {{ margin: 0; flex: none; }}
.toolbench-log .toolbench-text > .widget-html-content {{ line-height: 1.2; }}
.toolbench-log .toolbench-out {{ {PRE}; white-space: pre-wrap; overflow-wrap: anywhere; }}
.toolbench-shown {{ padding: 4px 0; overflow: auto; }}
.toolbench-question {{ border: 1px solid var(--jp-brand-color1, #1976d2); border-radius: 4px;
 padding: 8px 10px; margin: 4px 2px; width: auto; }}
.toolbench-question:has(.mod-danger) {{ border-color: var(--jp-error-color1, #c62828);
 background: color-mix(in srgb, var(--jp-error-color1, #c62828) 9%, transparent); }}
.toolbench-question .mod-danger {{ background: #b3261e; color: #fff; }}
.toolbench-question .jupyter-button {{ max-width: 100%; font-weight: 600; }}
.toolbench-waiting {{ border-color: var(--jp-warn-color1, #b26a00);
 background: color-mix(in srgb, var(--jp-warn-color1, #b26a00) 8%, transparent); }}
.toolbench-remember {{ width: auto; }}
.toolbench-events {{ flex-flow: row wrap; align-items: flex-start; gap: 0 4px; }}
.toolbench-events > * {{ flex: 0 0 calc(100% - 4px); }}
.toolbench-events > .toolbench-event {{ flex: 1 0 calc(100% - 168px); width: calc(100% - 168px); }}
.toolbench-events > .toolbench-button {{ flex: none; }}
.toolbench-fork {{ margin: 12px 0 0; padding: 0 0 0 14px; border-left: 3px solid var(--jp-border-color2, rgba(128,128,128,.4)); }}
.toolbench-question:not(:has(*)) {{ display: none; }}
</style>""")


def put(widget: Any, html: Html) -> None:
    """Show *html* in *widget*; send nothing if it shows it already."""
    if widget.value != html:
        widget.value = html


def show_if(widget: Any, *, is_shown: bool) -> None:
    """Show or hide *widget*."""
    classes = tuple(name for name in widget._dom_classes if name != HIDDEN)
    classes = classes if is_shown else (*classes, HIDDEN)
    if widget._dom_classes != classes:
        widget._dom_classes = classes


class Parts(Pool):
    """A factory for the widgets of one panel; `close` closes them all."""

    def button(
        self, label: str, *, look: str = "", tip: str = "", kind: str = ""
    ) -> Any:
        """Return a button; *look* is ipywidgets' `button_style`, *kind* another CSS class."""
        return self.make(
            HeldButton,
            *("toolbench-button", *([kind] if kind else [])),
            description=label,
            button_style=look,
            tooltip=tip or label,
        )

    def html(self, content: str = "", **state: Any) -> Any:
        """Return a widget for our own HTML; text of others must be escaped first."""
        return self.make(w.HTML, "toolbench-text", value=content, **state)

    def chooser(self, label: str, options: list[Any]) -> Any:
        """Return a drop-down list."""
        return self.make(
            w.Dropdown, "toolbench-field", options=options, description=label
        )

    def column(self, *children: Any, kind: str = "") -> Any:
        """Return *children* below each other; *kind* is another CSS class."""
        classes = ("toolbench-box", *([kind] if kind else []))
        return self.make(w.VBox, *classes, children=children)

    def row(self, *children: Any) -> Any:
        """Return *children* beside each other, in several lines if there is no room."""
        return self.make(w.HBox, "toolbench-row", children=children)
