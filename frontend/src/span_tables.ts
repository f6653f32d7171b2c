// The tables below a timeline, of the spans that it shows: what the calls of each tool and the answers of each model
// took, and each span in a row, for whoever reads rather than looks.

import { type Model, tell } from "./connection";
import { button } from "./copy_button";
import { part } from "./listbox";
import { addressOf, isPoint, type Span, titleOf, worked } from "./spans";
import { BOX, openSpan, SHOWN, type Shown, shownIn } from "./timeline";
import { clock, number, took } from "./wording";

const MOST = 300; // rows; a filter or a shorter time shows the others
const HEADS = ["Tool or model", "Calls", "Failed", "p50", "p95", "Waited for you", "Tokens", "Cost"];

/** Draw in *el* the tables of the timeline in the same box; *model* is told the span to open, until *signal*. */
export function spanTables(model: Model, el: HTMLElement, signal: AbortSignal): void {
  el.classList.add("toolbench-span-tables");
  const [summary, fold, title] = [part("", ""), document.createElement("details"), document.createElement("summary")];
  const list = document.createElement("div");
  fold.append(title, list);
  fold.hidden = true;
  el.append(summary, fold);
  let box: Element | null = null;
  const fill = (): void => {
    const shown = box && shownIn.get(box);
    if (!shown) return;
    summary.replaceChildren(...byTool(shown));
    fold.hidden = shown.spans.length === 0;
    title.textContent = `All spans in a table (${number(shown.spans.length)})`;
    if (fold.open) list.replaceChildren(...listOf(shown.spans, model));
  };
  fold.addEventListener("toggle", fill);
  fold.addEventListener("toggle", () => tell(model, { texts: true }), { once: true });
  const begin = new ResizeObserver(() => {
    if (box) return;
    box = el.closest(BOX); // once it is in the page
    box?.addEventListener(SHOWN, fill, { signal });
    fill();
  });
  begin.observe(el);
  signal.addEventListener("abort", () => begin.disconnect());
}

/** What the calls of each tool and the answers of each model took, as `Timeline.by_tool` has it. */
function byTool({ spans, begin, end }: Shown): HTMLElement[] {
  const found = new Map<string, Span[]>();
  const reach = new Map<string, number>(); // until when a run of each tool went on
  for (const span of spans) {
    const name = span.kind === "answer" ? span.name : addressOf(span);
    if (span.kind === "run") reach.set(name, Math.max(reach.get(name) ?? 0, span.end));
    const isOfRun = span.kind === "request" && span.start <= (reach.get(name) ?? 0);
    if (!name || isOfRun || span.isOpen || !["run", "request", "answer"].includes(span.kind)) continue;
    const own = found.get(name) ?? [];
    found.set(name, own);
    own.push(span);
  }
  if (found.size === 0) return [];
  const slowest = [...found].sort(([, one], [, other]) => sum(other, worked) - sum(one, worked));
  const rows = slowest.map(([name, own]) => rowOf(name, own));
  const used = (row: string[]): string[] => row.filter((_, column) => rows.some((other) => other[column] !== ""));
  return [tableOf(`What they took from ${clock(begin, 1)} to ${clock(end, 1)}`, used(HEADS), rows.map(used))];
}

function rowOf(name: string, spans: Span[]): string[] {
  const times = spans.map(worked).sort((one, other) => one - other);
  const within = (share: number): string => took(times[Math.ceil(share * times.length) - 1] ?? 0);
  const failed = spans.filter(({ state }) => state === "failed").length;
  const [waited, tokens, cost] = [sum(spans, (s) => s.waited), sum(spans, (s) => s.tokens ?? 0), sum(spans, (s) => s.cost ?? 0)];
  const paid = [waited >= 0.05 ? took(waited) : "", tokens ? number(tokens) : "", cost ? `$${cost.toFixed(4)}` : ""];
  return [name, number(spans.length), failed ? number(failed) : "", within(0.5), within(0.95), ...paid];
}

function sum(spans: Span[], value: (span: Span) => number): number {
  return spans.reduce((all, span) => all + value(span), 0);
}

/** The first *spans* as a table, each with a button that opens it. */
function listOf(spans: Span[], model: Model): HTMLElement[] {
  const rows = spans.slice(0, MOST).map((span) => {
    const time = isPoint(span) ? "" : took(span.end - span.start);
    return [clock(span.start, 3), span.name, span.state, time, titleOf(span.lane).join(" "), span.kind, span.text];
  });
  const table = tableOf("Spans", ["Time", "Span", "State", "Took", "Lane", "Kind", "Text"], rows);
  table.querySelectorAll("tbody th").forEach((cell, index) => {
    const span = spans[index] as Span;
    const open = button(cell.textContent ?? "", `Open ${span.name}`, () => openSpan(model, span));
    open.className = "toolbench-open";
    cell.replaceChildren(open);
  });
  if (spans.length <= MOST) return [table];
  return [table, part("toolbench-dim", `The first ${MOST} of ${number(spans.length)}: a filter or a shorter time shows the others.`)];
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
  fill(table.createTHead().insertRow(), heads, () => "col");
  const body = table.createTBody();
  for (const row of rows) fill(body.insertRow(), row, (column) => (column === 0 ? "row" : ""));
  box.append(table);
  return box;
}

function fill(row: HTMLTableRowElement, texts: string[], scope: (column: number) => string): void {
  texts.forEach((text, column) => {
    const cell = document.createElement(scope(column) ? "th" : "td");
    if (scope(column)) cell.scope = scope(column);
    cell.textContent = text;
    row.append(cell);
  });
}
