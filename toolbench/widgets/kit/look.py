"""The style sheet of panels, for light and dark pages. Forms have a style sheet of their own.

If JupyterLab defines a colour, that colour is used. The names that begin with `--tb-`
are ours.
"""

from toolbench.display.ansi import MUTED, on_page
from toolbench.display.css import PRE
from toolbench.display.escape import Html
from toolbench.display.page import TONES

COLORS = f"""
--tb-line:var(--jp-border-color2,color-mix(in srgb,currentColor 18%,transparent));
--tb-edge:var(--jp-border-color1,color-mix(in srgb,currentColor 32%,transparent));
--tb-paper:var(--jp-layout-color0,Canvas);
--tb-ground:color-mix(in srgb,currentColor 4%,var(--tb-paper));
--tb-hover:color-mix(in srgb,currentColor 8%,transparent);
--tb-ink:var(--jp-ui-font-color1,CanvasText);
--tb-muted:{MUTED};
--tb-brand:var(--jp-brand-color1,#1976d2);
--tb-chosen:color-mix(in srgb,var(--tb-brand) 13%,var(--tb-paper));
--tb-error:{on_page(TONES["danger"])};
--tb-error-ground:color-mix(in srgb,#c62828 9%,var(--tb-paper));
--tb-warn:{on_page(TONES["warning"])};
--tb-warn-ground:color-mix(in srgb,#c98a00 13%,var(--tb-paper));
"""
"""Declarations of our colours, for the outermost elements."""

# two triangles, because the arrow of ipywidgets is black, also on dark pages
ARROW = (
    "linear-gradient(45deg,transparent 50%,currentColor 50%) no-repeat right 14px center/6px 5px,"
    "linear-gradient(-45deg,transparent 50%,currentColor 50%) no-repeat right 8px center/6px 5px,"
    "var(--tb-paper)"
)
"""The background of a drop-down list, with its arrow."""
_TAB = ".toolbench-tabs.jupyter-widgets.jupyter-widget-tab > .lm-TabBar"

BUTTONS = """
border: 1px solid var(--tb-edge); border-radius: 5px; background: var(--tb-paper); color: var(--tb-ink);
 box-shadow: none; height: 28px; line-height: 26px; padding: 0 12px; font-size: 13px"""
"""The declarations of a button that is not the main one."""

STYLE = Html(f"""<style>
.toolbench-box {{ {COLORS} }}
.toolbench-box {{ width: 100%; overflow: visible; min-width: 0; }}
.toolbench-panel:focus {{ outline: none; }} /* while its Run is disabled */
.toolbench-card {{ border: 1px solid var(--tb-line); border-radius: 8px; background: var(--tb-paper); }}
.toolbench-card > .toolbench-title {{ margin: 0; padding: 10px 14px 4px; }}
.toolbench-title p {{ margin: 2px 0 6px; }}
.toolbench-box .toolbench-title code {{ font-size: 12px; background: transparent; padding: 0; color: var(--tb-muted); }}
.toolbench-row {{ width: 100%; overflow: visible; flex-flow: row wrap; align-items: center; gap: 4px 8px; margin: 0; }}
.toolbench-row > .toolbench-button {{ margin: 2px 0; }}
.toolbench-actions {{ padding: 8px 14px; border-top: 1px solid var(--tb-line); background: var(--tb-ground);
 border-radius: 0 0 8px 8px; gap: 4px 10px; width: auto; min-height: 46px; box-sizing: border-box; }}
.toolbench-actions > * {{ margin: 0 !important; }}
.toolbench-refusal ~ * {{ order: 2; }} /* the bar and what was copied are added last */
.toolbench-refusal ~ .toolbench-bar {{ order: 1; }}
.toolbench-refusal ~ .toolbench-copied {{ order: 3; }}
.toolbench-refusal ~ :is(.toolbench-copy-call, .tb-more) {{ order: 4; }}
.toolbench-actions > .toolbench-copy-call {{ margin-left: auto !important; }}
:root:not(.toolbench-live) .toolbench-copy-call {{ display: none; }}
:root:not(.toolbench-live) .toolbench-actions > .tb-more {{ margin-left: auto !important; }}
.toolbench-text {{ width: auto; max-width: 100%; overflow: visible; margin: 2px; min-width: 0; height: auto; }}
.toolbench-actions .toolbench-text > .widget-html-content {{ line-height: 20px; }} /* even, as the buttons are high */
.toolbench-text > .widget-html-content {{ min-width: 0; flex: 1 1 auto; line-height: 1.45; font-size: var(--jp-ui-font-size1, 13px); }}
.toolbench-text:has(> .widget-html-content:empty) {{ display: none; }}
.toolbench-box .toolbench-button, .toolbench-actions > .tb-more {{ width: auto; min-width: 5em; {BUTTONS}; }}
.toolbench-box .toolbench-button:hover:enabled, .toolbench-actions > .tb-more:hover {{ background: var(--tb-ground);
 box-shadow: none; }}
.toolbench-box .toolbench-button:disabled {{ opacity: .5; }}
.toolbench-box .toolbench-button.mod-primary {{ background: var(--tb-brand); border-color: var(--tb-brand); font-weight: 600;
 color: var(--jp-ui-inverse-font-color1, #fff); }}
.toolbench-box .toolbench-button.mod-primary:hover:enabled {{ background: color-mix(in srgb, var(--tb-brand) 88%, currentColor); }}
.toolbench-box .toolbench-button.mod-danger, .toolbench-box .toolbench-button.mod-danger:hover:enabled {{
 background: #b3261e; border-color: #b3261e; color: #fff; font-weight: 600; }}
.toolbench-box .toolbench-button:focus-visible, .toolbench-actions > .tb-more:focus-visible {{
 outline: 2px solid var(--tb-brand); outline-offset: 1px; }}
.toolbench-box :is(.toolbench-field, .toolbench-prose, .toolbench-code) > :is(input, select, textarea):focus-visible {{
 outline: 2px solid var(--tb-brand) !important; outline-offset: 1px; }} /* ipywidgets takes it away, and means it */
.toolbench-box :is(summary, a, [role="group"], .toolbench-remember input):focus-visible {{ outline: 2px solid var(--tb-brand); outline-offset: 1px; }}
.toolbench-box .toolbench-button.toolbench-keep:focus {{ outline: 2px solid var(--tb-brand); outline-offset: 1px; }} /* also after a click on Run */
.toolbench-actions > :is(.toolbench-copy-call, .tb-more) {{ font-size: 12px; height: 26px; line-height: 24px;
 padding: 0 9px; color: var(--tb-muted); text-decoration: none; min-width: 0; }}
.toolbench-field {{ width: calc(100% - 4px); max-width: 48em; height: auto; flex-flow: row wrap; }}
.toolbench-row > .toolbench-field {{ flex: 0 1 30em; }}
.toolbench-field > .widget-label {{ width: auto; min-width: 5em; text-align: left; }}
.toolbench-field > :is(select, input) {{ flex: 1 1 16em; min-width: 0; max-width: 30em; height: 28px; border-radius: 5px;
 border-color: var(--tb-edge); box-sizing: border-box; }}
.toolbench-box :is(.toolbench-field > input, .toolbench-prose > textarea) {{ background: var(--tb-paper); }} /* as in forms */
.toolbench-field > input::placeholder {{ color: var(--tb-muted); opacity: 1; font-style: italic; }}
.toolbench-field:not(.toolbench-list) > select {{ appearance: none; background: {ARROW}; padding-right: 26px;
 color: var(--tb-ink); }}
.toolbench-list {{ max-width: none; }}
.toolbench-list > select {{ max-width: none; height: auto; padding: 4px; }}
.toolbench-code {{ width: auto; max-width: none; height: auto; flex-flow: row wrap; align-items: center; }}
.toolbench-code > .widget-label {{ width: auto; text-align: left; flex: 1 1 auto; }}
.toolbench-code > :is(textarea, .toolbench-editor) {{ flex: 0 0 100%; width: 100%; }}
.toolbench-code > textarea {{ font-family: var(--jp-code-font-family, monospace);
 font-size: var(--jp-code-font-size, 13px); height: 15em; }}
.toolbench-refusal {{ flex-flow: row wrap; align-items: center; gap: 2px 6px; width: auto; overflow: visible; margin: 0; }}
.toolbench-refusal:not(:has(*)) {{ display: none; }}
.toolbench-live .toolbench-refusal:not(:has(*)) {{ display: flex; }}
.toolbench-live .toolbench-refusal:not(:has(*))::before {{ content: "Ctrl+Enter"; content: "Ctrl+Enter" / ""; font-size: 12px;
 color: var(--tb-muted); }}
.toolbench-live .toolbench-submit:disabled ~ .toolbench-refusal:not(:has(*)) {{ display: none; }} /* the keys would do nothing */
.toolbench-refusal:has(*) ~ :is(.toolbench-text, .toolbench-bar) {{ display: none; }} /* what is said of the run before */
.toolbench-refusal > .toolbench-text {{ margin-left: 0; }}
.toolbench-wrong {{ color: var(--tb-error); font-weight: 600; }}
.toolbench-box .toolbench-button.toolbench-link {{ width: auto; min-width: 0; margin: 0; padding: 0 2px; background: transparent;
 border: 0; text-decoration: underline; color: var(--tb-error); }}
.toolbench-prose {{ width: calc(100% - 4px); max-width: 48em; height: auto; flex-flow: column; }}
.toolbench-prose > .widget-label {{ width: auto; text-align: left; }}
.toolbench-prose > textarea {{ width: 100%; height: 5em; flex: none; }}
.toolbench-bar {{ width: 160px; margin: 0 4px; }}
.toolbench-bar > .progress {{ border-radius: 4px; height: 8px; align-self: center; margin: auto 0; }}
.toolbench-hidden {{ display: none; }}
.toolbench-runs > .toolbench-row {{ margin: 6px 0 10px !important; }}
.toolbench-live .toolbench-runs > .toolbench-row > .toolbench-field {{ display: none; }}
.toolbench-tabs {{ width: 100%; margin: 0; }}
{_TAB} > .lm-TabBar-content {{ border-bottom: 1px solid var(--tb-line); padding: 0 6px; overflow: auto hidden;
 scrollbar-width: none; flex-wrap: nowrap; min-width: 0; }}
{_TAB} .lm-TabBar-tab {{ flex: 0 0 auto; min-width: max-content; margin: 0; padding: 4px 10px; border: 0; font-size: 13px;
 border-bottom: 2px solid transparent; background: transparent; color: var(--tb-muted); }}
{_TAB} .lm-TabBar-tab:focus-visible {{ outline: 2px solid var(--tb-brand); outline-offset: -2px; }} /* the bar cuts what is outside */
{_TAB} .lm-TabBar-tab:hover {{ color: var(--tb-ink); background: transparent; }}
{_TAB} .lm-TabBar-tab.lm-mod-current {{ border-color: var(--tb-brand); color: var(--tb-ink); transform: none; min-height: 0; }}
/* not bold: a bold title is wider, and would move the tabs beside it */
{_TAB} .lm-TabBar-tab.lm-mod-current::before {{ display: none; }}
.toolbench-tabs.jupyter-widgets.jupyter-widget-tab > .widget-tab-contents {{ border: 0; padding: 12px 14px; background: transparent; }}
.toolbench-tabs > .widget-tab-contents .toolbench-box > :is(.toolbench-field, .toolbench-text, .toolbench-code, .toolbench-row) {{
 margin-left: 0; margin-right: 0; }}
.toolbench-tabs > .widget-tab-contents .toolbench-box > .toolbench-field {{ width: 100%; }}
.toolbench-tabs > .widget-tab-contents .toolbench-box > .toolbench-field + .toolbench-text {{ margin-top: 8px; }}
.toolbench-tabs.jupyter-widgets.jupyter-widget-tab, {_TAB} {{ overflow: visible; min-width: 0; }}
.toolbench-panel > :not(.toolbench-card) {{ margin-top: 10px; }}
.toolbench-panel > .toolbench-box:not(:has(*)) {{ margin-top: 0; }}
.toolbench-panel > .toolbench-report:not(:has(.widget-html-content:not(:empty))) {{ display: none; }}
.toolbench-report > .toolbench-text {{ margin: 0; }}
.toolbench-earlier {{ filter: grayscale(1); }} /* grey, and as easy to read as before */
.toolbench-report.toolbench-earlier {{ border-left: 3px solid var(--tb-edge); padding-left: 10px; width: auto; }}
.toolbench-box > .toolbench-button {{ align-self: flex-start; }}
.toolbench-log {{ gap: 0; width: auto; max-height: 32em; overflow: auto; margin: 0 0 6px;
 flex-direction: column-reverse; /* stays at its end while it grows */
 border-left: 3px solid var(--tb-edge); padding-left: 10px; }}
.toolbench-log:not(:has(.toolbench-out, .toolbench-shown)) {{ display: none; }}
.toolbench-log > .toolbench-box {{ flex: none; }}
.toolbench-log .toolbench-text {{ margin: 0; flex: none; }}
.toolbench-log .toolbench-text > .widget-html-content {{ line-height: 1.2; }}
.toolbench-log .toolbench-out {{ {PRE}; white-space: pre-wrap; overflow-wrap: anywhere; }}
.toolbench-shown {{ padding: 4px 0; overflow: auto; }}
.toolbench-question {{ border: 1px solid var(--tb-brand); border-radius: 8px; padding: 9px 12px; width: auto; }}
.toolbench-question:has(.mod-danger) {{ border-color: var(--tb-error); background: var(--tb-error-ground); }}
.toolbench-question > :is(.toolbench-text, .toolbench-row), .toolbench-question .toolbench-row > .toolbench-button {{ margin-left: 0; margin-right: 0; }}
.toolbench-box .toolbench-question .jupyter-button {{ max-width: 100%; }}
.toolbench-question > .tb-form ~ .toolbench-row {{ margin-top: 8px; }}
.toolbench-box .toolbench-question .toolbench-keep {{ font-weight: 600; }}
.toolbench-box .toolbench-button.toolbench-quiet {{ min-width: 0; border-color: transparent; background: transparent;
 color: var(--tb-muted); text-decoration: underline; }}
.toolbench-card:has(~ .toolbench-question > .toolbench-row > .toolbench-keep) > .toolbench-actions > .toolbench-cancel {{ display: none; }} /* to refuse is to cancel */
.toolbench-question:has(> .toolbench-row > .toolbench-keep) > .toolbench-row {{ justify-content: flex-end; }}
.toolbench-question:has(> .toolbench-row > .toolbench-keep) {{ flex-flow: row wrap; align-items: center; gap: 4px 14px; }}
.toolbench-question:has(> .toolbench-row > .toolbench-keep) > .toolbench-text {{ flex: 1 1 100%; }}
.toolbench-asked .mathjax_ignore > div {{ padding-left: 7ch; text-indent: -7ch; white-space: pre-wrap; }} /* what is broken stays behind its bar */
.toolbench-question:has(> .toolbench-row > .toolbench-keep) > .toolbench-row {{ width: auto; flex: 0 1 auto; margin-left: auto; }}
.toolbench-filters > .toolbench-field {{ flex: 1 1 8em; width: auto; min-width: 0; margin: 0; }}
.toolbench-filters > .toolbench-field > .widget-label {{ position: absolute; width: 1px; height: 1px; overflow: hidden;
 clip-path: inset(50%); min-width: 0; }}
.toolbench-waiting-line {{ flex: 1 1 16em; }}
.toolbench-transcript .toolbench-box:has(> .toolbench-waiting) {{ gap: 8px; }}
.toolbench-box .toolbench-waiting > .toolbench-row > .toolbench-button.mod-primary {{ background: var(--tb-paper);
 border-color: currentColor; color: color-mix(in srgb, var(--tb-brand) 70%, var(--tb-ink)); }}
.toolbench-box .toolbench-waiting > .toolbench-row > .toolbench-button {{ height: 26px; line-height: 24px; font-size: 12px; min-width: 0;
 font-weight: 400; }}
.toolbench-box .toolbench-waiting > .toolbench-row > .toolbench-refuse {{ color: var(--tb-error); }}
.toolbench-waiting > .toolbench-box:not(:has(*)) {{ display: none; }}
.toolbench-waiting > .toolbench-text > .widget-html-content > :last-child {{ margin-bottom: 0 !important; }}
.toolbench-transcript {{ border: 1px solid var(--tb-line); border-radius: 8px; padding: 10px 14px; box-sizing: border-box;
 background: var(--tb-paper); }}
.toolbench-transcript > * {{ margin: 0 0 8px !important; }}
.toolbench-transcript > .toolbench-box:not(:has(*)) {{ display: none; }}
.toolbench-transcript .toolbench-text:not(.toolbench-log *),
.toolbench-events > .toolbench-box > .toolbench-row > .toolbench-field {{ margin-left: 0; margin-right: 0; }}
.toolbench-events > .toolbench-box > .toolbench-row {{ margin: 0 0 6px; }}
.toolbench-events > .toolbench-box {{ margin: 0 0 8px; }}
.toolbench-transcript .toolbench-transcript {{ border: 0; padding: 0; }}
.toolbench-conversation {{ border-bottom: 1px solid var(--tb-line); padding-bottom: 6px; }}
.toolbench-conversation-head {{ flex: 1 1 20em; }}
.toolbench-waiting {{ border-color: var(--tb-warn); background: var(--tb-warn-ground); }}
.toolbench-remember {{ width: auto; }}
.toolbench-remember > label {{ display: flex; align-items: center; gap: 4px; }}
.toolbench-remember > label > input {{ margin: 0; }}
.toolbench-events {{ flex-flow: row wrap; align-items: flex-start; gap: 0 4px; }}
.toolbench-events > * {{ flex: 0 0 100%; }}
.toolbench-events > .toolbench-event {{ flex: 1 1 calc(100% - 80px); width: calc(100% - 80px); min-width: 0; }}
.toolbench-events > .toolbench-event > .widget-html-content {{ flex: 1 1 0; min-width: 0; }}
.toolbench-events > .toolbench-button {{ flex: none; margin: 6px 4px 0 0; height: 24px; line-height: 22px; padding: 0 9px; font-size: 12px;
 min-width: 0; }}
.toolbench-events > .toolbench-event.toolbench-call {{ flex-basis: 100%; margin-right: -140px; }} /* its buttons stand on its right end */
.toolbench-event.toolbench-call summary > :first-child {{ padding-right: 140px !important; }}
.toolbench-events > .toolbench-call + .toolbench-button {{ margin-left: auto; }}
.toolbench-events > .toolbench-call ~ .toolbench-button {{ position: relative; z-index: 1; }}
.toolbench-fork {{ margin: 12px 0 0; padding: 0 0 0 14px; border-left: 3px solid var(--tb-edge); }}
.toolbench-question:not(:has(*)) {{ display: none; }}
@media (max-width: 600px) {{
 .toolbench-actions::after {{ content: ""; flex: 0 0 100%; order: 3; }} /* the last two get a line of their own */
 .toolbench-waiting > .toolbench-row {{ gap: 4px; }}
 .toolbench-waiting > .toolbench-row > .toolbench-waiting-line {{ flex-basis: 100%; }}
 .toolbench-box .toolbench-waiting > .toolbench-row > .toolbench-button {{ padding: 0 8px; }}
}}
.toolbench-pane-main .toolbench-actions:has(> .toolbench-bar:not(.toolbench-hidden))::after {{ content: ""; flex: 0 0 100%; order: 3; }}
@media (max-width: 800px) {{
 .toolbench-actions:has(> .toolbench-bar:not(.toolbench-hidden))::after {{ content: ""; flex: 0 0 100%; order: 3; }} /* the bar needs the room */
 .toolbench-events > .toolbench-event.toolbench-call {{ margin-right: 0; width: auto; }} /* its buttons stand on its lower end */
 .toolbench-event.toolbench-call details {{ padding-bottom: 32px; }}
 .toolbench-event.toolbench-call summary > :first-child {{ padding-right: 10px !important; }}
 .toolbench-events > .toolbench-call + .toolbench-button {{ margin-left: 34px; }}
 .toolbench-events > .toolbench-call ~ .toolbench-button {{ margin-top: -39px; margin-bottom: 15px; }}
}}
</style>""")
"""The style sheet, a part of what each panel shows."""
