"""The front-end module: small enough to be sent to every page, and no reader of foreign HTML."""

from pathlib import Path

import toolbench.widgets.frontend

# Bytes: what every page gets, and what comes with the first tab with JSON or code. The module holds the
# tables, the history, timelines and the fields, which are sent once a page instead of in each panel.
LARGEST = {"module.js": 85_000, "style.css": 65_000, "editor.js": 400_000}
ROOT = Path(__file__).parents[2]


def test_the_bundles_are_small():
    """The first goes to the page once for each kernel, over any line, and into each executed notebook."""
    folder = Path(toolbench.widgets.frontend.__file__).parent
    sizes = {path.name: path.stat().st_size for path in folder.glob("*.*s")}
    assert sizes.keys() == LARGEST.keys()
    assert {name: size for name, size in sizes.items() if size > LARGEST[name]} == {}


def test_no_text_is_read_as_html():
    """Whatever it puts into the page, it puts there as elements and text nodes."""
    sources = list((ROOT / "frontend/src").glob("**/*.ts"))
    assert sources
    ways = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(")
    used = [(s.name, way) for s in sources for way in ways if way in s.read_text()]
    assert used == []
