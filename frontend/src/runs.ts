// The table of earlier runs. The kernel is told the run whose row or button is clicked. Times are shown
// in the time zone of the browser. A new run makes a new table: the focus stays on the button of its run,
// and the list stays where it was scrolled to.

import { pick } from "./clicks";
import { allIn } from "./ours";
import { WIDGET } from "./saving";

const TABLE = "[data-toolbench-runs]";
const VIEW = ".toolbench-runs";
const ROW = "[data-toolbench-run]";
const HOURS: Intl.DateTimeFormatOptions = { hourCycle: "h23" }; // as in all other times
const known = new WeakSet<Element>();
const scrolled = new WeakMap<Element, { top: number; height: number }>(); // by view
const focused = new WeakMap<Element, string>(); // by view: the time of the run with the focus

export function enhanceRuns(root: ParentNode): void {
  for (const table of allIn<HTMLTableElement>(root, TABLE)) {
    if (known.has(table)) continue;
    known.add(table);
    const rows = [...table.querySelectorAll<HTMLTableRowElement>(ROW)];
    rows.forEach((row) => enhance(row, rows));
    const chosen = Number(table.dataset.toolbenchRuns);
    mark(rows, rows[chosen]);
    const scroller = table.parentElement;
    if (!scroller) continue;
    const owner = table.closest(VIEW);
    if (owner && chosen > 0) restoreScroll(owner, scroller);
    if (owner) restoreFocus(owner, rows);
    remember(scroller);
  }
}

function restoreScroll(owner: Element, scroller: Element): void {
  const before = scrolled.get(owner);
  if (before) scroller.scrollTop = before.top + scroller.scrollHeight - before.height;
}

function restoreFocus(owner: Element, rows: HTMLTableRowElement[]): void {
  const time = focused.get(owner);
  if (time === undefined || document.activeElement !== document.body) return;
  const row = rows.find((each) => each.querySelector("time")?.dateTime === time);
  row?.querySelector("button")?.focus({ preventScroll: true });
}

/** Remember where *scroller* is scrolled to, and which run in it has the focus. */
function remember(scroller: HTMLElement): void {
  const owner = (): Element => scroller.closest(VIEW) ?? scroller; // it may get its class late
  scroller.addEventListener(
    "scroll",
    () => scrolled.set(owner(), { top: scroller.scrollTop, height: scroller.scrollHeight }),
    { passive: true },
  );
  scroller.addEventListener("focusin", (event) => {
    const time = event.target instanceof Element ? event.target.querySelector("time") : null;
    if (time) focused.set(owner(), time.dateTime);
  });
  scroller.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget) focused.delete(owner()); // without one, the table may be gone
  });
}

function enhance(row: HTMLTableRowElement, rows: HTMLTableRowElement[]): void {
  const time = row.querySelector("time");
  if (!time) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "toolbench-open";
  time.textContent = localTime(time.dateTime) ?? time.textContent;
  time.replaceWith(button);
  button.append(time);
  row.addEventListener("click", () => {
    const table = row.closest(WIDGET);
    if (table) pick(table, row.dataset.toolbenchRun ?? "");
    mark(rows, row);
  });
}

function mark(rows: HTMLTableRowElement[], chosen?: HTMLTableRowElement): void {
  for (const row of rows) {
    const isChosen = row === chosen;
    row.classList.toggle("toolbench-chosen", isChosen);
    row.querySelector("button")?.setAttribute("aria-expanded", String(isChosen));
  }
}

/** The local time of *stamp*; if the day is not today, with the day before the time. */
function localTime(stamp: string): string | null {
  const moment = new Date(stamp);
  if (Number.isNaN(moment.getTime())) return null;
  const isToday = moment.toDateString() === new Date().toDateString();
  return isToday ? moment.toLocaleTimeString([], HOURS) : moment.toLocaleString([], HOURS);
}
