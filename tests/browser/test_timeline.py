"""A timeline by hand: keys, a click, a drag, a filter, its tables; in each theme, and in a narrow window."""

import re

import pytest
from patience import eventually
from playwright.sync_api import Locator, expect

from browser.axe import violations
from browser.lab import NotebookPage

BOX = ".toolbench-timeline-box"
RUNS = """\
from toolbench import history, run_tool, tool
from toolbench.runs.history import history

@tool
def lend(book: str, days: int = 7) -> str:
    '''Lend a book.'''
    if book == "none":
        raise ValueError("There is no such book")
    return f"{book} for {days} days"

history().clear()
for book in ("Emma", "none", "Dune"):
    run_tool(lend, book=book)
history().timeline()"""
# A session of an hour, with everything that a timeline can show
SESSION = """\
from toolbench.display.timeline import Span, Timeline
spans, start = [], 1_800_000_000
for n in range(60):
    begin = start + 60 * n
    spans.append(Span("model", "answer", "m", begin, begin + 4, "ok", tokens=100, cost=0.01))
    spans.append(Span("runs", "run", "lend", begin + 5, begin + 25, "ok", tool="lend", server="lib", waited=9))
    spans.append(Span("questions", "question", "Lend it?", begin + 10, begin + 19, "waiting", tool="lend"))
    state = "failed" if n % 10 == 9 else "ok"
    spans.append(Span("lib sent", "request", "find", begin + 30, begin + 30.5, state, tool="find", server="lib"))
    spans.append(Span("lib received", "stderr", "stderr", begin + 31, begin + 31, "ok", text=f"cold {n}"))
spans.append(Span("runs", "run", "lend", start + 3600, start + 3660, "open", tool="lend"))
Timeline(spans)"""
RESTART = "async () => await rig.panel().sessionContext.session.kernel.restart()"
INK = """canvas => {
  const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let ink = 0;
  for (let at = 3; at < data.length; at += 4) ink += data[at] > 0;
  return ink;
}"""


def opened(lab: NotebookPage, source: str) -> Locator:
    """Run *source* in a notebook, and return its timeline."""
    lab.share("%load_ext toolbench", source)
    lab.run_all()
    lab.wait_for_module()
    box = lab.output(1).locator(BOX)
    box.locator(".toolbench-span-title").first.wait_for()
    return box


def drag(box: Locator, begin: float, end: float) -> None:
    """Drag with the mouse, from one part of the width of the lanes to another."""
    mouse = box.page.mouse
    place = box.locator(".toolbench-span-stage").bounding_box()
    assert place is not None
    top = place["y"] + place["height"] - 3
    mouse.move(place["x"] + begin * place["width"], top)
    mouse.down()
    mouse.move(place["x"] + end * place["width"], top, steps=4)
    mouse.up()


def test_keys_go_from_span_to_span_and_open_one(lab: NotebookPage) -> None:
    """A line says each; the run opens below, and its tool with its arguments."""
    box = opened(lab, RUNS)
    stage = box.get_by_role("application")
    stage.focus()
    said = box.locator(".toolbench-span-said")
    for words in ("lend · ok", "lend · failed"):
        stage.press("ArrowRight")
        expect(said).to_contain_text(words)
    expect(said).to_contain_text("There is no such book")
    stage.press("Enter")
    expect(box.locator(".toolbench-span-opened")).to_contain_text("There is no such book")
    stage.press("End")
    stage.press("Enter")
    expect(box.locator(".toolbench-span-opened")).to_contain_text("Dune for 7 days")
    box.get_by_role("button", name="Load").click()
    expect(box.get_by_label("book", exact=True)).to_have_value("Dune")
    expect(stage).to_have_attribute("aria-label", re.compile("^Timeline, 3 spans"))


def test_what_happens_later_comes_by_itself(lab: NotebookPage) -> None:
    """The lanes follow the session, until the kernel goes; a click on a span opens it."""
    box = opened(lab, RUNS)
    status = box.locator(".toolbench-filter [role=status]")
    expect(status).to_have_text("3 of 3 spans")
    run = "code => rig.panel().sessionContext.session.kernel.requestExecute({code}).done.then(() => 1)"
    lab.tab.page.evaluate(run, "run_tool(lend, book='Ulysses')")
    expect(status).to_have_text("4 of 4 spans")
    stage = box.locator(".toolbench-span-stage")
    place = stage.bounding_box()
    assert place is not None
    # The last one ends at the right edge, before a margin of a hundredth
    stage.click(position={"x": place["width"] * 0.99 - 2, "y": 12})
    expect(box.locator(".toolbench-span-opened")).to_contain_text("Ulysses for 7 days")
    lab.tab.page.evaluate(run, "history().clear()")
    expect(status).to_have_text("Nothing has happened yet.")
    expect(stage).to_be_hidden()
    lab.tab.page.evaluate(run, "run_tool(lend, book='Emma')")
    expect(status).to_have_text("1 of 1 span")
    lab.tab.page.evaluate(RESTART)
    lab.wait_until_ready()
    stage.press("Home")
    stage.press("Enter")
    expect(box.locator(".toolbench-span-said")).to_contain_text("Emma")
    assert not [line for line in lab.tab.console_errors if "uncaught" in line]


@pytest.mark.usefixtures("looks")
def test_a_session(lab: NotebookPage) -> None:
    """One timeline for all, because it takes long to open."""
    lab.tab.page.set_viewport_size({"width": 1280, "height": 1100})
    box = opened(lab, SESSION)
    status = box.locator(".toolbench-filter [role=status]")
    table = box.get_by_role("group", name=re.compile("^What they took"))
    expect(status).to_have_text("301 of 301 spans")
    expect(table.get_by_role("row").nth(1)).to_have_text(
        re.compile(r"^lib\.lend60.*11 s.*9 min 0 s")
    )
    expect(table.get_by_role("row").filter(has_text="$0.6000")).to_contain_text("6,000")
    canvas = box.locator("canvas")
    assert canvas.evaluate(INK) > 10_000
    faults = []
    for theme in lab.themes():
        for width in (1280, 760):
            lab.tab.page.set_viewport_size({"width": width, "height": 1100})
            lab.show(1)
            eventually(
                lambda: canvas.evaluate(
                    "c => c.width === c.parentElement.clientWidth * devicePixelRatio"
                ),
                what="the lanes are as wide as the page",
            )
            lab.picture(f"timeline-{theme}-{width}")
            faults += [f"{theme}, {width}: {fault}" for fault in violations(lab.tab.page, BOX)]
    assert faults == []
    lab.tab.page.set_viewport_size({"width": 1280, "height": 1100})
    _filters(box, status, table)
    _zooms(box, table)


def _filters(box: Locator, status: Locator, table: Locator) -> None:
    """In the language of all filters, also by the texts, which come when they are needed."""
    field = box.get_by_label("Filter rows")
    field.fill("state:failed tool:lib.find")
    expect(status).to_have_text("6 of 301 spans")
    expect(table.get_by_role("row")).to_have_count(2)
    for words, left in (("tool=find", 60), ("tool=lib.find", 60), ("kind:request tool!=find", 0)):
        field.fill(words)
        expect(status).to_have_text(f"{left} of 301 spans")
    field.fill("cold")
    expect(status).to_have_text("60 of 301 spans")
    field.fill("")


def _zooms(box: Locator, table: Locator) -> None:
    """With Shift and a drag to a time, to which the tables keep; 0 shows the whole."""
    spans = box.locator("summary", has_text="All spans in a table")
    expect(spans).to_contain_text("(301)")
    box.page.keyboard.down("Shift")
    drag(box, 0.5, 0.6)
    box.page.keyboard.up("Shift")
    expect(spans).to_contain_text(re.compile(r"\((2\d|3\d)\)"))
    spans.click()
    rows = box.get_by_role("group", name="Spans").get_by_role("row")
    expect(rows.filter(has_text="stderr")).not_to_have_count(0)
    rows.filter(has_text="stderr").first.get_by_role("button").click()
    expect(box.locator(".toolbench-span-opened")).to_contain_text("cold")
    assert violations(box.page, BOX) == []
    before = table.locator("caption").inner_text()
    drag(box, 0.2, 0.6)
    expect(table.locator("caption")).not_to_have_text(before)
    box.get_by_role("application").press("0")
    expect(spans).to_contain_text("(301)")
