// The table of earlier runs. A click on a row or its button chooses the run in the hidden list of
// ipywidgets. Times are shown in the time zone of the browser.

import { allIn } from "./ours";

const TABLE = "[data-toolbench-runs]";
const ROW = "[data-toolbench-run]";
const HOURS: Intl.DateTimeFormatOptions = { hourCycle: "h23" }; // as in all other times
const known = new WeakSet<Element>();

export function enhanceRuns(root: ParentNode): void {
  for (const table of allIn<HTMLTableElement>(root, TABLE)) {
    if (known.has(table)) continue;
    known.add(table);
    const rows = [...table.querySelectorAll<HTMLTableRowElement>(ROW)];
    rows.forEach((row) => enhance(row, rows));
    mark(rows, rows[0]); // the newest is open
  }
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
    choose(row);
    mark(rows, row);
  });
}

function choose(row: HTMLTableRowElement): void {
  const list = row.closest(".toolbench-runs")?.querySelector("select");
  if (!list) return;
  list.selectedIndex = Number(row.dataset.toolbenchRun);
  list.dispatchEvent(new Event("change", { bubbles: true }));
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
