"""The report of checks: a row opens into what differs and the panel of the call, and *Accept* writes."""

from html import unescape

import pytest
from payloads import some_payloads

from test_widgets.front import click, deliver, page, walk
from test_widgets.tooling import buttons
from toolbench import answering, current_run, tool
from toolbench.checks import Check, Checks
from toolbench.widgets.panel import ToolPanel
from toolbench.widgets.report_panel import CheckPanel

TEXT = """\
# Our books
checks:
- name: one   # by hand
  tool: find
  arguments: {title: Em}
  expect:
    result: {total: 1, books: [{title: Emma, id: 7}]}   # of May
- {name: two, tool: find, arguments: {title: Walden}, expect: {result: {total: 0, books: []}}}
- {name: slow, tool: find, arguments: {title: No}, expect: {result: {}, seconds: 0.000000001}}
- {name: gone, tool: nowhere}
"""


@tool(read_only=True)
def find(title: str) -> dict:
    """Find books."""
    books = [{"title": "Emma", "id": 8}]
    if title != "Em":
        books = []
    return {"total": len(books), "books": books}


@pytest.fixture
def path(tmp_path):
    """A file that a user has written."""
    path = tmp_path / "books.checks.yaml"
    path.write_text(TEXT)
    return path


def panel_of(path):
    return CheckPanel(Checks.read(path).run([find]))


def shown(panel):
    """The words on the page."""
    return unescape(page(panel))


def calls(panel):
    """The panels of the open call."""
    return [part for part in walk(panel) if isinstance(part, ToolPanel)]


def open_row(panel, row):
    """Do what the page does after a click on the *row*."""
    rows = [
        part for part in walk(panel) if "data-toolbench-opens" in str(getattr(part, "value", ""))
    ]
    deliver(rows[0], {"method": "custom", "content": {"picked": row}})


def test_a_row_opens_what_differs_and_the_panel_of_its_call(path, wire):
    """The first failure is open; another takes its place, and closes its panel."""
    panel = panel_of(path)
    [call] = calls(panel)
    assert call.form.value == {"title": "Em"} and call.record is None
    assert "<del>7</del> → <ins>8</ins>" in shown(panel)
    open_row(panel, "3")
    assert call.comm is None and "There is no tool 'nowhere'" in shown(panel)
    for row in ("1", "9", "x"):
        open_row(panel, row)
        assert "Accept" not in buttons(panel) and calls(panel)[0].form.value == {"title": "Walden"}
    panel.close()
    assert wire.live == set()


def test_one_click_accepts_the_result_that_the_check_saw(path):
    """The file keeps all else; the row, the page and the saved notebook say it. A second click is none."""
    panel = panel_of(path)
    accept = buttons(panel)["Accept"]
    click(accept)
    click(accept)
    assert path.read_text() == TEXT.replace("id: 7", "id: 8")
    assert "Accept" not in buttons(panel) and "Our books" not in shown(panel)
    assert [result.state for result in panel.report] == ["accepted", "passed", "failed", "missing"]
    for html in (shown(panel), unescape(panel._repr_mimebundle_()["text/html"])):
        assert "2 of 4 checks passed" in html and "1 accepted" in html
    assert Checks.read(path).run([find])[0].state == "passed"


def test_an_answer_by_hand_is_accepted_with_its_result(tmp_path):
    """A shell, where nobody answers, has it from the file."""

    @tool(read_only=True)
    def lend(title: str) -> str:
        """Lend a book."""
        return "lent" if current_run().ask(f"Lend {title}?") else "kept"

    path = tmp_path / "lend.checks.yaml"
    path.write_text(
        "checks:\n- {name: lends, tool: lend, arguments: {title: Emma}, expect: {text: gone}}\n"
    )
    with answering(True):
        panel = CheckPanel(Checks.read(path).run([lend]))
    click(buttons(panel)["Accept"])
    [check] = Checks.read(path)
    assert (check.answers, check.expect) == ((True,), {"text": "lent"})
    assert Checks.read(path).run([lend], attended=False).passed


def test_what_would_fail_again_is_not_accepted(path):
    """A limit of time stays; the sentence says where to change it."""
    panel = panel_of(path)
    open_row(panel, "2")
    click(buttons(panel)["Accept"])
    assert "With this result it would fail as well: it took" in shown(panel)
    assert "in books.checks.yaml" in shown(panel) and path.read_text() == TEXT


def test_a_check_that_was_changed_since_is_not_overwritten(path):
    """Nor is one that is gone, or in a file that cannot be read."""
    panel = panel_of(path)
    for text in (TEXT.replace("title: Em}", "title: E}"), "checks: []", "checks: ["):
        path.write_text(text)
        click(buttons(panel)["Accept"])
        assert "Run the checks again." in shown(panel) or "cannot be used" in shown(panel)
        assert path.read_text() == text


def test_without_a_file_there_is_nothing_to_accept_into():
    """The rest is as with a file."""
    check = Check("one", "find", arguments={"title": "Em"}, expect={"result": {"total": 2}})
    panel = CheckPanel(Checks([check]).run([find]))
    assert "Accept" not in buttons(panel)
    assert "<del>2</del> → <ins>1</ins>" in shown(panel)


def test_marks_no_difference_that_a_rule_allows():
    """But each of a list that has become longer; what is no difference is a sentence."""
    rows = tool(lambda: [{"n": 1, "at": "x"}, {"n": 2}], name="rows", read_only=True)
    wanted = [{"n": 1, "at": "y"}]
    longer = Check("longer", "rows", expect={"result": wanted})
    html = shown(CheckPanel(Checks([longer]).run([rows])))
    assert "[0].at" in html and "[1]" in html and "new: <ins>" in html
    expect = {"result": {"total": 1, "books": []}, "match": {"books": "any"}, "seconds": 1e-9}
    slow = Check("slow", "find", arguments={"title": "Em"}, expect=expect)
    html = shown(CheckPanel(Checks([slow]).run([find])))
    assert "at most 1e-09 s were expected" in html and "<ins>" not in html


@some_payloads
def test_hostile_texts_stay_texts(payloads):
    """Of a file, and of what a tool returns."""
    for payload in payloads:
        say = tool(lambda text: {"said": text}, name="say", read_only=True)
        expect = {"result": {"said": f"{payload}!", payload: 1}}
        check = Check(payload, "say", arguments={"text": payload}, expect=expect)
        html = page(CheckPanel(Checks([check]).run([say])))
        assert "<" not in payload or payload not in html
