// How the parts look that only this module makes. Colours are JupyterLab's first; the fallbacks
// follow the page's own colours, light or dark.

const LINE = "var(--jp-border-color2, color-mix(in srgb, currentColor 25%, transparent))";
const BRAND = "var(--jp-brand-color1, #1976d2)";
const MUTED = "color-mix(in srgb, currentColor 72%, transparent)";
const GREEN = "#2e9e4f";
const RED = "var(--jp-error-color1, #d33a2f)";
const AMBER = "#c98a00";
const SENT = "color-mix(in srgb, #1f6fc4 75%, currentColor)";
const RECEIVED = "color-mix(in srgb, #9a2fc0 75%, currentColor)";
const DANGER = "color-mix(in srgb, #be323c 75%, currentColor)";
const INK = "var(--jp-content-font-color1, inherit)";

/* What ipywidgets marks as cut off from its kernel, where the kernel was restarted or has ended. */
const OURS = ":is(.toolbench-box, .tb-form)";
const CUT_OFF = ".jupyter-widgets-disconnected";
const SHEET = `
/* one sentence in place of ipywidgets' icon in every part, which would also break the layout */
:is(${OURS}${CUT_OFF}, ${OURS} ${CUT_OFF})::before { content: none !important; }
${OURS}${CUT_OFF}:not(${OURS} *)::before { content: "The kernel was restarted or has ended: run the cell again." !important;
  display: block; font: inherit; font-size: 13px; line-height: 20px; padding: 4px 2px; color: ${MUTED}; flex: none; width: auto; height: auto; }
${OURS} ${CUT_OFF}:is(.widget-button, .widget-button:hover) { opacity: .5; cursor: not-allowed; }
.toolbench-tools { display: inline-flex; flex-wrap: wrap; gap: 4px; margin-left: auto; align-items: center; flex: 0 1 auto; }
.toolbench-copy { display: inline-flex; gap: 4px; align-items: center; }
.toolbench-code > .toolbench-copy { margin: 0 0 4px; }
.tb-json > .toolbench-editor.cm-editor { background: var(--jp-layout-color0, transparent); } /* as the other fields */
.toolbench-editor.cm-editor { align-self: stretch; box-sizing: border-box; border: 1px solid var(--jp-border-color1, ${LINE}); border-radius: 5px; max-height: 30em; }
.tb-invalid > .toolbench-editor.cm-editor { border-color: var(--tb-error, #c62828); }
.toolbench-editor.cm-editor:focus-within { outline: 2px solid ${BRAND}; outline-offset: 1px; }
.toolbench-said { font-size: 12px; }
button.toolbench-tool { font: inherit; font-size: 12px; line-height: 18px; padding: 0 8px; min-height: 24px;
  color: ${MUTED}; background: transparent; border: 1px solid ${LINE}; border-radius: 5px; cursor: pointer; }
button.toolbench-tool:hover { background: color-mix(in srgb, currentColor 8%, transparent); }
button.toolbench-tool[aria-pressed="true"] { background: color-mix(in srgb, currentColor 12%, transparent); }
button.toolbench-more { display: block; width: 100%; min-height: 26px; font: inherit; font-size: 12px;
  color: color-mix(in srgb, ${BRAND} 70%, currentColor); background: transparent; border: 0; cursor: pointer;
  border-top: 1px solid ${LINE}; border-radius: 0 0 6px 6px; }
button:is(.toolbench-tool, .toolbench-more):focus-visible,
[data-toolbench-body] img[role="button"]:focus-visible { outline: 2px solid ${BRAND}; outline-offset: 1px; }
@supports (grid-template-rows: subgrid) { /* the bars, the contents and the buttons of two cards are as high as each other */
  div:has(> [data-toolbench-card] + [data-toolbench-card]) { display: grid !important; row-gap: 0 !important;
    grid-template-columns: repeat(auto-fit, minmax(min(20em, 100%), 1fr)); }
  [data-toolbench-card]:has(+ [data-toolbench-card]), [data-toolbench-card] + [data-toolbench-card] {
    display: grid !important; grid-row: span 3; grid-template-rows: subgrid; margin-bottom: 10px; }
  [data-toolbench-bar] { align-content: flex-start; }
  :not(.toolbench-more):last-child[data-toolbench-body] { grid-row: 2 / -1; }
}
.toolbench-limited { overflow: auto hidden !important; }
.toolbench-limited pre { overflow: visible !important; }
.toolbench-limited.toolbench-whole, .toolbench-full { max-height: none !important; overflow: auto !important; }
.toolbench-nowrap :is(pre, [data-toolbench-json]) { white-space: pre !important; overflow-wrap: normal !important; }
[data-toolbench-body] img[role="button"] { cursor: zoom-in; }
.toolbench-dialog { box-sizing: border-box; width: 94vw; max-width: 94vw; height: 92vh; max-height: 92vh;
  padding: 0; border: 1px solid ${LINE}; border-radius: 8px; flex-direction: column;
  color: var(--jp-content-font-color1, CanvasText); background: var(--jp-layout-color1, Canvas);
  font-family: var(--jp-content-font-family, system-ui, sans-serif); font-size: 14px; }
.toolbench-dialog[open] { display: flex; }
.toolbench-dialog > :first-child { display: flex; justify-content: space-between; align-items: center;
  gap: 10px; padding: 8px 12px; border-bottom: 1px solid ${LINE}; }
.toolbench-dialog > .toolbench-full { flex: 1; min-height: 0; padding: 10px 12px; }
.toolbench-dialog::backdrop { background: rgba(0, 0, 0, .45); }
.toolbench-full > img { max-width: 100%; cursor: zoom-in; }
.toolbench-full > img.toolbench-actual { max-width: none; cursor: zoom-out; }
[data-toolbench-run] { cursor: pointer; }
.toolbench-notice { grid-column: 1 / -1; margin: 0; color: ${RED}; overflow-wrap: anywhere; }
[data-toolbench-runs] tr > :first-child { padding-left: 8px !important; }
@media (max-width: 600px) { /* a run has two lines: what it was, and its arguments */
  [data-toolbench-runs], [data-toolbench-runs] tbody { display: block; }
  [data-toolbench-runs] thead { position: absolute; clip-path: inset(50%); }
  [data-toolbench-runs] tr { display: grid; grid-template-columns: auto auto auto minmax(0, 1fr); padding: 3px 0; border-bottom: 1px solid ${LINE}; }
  [data-toolbench-runs] tr > :nth-child(3) { grid-area: 2 / 1 / 3 / 5; min-width: 0 !important; padding-left: 8px !important; }
  [data-toolbench-runs] tr > :nth-child(4) { grid-area: 1 / 4; padding-right: 8px !important; white-space: normal !important; }
  [data-toolbench-runs] tr > :nth-child(5) { grid-area: 1 / 3; }
}
[data-toolbench-run]:hover { background: color-mix(in srgb, currentColor 6%, transparent); }
[data-toolbench-run].toolbench-chosen { box-shadow: inset 3px 0 0 ${BRAND};
  background: color-mix(in srgb, ${BRAND} 10%, transparent); }
button.toolbench-open { font: inherit; color: inherit; background: transparent; border: 0; cursor: pointer;
  padding: 0; margin: -3px 0; min-height: 24px; white-space: nowrap; text-decoration: underline; }
button.toolbench-open:focus-visible { outline: 2px solid ${BRAND}; outline-offset: -2px; }
.toolbench-scroller { max-height: 70vh; overflow: auto !important; }
.toolbench-full .toolbench-scroller { max-height: 84vh; }
[data-toolbench-frame]:has(> .toolbench-scroller) { max-height: none !important; overflow: visible !important; }
[data-toolbench-frame] > .toolbench-scroller { max-height: 32em; }
.toolbench-filter { display: flex; flex-wrap: wrap; gap: 4px 10px; align-items: center; margin: 2px 0 6px; font-size: 12px; }
.toolbench-filter > input { font: inherit; flex: 0 1 30em; min-width: 10em; min-height: 26px; box-sizing: border-box; padding: 2px 8px;
  color: ${INK}; background: transparent; border: 1px solid var(--jp-border-color1, ${LINE}); border-radius: 4px; }
.toolbench-filter > input::placeholder { color: ${MUTED}; opacity: 1; font-style: italic; }
.toolbench-filter > input:focus-visible { outline: 2px solid ${BRAND}; outline-offset: -1px; }
table.toolbench-table { white-space: nowrap; width: 100%; font-family: var(--jp-ui-font-family, system-ui, sans-serif) !important;
  font-size: 12px !important; }
table.toolbench-table :is(td, th) { padding: 3px 12px 3px 0 !important; border-bottom: 1px solid ${LINE} !important; max-width: 30em;
  overflow: hidden; text-overflow: ellipsis; font-variant-numeric: tabular-nums; }
table.toolbench-table tbody :is(td, th):first-child { color: ${MUTED}; font-weight: 400 !important; }
table.toolbench-table thead :is(th, td) { position: sticky; top: 0; z-index: 1;
  background: var(--jp-layout-color0, Canvas) !important; }
button.toolbench-sort { font: inherit; color: inherit; text-align: inherit; background: transparent; border: 0;
  padding: 0; min-height: 24px; cursor: pointer; white-space: nowrap; }
button.toolbench-sort:focus-visible { outline: 2px solid ${BRAND}; outline-offset: -2px; }
[aria-sort="ascending"] > .toolbench-sort::after { content: " ▲" / ""; }
[aria-sort="descending"] > .toolbench-sort::after { content: " ▼" / ""; }
.toolbench-items { position: relative; overflow: auto; max-height: 22em; min-height: 48px; margin: 2px 0; contain: content; }
.toolbench-items:focus-visible { outline: 2px solid ${BRAND}; outline-offset: -2px; }
.toolbench-items[hidden] { display: none; }
.toolbench-sizer { position: relative; width: 100%; }
.toolbench-sizer > * { position: absolute; left: 0; right: 0; box-sizing: border-box; }
.toolbench-item { display: grid; grid-template: "first" auto "second" auto / minmax(0, 1fr); align-content: center; column-gap: 6px;
  padding: 0 10px; border-left: 3px solid transparent; cursor: pointer; line-height: 1.35; color: ${INK}; }
.toolbench-with-marks .toolbench-item { grid-template: "mark first" auto "mark second" auto / 14px minmax(0, 1fr); }
.toolbench-with-icons .toolbench-item { grid-template: "icon first" auto "icon second" auto / 20px minmax(0, 1fr); }
.toolbench-with-marks.toolbench-with-icons .toolbench-item {
  grid-template: "mark icon first" auto "mark icon second" auto / 14px 20px minmax(0, 1fr); }
.toolbench-item > :is(.toolbench-first, .toolbench-second) { grid-area: first; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; }
.toolbench-item > .toolbench-second { grid-area: second; }
.toolbench-item > .toolbench-mark { grid-area: mark; align-self: center; }
.toolbench-items:not(.toolbench-with-marks) .toolbench-mark { display: none; }
.toolbench-item > .toolbench-icon { grid-area: icon; align-self: center; width: 20px; height: 20px; object-fit: contain; }
.toolbench-first { font-size: 13px; font-weight: 500; }
.toolbench-second { font-size: 11px; font-family: var(--jp-code-font-family, monospace); color: ${MUTED}; }
.toolbench-sentence { font-family: inherit; }
.toolbench-state { color: color-mix(in srgb, ${BRAND} 70%, currentColor); font-weight: 600; }
.toolbench-item:hover { background: color-mix(in srgb, currentColor 6%, transparent); }
.toolbench-item[aria-selected="true"] { border-color: ${BRAND}; background: color-mix(in srgb, ${BRAND} 13%, transparent); }
.toolbench-items:focus-visible .toolbench-active { outline: 1px dashed ${BRAND}; outline-offset: -3px; }
.toolbench-heading { padding: 8px 10px 2px; font-size: 11px; letter-spacing: .03em; text-transform: uppercase;
  color: ${MUTED}; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.toolbench-mark[data-mark] { width: 8px; height: 8px; box-sizing: border-box; border-radius: 50%; background: ${GREEN}; }
.toolbench-mark[data-mark="not destructive"] { background: transparent; border: 2px solid ${GREEN}; }
.toolbench-mark:is([data-mark="destructive"], [data-mark="failed"], [data-mark="lost"]) { background: ${RED}; border-radius: 1px;
  transform: rotate(45deg); }
.toolbench-mark:is([data-mark="undeclared"], [data-mark="connecting"], [data-mark="incomplete"]) { background: transparent; border: 2px solid ${AMBER}; }
.toolbench-mark:is([data-mark="closed"], [data-mark="new"]) { background: transparent; border: 2px solid ${MUTED}; }
@container (min-width: 900px) {
  .toolbench-pane-list .toolbench-items { flex: 1 1 0; min-height: 20em; max-height: none; margin: 4px 0 0; }
  .toolbench-pane-list > .toolbench-picker:has(~ .toolbench-tabs) { flex: none !important; }
  .toolbench-pane-list > .toolbench-picker:has(~ .toolbench-tabs) .toolbench-items { flex: none; min-height: 44px; max-height: 140px; }
}
.toolbench-messages { max-height: 34em; border: 1px solid ${LINE}; border-radius: 6px; margin: 6px 0; }
.toolbench-message { display: grid; grid-template-columns: 58px 14px minmax(0, 1fr) auto; grid-auto-rows: 23px; column-gap: 6px;
  align-items: center; padding: 0 8px; font: 12px var(--jp-code-font-family, monospace); color: ${INK}; cursor: pointer;
  border-bottom: 1px solid ${LINE}; border-left: 3px solid transparent; white-space: nowrap; }
.toolbench-message > * { overflow: hidden; text-overflow: ellipsis; }
.toolbench-message:hover { background: color-mix(in srgb, currentColor 6%, transparent); }
.toolbench-message[aria-selected="true"] { border-left-color: ${BRAND}; background: color-mix(in srgb, ${BRAND} 13%, transparent); }
.toolbench-items:focus-visible .toolbench-message.toolbench-active { outline: 1px dashed ${BRAND}; outline-offset: -3px; }
.toolbench-when, .toolbench-took { color: ${MUTED}; }
.toolbench-what > * { overflow: hidden; text-overflow: ellipsis; white-space: pre; min-width: 0; flex: 0 1 auto; }
.toolbench-what > .toolbench-method { flex-shrink: 1000; min-width: 4ch; }
.toolbench-message > .toolbench-what { display: flex; grid-column: 3 / 5; } /* the time it took is beside the answer */
.toolbench-message > :nth-child(4):not(.toolbench-took) { grid-column: 2; }
.toolbench-sent { color: ${SENT}; font-weight: 700; font-size: 14px; }
.toolbench-received { color: ${RECEIVED}; font-weight: 700; font-size: 14px; }
.toolbench-failed :is(.toolbench-what, .toolbench-answer) { color: ${DANGER}; }
[data-toolbench-listing] { container-type: inline-size; }
@container (max-width: 30em) { /* sentences go below the other cells of their row */
  [data-toolbench-listing] > table:has([data-toolbench-sentence]) { width: 100%; }
  [data-toolbench-listing] tr:has([data-toolbench-sentence]) { display: flex; flex-flow: row wrap; padding: 2px 0; }
  [data-toolbench-listing] tr:has([data-toolbench-sentence]) > :nth-child(2):nth-last-child(2) { margin-left: auto; }
  [data-toolbench-listing] tr:has([data-toolbench-sentence]) > * { padding-bottom: 0 !important; }
  [data-toolbench-listing] tr > [data-toolbench-sentence] { flex: 1 0 100%; order: 1; box-sizing: border-box; padding: 0 0 3px !important; }
}
.toolbench-fades { mask-image: linear-gradient(to right, #000 calc(100% - 28px), #0003); }
.toolbench-unseen { position: fixed; top: 0; left: -9999px; }
@media print { .toolbench-limited { max-height: none !important; } }
`;

export function addStyle(): void {
  const style = document.createElement("style");
  style.textContent = SHEET;
  document.head.append(style);
}
