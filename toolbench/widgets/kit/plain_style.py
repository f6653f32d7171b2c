"""What keeps panels and forms readable on a page that cannot load our front-end module.

All else is in the style sheet of the module (`frontend/src/style`), which takes this out of its page.
"""

from toolbench.display.escape import Html

PANEL = Html("""<div class="toolbench-without">This page could not load the front-end module of
 toolbench (it needs anywidget): all works, in plain form.</div><style data-toolbench-plain>
.toolbench-hidden, .toolbench-copy-call, .toolbench-either > :last-child { display: none !important; }
/* A page whose module is still on its way says nothing */
.toolbench-without { animation: 1ms 5s backwards toolbench-without; }
@keyframes toolbench-without { from, to { visibility: hidden; position: absolute; } }
.toolbench-panes .toolbench-without { display: none; }
.toolbench-box, .toolbench-row { overflow: visible; }
.toolbench-row { flex-flow: row wrap; }
.toolbench-box .toolbench-button { width: auto; }
:is(.toolbench-field, .toolbench-prose, .toolbench-code) { width: auto; height: auto; flex-flow: row wrap; }
.toolbench-box .widget-label { width: auto; }
:is(.toolbench-prose, .toolbench-code) > textarea { flex: 0 0 100%; height: 15em; }
.toolbench-text > .widget-html-content { line-height: 1.45; }
:is(.toolbench-log, .toolbench-feed) { flex-flow: column-reverse; max-height: 30em; overflow: auto; }
:is(.toolbench-out, .toolbench-line, .toolbench-code > textarea) {
 font-family: var(--jp-code-font-family, monospace); white-space: pre-wrap; }
</style>""")
"""The styles of a panel, and a sentence for pages without the module: a part of what it shows."""

FORM = Html("""<style data-toolbench-plain>
.tb-form .widget-box, .tb-grid { overflow: visible; }
.tb-grid { display: grid; grid-template-columns: minmax(0, 1fr) auto auto; width: 100%; }
.tb-grid > * { grid-column: 1 / -1; }
.tb-grid > :has(+ .tb-actions) { grid-column: 1 / 3; }
.tb-grid > .tb-actions { grid-column: 3; }
.tb-texts, .tb-texts > .widget-html-content { display: contents; }
:is(.tb-intro, .tb-head, .tb-note) { grid-column: 1 / -1; line-height: 1.4; }
:is(.tb-left, .tb-right) { grid-row: var(--below); }
.tb-error { color: #c62828; }
.tb-blank, .tb-form .toolbench-hidden { display: none; }
.tb-sr { position: absolute; clip-path: inset(50%); }
.tb-form .tb-field { flex-flow: column; align-items: stretch; width: auto; height: auto; }
.tb-form .tb-field > .widget-label { width: auto; max-width: none; text-align: left; white-space: normal; }
.tb-form .tb-field > :is(input, textarea, select) { width: 100%; max-width: none; }
</style>""")
"""The styles of a form, a part of what it shows."""
