"""The front-end module: small enough to be sent to every page, and no reader of foreign HTML."""

import gzip
from pathlib import Path

import toolbench.widgets.frontend

# Bytes, compressed
LARGEST = 400_000
ROOT = Path(__file__).parents[2]


def test_the_bundle_is_small():
    """It goes to the page once for each kernel, over any line."""
    module = Path(toolbench.widgets.frontend.__file__).with_name("module.js")
    assert 10_000 < len(gzip.compress(module.read_bytes())) <= LARGEST


def test_no_text_is_read_as_html():
    """Whatever it puts into the page, it puts there as elements and text nodes."""
    sources = list((ROOT / "frontend/src").glob("**/*.ts"))
    assert sources
    ways = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(")
    used = [(s.name, way) for s in sources for way in ways if way in s.read_text()]
    assert used == []
