"""The inline styles of all displays: JupyterLab's variables, with fallbacks for other pages."""

from toolbench.display.ansi import MUTED

CODE_FONT = (
    "font-family:var(--jp-code-font-family,Menlo,Consolas,'DejaVu Sans Mono',monospace);"
    "font-size:var(--jp-code-font-size,13px)"
)
TEXT_FONT = (
    "font-family:var(--jp-content-font-family,system-ui,sans-serif);"
    "font-size:var(--jp-content-font-size1,14px)"
)
TEXT_COLOR = "color:var(--jp-content-font-color1,inherit)"
# Visible on both themes, kept by sanitisers
LINE = "1px solid rgba(128,128,128,.32)"
REMARK = f"color:{MUTED};font-size:12px"

PRE = (
    f"{CODE_FONT};{TEXT_COLOR};line-height:1.2;margin:0;padding:0;border:0;"
    "background:transparent;overflow:auto;tab-size:8;word-break:normal"
)
"""The style of a block of terminal text. Callers add `white-space`."""

TABLE = f"{CODE_FONT};{TEXT_COLOR};table-layout:auto;border-collapse:collapse;margin:0;border:0"
CELL = "padding:3px 10px 3px 0;text-align:left;vertical-align:top;border:0"
"""The style of a table's cell; declarations after it override its parts."""
