"""The style sheet of logs and of messages in columns."""

from toolbench.display.ansi import MUTED, on_page
from toolbench.display.css import CODE_FONT, LINE
from toolbench.display.escape import Html

_DANGER = on_page((190, 50, 60))
STYLE = Html(f"""<style>
/* with .toolbench-box, whose rule comes again with each panel on the page */
.toolbench-box.toolbench-feed {{ display: flex; flex-flow: column-reverse; width: auto; max-height: 30em; overflow: auto;
 margin: 4px 2px; border: {LINE}; border-radius: 4px; padding: 4px 8px; }}
.toolbench-box.toolbench-feed:not(:has(.toolbench-line)) {{ display: none; }}
.toolbench-feed > .toolbench-box {{ flex: none; }}
.toolbench-feed .toolbench-text {{ margin: 0; flex: none; }}
.toolbench-line {{ {CODE_FONT}; font-size: 12px; line-height: 1.5; white-space: pre-wrap; overflow-wrap: anywhere; }}
.toolbench-long, .toolbench-long > summary {{ display: inline; }}
.toolbench-long > summary {{ cursor: pointer; text-decoration: underline dotted; }}
.toolbench-dim {{ color: {MUTED}; }}
.toolbench-box.toolbench-lines {{ flex-flow: column-reverse; width: auto; max-height: 30em; overflow: auto; margin: 4px 2px;
 border: {LINE}; border-radius: 4px; padding: 4px 0; }}
.toolbench-box.toolbench-lines:not(:has([data-toolbench-message])) {{ display: none; }}
.toolbench-lines > .toolbench-text {{ margin: 0; flex: none; max-width: none; width: max-content; }}
[data-toolbench-messages] {{ {CODE_FONT}; font-size: 12px; line-height: 1.6; white-space: pre; tab-size: 2; padding: 0 8px; }}
[data-toolbench-failed] {{ color: {_DANGER}; }}
.toolbench-live .toolbench-traffic :is(.toolbench-lines, .toolbench-key) {{ display: none; }}
.toolbench-opened:has(*) {{ border-top: {LINE}; padding-top: 6px; margin-top: 4px; }}
</style>""")
"""The style sheet, a part of the style sheet of `three_panes`."""
