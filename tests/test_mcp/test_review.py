"""Whether to use a server: what is said of its tools before a model gets them."""

import pytest
from fastmcp import FastMCP
from test_display.inert import problems
from test_widgets.front import click
from test_widgets.tooling import buttons, shown, until

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
    with MCPClient(timeout=20) as client:
        client.connect("library", library())
        yield client.servers["library"]


def test_says_what_to_look_at(session):
    """Tools, tokens, risks that are declared or not, and what lint says."""
    review = review_of(session)
    assert review.tools == 3
    assert review.destructive == ("delete_book",)
    assert review.undeclared == ("odd",)
    assert review.cost.tokens > 0
    assert review.summary.startswith("3 tools, 1 undeclared, ")
    text = str(review)
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


def test_counts_what_lint_says_once(session):
    """What there is none of is not counted, and each finding names its tool and its rule."""
    review = review_of(session)
    html = review.to_html()
    assert html.count("Lint:") == 1
    assert "0 error" not in html and "0 warning" not in html
    assert f"{len(review.findings)} findings of lint" in html
    for finding in review.findings:
        assert f">{finding.tool}</code>" in html and finding.rule in html


def test_calls_nothing_safe():
    """A server without any remark is not called safe: nobody can know that."""
    with MCPClient(timeout=20) as client:
        client.connect("empty", FastMCP("empty"))
        review = review_of(client.servers["empty"])
    assert review.concerns == []
    assert "safe" not in str(review)


def test_is_asked_for_in_the_explorer():
    """The button beside a connected server shows the card."""
    with MCPClient(timeout=20) as client:
        client.connect("library", library())
        explorer = Explorer(client, "library")
        click(buttons(explorer)["Should I use it?"])
        until(lambda: "Should I use library?" in shown(explorer))
        explorer.close()
