// The table of earlier runs. The kernel is told the run whose row or button is clicked. Times are shown
// in the time zone of the browser. A row stays while its run is listed: so the focus stays where it is.

import { follow, type Model } from "./connection";
import { fadeEdges } from "./edges";
import { part } from "./listbox";

const HEADS = ["Time", "State", "Arguments", "Duration", "Source"];
const HOURS: Intl.DateTimeFormatOptions = { hourCycle: "h23" }; // as in all other times

/** A row of `Runs`. */
type Run = [key: string, started: string, state: string, tone: string, args: string, took: string, source: string];

/** Draw in *el* the runs of *model*, until *signal*. */
export function runs(model: Model, el: HTMLElement, signal: AbortSignal): void {
  el.classList.add("toolbench-run-list");
  el.tabIndex = 0;
  el.setAttribute("role", "group");
  el.setAttribute("aria-label", "Runs");
  const table = document.createElement("table");
  table.className = "toolbench-run-table";
  const head = table.createTHead().insertRow();
  for (const name of HEADS) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = name;
    head.append(cell);
  }
  const body = table.createTBody();
  el.append(table);
  const rows = new Map<string, HTMLTableRowElement>();
  const mark = (chosen: unknown): void => {
    for (const [key, row] of rows) {
      row.classList.toggle("toolbench-chosen", key === chosen);
      row.querySelector("button")?.setAttribute("aria-expanded", String(key === chosen));
    }
  };
  const pick = (key: string): void => {
    model.send({ picked: key }, {});
    mark(key);
  };
  const show = (): void => {
    const listed = model.get("rows") as Run[];
    const keys = new Set(listed.map((run) => run[0]));
    const height = el.scrollHeight;
    el.hidden = listed.length === 0;
    for (const [key, row] of rows) if (!keys.has(key) && rows.delete(key)) row.remove();
    listed.forEach((run, place) => {
      const row = rows.get(run[0]) ?? rowOf(run, pick);
      rows.set(run[0], row);
      if (body.rows[place] !== row) body.insertBefore(row, body.rows[place] ?? null);
    });
    if (el.scrollTop > 0) el.scrollTop += el.scrollHeight - height; // new runs come above what is seen
    mark(model.get("picked"));
  };
  show();
  fadeEdges(el);
  follow(model, "change", show, signal);
}

function rowOf([key, started, state, tone, args, took, source]: Run, pick: (key: string) => void): HTMLTableRowElement {
  const row = document.createElement("tr");
  row.addEventListener("click", () => pick(key));
  const time = document.createElement("time");
  time.dateTime = started;
  time.textContent = localTime(started);
  const open = document.createElement("button");
  open.type = "button";
  open.className = "toolbench-open";
  open.append(time);
  const badge = part("toolbench-badge", state);
  badge.dataset.tone = tone;
  for (const content of [open, badge, args, took, source]) row.insertCell().append(content);
  return row;
}

/** The local time of *stamp*; if the day is not today, with the day before the time. */
function localTime(stamp: string): string {
  const moment = new Date(stamp);
  const isToday = moment.toDateString() === new Date().toDateString();
  return isToday ? moment.toLocaleTimeString([], HOURS) : moment.toLocaleString([], HOURS);
}
