"""Sphinx reads the documents of the repository: Markdown, and notebooks with their saved outputs."""

from ipython_pygments_lexers import IPython3Lexer
from sphinx.application import Sphinx

project = "toolbench"
author = "the authors of toolbench"
copyright = f"2026, {author}"
extensions = ["myst_nb", "sphinx_copybutton", "sphinx_design", "sphinxcontrib.mermaid"]
exclude_patterns = ["README.md", "bench/peers*"]
# The saved outputs are what the tests compare
nb_execution_mode = "off"
nb_mime_priority_overrides = [
    # the widget view needs a kernel; the page shows what every notebook keeps beside it
    ("html", "application/vnd.jupyter.widget-view+json", None),
]
# An example of the reference is copied without its prompts and outputs
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
myst_enable_extensions = ["colon_fence"]
myst_fence_as_directive = ["mermaid"]
mermaid_use_local = "mermaid/mermaid.esm.min.mjs"
mermaid_fullscreen = False
mermaid_height = "auto"
myst_heading_anchors = 3
# A page may begin below its first level
suppress_warnings = ["myst.header"]
html_theme = "furo"
html_title = "toolbench"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["scroll_by_keyboard.js", "first_page.js", "pictures.js"]
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0d4f9e",
        "color-brand-content": "#0d4f9e",
    },
    "dark_css_variables": {
        "color-brand-primary": "#7fb8ff",
        "color-brand-content": "#7fb8ff",
    },
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


def setup(app: Sphinx) -> None:
    """Read Python as IPython does: the documents have magics."""
    app.add_lexer("python", IPython3Lexer)
