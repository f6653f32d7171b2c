"""Spans as a table by tool and as a picture: what is counted, and what the picture is made of."""

from xml.etree import ElementTree

import pytest

from toolbench.display.timeline import Span, Timeline
from toolbench.errors import FilterError

SVG = "{http://www.w3.org/2000/svg}"


def span(start, end, *, kind="run", lane="runs", state="ok", name="lend", **more):
    return Span(lane, kind, name, start, end, state, **more)


def called(start, end, *, kind="run", **more):
    """A call of a server's tool: the run, or the request."""
    lane = "runs" if kind == "run" else "lib sent"
    return span(start, end, kind=kind, lane=lane, tool="lend", server="lib", **more)


def picture_of(timeline):
    return ElementTree.fromstring(timeline.to_svg())


def test_a_call_counts_once():
    """It is a run and a request in it. A request without a run, as in a sweep, counts too."""
    timeline = Timeline(
        [
            called(1.1, 1.9, kind="request"),
            called(1.0, 2.0),
            called(5.0, 5.5, kind="request", state="failed"),
            called(7.0, 9.0, state="open"),
        ]
    )
    (row,) = timeline.by_tool()
    assert (row.name, row.calls, row.failed) == ("lib.lend", 2, 1)


def test_the_times_are_those_of_work():
    """95 of a hundred calls need at most `p95`; the time of waiting for a person is apart."""
    spans = [span(n, n + n / 1000, tool="lend") for n in range(1, 101)]
    (row,) = Timeline([*spans, span(0, 61, tool="lend", waited=60)]).by_tool()
    assert (row.p50, row.p95, row.waited) == (51.0, 96.0, 60)
    answers = [span(n, n + 1, kind="answer", tokens=70, cost=0.5) for n in (1, 2)]
    (row,) = Timeline(answers).by_tool()
    assert (row.kind, row.calls, row.tokens, row.cost) == ("model", 2, 140, 1.0)


def test_lanes_go_from_the_cause_to_the_servers():
    """Below the model, its runs and their questions: what is sent to each server, and what it sends."""
    lanes = ["b received", "a received", "b sent", "runs", "questions", "model", "a sent"]
    timeline = Timeline(span(1, 2, lane=lane) for lane in lanes)
    servers = ["a sent", "a received", "b sent", "b received"]
    assert timeline.lanes() == ["model", "runs", "questions", *servers]


def test_what_was_before_is_in_order():
    """Whatever their lanes, the last spans that began before."""
    spans = [span(n, n + 5, name=f"s{n}", lane=f"{n % 2}") for n in range(9, -1, -1)]
    timeline = Timeline(spans)
    assert [each.name for each in timeline.before(spans[2], 3).spans] == ["s4", "s5", "s6", "s7"]


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "a\x00b\ud800]]>\u202e", "&amp;"])
def test_the_picture_is_xml_that_only_shows(hostile):
    """Whatever servers call things, it has shapes and texts, and the description of each span."""
    spans = [
        span(n, n + 1, name=hostile, lane=hostile, text=hostile, state=state)
        for n, state in enumerate(("ok", "failed", "waiting", "open"))
    ]
    root = picture_of(Timeline(spans))
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= {
        "svg",
        "style",
        "g",
        "rect",
        "path",
        "text",
        "title",
    }
    assert not [name for each in root.iter() for name in each.attrib if name.startswith("on")]
    assert len([*root.iter(f"{SVG}title")]) == 4
    for text in Timeline(spans)._repr_mimebundle_().values():
        assert "<script" not in text.replace("<script>alert", "")
        assert "\x00" not in text


def test_the_picture_has_what_failed_and_says_what_it_leaves_out():
    """2,000 spans at most: what failed or waited, then the longest. Equal timelines look equal."""
    spans = [span(n, n + n % 7) for n in range(5_000)]
    spans += [span(n, n, state="failed", name="broken") for n in range(100)]
    timeline = Timeline(spans)
    titles = [title.text for title in picture_of(timeline).iter(f"{SVG}title")]
    assert len(titles) == 2_000
    assert len([title for title in titles if title.startswith("broken")]) == 100
    assert "2,000 of 5,100 spans are drawn" in timeline.to_svg()
    assert timeline.to_svg() == Timeline(reversed(spans)).to_svg()
    moments = Timeline([span(n, n) for n in range(10_000)])
    places = [float(shape.get("x")) for shape in picture_of(moments).iter(f"{SVG}rect")]
    # Also of the last tenth
    assert len([place for place in places if place > max(places) * 0.9]) > 150


def test_what_is_short_has_its_name_beside_it():
    """Up to the next in its row; a moment has none, unless it failed."""
    spans = [
        span(0, 1, name="early"),
        span(500, 501, name="crowded"),
        span(510, 511, name="late"),
        span(0, 3, lane="questions", state="waiting", name="Really?", key="run:1"),
        span(0, 0, lane="lib received", name="moment"),
        span(900, 900, lane="other received", state="failed", name="noise"),
        span(0, 1000, lane="other sent", name="long"),
    ]
    texts = {text.text for text in picture_of(Timeline(spans)).iter(f"{SVG}text")}
    assert {"early", "late", "Really?", "noise", "long"} <= texts
    assert texts.isdisjoint({"crowded", "moment"})


def test_a_run_is_hatched_where_it_waited():
    """At the place of its question, and at no other; its name is beside it."""
    runs = [span(0, 100, key="run:1", waited=80, name="asks"), span(200, 300, key="run:2")]
    wait = span(10, 90, lane="questions", kind="question", state="waiting", key="run:1")
    root = picture_of(Timeline([*runs, wait]))
    hatched = [path.get("d") for path in root.iter(f"{SVG}path") if "H" in path.get("d")]
    # Of the run, of the question, of the legend
    assert len(hatched) == 3
    left, right = ({d[1:].split(" ")[0] for d in hatched}, {d.split("H")[1] for d in hatched})
    assert len(left) == len(right) == 2
    [name] = [text for text in root.iter(f"{SVG}text") if text.text == "asks"]
    assert float(name.get("x")) > max(float(end) for end in right if float(end) < 900)


@pytest.mark.parametrize("seconds", [0, 0.0004, 0.3, 90, 7_000, 5_000_000, 500_000_000])
def test_the_axis_has_a_few_times(seconds):
    """From less than a millisecond to years, in less than a screen."""
    texts = [
        text.text for text in picture_of(Timeline([span(1e9, 1e9 + seconds)])).iter(f"{SVG}text")
    ]
    assert len([text for text in texts if ":" in text]) <= 8
    assert seconds == 0 or len([text for text in texts if ":" in text]) >= 1


def test_a_filter_is_that_of_all_rows():
    """By the keys of a span; a tool has its address too, and an unknown key is named."""
    spans = [called(1, 2), called(3, 3.1, state="failed"), span(4, 9, tool="lend", waited=4.9)]
    timeline = Timeline(spans)
    for words, starts in {
        "ms>500": [1],
        "error": [3],
        "tool:lib.lend": [1, 3],
        "time:00": [1, 3, 4],
    }.items():
        assert [each.start for each in timeline.of(words).spans] == starts, words
    # A tool has two names, and a word is in its address too
    tools = Timeline([called(1, 2), span(3, 4, tool="lend"), span(5, 6, tool="find", name="find")])
    for words, count in (
        ("tool=lend", 2),
        ("tool=lib.lend", 1),
        ("tool!=lend", 1),
        ("lib.lend", 1),
    ):
        assert len(tools.of(words)) == count, words
    with pytest.raises(FilterError, match=r"No key is called 'lanes'.* Did you mean 'lane'"):
        timeline.of("lanes:runs")


def test_nothing_is_said_in_words():
    """Also what a filter leaves."""
    assert Timeline()._repr_mimebundle_()["text/plain"] == "Nothing has happened yet."
    moment = Timeline([span(1, 1)]).of("lend")._repr_mimebundle_()["text/plain"]
    assert "1 span matching lend" in moment
    assert moment.count("lend") == 2
    empty = Timeline([span(1, 2)]).of("zebra")
    assert empty._repr_mimebundle_()["text/plain"] == "Nothing matches 'zebra'."
