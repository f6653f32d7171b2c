// Tables of results. A click on a head sorts the table, and a long table has a filter. Only visible
// rows are elements of the page, even if there are very many rows. The kernel sends the first rows as
// HTML (without this module there are only these) and the later rows as JSON text. Cells are text nodes.

import { numberOf } from "./cell_numbers";
import { addOpener, opensRows } from "./opened_rows";
import { allIn } from "./ours";
import { RowFilter } from "./rowfilter";

const TABLE = "[data-toolbench-table]";
const LATER = "[data-toolbench-rows]";
const FRAME = "[data-toolbench-frame]"; // around the rows of a report, which always have a filter
const LEFT_OUT = "[data-toolbench-left-out]";
const ALL = 100; // rows; of a longer table, only rows near the visible part are drawn
const MARGIN = 20; // rows drawn above and below
const FILTERED = 20; // rows; a longer table has a filter
const tables = new WeakMap<Element, Table>();

type Cells = string[];

export function enhanceTables(root: ParentNode): void {
  for (const element of allIn<HTMLTableElement>(root, TABLE)) {
    if (!tables.has(element)) tables.set(element, new Table(element));
  }
}

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

/** Which of its rows the page has of *table*: "first 50 of 200 rows"; empty if it has all. */
export function rowsPartOf(table: Element): string {
  return tables.get(table)?.partOfRows ?? "";
}

class Table {
  readonly #element: HTMLTableElement;
  readonly #body: HTMLTableSectionElement;
  readonly #heads: HTMLTableCellElement[];
  readonly #names: string[];
  readonly #looks: string[];
  readonly #scroller: HTMLElement | null;
  readonly #rows: Cells[];
  readonly #filter?: RowFilter;
  #sorted: Cells[];
  #shown: Cells[];
  #height = 0;
  #drawn = "";

  constructor(element: HTMLTableElement) {
    this.#element = element;
    this.#body = element.tBodies[0] ?? element.createTBody();
    this.#heads = [...(element.tHead?.rows[0]?.cells ?? [])];
    this.#names = this.#heads.map((head) => head.firstChild?.textContent ?? "");
    this.#looks = this.#heads.map((head) => head.style.textAlign);
    this.#scroller = element.parentElement;
    const first = [...this.#body.rows].map((row) =>
      [...row.cells].map((cell) => cell.textContent ?? ""),
    );
    this.#rows = [...first, ...later(this.#scroller)];
    this.#shown = this.#sorted = this.#rows;
    if (this.#rows.length > FILTERED || element.closest(FRAME)) this.#filter = this.#newFilter();
    element.classList.add("toolbench-table");
    this.#height = this.#body.rows[0]?.offsetHeight ?? 0; // as the class makes it
    this.#sayLeftOut();
    element.setAttribute("aria-rowcount", String(this.#rows.length + 1));
    this.#scroller?.classList.add("toolbench-scroller");
    this.#scroller?.addEventListener("scroll", () => this.#draw(), { passive: true });
    if (this.#scroller) new ResizeObserver(() => this.#draw()).observe(this.#scroller);
    this.#heads.forEach((head, column) => this.#makeSortable(head, column));
    if (this.#rows.length > first.length || opensRows(element)) this.#draw();
  }

  get cells(): Cells[] {
    return [this.#names, ...this.#shown];
  }

  get allCells(): Cells[] {
    return [this.#names, ...this.#rows];
  }

  get part(): string {
    return [this.partOfRows, this.#partOfColumns].filter(Boolean).join(", ");
  }

  get partOfRows(): string {
    return part(this.#rows.length, Number(this.#element.dataset.toolbenchTable), "rows");
  }

  get #partOfColumns(): string {
    return part(this.#names.length - 1, Number(this.#element.dataset.toolbenchColumns), "columns");
  }

  #newFilter(): RowFilter {
    const rows = this.partOfRows ? `the ${this.partOfRows}` : `${number(this.#rows.length)} rows`;
    const known = [rows, this.#partOfColumns].filter(Boolean).join(", ");
    const filter = new RowFilter(this.#names, known, () => {
      if (this.#scroller) this.#scroller.scrollTop = 0;
      this.#pass();
    });
    filter.passed(this.#rows);
    this.#scroller?.before(filter.element);
    return filter;
  }

  /** Show the sorted rows that match the filter. */
  #pass(): void {
    const isSorted = this.#sorted !== this.#rows && this.partOfRows;
    const note = isSorted ? ", sorted among themselves" : "";
    this.#shown = this.#filter?.passed(this.#sorted, note) ?? this.#sorted;
    this.#element.setAttribute("aria-rowcount", String(this.#shown.length + 1));
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
    button.addEventListener("click", () => this.#sort(head, column));
  }

  /** Sort by *column*: first ascending, then descending, then in the original order. */
  #sort(head: HTMLTableCellElement, column: number): void {
    const before = head.getAttribute("aria-sort");
    const next = before === null ? "ascending" : before === "ascending" ? "descending" : null;
    for (const other of this.#heads) other.removeAttribute("aria-sort");
    this.#sorted = this.#rows;
    if (next) {
      head.setAttribute("aria-sort", next);
      const sign = next === "ascending" ? 1 : -1;
      const compare = this.#looks[column] === "right" ? byNumber : byText;
      this.#sorted = [...this.#rows].sort(
        (one, other) => sign * compare(one[column] ?? "", other[column] ?? ""),
      );
    }
    this.#pass();
  }

  /** Put the visible rows into the page, and empty space for the other rows above and below. */
  #draw(): void {
    const total = this.#shown.length;
    const [begin, end] = total <= ALL ? [0, total] : this.#window(total);
    if (this.#drawn === `${begin}-${end}`) return;
    this.#drawn = `${begin}-${end}`;
    const rows = this.#shown.slice(begin, end).map((cells, index) => this.#row(cells, begin + index));
    const above = spacer(begin * this.#height, this.#heads.length);
    const below = spacer((total - end) * this.#height, this.#heads.length);
    this.#body.replaceChildren(...above, ...rows, ...below);
    this.#height ||= rows[0]?.offsetHeight ?? 0;
  }

  #window(total: number): [number, number] {
    const height = this.#height || 22;
    const top = this.#scroller?.scrollTop ?? 0;
    const seen = Math.ceil((this.#scroller?.clientHeight ?? 0) / height);
    const begin = Math.max(0, Math.floor(top / height) - MARGIN);
    return [begin, Math.min(total, begin + seen + 2 * MARGIN)];
  }

  #row(cells: Cells, index: number): HTMLTableRowElement {
    const row = document.createElement("tr");
    row.setAttribute("aria-rowindex", String(index + 2));
    cells.forEach((text, column) => {
      const cell = row.insertCell();
      cell.textContent = text;
      cell.title = text.length > 40 ? text : "";
      cell.style.textAlign = this.#looks[column] ?? "left";
    });
    if (opensRows(this.#element)) addOpener(row, this.#element);
    return row;
  }

  #sayLeftOut(): void {
    const place = this.#scroller?.querySelector(LEFT_OUT);
    const missing = Number(this.#element.dataset.toolbenchTable) - this.#rows.length;
    const said = missing > 0 ? `… ${number(missing)} rows left out …` : "";
    if (place) place.textContent = said;
  }
}

function later(scroller: Element | null): Cells[] {
  const place = scroller?.querySelector(LATER);
  const rows: unknown = JSON.parse(place?.textContent || "[]");
  place?.remove();
  return Array.isArray(rows) ? rows.map((row: unknown[]) => row.map(String)) : [];
}

/** "first 50 of 200 rows", if the page has *shown* of *all*; empty if these are all. */
function part(shown: number, all: number, things: string): string {
  return shown < all ? `first ${number(shown)} of ${number(all)} ${things}` : "";
}

function number(count: number): string {
  return count.toLocaleString("en-US");
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

function byNumber(one: string, other: string): number {
  const [left, right] = [numberOf(one), numberOf(other)];
  if (Number.isNaN(left) || Number.isNaN(right)) {
    return Number(Number.isNaN(left)) - Number(Number.isNaN(right)); // values that are not numbers come last
  }
  return left - right;
}

function byText(one: string, other: string): number {
  return one.localeCompare(other);
}
