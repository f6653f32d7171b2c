"""What it costs to show a lot: CPU, and characters sent to the page."""

import json

from toolbench.core.content import TextContent
from toolbench.display import (
    blocks_html,
    bundle,
    from_ansi,
    json_html,
    markdown_html,
    to_html,
)

_LINE = (
    "\x1b[32m2026-11-21 10:00:00\x1b[0m \x1b[1;34mINFO\x1b[0m request "
    "\x1b[33m/api/v1/things?x=1\x1b[0m took 12 ms & returned <200>\n"
)
_MEGABYTE = _LINE * (1_000_000 // len(_LINE))
_ROWS = [{"id": n, "name": f"thing {n}", "tags": ["a", "b"]} for n in range(15_000)]

SHOWN = {
    "1 MB of ANSI in a panel": lambda: to_html(from_ansi(_MEGABYTE, limit=100_000)),
    "1 MB of ANSI as a bundle": lambda: "".join(
        bundle(from_ansi(_MEGABYTE, limit=100_000)).values()
    ),
    "1 MB of ANSI as a block": lambda: blocks_html([TextContent(text=_MEGABYTE)]),
    "1 MB of ANSI, verbatim": lambda: blocks_html([_MEGABYTE], verbatim=True),
    "1 MB of JSON as a block": lambda: blocks_html([json.dumps(_ROWS)]),
    "1 MB of JSON as a tree": lambda: json_html(_ROWS),
}


def test_a_megabyte(ledger):
    """At most 0.2 s of CPU and 0.3 MB, for a megabyte of anything."""
    for name, show in SHOWN.items():
        ledger.time(name, show, limit=0.2, rounds=7)
        ledger.limit(f"{name}: sent", len(show()), "B", 300_000)


def test_a_description(ledger):
    """A tool's description of two thousand characters: at most 20 ms."""
    text = "# Title\n\nReads *one* file, see [docs](https://e.org).\n\n- `a`: b\n" * 30
    ledger.time("description of 2,000 characters", lambda: markdown_html(text), limit=0.02)
