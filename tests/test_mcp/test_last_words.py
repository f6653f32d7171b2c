"""What a server wrote to stderr before it ended, read for its exception."""

import pytest

from toolbench.mcp.connection.last_words import (
    exception_line,
    import_advice,
    short_reason,
)

NODE = [
    "Error: Cannot find module 'x'",
    "    at run (a.js:1:2)",
    "}",
    "",
    "Node.js v22.1.0",
]


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (
            ["Traceback (most recent call last):", "  a()", "KeyError: 'x'", ""],
            "KeyError: 'x'",
        ),
        (["httpx.ConnectError: no", "bye"], "httpx.ConnectError: no"),
        (NODE, NODE[0]),
        (["missing API key", "  "], "missing API key"),
        ([], ""),
    ],
)
def test_the_exception_is_the_last_line_that_names_one(lines, line):
    """Else it is the last line that says something."""
    assert exception_line(lines) == line


@pytest.mark.parametrize(
    ("line", "is_of_mcp"),
    [
        (
            "ModuleNotFoundError: No module named 'mcp.server.fastmcp'. This is mcp 2.x",
            True,
        ),
        ("ModuleNotFoundError: No module named 'mcp'", True),
        (
            "ImportError: cannot import name 'Tool' from 'mcp.types' (/a/mcp/types.py)",
            True,
        ),
        ("AttributeError: module 'mcp.types' has no attribute 'Tool'", True),
        ("ModuleNotFoundError: No module named 'mcp_server_time'", False),
        ("ImportError: cannot import name 'mcp' from 'shop' (/a/shop.py)", False),
        ("ValueError: no module named 'mcp'", False),
    ],
)
def test_advice_is_for_imports_of_mcp_alone(line, is_of_mcp):
    """Of another package it would be wrong."""
    assert bool(import_advice(["Traceback", line])) == is_of_mcp


def test_a_reason_is_one_short_line():
    """Of a long message the beginning, and without stderr nothing about stderr."""
    text = "Server 'a' did not connect: it is closed.\nIts process ended with exit code 3."
    assert short_reason("a", text) == "it is closed. Its process ended with exit code 3."
    long = f"{text}\nIts last lines on stderr:\n  Traceback\n  ValueError: {'x' * 500}"
    assert short_reason("a", long).startswith("ValueError: xxx")
    assert short_reason("a", long).endswith("x… (%mcp stderr a shows more)")
    assert len(short_reason("a", long)) < 160
    text = short_reason("a", f"Server 'a' did not connect: {'y' * 500}")
    assert text.endswith("y… (%mcp tools a shows more)")
