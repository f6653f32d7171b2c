"""Write docs/mcp-failures.md: what a user sees of each way an MCP server can misbehave.

python scripts/mcp_failures.py      # tries them all, over stdio and HTTP; takes a minute
"""
# ruff: noqa: T201 - a script talks to its terminal

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "mcp-failures.md"
# The tests know how to look
sys.path.insert(0, str(ROOT / "tests"))

from test_mcp.seen import (  # noqa: E402
    WAYS,
    calling,
    can_be_tried,
    connecting,
    described,
    server,
)

HEAD = """\
# What you see when an MCP server misbehaves

Each row is one way in which a test server misbehaves, and what toolbench reports. Other servers and
tools keep working meanwhile, nothing waits longer than its time limit, and no process is left behind.
Try some of them with `%mcp connect example`.

Each was tried over stdio and HTTP, in the protocols of 2025-11-25 and 2026-07-28. A cell names them
only if the results differ. The page is written by `python scripts/mcp_failures.py`, and `make test`
compares it with what happens.
"""


def page(modes: dict[str, dict[str, str]], tools: dict[str, dict[str, str]]) -> str:
    """Return the page for what was seen of *modes* and of *tools*, by way and name."""
    modes_of_server, tools_of_server = described()
    return "\n".join(
        [
            HEAD,
            "## Connecting\n",
            *table("Server", modes_of_server, modes),
            "\n## Calling a tool\n",
            *table("Tool", tools_of_server, tools),
            "",
        ]
    )


def modes_seen(way: str) -> dict[str, str]:
    """Return what is seen of each mode that can be tried that *way*."""
    modes, _ = described()
    names = [mode for mode in modes if can_be_tried(mode, way)]
    with ThreadPoolExecutor(4) as pool:
        outcomes = pool.map(lambda mode: connecting(mode, way), names)
        return dict(zip(names, outcomes, strict=True))


def tools_seen(way: str) -> dict[str, str]:
    """Return what is seen of a call of each tool that can be tried that *way*."""
    _, tools = described()
    with server("calls", way) as (client, entry):
        session = client.connect("demo", entry)
        return {tool: calling(session, tool) for tool in tools if can_be_tried(tool, way)}


def table(title: str, descriptions: dict[str, str], texts: dict[str, dict[str, str]]) -> list[str]:
    """Return the lines of a table: a name, what it does, what was seen of it."""
    rows = [
        f"| `{name}` | {escaped(what)} | {cell({w: texts[w][name] for w in texts if name in texts[w]})} |"
        for name, what in descriptions.items()
    ]
    return [f"| {title} | What it does | What you see |", "| --- | --- | --- |", *rows]


def cell(texts: dict[str, str]) -> str:
    """Return what was seen, each text once, with the ways it was seen if they differ."""
    ways: dict[str, list[str]] = {}
    for way, text in texts.items():
        ways.setdefault(text, []).append(way)
    if len(ways) == 1:
        return code(next(iter(ways)))
    return "<br>".join(f"{', '.join(way)}: {code(text)}" for text, way in ways.items())


def code(text: str) -> str:
    """Return *text* so that Markdown leaves it alone, in a table too."""
    return f"`{escaped(text).replace('`', chr(39))}`"


def escaped(text: str) -> str:
    """Return *text* without what ends a cell."""
    return text.replace("|", "\\|").strip()


def main() -> None:
    """Look, and write the page."""
    modes = {way: modes_seen(way) for way in WAYS}
    tools = {way: tools_seen(way) for way in WAYS}
    PAGE.write_text(page(modes, tools), encoding="utf-8")
    print(f"{PAGE}: written")


if __name__ == "__main__":
    main()
