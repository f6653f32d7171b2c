"""A timeline in a cell and in its tabs: what is sent to the page, what goes on, and what opens."""

from dataclasses import replace
from time import time

import pytest
from patience import PATIENCE, eventually
from test_agent.scripts import talk
from test_mcp.servers.shop import shop

from test_widgets.front import click, deliver, page, receive, walk
from test_widgets.tooling import buttons, wait_for_ticker
from toolbench import history, run_tool, tool
from toolbench.display.timeline import Span, Timeline
from toolbench.mcp import MCPClient
from toolbench.mcp.monitoring.spans import spans_of_session
from toolbench.widgets.explorer import Explorer
from toolbench.widgets.explorer.timeline import TimelinePane
from toolbench.widgets.panel import ToolPanel
from toolbench.widgets.timeline import DrawnTimeline, TimelineView
from toolbench.widgets.transcript.conversation_panel import ConversationPanel

pytestmark = pytest.mark.usefixtures("no_records")


@tool
def lend(book: str) -> str:
    """Lend a book."""
    if not book:
        raise ValueError("Which book?")
    return f"{book}, until Monday"


@pytest.fixture
def view(request):
    """Shows a timeline, and closes it at the end."""

    def show(timeline):
        shown = TimelineView(timeline)
        request.addfinalizer(shown.close)
        return shown

    return show


def drawn(root):
    """The widget that the page draws."""
    [widget] = [each for each in walk(root) if isinstance(each, DrawnTimeline)]
    return widget


def tell(root, **content):
    """Say something, as the page does."""
    deliver(drawn(root), {"method": "custom", "content": content})


def names(root):
    """The names of the spans that the page has, in their order."""
    found = []
    for piece in drawn(root).pieces:
        columns = piece.columns
        found += [columns["words"][number] for number in columns["name"]]
    return found


def open_span(root, place):
    """Click on the span at *place*."""
    spans = root.timeline.spans
    tell(root, open=place, start=spans[place].start, name=names(root)[place])


def test_spans_are_columns_and_texts_come_when_asked_for(view):
    """An open span has no end, line breaks are seen, and a text is not sent before somebody looks for it."""
    now = time()
    spans = (
        Span("runs", "run", "a\nb", now, now + 1, "ok", text="one\u202etwo", waited=0.5),
        Span("shop sent", "request", "tools/call", now + 2, now + 3, "open"),
    )
    shown = view(Timeline(spans))
    [piece] = drawn(shown).pieces
    assert names(shown)[1] == "tools/call" and "\n" not in names(shown)[0]
    assert piece.columns["start"] == [now, now + 2] and piece.columns["end"] == [now + 1, None]
    assert piece.columns["waited"] == [0.5, 0.0]
    assert drawn(shown).lanes == ["runs", "shop sent"] and piece.texts == []
    tell(shown, texts=True)
    assert len(piece.texts) == 2 and "one" in piece.texts[0] and "\u202e" not in piece.texts[0]


def test_what_happens_later_comes_while_it_is_in_sight(view, wire):
    """Only the pieces that changed are sent again; out of sight nothing is looked at."""
    for n in range(3):
        run_tool(lend, book=str(n))
    shown = view(history().timeline())
    first = drawn(shown).pieces[0]
    shown._due = 0
    run_tool(lend, book="Emma")
    wait_for_ticker()
    assert len(names(shown)) == 3
    tell(shown, shown=True)
    eventually(lambda: len(names(shown)) == 4)
    assert drawn(shown).pieces[0] is first
    tell(shown, shown=False)
    wait_for_ticker()
    sent = len(wire.updates())
    shown.refresh()
    assert not [state for _, state in wire.updates()[sent:] if "columns" in state]


def test_a_run_opens_and_its_tool_with_it(view):
    """Even if others came before it since the page was told its place; the next one takes its place."""
    run_tool(lend, book="Emma")
    run_tool(lend, book="")
    shown = view(history().timeline())
    open_span(shown, 1)
    assert "Which book?" in page(shown.opened.widget)
    start = shown.timeline.spans[0].start
    tell(shown, open=7, start=start, name="lend")
    assert "until Monday" in page(shown.opened.widget)
    click(buttons(shown)["Load"])
    [panel] = [each for each in walk(shown) if isinstance(each, ToolPanel)]
    assert panel.form.value == {"book": "Emma"}
    click(buttons(shown)["Close"])
    assert shown.opened is None and panel.comm is None


def test_what_nothing_knows_shows_its_text(view):
    """Of a run that is not kept any more, and of a line; hostile text is text."""
    now = time()
    line = Span("shop received", "stderr", "stderr", now, now, "ok", text="<b>cold</b>")
    gone = Span("runs", "run", "lend", now + 1, now + 2, "failed", text="gone", key="run:123456789")
    shown = view(Timeline([line, gone]))
    open_span(shown, 0)
    assert "&lt;b&gt;cold" in page(shown.opened.widget)
    open_span(shown, 1)
    assert "gone" in page(shown.opened.widget)
    before = shown.opened
    tell(shown, open=9, start=0.5, name="nothing")
    assert shown.opened is before


def test_a_message_opens_that_of_its_time_and_says_why_another_does_not(view):
    """A server that was connected anew counts its messages anew: another one is not shown in its place."""
    with MCPClient(timeout=PATIENCE) as client:
        session = client.connect("shop", shop)
        run_tool(client["basket"], item="pear")
        spans = [each for each in spans_of_session(session) if each.method == "tools/call"]
        shown = view(Timeline([*spans, replace(spans[0], start=time() + 9, text="of before")]))
        open_span(shown, 1)
        assert "Sent: request" not in page(shown.opened.widget)
        assert "of before" in page(shown.opened.widget)
        open_span(shown, 0)
        assert "Sent: request" in page(shown.opened.widget)
        shown.opened.say("A tool is running here")
        assert "A tool is running here" in page(shown.opened.widget)


def test_a_filter_of_the_cell_is_said(view):
    """The page says by what the spans were chosen, or that nothing was."""
    run_tool(lend, book="Emma")
    chosen = view(history().timeline().of("failed"))
    assert drawn(chosen).filter == "failed" and names(chosen) == []


def test_the_saved_notebook_has_the_picture(view):
    """A page without a kernel shows the timeline as it was."""
    run_tool(lend, book="Emma")
    bundle = view(history().timeline())._repr_mimebundle_()
    assert "<svg" in bundle["text/html"] and "lend" in bundle["text/plain"]


@pytest.mark.slow
def test_the_explorer_has_a_tab():
    """With the messages of the server and the runs of its tools; a message opens with its answer."""
    run_tool(lend, book="of another tool")
    with MCPClient(timeout=PATIENCE) as client:
        client.connect("shop", shop)
        run_tool(client["basket"], item="pear")
        explorer = Explorer(client)
        pane = explorer.page.details.show(TimelinePane)
        found = names(pane.widget)
        assert "basket" in found and "lend" not in found
        assert {"shop sent", "runs"} <= set(drawn(pane.widget).lanes)
        spans = list(pane.widget.timeline.spans)
        [place] = [at for at, span in enumerate(spans) if span.method == "tools/call"]
        tell(pane.widget, open=place, start=spans[place].start, name="basket")
        shown = page(pane.widget.opened.widget)
        assert "Sent: request" in shown and "Received: r" in shown
        explorer.close()


def test_the_transcript_has_a_tab():
    """With the answers of the model; one opens as the transcript shows it."""
    panel = ConversationPanel(talk(["Here you are."]))
    panel.run()
    eventually(lambda: not panel.is_busy)
    receive(panel._tabs, selected_index=1)
    [place] = [at for at, lane in enumerate(panel._timeline.timeline.spans) if lane.lane == "model"]
    span = panel._timeline.timeline.spans[place]
    tell(panel, open=place, start=span.start, name=span.name)
    assert "Here you are." in page(panel._timeline.opened.widget)
    panel.close()
