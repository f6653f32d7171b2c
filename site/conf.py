"""Sphinx reads the documents of the repository: Markdown, and notebooks with their saved outputs."""

project = "toolbench"
author = "the authors of toolbench"
extensions = ["myst_nb", "sphinx_copybutton"]
exclude_patterns = ["docs/status.md", "bench/peers*"]
nb_execution_mode = "off"  # the saved outputs are what the tests compare
nb_mime_priority_overrides = [
    # the widget view needs a kernel; the page shows what every notebook keeps beside it
    ("html", "application/vnd.jupyter.widget-view+json", None),
]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header", "myst.xref_missing", "misc.highlighting_failure"]
html_theme = "furo"
html_title = "toolbench"
html_show_sourcelink = False
html_theme_options = {"sidebar_hide_name": False}
html_static_path = ["_static"]
html_js_files = ["scroll_by_keyboard.js"]
