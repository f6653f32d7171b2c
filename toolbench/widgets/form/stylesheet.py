"""The style sheet of a form, for light and dark pages. It uses JupyterLab's colours if it can."""

from toolbench.display.ansi import MUTED
from toolbench.display.css import CODE_FONT
from toolbench.display.escape import Html
from toolbench.widgets.kit.look import ARROW, BUTTONS, COLORS

_ERROR = "var(--tb-error)"
_BORDER = "var(--tb-edge)"
_BRAND = "var(--tb-brand)"
STYLE = Html(f"""<style data-toolbench-sheet>
.tb-form{{{COLORS}container-type:inline-size;width:100%;overflow:visible;box-sizing:border-box}}
.tb-form :is(.widget-html,.widget-html>.widget-html-content){{line-height:1.4}}
.tb-form .widget-box,.tb-form .widget-gridbox{{overflow:visible}}
.tb-grid{{display:grid;grid-template-columns:minmax(0,1fr) auto auto;align-items:end;
 column-gap:6px;row-gap:0;width:100%}}
.tb-grid>*{{grid-column:1/-1;margin:0}}
.tb-grid>:has(+.tb-actions){{grid-column:1/3}}
.tb-grid>:has(+.tb-side){{grid-column:1}}
.tb-form :is(.tb-gated,.tb-offers,.tb-stack,.tb-tick,.tb-field,.tb-add){{margin:0}}
.tb-texts,.tb-texts>.widget-html-content{{display:contents}}
.tb-intro,.tb-head,.tb-note{{grid-column:1/-1;line-height:1.4;overflow-wrap:anywhere;
 font-size:var(--jp-ui-font-size1,13px);color:var(--jp-ui-font-color1,inherit)}}
.tb-form>.tb-note{{margin-left:0;margin-right:0}}
.tb-note{{margin-bottom:11px;font-size:12px;align-self:start}}
:is(.tb-left,.tb-right){{grid-row:var(--below)}}
.tb-blank{{display:none}}
@container (min-width:40em){{
 .tb-form .tb-pairs{{grid-template-columns:repeat(2,minmax(0,1fr));column-gap:18px}}
 .tb-form .tb-pairs>.tb-short{{grid-column:auto/span 1}}
 .tb-pairs>.tb-texts>*>:is(.tb-left,.tb-right){{grid-row:var(--beside)}}
 .tb-pairs>.tb-texts>*>.tb-left{{grid-column:1}}
 .tb-pairs>.tb-texts>*>:is(.tb-right,.tb-blank){{grid-column:2;display:block}}
 .tb-form .tb-pairs>.tb-side{{justify-self:start}}
}}
.tb-intro{{font-size:12px}}
.tb-intro:not(:empty){{margin-bottom:8px}}
.tb-help{{color:{MUTED};white-space:pre-line;margin-top:2px}}
.tb-help code{{font-size:11.5px;background:transparent;color:inherit;padding:0}}
.tb-help summary{{white-space:normal;cursor:pointer}}
.tb-error{{color:{_ERROR};margin-top:2px;white-space:pre-line}}
.tb-notice{{border-left:3px solid {_BORDER};padding:2px 8px;margin:0 0 8px;color:{MUTED};font-size:12px}}
.tb-name,.tb-form .tb-field>.widget-label{{font-weight:600;font-size:var(--jp-ui-font-size1,13px)}}
.tb-star,.tb-required>.widget-label::after,.tb-required>.widget-label-basic>span::after{{color:{_ERROR};font-weight:600}}
.toolbench-live .tb-form .widget-label::after,
.toolbench-live .tb-form .widget-label-basic>span::after{{content:none}}
.toolbench-live .tb-form .tb-required>.widget-label::after,
.toolbench-live .tb-form .tb-required>.widget-label-basic>span::after{{content:" *";content:" *" / ""}}
.tb-star{{margin-left:.35em}} /* a blank of the bold font, as before the other stars */
.tb-form .tb-field{{display:flex;flex-direction:column;align-items:stretch;width:auto;height:auto;
 min-width:0;overflow:visible}}
.tb-form .tb-field>.widget-label{{width:auto;max-width:none;min-width:0;text-align:left;
 line-height:1.6;height:auto;margin:0;white-space:normal;overflow-wrap:anywhere;
 color:var(--jp-ui-font-color1,inherit)}}
.tb-form .tb-field>input,.tb-form .tb-field>textarea,.tb-form .tb-field>select{{width:100%;
 max-width:none;box-sizing:border-box;margin:0;border-radius:5px;border-color:{_BORDER};background:var(--tb-paper)}}
.tb-form .tb-field>input,.tb-form .tb-field>select:not([multiple]){{height:29px;
 min-height:29px;flex:none}}
.tb-form .tb-field>textarea{{min-height:6.2em;resize:vertical;line-height:1.4}}
.tb-form .tb-json>textarea{{{CODE_FONT};field-sizing:content;max-height:30em}}
.tb-form .tb-number>input{{font-variant-numeric:tabular-nums}}
.tb-form input::placeholder,.tb-form textarea::placeholder{{color:{MUTED};opacity:1;font-style:italic}}
.tb-form .tb-invalid>input,.tb-form .tb-invalid>textarea,.tb-form .tb-invalid>select{{border-color:{_ERROR};box-shadow:none}}
.tb-form.tb-form :is(input,textarea,select,button,summary):focus-visible{{outline:2px solid {_BRAND}!important;
 outline-offset:1px}} /* ipywidgets takes it away, and means it */
.tb-form .tb-items>textarea{{min-height:3.4em;field-sizing:content;max-height:20em}}
.tb-form .jupyter-button{{{BUTTONS}}}
.tb-form .tb-side{{grid-column:2;width:auto;align-self:start;margin-top:21px}}
.tb-offers{{display:grid;grid-template-columns:minmax(0,1fr) auto;column-gap:6px}}
.tb-form .tb-offers>.tb-items{{grid-area:1/1}}
.tb-form .tb-offers>.tb-side{{grid-area:1/2}}
.tb-form :is(.tb-offers,.tb-stack)>.toolbench-hidden{{display:none}}
.tb-form .tb-actions{{grid-column:3;width:auto;min-width:0;height:28px}}
.tb-form .tb-add{{width:auto;justify-self:start;border-style:dashed}}
.tb-form .tb-actions .jupyter-button,.tb-form button.tb-actions{{display:inline-flex;align-items:center;justify-content:center;width:28px;min-width:28px;padding:0;
 font-size:0;margin:0 0 0 2px;border-color:transparent;background:transparent}}
.tb-form .tb-actions .jupyter-button .fa,.tb-form button.tb-actions .fa{{font-size:12px;margin:0}}
.tb-form .tb-tick{{width:auto;height:auto;min-height:24px}}
.tb-form .tb-tick label{{display:flex;gap:2px;align-items:center;
 white-space:normal;font-weight:600;font-size:var(--jp-ui-font-size1,13px)}}
:is(.tb-gated,.tb-offers){{width:auto}}
.tb-form :is(.tb-gated,.tb-stack)>.tb-add{{align-self:flex-start;margin-top:4px}}
.tb-gated>.tb-grid,.tb-grid>.tb-grid:not(.tb-union){{
 border-left:2px solid {_BORDER};padding:4px 0 0 12px;margin:4px 0 0 4px;width:auto}}
:is(.tb-gated>.tb-field:nth-child(2),.tb-gated>.tb-offers>.tb-field)>.widget-label{{position:absolute;width:1px;height:1px;
 overflow:hidden;clip-path:inset(50%)}}
.tb-map{{grid-template-columns:minmax(0,1fr) minmax(0,2fr) auto auto}}
.tb-form .tb-map>*{{grid-column:2}}
.tb-map{{align-items:start}}
.tb-form .tb-map>.tb-actions{{margin-top:21px}}
.tb-form .tb-map .tb-area>textarea{{min-height:3.4em}}
.tb-form .tb-marks>select{{height:auto;flex:none;padding:2px}}
.tb-form .widget-dropdown>select{{appearance:none;background:{ARROW};padding-right:26px}}
.tb-form .tb-switch>.widget-radio-box{{display:flex;flex-flow:row wrap;margin:0!important;padding:0;gap:4px 0;width:auto;min-height:29px}}
.tb-form .tb-switch>.widget-radio-box label{{position:relative;display:flex;align-items:center;min-height:27px;
 padding:0 11px;margin:0 0 0 -1px;border:1px solid {_BORDER};width:auto;line-height:1.3;cursor:pointer;
 font-size:var(--jp-ui-font-size1,13px);color:{MUTED};background:var(--tb-paper)}}
.tb-form .tb-switch>.widget-radio-box label:first-child{{margin-left:0;border-radius:5px 0 0 5px}}
.tb-form .tb-switch>.widget-radio-box label:last-child{{border-radius:0 5px 5px 0}}
.tb-form .tb-switch>.widget-radio-box label:hover{{background:var(--tb-ground)}}
.tb-form .tb-switch>.widget-radio-box input{{position:absolute;inset:0;width:100%;height:100%;margin:0;opacity:0;cursor:pointer}}
.tb-form .tb-switch>.widget-radio-box label:has(:checked){{font-weight:600;color:var(--tb-ink);
 background:var(--tb-chosen);box-shadow:inset 0 -2px {_BRAND}}}
.tb-form .tb-switch>.widget-radio-box label:has(:focus-visible){{outline:2px solid {_BRAND};outline-offset:1px;z-index:2}}
.tb-form :is(.tb-switch.tb-invalid,.tb-union.tb-invalid>.tb-switch)>.widget-radio-box{{box-shadow:0 0 0 1px {_ERROR};border-radius:5px;align-self:flex-start}}
.tb-form .tb-tabs:has(:checked)>.widget-radio-box{{border-bottom:1px solid var(--tb-line)}}
.tb-form .tb-tabs:has(:checked)>.widget-radio-box label{{border-color:transparent;border-radius:0!important;background:transparent}}
.tb-form .tb-tabs>.widget-radio-box label:has(:checked){{border-color:transparent;background:transparent;
 box-shadow:inset 0 -2px {_BRAND}}}
.tb-form .tb-union.tb-invalid>.widget-dropdown>select{{border-color:{_ERROR}}}
.tb-form .tb-grid.tb-invalid:not(.tb-union){{border-left-color:{_ERROR}}}
.tb-grid>.tb-grid+.tb-actions{{align-self:start}}
.tb-head{{padding-bottom:2px}}
.tb-map>.tb-key{{grid-column:1}}
.tb-map>.tb-side{{grid-column:3}}
.tb-map>.tb-actions{{grid-column:4}}
.tb-map>.tb-add{{grid-column:1/-1}}
.tb-preview img{{max-width:100%;max-height:12em;display:block;margin-top:4px;
 border:1px solid {_BORDER};border-radius:5px}}
.tb-form .jupyter-button.tb-more{{align-self:flex-start;background:transparent;color:{MUTED};width:auto;margin-left:0;padding:0;border:0;font-size:12px;
 text-decoration:underline}}
.tb-options{{border-top:1px solid var(--tb-line);padding-top:8px;display:flex;flex-flow:row wrap;align-items:end;gap:6px 12px}}
.tb-options>.tb-field{{flex:0 1 20em}}
.tb-about-options{{flex:0 0 100%;margin:0;height:auto;color:var(--tb-muted);font-size:12px}}
.tb-sr{{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}}
@container (max-width:30em){{.tb-map{{grid-template-columns:minmax(0,1fr)}}}}
</style>""")
"""The style sheet. Our JavaScript module keeps one copy of it in the page (`frontend/src/sheets.ts`)."""
