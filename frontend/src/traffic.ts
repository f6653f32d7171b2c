// The messages between us and a server, and the calls of agents, drawn by the page: a request and
// its answer together, in columns, the newest at the top. The kernel sends them in pieces of plain
// lines, which is what is seen without this module; a piece that is sent again holds what changed.

import { type Entry, ListBox, part } from "./listbox";

const TRAFFIC = ".toolbench-traffic";
const PIECE = "[data-toolbench-messages]";
const LINE = "[data-toolbench-message]";
const ROW = 24; // pixels of a line

const feeds = new WeakMap<Element, Feed>();
const pieces = new WeakMap<Element, Entry[]>();

export function enhanceTraffic(): void {
  for (const element of document.querySelectorAll<HTMLElement>(TRAFFIC)) {
    let feed = feeds.get(element);
    if (!feed) {
      feed = new Feed(element);
      feeds.set(element, feed);
    }
    feed.read();
  }
}

class Feed {
  readonly #owner: HTMLElement;
  readonly #list: ListBox;
  #pieces: Element[] = [];

  constructor(owner: HTMLElement) {
    this.#owner = owner;
    const label = owner.classList.contains("toolbench-calls") ? "Calls" : "Messages";
    this.#list = new ListBox(owner, label);
    this.#list.element.classList.add("toolbench-messages");
    owner.querySelector(".toolbench-lines")?.before(this.#list.element);
  }

  /** Show the messages of all pieces, if one of them is new. */
  read(): void {
    const found = [...this.#owner.querySelectorAll(PIECE)].sort(byNumber);
    const isSame =
      found.length === this.#pieces.length &&
      found.every((piece, index) => piece === this.#pieces[index]);
    if (isSame) return;
    this.#pieces = found;
    const field = this.#owner.querySelector<HTMLInputElement>(".toolbench-key input");
    this.#list.show(found.flatMap(entriesOf).reverse(), field?.value || null);
  }
}

/** Pieces by the number of their first message. */
function byNumber(one: Element, other: Element): number {
  return numberOf(one) - numberOf(other);
}

function numberOf(piece: Element): number {
  return Number(piece.getAttribute("data-toolbench-messages"));
}

function entriesOf(piece: Element): Entry[] {
  let entries = pieces.get(piece);
  if (!entries) {
    entries = [...piece.querySelectorAll<HTMLElement>(LINE)].map(entryOf);
    pieces.set(piece, entries);
  }
  return entries;
}

/** One line of the kernel's: number, time, direction, and what was said, separated by tabs. */
function entryOf(line: HTMLElement): Entry {
  const text = line.textContent ?? "";
  const [number = "", clock = "", arrow = "", what = "", answer = "", took = ""] = text
    .split("\t")
    .map((field) => field.trim());
  const stamp = line.dataset.toolbenchMessage ?? "";
  return {
    key: number.replace("#", ""),
    version: text,
    height: answer ? 2 * ROW : ROW,
    draw: () => {
      const row = document.createElement("div");
      row.className = "toolbench-message";
      row.title = `${number} ${what}\n${answer}`.trim();
      if (line.hasAttribute("data-toolbench-failed")) row.classList.add("toolbench-failed");
      row.append(part("toolbench-when", localTime(stamp) ?? clock), arrowOf(arrow));
      row.append(whatOf(what));
      if (answer) {
        row.append(arrowOf(arrow === "→" ? "←" : "→"), part("toolbench-answer", answer));
        row.append(part("toolbench-took", took));
      }
      return row;
    },
  };
}

/** A method and, after a space, what it is about: the method is cut first where there is little room. */
function whatOf(what: string): HTMLElement {
  const [method = "", ...rest] = what.split(" ");
  const element = part("toolbench-what", "");
  element.append(part("toolbench-method", method));
  if (rest.length) element.append(part("toolbench-about", ` ${rest.join(" ")}`)); // its space is never cut
  return element;
}

function arrowOf(arrow: string): HTMLElement {
  const isSent = arrow === "→";
  const element = part(isSent ? "toolbench-sent" : "toolbench-received", arrow);
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", isSent ? "sent" : "received");
  return element;
}

function localTime(stamp: string): string | null {
  const moment = new Date(stamp);
  return Number.isNaN(moment.getTime()) ? null : moment.toLocaleTimeString("en-GB");
}
