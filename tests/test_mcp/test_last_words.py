"""What a server wrote to stderr before it ended, read for its exception."""

import pytest

from toolbench.mcp.errors import (
    exception_line,
    first_cause,
    import_advice,
    short_reason,
    variable_advice,
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


TRACEBACK = ["Traceback (most recent call last):", '  File "a.py", line 1, in <module>', "    f()"]
MEANWHILE = ["", "During handling of the above exception, another exception occurred:", ""]


def test_the_first_cause_is_that_of_the_last_chain():
    """Of one traceback alone there is none, and what was caught and logged before is another matter."""
    chain = [*TRACEBACK, "ModuleNotFoundError: 'http' is not a package", *MEANWHILE]
    chain += [*TRACEBACK, "ImportError: no server half", *MEANWHILE, *TRACEBACK, "SystemExit: 1"]
    assert first_cause(chain) == "ModuleNotFoundError: 'http' is not a package"
    assert first_cause(["INFO: hello", *TRACEBACK, "KeyError: 1"]) == ""
    assert first_cause([*chain, *TRACEBACK, "KeyError: 1"]) == ""
    assert first_cause([*TRACEBACK, "KeyError: 0", "bye", *chain]) == first_cause(chain)


DRAWN = [
    "[11/29/26] ERROR    Tool 'a' raised an exception   server.py:455",
    "                    ╭─ Traceback (most recent call last─╮",
    "                    │ ❱ 120 │   raise ValueError(msg)   │",
    "                    ╰───────────────────────────────────╯",
    "                    ValueError: there is no shelf 13",
    "",
    "                    The above exception was the direct",
    "                    cause of the following exception:",
    "",
    "                    ╭─ Traceback (most recent call last─╮",
    "                    ╰───────────────────────────────────╯",
    "                    ToolError: Error executing",
]


def test_the_first_cause_is_found_in_a_drawn_traceback():
    """As the official SDK logs it, with rich, which wraps what is between two of them."""
    assert first_cause(DRAWN) == "ValueError: there is no shelf 13"


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("line", "name"),
    [
        (
            "GITLAB_PERSONAL_ACCESS_TOKEN environment variable is not set",
            "GITLAB_PERSONAL_ACCESS_TOKEN",
        ),
        ("Error: Please set the SLACK_BOT_TOKEN and SLACK_TEAM_ID", "SLACK_BOT_TOKEN"),
        ("Missing required environment variable: BRAVE_API_KEY", "BRAVE_API_KEY"),
        ("ValueError: NOTION_TOKEN is required", "NOTION_TOKEN"),
        ("KeyError: 'STRIPE_SECRET_KEY'", "STRIPE_SECRET_KEY"),
        ("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'", ""),
        ("note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace", ""),
        ("environment variable GIVEN_TOKEN is not set", ""),
    ],
)
def test_a_missing_variable_is_named_with_its_option(line, name):
    """As servers say that it is missing; not one that they were given."""
    advice = variable_advice(["Starting", line], {"GIVEN_TOKEN"})
    assert (f"add --env {name} to the line" in advice) == bool(name)
    assert bool(advice) == bool(name)


def test_a_reason_is_one_short_line():
    """Of a long message the beginning, and without stderr nothing about stderr."""
    text = "Server 'a' did not connect: it is closed.\nIts process ended with exit code 3."
    assert short_reason("a", text) == "it is closed. Its process ended with exit code 3."
    long = f"{text}\nIts last lines on stderr:\n  Traceback\n  ValueError: {'x' * 500}"
    assert short_reason("a", long).startswith("ValueError: xxx")
    assert short_reason("a", long).endswith("x… (%mcp log a --stderr shows more)")
    assert len(short_reason("a", long)) < 160
    text = short_reason("a", f"Server 'a' did not connect: {'y' * 500}")
    assert text.endswith("y… (%mcp list a shows more)")
