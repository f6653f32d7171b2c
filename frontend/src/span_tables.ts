// What the tables below a timeline say of the spans that it shows: the calls of each tool, the answers of each model,
// and each span in a row, for whoever reads rather than looks.

import type { Model } from "./connection";
import { part } from "./listbox";
import { ASK, BOX, openSpan, SHOWN, type Shown } from "./timeline";
import { addressOf, clock, isPoint, type Span, titleOf, took, worked } from "./spans";

const MOST = 300; // rows; a filter or a shorter time shows the others

/** Draw in *el* the tables of the timeline of *model*, which is in the same box, until *signal*. */
export function spanTables(model: Model, el: HTMLElement, signal: AbortSignal): void {
  el.classList.add("toolbench-span-tables");
  const [summary, fold, title] = [part("", ""), document.createElement("details"), document.createElement("summary")];
  const list = document.createElement("div");
  fold.append(title, list);
  el.append(summary, fold);
  let shown: Shown = { spans: [], begin: 0, end: 0 };
  const fill = (): void => {
    if (fold.open) list.replaceChildren(...listOf(shown.spans, model));
  };
  const hear = (event: Event): void => {
    shown = (event as CustomEvent<Shown>).detail;
    summary.replaceChildren(...byTool(shown));
    title.textContent = `All spans in a table (${count(shown.spans.length)})`;
    fill();
  };
  fold.addEventListener("toggle", fill);
  fold.addEventListener("toggle", () => model.send({ texts: true }, {}), { once: true });
  let box: Element | null = null;
  const begin = new ResizeObserver(() => {
    if (box) return;
    box = el.closest(BOX); // once it is in the page
    box?.addEventListener(SHOWN, hear, { signal });
    box?.dispatchEvent(new CustomEvent(ASK, { bubbles: true }));
  });
  begin.observe(el);
  signal.addEventListener("abort", () => begin.disconnect());
}

/** What the calls of each tool and the answers of each model took, as `Timeline.by_tool` has it. */
function byTool({ spans, begin, end }: Shown): HTMLElement[] {
  const found = new Map<string, Span[]>();
  const reach = new Map<string, number>(); // until when a run of each tool went on
  for (const span of spans) {
    const address = addressOf(span);
    if (span.kind === "run") reach.set(address, Math.max(reach.get(address) ?? 0, span.end));
    // It is a part of a run
    if (span.kind === "request" && span.start <= (reach.get(address) ?? 0)) continue;
    const name = span.kind === "answer" ? span.name : address;
    if (!["run", "request", "answer"].includes(span.kind) || !name || span.isOpen) continue;
    const own = found.get(name) ?? [];
    found.set(name, own);
    own.push(span);
  }
  const rows = [...found].map(([name, own]) => ({ name, own, all: sum(own, worked) }));
  rows.sort((one, other) => other.all - one.all);
  const cells = rows.map(({ name, own }) => {
    const failed = own.filter(({ state }) => state === "failed").length;
    const times = own.map(worked).sort((one, other) => one - other);
    const within = (share: number): string => took(times[Math.ceil(share * times.length) - 1] ?? 0);
    const waited = sum(own, (span) => span.waited);
    const [tokens, cost] = [sum(own, (span) => span.tokens ?? 0), sum(own, (span) => span.cost ?? 0)];
    const rest = [waited >= 0.05 ? took(waited) : "", tokens ? count(tokens) : "", cost ? `$${cost.toFixed(4)}` : ""];
    return [name, count(own.length), failed ? count(failed) : "", within(0.5), within(0.95), ...rest];
  });
  if (cells.length === 0) return [];
  const heads = ["Tool or model", "Calls", "Failed", "p50", "p95", "Waited for you", "Tokens", "Cost"];
  const used = heads.map((_, column) => cells.some((row) => row[column] !== ""));
  const filled = (row: string[]): string[] => row.filter((_, column) => used[column]);
  const decimals = end - begin < 20 ? 2 : 0;
  return [tableOf(`What they took from ${clock(begin, decimals)} to ${clock(end, decimals)}`, filled(heads), cells.map(filled))];
}

function sum(spans: Span[], value: (span: Span) => number): number {
  return spans.reduce((all, span) => all + value(span), 0);
}

/** The first *spans* as a table, each with a button that opens it. */
function listOf(spans: Span[], model: Model): HTMLElement[] {
  const rows = spans.slice(0, MOST).map((span) => {
    const [lane, direction] = titleOf(span.lane);
    const time = isPoint(span) ? "" : took(span.end - span.start);
    return [clock(span.start, 3), span.name, span.state, time, `${lane} ${direction}`.trim(), span.kind, span.text];
  });
  const table = tableOf("Spans", ["Time", "Span", "State", "Took", "Lane", "Kind", "Text"], rows);
  table.querySelectorAll("tbody tr").forEach((row, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "toolbench-open";
    const cell = row.firstElementChild;
    button.textContent = cell?.textContent ?? "";
    const span = spans[index] as Span;
    button.setAttribute("aria-label", `Open ${span.name}, ${button.textContent}`);
    button.addEventListener("click", () => openSpan(model, span));
    cell?.replaceChildren(button);
  });
  if (spans.length <= MOST) return [table];
  return [table, part("toolbench-dim", `The first ${MOST} of ${count(spans.length)}: a filter or a shorter time shows the others.`)];
}

/** A table with these *heads*, in a box that scrolls; the first cell of a row names it. */
function tableOf(caption: string, heads: string[], rows: string[][]): HTMLElement {
  const [box, table] = [document.createElement("div"), document.createElement("table")];
  box.className = "toolbench-span-scroller";
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", caption);
  table.className = "toolbench-span-table";
  table.createCaption().textContent = caption;
  const head = table.createTHead().insertRow();
  for (const name of heads) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = name;
    head.append(cell);
  }
  const body = table.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    row.forEach((text, column) => {
      const cell = column === 0 ? document.createElement("th") : document.createElement("td");
      if (cell instanceof HTMLTableCellElement && column === 0) cell.scope = "row";
      cell.textContent = text;
      line.append(cell);
    });
  }
  box.append(table);
  return box;
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}
