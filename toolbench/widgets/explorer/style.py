"""How the explorer looks, beside what every panel has: one style sheet, on any theme."""

from toolbench.display.colors import MUTED
from toolbench.display.css import CODE_FONT, LINE
from toolbench.display.escape import Html
from toolbench.widgets.parts import STYLE as PARTS_STYLE

STYLE = Html(f"""{PARTS_STYLE}<style>
.toolbench-sides {{ width: 100%; overflow: visible; flex-flow: row wrap; align-items: stretch; gap: 8px 14px; }}
.toolbench-left {{ flex: 1 1 15em; max-width: 22em; min-width: 0; overflow: visible; }}
.toolbench-right {{ flex: 6 1 36em; min-width: 0; overflow: visible; width: auto; }}
@container (max-width: 53em) {{ .toolbench-left {{ max-width: none; }} }}
.toolbench-explorer {{ container-type: inline-size; width: 100%; overflow: visible; }}
.toolbench-explorer .toolbench-list {{ flex-flow: column; align-items: stretch; }}
.toolbench-explorer .toolbench-list > select {{ flex: none; max-width: none; width: 100%; }}
.toolbench-left .toolbench-row > .toolbench-button {{ flex: 1 1 auto; }}
.toolbench-explorer .toolbench-feed {{ display: flex; flex-flow: column-reverse; width: auto; max-height: 30em; overflow: auto;
 margin: 4px 2px; border: {LINE}; border-radius: 4px; padding: 4px 8px; }}
.toolbench-explorer .toolbench-feed:not(:has(.toolbench-line)) {{ display: none; }}
.toolbench-explorer .toolbench-feed > .toolbench-text {{ margin: 0; flex: none; }}
.toolbench-line {{ {CODE_FONT}; font-size: 12px; line-height: 1.5; white-space: pre-wrap; overflow-wrap: anywhere; }}
.toolbench-line > summary {{ cursor: pointer; }}
.toolbench-line > pre {{ margin: 0 0 4px 1.2em; white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.4;
 background: transparent; color: inherit; font-size: 12px; }}
.toolbench-dim {{ color: {MUTED}; }}
.toolbench-app iframe {{ width: 100%; height: 26em; border: {LINE}; border-radius: 4px; resize: vertical;
 background: #fff; display: block; }}
</style>""")
"""The first child of an explorer."""
