// The messages between us and a server, and the calls of agents, drawn by the page: a request and
// its answer together, in columns, the newest at the top. The kernel sends them in pieces; a piece
// that is sent again holds what changed.

import { followPieces, type Model } from "./connection";
import { type Entry, ListBox, part } from "./listbox";

const ROW = 24; // pixels of a line

/** A line of `Lines`. Its number is its own, and shown without its sign; its time is in seconds since the epoch. */
type Line = [number: number, at: number, isSent: boolean, what: string, answer: string, took: string, isFailed: boolean];

const entries = new WeakMap<Line[], Entry[]>(); // of the rows of each piece

/** Draw in *el* the pieces of *model*, until *signal*. */
export function lines(model: Model, el: HTMLElement, signal: AbortSignal): void {
  const list = new ListBox(model, el);
  list.element.classList.add("toolbench-messages");
  const show = (pieces: Model[]): void =>
    list.show(pieces.flatMap(entriesOf).reverse(), String(model.get("picked")) || null);
  followPieces(model, "change:pieces change:picked", show, signal);
}

function entriesOf(piece: Model): Entry[] {
  const rows = piece.get("rows") as Line[];
  if (!entries.has(rows)) entries.set(rows, rows.map(entryOf));
  return entries.get(rows) ?? [];
}

function entryOf([number, at, isSent, what, answer, took, isFailed]: Line): Entry {
  return {
    key: String(number),
    version: JSON.stringify([what, answer, took]),
    height: answer ? 2 * ROW : ROW,
    draw: () => {
      const row = document.createElement("div");
      row.className = "toolbench-message";
      row.title = `#${Math.abs(number)} ${what}\n${answer}`.trim();
      row.classList.toggle("toolbench-failed", isFailed);
      const time = new Date(1000 * at).toLocaleTimeString("en-GB");
      row.append(part("toolbench-when", time), arrowOf(isSent), whatOf(what));
      if (answer) row.append(arrowOf(!isSent), part("toolbench-answer", answer), part("toolbench-took", took));
      return row;
    },
  };
}

/** A method or an agent (with spaces, up to a colon), and what it is about: the former is cut first where there is little room. */
function whatOf(what: string): HTMLElement {
  const head = /^[^/(]*?:(?= )|^[^\s(]*/.exec(what)?.[0] ?? "";
  const element = part("toolbench-what", "");
  const first = part("toolbench-method", head);
  first.style.minWidth = `${Math.min(head.length, 4)}ch`;
  element.append(first);
  if (head !== what) element.append(part("toolbench-about", what.slice(head.length))); // its space is never cut
  return element;
}

function arrowOf(isSent: boolean): HTMLElement {
  const element = part(isSent ? "toolbench-sent" : "toolbench-received", isSent ? "→" : "←");
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", isSent ? "sent" : "received");
  return element;
}
