// A table that is wider than its frame fades out at the edge behind which there is more of it: a page
// need not show a scroll bar before somebody scrolls.

import { allIn } from "./ours";

const TABLES = "[data-toolbench-listing] > table, .toolbench-run-table, .toolbench-table";
const FADES = "toolbench-fades";
const known = new WeakSet<Element>();

export function fadeEdges(root: ParentNode): void {
  for (const table of allIn(root, TABLES)) {
    const frame = table.parentElement;
    if (!frame || known.has(frame)) continue;
    known.add(frame);
    const look = (): void => {
      const rest = frame.scrollWidth - frame.clientWidth - Math.abs(frame.scrollLeft);
      frame.classList.toggle(FADES, rest > 1);
    };
    frame.addEventListener("scroll", look, { passive: true });
    const observer = new ResizeObserver(look); // it looks after the page was laid out, which costs nothing
    observer.observe(frame);
    observer.observe(table);
  }
}
