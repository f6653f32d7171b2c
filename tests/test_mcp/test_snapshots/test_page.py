"""The page that shows what changed: complete, escaped, old and new side by side."""

from toolbench.display.page import whole_page
from toolbench.mcp.snapshots.page import changes_page
from toolbench.mcp.snapshots.snapshot import Snapshot


def snapshot(description, **schema):
    tool = {"name": "t", "description": description}
    return Snapshot({"tools": {"t": {**tool, "inputSchema": {"type": "object", **schema}}}})


def test_marks_the_words_that_changed():
    """Of a description, the words that differ are marked on their side, and no others."""
    changes = snapshot("Add two numbers.").diff(snapshot("Add three numbers."))
    page = changes_page(changes, before="shop.json", after="shop")
    assert "<pre>Add <del>two</del> numbers.</pre>" in page
    assert "<pre>Add <ins>three</ins> numbers.</pre>" in page
    assert "shop.json" in page


def test_is_a_page_as_all_others_are():
    """It has the shell of every page that is saved: no script, no network, light and dark."""
    page = changes_page(snapshot("a").diff(snapshot("b")), before="<old>", after="new")
    head, _, body = page.partition("<body")
    assert head == whole_page("&lt;old&gt; → new", "", width="").partition("<body")[0]
    assert "<h1>&lt;old&gt; → new</h1>" in body


def test_shows_every_change_under_its_meaning():
    """What breaks comes first; each change is there with its sentence and its path."""
    before, after = snapshot("Add."), snapshot("Adds.", required=["a"])
    changes = before.diff(after)
    page = changes_page(changes)
    assert page.index("breaking") < page.index("routing")
    for change in changes:
        assert change.where in page
    # Nothing was required before
    assert "<em>nothing</em>" in page


def test_lets_no_markup_of_a_server_through():
    """What a server writes is text, on both sides, in sentences and in paths."""
    before = snapshot("<script>alert(1)</script>")
    after = snapshot("<img src=x onerror=alert(1)>\u202e", properties={"<b>": {}})
    page = changes_page(before.diff(after), before="<i>", after="</title><script>")
    for markup in ("<script", "<img", "<b>", "<i>", "\u202e"):
        assert markup not in page
