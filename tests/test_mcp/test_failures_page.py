"""docs/mcp-failures.md says what happens: each cell is compared with what is seen."""

import importlib.util
from functools import cache
from pathlib import Path

import pytest

from test_mcp import seen
from test_mcp.peers import MISBEHAVING

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "mcp-failures.md"
# `make nightly` tests the other ways too.
IN_EVERY_RUN = ("stdio (newer)",)

pytestmark = pytest.mark.skipif(
    not MISBEHAVING.is_file(), reason=f"NOT TESTED: {MISBEHAVING} is missing"
)


@cache
def script():
    place = ROOT / "scripts" / "mcp_failures.py"
    spec = importlib.util.spec_from_file_location("mcp_failures", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row(name):
    """The line of the page about *name*."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith(f"| `{name}` |"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "look", [seen.tools_seen, pytest.param(seen.modes_seen, marks=pytest.mark.long)]
)
@pytest.mark.parametrize(
    "way",
    [
        way if way in IN_EVERY_RUN else pytest.param(way, marks=pytest.mark.long)
        for way in seen.WAYS
    ],
)
def test_the_page_says_what_is_seen(look, way):
    """Over stdio and HTTP, in both eras; `python scripts/mcp_failures.py` writes the page."""
    wrong = {}
    for name, text in look(way).items():
        cell = row(name).rsplit(" | ", 1)[-1].removesuffix(" |")
        known = {part.partition(": `")[0]: part for part in cell.split("<br>")}
        entry = next((p for ways, p in known.items() if way in ways.split(", ")), cell)
        if script().code(text) not in entry:
            wrong[name] = (entry, text)
    assert wrong == {}


def test_every_mode_and_tool_has_a_line():
    """A new kind of misbehaviour must get one."""
    for described in seen.described():
        for name, what in described.items():
            assert script().escaped(what) in row(name)
