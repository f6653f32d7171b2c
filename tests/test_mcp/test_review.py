"""Whether to use a server: what is said of its tools before a model gets them."""

from dataclasses import replace
from html import unescape
from typing import Annotated

import pytest
from fastmcp import FastMCP
from fastmcp.tools import Tool
from patience import PATIENCE, eventually
from pydantic import Field
from test_display.inert import problems
from test_widgets.front import click
from test_widgets.panes import open_details
from test_widgets.tooling import buttons, shown

from toolbench.llm.tokens import TokenCount
from toolbench.mcp import MCPClient
from toolbench.mcp.review import review_of
from toolbench.widgets.explorer import Explorer

HOSTILE = "<img src=x onerror=alert(1)>"


def library() -> FastMCP:
    """A server of three tools, of which one is read-only, one destructive, one undeclared."""
    server = FastMCP("library")

    @server.tool(annotations={"readOnlyHint": True})
    def find_books(title: str) -> str:
        """Find the books whose title holds a text; the answer is one title a line."""
        return title

    @server.tool(annotations={"readOnlyHint": False, "destructiveHint": True})
    def delete_book(title: str) -> str:
        """Delete the book of that title for good; the answer says whether it was there."""
        return title

    server.tool(lambda x: x, name="odd", description=HOSTILE)
    return server


@pytest.fixture
def session():
    with MCPClient(timeout=PATIENCE) as client:
        client.connect("library", library())
        yield client.servers["library"]


def test_says_what_to_look_at(session):
    """Tools, tokens, risks that are declared or not, and what lint says."""
    review = review_of(session)
    assert review.tools == 3
    assert review.destructive == ("delete_book",)
    assert review.undeclared == ("odd",)
    assert review.cost.tokens > 0
    text = str(review)
    findings = len(review.findings)
    assert text.splitlines()[:2] == [
        f"library: 3 tools, {review.cost} in every request, 1 of undeclared effect, "
        f"{findings} findings of lint.",
        "With care: 2 of 3 tools can delete something, or do not say what they change. "
        "Read the arguments before such a call runs.",
    ]
    assert "1 tool can delete or overwrite data: delete_book." in text
    assert "1 tool do" not in text
    assert [f.severity for f in review.findings] == sorted(
        (f.severity for f in review.findings), key=("error", "warning", "hint").index
    )


def test_is_html_without_what_a_server_says(session):
    """The card holds names and sentences of a server as text only."""
    html = review_of(session).to_html()
    assert problems(html) == []
    assert "<img" not in html


def test_is_text_without_control_characters():
    """A name reaches a terminal as text."""
    review = reviewed(good(name="odd\x1b[2J\nfine: no risk"))
    bundle = review._repr_mimebundle_()
    assert "\x1b" not in bundle["text/plain"] + bundle["text/html"]
    assert "\nfine" not in bundle["text/plain"]
    assert review.warnings
    assert all(warning.text in unescape(bundle["text/html"]) for warning in review.warnings)


def test_counts_what_lint_says_once(session):
    """What there is none of is not counted, and each finding names its tool and its rule."""
    review = review_of(session)
    html = review.to_html()
    assert html.count("Lint:") == 1
    assert "0 error" not in html and "0 warning" not in html
    assert html.count(f"{len(review.findings)} findings of lint") == 1
    assert html.count(f"{review.tools} tools, ") == 1
    for finding in review.findings:
        assert f">{finding.tool}</code>: " in html and finding.rule in html


@pytest.mark.parametrize("tools", [14, 300])
def test_shows_all_that_lint_says(tools):
    """After a click on "more"; of very many the last are left out, and a command lists them."""
    names = [f"tool_{number:03}" for number in range(tools)]
    server = FastMCP("one")
    for name in names:
        server.tool(lambda: "x", name=name, description="Short.")
    with MCPClient(timeout=PATIENCE) as client:
        client.connect("one", server)
        review = review_of(client.servers["one"])
    html = review.to_html()
    count = len(review.findings)
    assert count >= tools
    first, _, folded = html.partition("<details>")
    folded, _, _ = folded.partition("</details>")
    assert first.count("<li") == 8
    assert f">and {count - 8} more</summary>" in folded
    assert folded.count("<li") == min(count - 8, 200)
    command = "%tools lint --source mcp:one"
    assert (command in html) == (count > 208)
    if count > 208:
        assert f"and {count - 208} more" in folded


def test_speaks_to_the_person_who_decides(session):
    """What the author should do is of no use to somebody who cannot change the server."""
    review = review_of(session)
    assert review.findings
    for text in (str(review), unescape(review.to_html())):
        for finding in review.findings:
            assert finding.effect in text
            assert finding.fix not in text


def reviewed(*tools):
    """The review of a server with these tools."""
    server = FastMCP("one")
    for tool in tools:
        server.add_tool(tool)
    with MCPClient(timeout=PATIENCE) as client:
        client.connect("one", server)
        return review_of(client.servers["one"])


def good(**more):
    """A tool of which lint has nothing to say."""

    def find_books(title: Annotated[str, Field(description="Part of a title.")]) -> str:
        """Find the books whose title holds a text; the answer is one title a line."""
        return title

    return Tool.from_function(find_books, annotations={"readOnlyHint": True}, **more)


def test_calls_nothing_safe():
    """A server without any remark is not called safe: nobody can know that."""
    review = reviewed(good())
    assert review.concerns == []
    assert review.verdict.sentence.startswith("Yes, as far as its tools describe")
    assert "this review calls none" in str(review)
    assert "safe" not in str(review)


def test_has_no_use_for_a_server_without_tools():
    """There is nothing that a model could get."""
    assert reviewed().verdict.sentence == "No: it has no tool that can be called."


def test_points_at_what_is_below():
    """A remark that is no danger is no reason against the server."""
    described = good(name="books")
    review = replace(reviewed(described), cost=TokenCount(9_000, exact=True))
    assert review.verdict.sentence == "Yes, but read the notes below."
    assert "Its tools cost 9,000 tokens in every request" in str(review)


def test_is_against_tools_whose_calls_fail(session):
    """Errors of lint weigh more than what a tool may do."""
    review = review_of(session)
    finding = replace(review.findings[0], severity="error")
    worse = replace(review, findings=(finding, *review.findings[1:]))
    assert worse.verdict.sentence == "Not as it is: lint has errors, with which calls fail."


def test_begins_its_card_with_the_counts_and_the_verdict(session):
    """Before all single remarks."""
    html = review_of(session).to_html()
    places = [html.index(text) for text in ("in every request,", "With care:", "Lint:")]
    assert places == sorted(places)


def test_is_asked_for_in_the_explorer():
    """The button beside a connected server shows the card."""
    with MCPClient(timeout=PATIENCE) as client:
        client.connect("library", library())
        explorer = Explorer(client, "library")
        open_details(explorer)
        click(buttons(explorer)["Should I use it?"])
        eventually(lambda: "Should I use library?" in shown(explorer))
        explorer.close()
