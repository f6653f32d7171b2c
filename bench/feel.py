"""What a person feels of one thing done in a page: first and last change, longest task, bytes."""

from collections.abc import Callable
from dataclasses import dataclass

from browser.lab import NotebookPage
from playwright.sync_api import Locator

# Ms without a change mean that all is drawn; or twice the longest time between two changes
QUIET = 500
# Ms before something is done: what was done before has been quiet already
PAUSE = 100
# Watches the output of a cell from the next key or click on, or from now on.
_WATCH = """
    ([index, now]) => {
      const feel = window.feel = {start: null, first: null, last: null, gap: 0, tasks: [], runs: now};
      const begin = () => { feel.start ??= performance.now(); };
      if (now) begin();
      for (const kind of ["pointerdown", "keydown"])
        document.addEventListener(kind, begin, {capture: true, once: true});
      const area = rig.panel().content.widgets[index].node
        .querySelector(".jp-Cell-outputWrapper");
      feel.changes = new MutationObserver(() => {
        if (feel.start === null) return;
        const now = performance.now();
        feel.gap = Math.max(feel.gap, now - (feel.last ?? now));
        feel.last = now;
        feel.first ??= now;
      });
      const what = {childList: true, subtree: true, attributes: true, characterData: true};
      feel.changes.observe(area, what);
      feel.long = new PerformanceObserver(list =>
        feel.tasks.push(...list.getEntries().map(task => task.duration)));
      feel.long.observe({type: "longtask"});
      if (now) rig.runCell(index);
    }
"""
# A cell that runs may send nothing for a while before its last output.
_IS_DRAWN = """
    quiet => feel.last !== null &&
      performance.now() - feel.last > Math.max(quiet, 2 * feel.gap) &&
      (!feel.runs || rig.outcome === "done")
"""
_TAKEN = """
    () => {
      feel.changes.disconnect();
      feel.long.disconnect();
      return [feel.first - feel.start, feel.last - feel.start, Math.max(0, ...feel.tasks)];
    }
"""


@dataclass
class Felt:
    """One thing that was done in the page; times in seconds."""

    first: float
    last: float
    task: float
    """Chromium notes tasks of 50 ms and more; 0 if there was none."""
    bytes: int


class Feeler:
    """Does things in the cells of one page, and measures them."""

    def __init__(self, page: NotebookPage, quiet: int = QUIET) -> None:
        """Count what comes over the page's WebSockets from now on; see `QUIET` for *quiet*."""
        self._page, self._bytes, self._quiet = page, 0, quiet
        session = page.tab.page.context.new_cdp_session(page.tab.page)
        session.send("Network.enable")
        session.on("Network.webSocketFrameReceived", self._on_frame)

    def _on_frame(self, event: dict) -> None:
        frame = event["response"]
        size = len(frame["payloadData"])
        self._bytes += size * 3 // 4 if frame["opcode"] == 2 else size

    def run(self, index: int) -> Felt:
        """Run a cell anew; measure until its output is drawn."""
        return self._measured(index, None)

    def do(self, index: int, act: Callable[[Locator], object]) -> Felt:
        """Do *act* in the output of a cell, from its first key or click on."""
        return self._measured(index, act)

    def _measured(self, index: int, act: Callable[[Locator], object] | None) -> Felt:
        tab = self._page.tab.page
        self._page.show(index)
        tab.wait_for_timeout(PAUSE)
        before = self._bytes
        tab.evaluate(_WATCH, [index, act is None])
        if act is not None:
            act(self._page.output(index))
        # Longer: nothing changes
        tab.wait_for_function(_IS_DRAWN, arg=self._quiet, timeout=60_000)
        first, last, task = (ms / 1000 for ms in tab.evaluate(_TAKEN))
        return Felt(first, last, task, self._bytes - before)
