"""A timeline of 10,000 spans in JupyterLab: drawn, zoomed with the wheel, filtered."""

from dataclasses import dataclass

from dom import Lab
from measuring import fewer

ROUNDS = 5
FRAMES = 120
SETUP = """
from random import Random
from time import time
from toolbench.display.timeline import Span, Timeline
from toolbench.widgets.timeline import TimelineView

KINDS = {"runs": "run", "model": "answer", "questions": "question"}
random, start, spans = Random(47), time() - 3600, []
for n in range(10_000):
    server = f"server {n % 3}"
    lanes = ("runs", f"{server} sent", f"{server} received", "model", "questions")
    lane = random.choices(lanes, (3, 3, 4, 1, 0.3))[0]
    kind = KINDS.get(lane, "request" if lane.endswith("sent") else "progress")
    state = "failed" if random.random() < 0.05 else "ok"
    if kind == "question":
        state = "waiting"
    end = start if kind == "progress" else start + random.lognormvariate(-2, 1)
    spans.append(Span(lane, kind, f"tool_{n % 12}", start, end, state,
        f"event {n} of a session, in some words", f"run:{n}", tool=f"tool_{n % 12}", server=server))
    start += 0.36
timeline = Timeline(spans)
"""
# Runs a cell; resolves to the ms until its spans are drawn: since then, and since the widget is in the page.
_DRAW = """
    index => new Promise((resolve, reject) => {
      const cell = rig.panel().content.widgets[index].node;
      const [old, start] = [cell.querySelector(".toolbench-timeline"), performance.now()];
      let came = null;
      const watch = new MutationObserver(() => {
        const now = cell.querySelector(".toolbench-timeline");
        if (!now || now === old) return;
        came ??= performance.now();
        if (!now.querySelector("[role=status]").textContent.startsWith("10,000 of 10,000")) return;
        watch.disconnect();
        requestAnimationFrame(() => setTimeout(() => resolve([performance.now() - start, performance.now() - came])));
      });
      watch.observe(cell, {childList: true, subtree: true, characterData: true});
      rig.runCell(index);
      setTimeout(() => reject(new Error("no timeline")), 60_000);
    })
"""
# Zooms in and out with the wheel, a step each frame; resolves to the ms from frame to frame.
_ZOOM = """
    ([index, frames]) => new Promise(resolve => {
      const stage = rig.panel().content.widgets[index].node.querySelector(".toolbench-span-stage");
      const {left, top, width} = stage.getBoundingClientRect();
      const times = [];
      const step = now => {
        times.push(now);
        if (times.length > frames) return resolve(times.slice(1).map((time, at) => time - times[at]));
        const deltaY = times.length < frames / 2 ? -8 : 8;
        stage.dispatchEvent(new WheelEvent("wheel",
          {deltaY, ctrlKey: true, clientX: left + width / 3, clientY: top + 20, bubbles: true, cancelable: true}));
        requestAnimationFrame(step);
      };
      requestAnimationFrame(step);
    })
"""
# Types a filter; resolves to the ms until the frame with what is left is drawn, and to what the page says.
_FILTER = """
    ([index, text]) => new Promise(resolve => requestAnimationFrame(() => {
      const element = rig.panel().content.widgets[index].node.querySelector(".toolbench-timeline");
      const field = element.querySelector("input");
      const begin = performance.now();
      field.value = text;
      field.dispatchEvent(new Event("input", {bubbles: true}));
      requestAnimationFrame(() => setTimeout(() =>
        resolve([performance.now() - begin, element.querySelector("[role=status]").textContent])));
    }))
"""
WORDS = ("state:failed", "tool_7", "ms>500 lane:runs", "event words", "kind=question", "")


@dataclass
class Seen:
    """What a person saw of a timeline of 10,000 spans, in seconds; a value for each time."""

    whole: list[float]
    """Since the cell was run, with the kernel's part."""
    drawn: list[float]
    frames: list[float]
    filtered: list[float]


def seen_timeline(lab: Lab) -> Seen:
    """Draw the timeline, zoom it with the wheel and filter it, some times."""
    seen = Seen([], [], [], [])
    with lab.opened({"timeline": "TimelineView(timeline)"}, SETUP) as page:
        page.run(0)
        page.show(1)
        for _ in range(fewer(ROUNDS)):
            since_run, since_widget = page.tab.page.evaluate(_DRAW, 1)
            seen.whole.append(since_run / 1000)
            seen.drawn.append(since_widget / 1000)
            page.wait_until_done()
            page.tab.page.wait_for_timeout(500)
            seen.frames += [ms / 1000 for ms in page.tab.page.evaluate(_ZOOM, [1, FRAMES])]
            # The texts of the spans come when somebody looks for them
            page.output(1).locator(".toolbench-timeline input").focus()
            page.tab.page.wait_for_timeout(1000)
            for words in WORDS:
                ms, said = page.tab.page.evaluate(_FILTER, [1, words])
                assert words == "" or " of 10,000" in said, said
                assert words == "" or not said.startswith(("0 ", "10,000")) or "event" in words
                seen.filtered.append(ms / 1000)
        assert page.errors() == [], page.errors()
    return seen
