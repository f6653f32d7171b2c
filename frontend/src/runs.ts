// The table of earlier runs. The kernel is told the run whose row or button is clicked, and the runs that
// are marked to be compared. Times are shown in the time zone of the browser. A row stays while its run is
// listed: so the focus stays where it is.

import { follow, type Model, tell } from "./connection";
import { fadeEdges } from "./edges";
import { part } from "./listbox";

const HOURS: Intl.DateTimeFormatOptions = { hourCycle: "h23" }; // as in all other times

/** A row of `Runs`; *picture* is the place of its picture, or -1. */
type Run = [
  key: string, number: number, started: string, tool: string, state: string, tone: string, took: string,
  args: string, result: string, picture: number,
];

interface Row {
  element: HTMLTableRowElement;
  drawn: string;
}

/** Draw in *el* the runs of *model*, until *signal*. */
export function runs(model: Model, el: HTMLElement, signal: AbortSignal): void {
  el.classList.add("toolbench-run-list");
  el.tabIndex = 0;
  el.setAttribute("role", "group");
  el.setAttribute("aria-label", "Runs");
  const hasTools = Boolean(model.get("has_tools"));
  const table = document.createElement("table");
  table.className = "toolbench-run-table";
  table.append(headOf(hasTools));
  const body = table.createTBody();
  el.append(table);
  const rows = new Map<string, Row>();
  const mark = (): void => {
    const picked = model.get("picked");
    const compared = model.get("compared") as string[];
    for (const [key, { element }] of rows) {
      const isMarked = compared.includes(key);
      element.classList.toggle("toolbench-chosen", compared.length === 2 ? isMarked : key === picked);
      element.querySelector("button")?.setAttribute("aria-expanded", String(key === picked));
      const box = element.querySelector("input");
      if (box) box.checked = isMarked;
    }
  };
  const show = (): void => {
    const listed = model.get("rows") as Run[];
    const pictures = model.get("pictures") as string[];
    const keys = new Set(listed.map((run) => run[0]));
    const height = el.scrollHeight;
    el.hidden = listed.length === 0;
    for (const [key, { element }] of rows) if (!keys.has(key) && rows.delete(key)) element.remove();
    listed.forEach((run, place) => {
      const row = rows.get(run[0]) ?? rowOf(run[0], run[1]);
      rows.set(run[0], row);
      fill(row, run, pictures, hasTools);
      if (body.rows[place] !== row.element) body.insertBefore(row.element, body.rows[place] ?? null);
    });
    if (el.scrollTop > 0) el.scrollTop += el.scrollHeight - height; // new runs come above what is seen
    mark();
  };
  body.addEventListener("click", ({ target }) => {
    const key = target instanceof Element ? target.closest<HTMLElement>("tr")?.dataset.key : undefined;
    if (key === undefined) return;
    const isBox = target instanceof Element && target.closest("label") !== null;
    if (!isBox) tell(model, { picked: key });
    else if (target instanceof HTMLInputElement) tell(model, { compare: key }); // a label clicks it too
  });
  show();
  fadeEdges(el);
  follow(model, "change", show, signal);
}

function headOf(hasTools: boolean): HTMLTableSectionElement {
  const head = document.createElement("thead");
  const row = head.insertRow();
  const names = ["Run", "Time", "Tool", "State", "Arguments", "Result", "Compare"];
  for (const name of names.filter((other) => hasTools || other !== "Tool")) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.className = `toolbench-run-${name.toLowerCase()}`;
    cell.textContent = name;
    row.append(cell);
  }
  return head;
}

/** An empty row; its button and its box are made once. */
function rowOf(key: string, number: number): Row {
  const element = document.createElement("tr");
  element.dataset.key = key;
  const open = document.createElement("button");
  open.type = "button";
  open.className = "toolbench-open";
  open.textContent = String(number);
  open.setAttribute("aria-label", `Open run ${number}`);
  const box = document.createElement("input");
  box.type = "checkbox";
  box.setAttribute("aria-label", `Compare run ${number}`);
  const label = document.createElement("label");
  label.append(box);
  add(element, "run", open);
  add(element, "compare", label);
  return { element, drawn: "" };
}

/** Write what *run* has into the cells of *row*, if that is not what they have. */
function fill(row: Row, run: Run, pictures: string[], hasTools: boolean): void {
  const [, , started, tool, state, tone, took, args, result, place] = run;
  const picture = pictures[place];
  const drawn = JSON.stringify([run.slice(0, 9), picture]);
  if (row.drawn === drawn) return;
  row.drawn = drawn;
  const { element } = row;
  while (element.cells.length > 2) element.deleteCell(1);
  const last = element.cells[1] ?? null;
  const time = document.createElement("time");
  time.dateTime = started;
  time.textContent = localTime(started);
  const badge = part("toolbench-badge", state);
  badge.dataset.tone = tone;
  add(element, "time", time, last);
  if (hasTools) add(element, "tool", tool, last);
  add(element, "state", badge, last).append(part("toolbench-took", took));
  add(element, "arguments", part("toolbench-run-lines", args), last);
  const cell = add(element, "result", part("toolbench-run-lines", result), last);
  cell.title = result;
  if (picture?.startsWith("data:image/")) cell.prepend(small(picture));
}

function add(row: HTMLElement, name: string, content: Node | string, before: Node | null = null): HTMLElement {
  const cell = document.createElement("td");
  cell.className = `toolbench-run-${name}`;
  cell.append(content);
  row.insertBefore(cell, before);
  return cell;
}

/** The picture at *source*. Its kind and size are beside it, so screen readers leave it out. */
function small(source: string): HTMLElement {
  const picture = document.createElement("img");
  picture.alt = "";
  picture.src = source;
  return picture;
}

/** The local time of *stamp*; if the day is not today, with the day before the time. */
function localTime(stamp: string): string {
  const moment = new Date(stamp);
  const isToday = moment.toDateString() === new Date().toDateString();
  return isToday ? moment.toLocaleTimeString([], HOURS) : moment.toLocaleString([], HOURS);
}
