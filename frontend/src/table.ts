// Tables of results. A click on a head sorts the table, and a long table has a filter. Only visible
// rows are elements of the page, even if there are very many rows. The kernel sends the first rows as
// HTML (without this module there are only these), and the others when they are seen: it filters and
// sorts them all. Where it does not answer, the page does so with the rows it has.

import { numberOf } from "./cell_numbers";
import { addOpener, opensRows } from "./opened_rows";
import { drawCell, isMissing, readCell, textOfCell, type Cell } from "./cells";
import { askRows, NEW_KERNEL, type Question } from "./kernel_results";
import { allIn } from "./ours";
import { matching, problemOf, RowFilter } from "./rowfilter";
import { number } from "./wording";

const TABLE = "[data-toolbench-table]";
const FRAME = "[data-toolbench-frame]"; // around the rows of a report, which always have a filter
const LEFT_OUT = "[data-toolbench-left-out]";
const ALL = 100; // rows; of a longer table, only rows near the visible part are drawn
const MARGIN = 20; // rows drawn above and below
const FILTERED = 20; // rows; a longer table has a filter
const PIECE = 300; // rows that are asked for together
const KEPT = 10_000; // rows that the page gets beside the first, so that it has them if the kernel goes
const CALM = 300; // milliseconds after a table came before it asks for them
const PATIENCE = 700; // milliseconds: a busy kernel answers later, and the page filters what it has meanwhile
const HIGHEST = 8_000_000; // pixels that every browser can scroll
const tables = new WeakMap<Element, Table>();
const PLACE = ".widget-html-content"; // of a widget, which draws a report again when it changes
const choices = new WeakMap<Element, Choice>(); // of the report that was last drawn in a place

type Cells = string[];

/** What is shown: so many rows, of which the page has those in *rows*, by their place. */
interface Shown {
  count: number;
  rows: Cell[][];
}

/** What the reader has chosen to see of a report with these columns. */
interface Choice {
  columns: string;
  filter: string;
  sort: Question["sort"];
}

export function enhanceTables(root: ParentNode): void {
  for (const element of allIn<HTMLTableElement>(root, TABLE)) {
    if (!tables.has(element)) tables.set(element, new Table(element));
  }
}

document.addEventListener(NEW_KERNEL, () => {
  for (const element of allIn(document, TABLE)) tables.get(element)?.askAgain();
});

/** The head and the rows of *table* that are shown, in their order; undefined if it is not one of our tables. */
export function cellsOf(table: Element): Cells[] | undefined {
  return tables.get(table)?.cells;
}

/** The head and all rows of *table* that the page has, as they came; undefined if it is not one of ours. */
export function allCellsOf(table: Element): Cells[] | undefined {
  return tables.get(table)?.allCells;
}

/** Which part of *table* the page has: "first 50 of 200 rows, first 20 of 30 columns"; empty if it has all. */
export function partOf(table: Element): string {
  return tables.get(table)?.part ?? "";
}

/** The rows that can be shown of *table*: "all 50 rows", "the first 50 of 200 rows". */
export function rowsOfTable(table: Element): string | undefined {
  return tables.get(table)?.extent;
}

class Table {
  readonly #element: HTMLTableElement;
  readonly #body: HTMLTableSectionElement;
  readonly #heads: HTMLTableCellElement[];
  readonly #names: string[];
  readonly #looks: string[];
  readonly #scroller: HTMLElement | null;
  readonly #rows: Cell[][]; // those that came with the page
  readonly #filter?: RowFilter;
  #place?: Element; // of a report, which may be drawn again
  #key: string; // of the result; empty if no kernel has other rows of it
  #sort: Question["sort"] = null;
  #shown: Shown;
  #version = 0; // of the filter and the order
  #isAsking = false;
  #isLate = false; // the kernel is busy: what is shown is of the rows that the page has
  #asked = ""; // the filter and the order of what is shown
  #height = 0;
  #drawn = "";

  constructor(element: HTMLTableElement) {
    this.#element = element;
    this.#body = element.tBodies[0] ?? element.createTBody();
    this.#heads = [...(element.tHead?.rows[0]?.cells ?? [])];
    this.#names = this.#heads.map((head) => head.firstChild?.textContent?.trim() ?? "");
    this.#looks = this.#heads.map((head) => head.style.textAlign);
    this.#scroller = element.parentElement;
    const first = [...this.#body.rows].map((row) => [...row.cells].map(readCell));
    this.#rows = first;
    this.#key = this.#ownKey();
    this.#shown = this.#own();
    if (this.#rows.length > FILTERED || element.closest(FRAME)) this.#filter = this.#newFilter();
    element.classList.add("toolbench-table");
    this.#height = this.#body.rows[0]?.offsetHeight ?? 0; // as the class makes it
    this.#say();
    this.#scroller?.classList.add("toolbench-scroller");
    this.#scroller?.addEventListener("scroll", () => this.#draw(), { passive: true });
    if (this.#scroller) new ResizeObserver(() => this.#draw()).observe(this.#scroller);
    this.#heads.forEach((head, column) => this.#makeSortable(head, column));
    if (this.#shown.count > first.length || opensRows(element)) this.#draw();
    this.#chooseAgain();
    if (this.#key) setTimeout(() => void this.#keep(), CALM);
  }

  #ownKey(): string {
    return this.partOfRows ? (this.#element.dataset.toolbenchResult ?? "") : "";
  }

  /** Filter and sort a report as the one before it in this place, if the reader did so. */
  #chooseAgain(): void {
    const place = this.#element.closest(FRAME) && this.#element.closest(PLACE);
    if (!place) return;
    this.#place = place;
    const choice = choices.get(place);
    if (!choice || choice.columns !== this.#names.join("\n")) return;
    if (this.#filter) this.#filter.words = choice.filter;
    this.#sort = choice.sort;
    if (this.#sort) this.#heads[this.#sort[0]]?.setAttribute("aria-sort", this.#sort[1] ? "descending" : "ascending");
    if (!this.#isPlain) void this.#pass();
  }

  /** Ask again: the kernel of this table may have come later than the table. */
  askAgain(): void {
    if (this.#key || !this.#ownKey()) return;
    this.#key = this.#ownKey();
    void this.#keep();
  }

  get cells(): Cells[] {
    return [this.#names, ...this.#shown.rows.filter(Boolean).map((row) => row.map(textOfCell))];
  }

  get allCells(): Cells[] {
    return [this.#names, ...this.#rows.map((row) => row.map(textOfCell))];
  }

  get part(): string {
    return [this.partOfRows, this.#partOfColumns].filter(Boolean).join(", ");
  }

  get extent(): string {
    return this.partOfRows && !this.#key ? `the ${this.partOfRows}` : `all ${number(this.#shown.count)} rows`;
  }

  get partOfRows(): string {
    return part(this.#rows.length, this.#size, "rows");
  }

  get #partOfColumns(): string {
    return part(this.#names.length - 1, Number(this.#element.dataset.toolbenchColumns), "columns");
  }

  get #size(): number {
    return Number(this.#element.dataset.toolbenchTable);
  }

  /** Whether all rows are shown, in the order of the table. */
  get #isPlain(): boolean {
    return this.#sort === null && !this.#filter?.words;
  }

  #newFilter(): RowFilter {
    const filter = new RowFilter(this.#names, () => void this.#pass());
    const prepare = (): unknown => this.#key && askRows({ ...this.#question(0, 0), filter: '""' });
    filter.element.addEventListener("focusin", prepare, { once: true });
    this.#scroller?.before(filter.element);
    return filter;
  }

  get #problem(): string {
    return problemOf(this.#filter?.words ?? "", this.#names);
  }

  /** What the page has itself, filtered and sorted; where a kernel may have more, all rows of the table. */
  #own(): Shown {
    if (this.#problem) return { count: 0, rows: [] };
    const rows = matching(this.#rows, this.#filter?.words ?? "", this.#names);
    if (this.#isPlain && this.#key) return { count: this.#size, rows: [...rows] };
    return { count: rows.length, rows: this.#sort ? sorted(rows, ...this.#sort, this.#looks) : rows };
  }

  /** Show the rows that match the filter, in their order: those of the kernel, or of the page if it does not answer. */
  async #pass(): Promise<void> {
    const version = (this.#version += 1);
    const choice = { columns: this.#names.join("\n"), filter: this.#filter?.words ?? "", sort: this.#sort };
    if (this.#place) choices.set(this.#place, choice);
    const isOwn = !this.#key || this.#isPlain || this.#problem !== "";
    if (isOwn || this.#isLate) this.#show(this.#own());
    if (isOwn || this.#isAsking) return; // what is asked for now is asked again then
    this.#isAsking = true;
    const late = setTimeout(() => {
      this.#isLate = true;
      this.#show(this.#own());
    }, PATIENCE);
    const answer = await askRows(this.#question(0, PIECE));
    clearTimeout(late);
    this.#isAsking = this.#isLate = false;
    if (!answer) this.#key = "";
    if (version !== this.#version) return this.#pass();
    this.#show(answer ? { count: answer.matched, rows: answer.rows } : this.#own());
  }

  #question(begin: number, count: number): Question {
    return { result: this.#key, filter: this.#filter?.words ?? "", sort: this.#sort, begin, count };
  }

  #show(shown: Shown): void {
    this.#shown = shown;
    const asked = JSON.stringify([this.#filter?.words ?? "", this.#sort]);
    // Of the same question more rows may come while somebody reads the first
    if (this.#scroller && asked !== this.#asked) this.#scroller.scrollTop = 0;
    this.#asked = asked;
    this.#drawn = "";
    this.#say();
    this.#draw();
  }

  /** Say how many rows are shown, and of which. */
  #say(): void {
    const isOfPart = this.partOfRows !== "" && (!this.#key || (this.#isLate && !this.#isPlain));
    const rows = isOfPart ? `in the ${this.partOfRows}` : `of ${number(this.#size)} rows`;
    const sorted = this.#sort && isOfPart ? ", sorted among themselves" : "";
    const note = isOfPart && this.#key ? ", the others are searched…" : "";
    const text = `${number(this.#shown.count)} ${rows}${sorted}${note}`;
    const problem = this.#problem;
    this.#filter?.say(problem || [text, this.#partOfColumns].filter(Boolean).join(", "), isOfPart || problem !== "");
    this.#element.setAttribute("aria-rowcount", String(this.#shown.count + 1));
    const place = this.#scroller?.querySelector(LEFT_OUT);
    const missing = this.#key ? 0 : this.#size - this.#rows.length;
    if (place) place.textContent = missing > 0 ? `… ${number(missing)} rows left out …` : "";
  }

  /** Get rows that a page without a kernel can filter and sort too. */
  async #keep(): Promise<void> {
    if (!this.#element.offsetParent) return; // it is hidden, or gone again
    const begin = this.#rows.length;
    const answer = await askRows({ ...this.#question(begin, KEPT), filter: "", sort: null });
    this.#rows.push(...(answer?.rows ?? []));
    if (!answer || this.#rows.length >= this.#size) this.#key = ""; // no kernel has more
    if (this.#isPlain || !this.#key) await this.#pass();
  }

  /** Ask the kernel for the rows from *begin* to *end* that the page does not have. */
  async #fetch(begin: number, end: number): Promise<void> {
    const shown = this.#shown;
    while (begin < end && shown.rows[begin]) begin += 1;
    if (begin >= end || this.#isAsking || !this.#key) return;
    this.#isAsking = true;
    const version = this.#version;
    const answer = await askRows(this.#question(begin, PIECE));
    this.#isAsking = false;
    if (version !== this.#version) return this.#pass();
    if (!answer) {
      this.#key = "";
      this.#show(this.#own());
      return;
    }
    answer.rows.forEach((row, index) => (shown.rows[begin + index] = row));
    if (answer.rows.length === 0) return; // a table that changed under us
    this.#drawn = "";
    this.#draw();
  }

  #makeSortable(head: HTMLTableCellElement, column: number): void {
    if (!head.textContent?.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "toolbench-sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => this.#sortBy(head, column));
  }

  /** Sort by *column*: first ascending, then descending, then in the original order. */
  #sortBy(head: HTMLTableCellElement, column: number): void {
    const before = head.getAttribute("aria-sort");
    const next = before === null ? "ascending" : before === "ascending" ? "descending" : null;
    for (const other of this.#heads) other.removeAttribute("aria-sort");
    if (next) head.setAttribute("aria-sort", next);
    this.#sort = next ? [column, next === "descending"] : null;
    void this.#pass();
  }

  /** Put the visible rows into the page, and empty space for the other rows above and below. */
  #draw(): void {
    const total = this.#shown.count;
    const [begin, end] = total <= ALL ? [0, total] : this.#window(total);
    if (this.#drawn === `${begin}-${end}`) return;
    this.#drawn = `${begin}-${end}`;
    const rows = [];
    for (let index = begin; index < end; index++) rows.push(this.#row(this.#shown.rows[index], index));
    const above = spacer(begin * this.#step(total), this.#heads.length);
    const below = spacer((total - end) * this.#step(total), this.#heads.length);
    this.#body.replaceChildren(...above, ...rows, ...below);
    this.#height ||= rows[0]?.offsetHeight ?? 0;
    void this.#fetch(begin, end);
  }

  #window(total: number): [number, number] {
    const height = this.#height || 22;
    const top = this.#scroller?.scrollTop ?? 0;
    const seen = Math.ceil((this.#scroller?.clientHeight ?? 0) / height);
    const begin = Math.max(0, Math.min(total - seen, Math.floor(top / this.#step(total))) - MARGIN);
    return [begin, Math.min(total, begin + seen + 2 * MARGIN)];
  }

  /** The pixels to scroll for one row: those of its height, or less if all rows are too high for a page. */
  #step(total: number): number {
    return Math.min(this.#height || 22, HIGHEST / total);
  }

  #row(cells: Cell[] | undefined, index: number): HTMLTableRowElement {
    const row = document.createElement("tr");
    row.setAttribute("aria-rowindex", String(index + 2));
    this.#looks.forEach((look, column) => {
      const cell = row.insertCell();
      drawCell(cell, cells?.[column] ?? "…");
      cell.style.textAlign = look || "left";
    });
    if (opensRows(this.#element)) addOpener(row, this.#element);
    return row;
  }
}

/** "first 50 of 200 rows", if the page has *shown* of *all*; empty if these are all. */
function part(shown: number, all: number, things: string): string {
  return shown < all ? `first ${number(shown)} of ${number(all)} ${things}` : "";
}

function spacer(height: number, columns: number): HTMLTableRowElement[] {
  if (height <= 0) return [];
  const row = document.createElement("tr");
  const cell = row.insertCell();
  row.setAttribute("aria-hidden", "true");
  cell.colSpan = Math.max(1, columns);
  cell.style.cssText = `height: ${height}px; padding: 0; border: 0;`;
  return [row];
}

/** *rows* by the values of *column*: numbers by size where they stand on the right, missing ones last. */
function sorted(rows: Cell[][], column: number, isDescending: boolean, looks: string[]): Cell[][] {
  const sign = isDescending ? -1 : 1;
  const compare = looks[column] === "right" ? byNumber : collator.compare;
  return [...rows].sort((one, other) => {
    const [left, right] = [one[column], other[column]];
    if (left === undefined || right === undefined || isMissing(left) || isMissing(right)) {
      return Number(isMissing(left)) - Number(isMissing(right));
    }
    return sign * compare(textOfCell(left), textOfCell(right));
  });
}

const collator = new Intl.Collator(); // as localeCompare, and many times faster

function byNumber(one: string, other: string): number {
  const [left, right] = [numberOf(one), numberOf(other)];
  if (Number.isNaN(left) && Number.isNaN(right)) return collator.compare(one, other); // booleans
  return Number.isNaN(left) || Number.isNaN(right) ? Number(Number.isNaN(left)) - Number(Number.isNaN(right)) : left - right;
}
