// A list in which only visible rows are elements of the page, even if the list is very long.
// Each row has its own height. The element of a row is kept while the row is visible: a click must
// end on the element on which it began.

const MARGIN = 400; // pixels drawn above and below

export interface Row {
  key: string;
  /** The content of the row. While it is the same, the element of the row is kept. */
  version: unknown;
  height: number;
  draw: () => HTMLElement;
}

interface Drawn {
  row: Row;
  element: HTMLElement;
}

export class VirtualList {
  readonly #scroller: HTMLElement;
  readonly #sizer = document.createElement("div");
  #rows: Row[] = [];
  #tops: number[] = [0]; // the top of each row, and the end of the last row
  #drawn = new Map<string, Drawn>();

  /** Draw in *scroller*. *paint* completes the element of each row, new or kept. */
  constructor(
    scroller: HTMLElement,
    private readonly paint: (element: HTMLElement, row: Row) => void,
  ) {
    this.#scroller = scroller;
    this.#sizer.className = "toolbench-sizer";
    this.#sizer.setAttribute("role", "presentation");
    scroller.append(this.#sizer);
    scroller.addEventListener("scroll", () => this.#draw(), { passive: true });
    new ResizeObserver(() => this.#draw()).observe(scroller);
  }

  /** Show *rows*. Visible rows stay where they are; if the list is at its top, new rows are visible. */
  show(rows: Row[]): void {
    const anchor = this.#scroller.scrollTop > 0 ? this.#anchor() : undefined;
    this.#rows = rows;
    this.#tops = [0];
    for (const row of rows) this.#tops.push((this.#tops.at(-1) ?? 0) + row.height);
    this.#sizer.style.height = `${this.#tops.at(-1) ?? 0}px`;
    const versions = new Map(rows.map((row) => [row.key, row.version]));
    for (const [key, { row, element }] of this.#drawn) {
      if (versions.get(key) === row.version) {
        this.paint(element, row);
      } else {
        element.remove();
        this.#drawn.delete(key);
      }
    }
    if (anchor) this.#scroller.scrollTop = this.#topOf(anchor.key) + anchor.beyond;
    this.#draw();
  }

  /** Scroll until the row called *key* is in sight; return its element. */
  reveal(key: string): HTMLElement | undefined {
    const edges = this.#edges(key);
    if (!edges) return undefined;
    const [top, end] = edges;
    const { scrollTop, clientHeight } = this.#scroller;
    if (top < scrollTop) this.#scroller.scrollTop = top;
    else if (end > scrollTop + clientHeight) this.#scroller.scrollTop = end - clientHeight;
    this.#draw();
    return this.element(key);
  }

  /** Scroll until the row called *key* is in the middle. */
  center(key: string): void {
    const edges = this.#edges(key);
    if (!edges) return;
    this.#scroller.scrollTop = (edges[0] + edges[1] - this.#scroller.clientHeight) / 2;
    this.#draw();
  }

  /** Whether the whole row called *key* is in sight. */
  isInSight(key: string): boolean {
    const edges = this.#edges(key);
    const { scrollTop, clientHeight } = this.#scroller;
    return edges !== undefined && scrollTop <= edges[0] && edges[1] <= scrollTop + clientHeight;
  }

  /** The top and the end of the row called *key*, in pixels from the top of the list. */
  #edges(key: string): [number, number] | undefined {
    const index = this.#rows.findIndex((row) => row.key === key);
    return index < 0 ? undefined : [this.#tops[index] ?? 0, this.#tops[index + 1] ?? 0];
  }

  /** The element of the row called *key*, if it is drawn. */
  element(key: string): HTMLElement | undefined {
    return this.#drawn.get(key)?.element;
  }

  #anchor(): { key: string; beyond: number } | undefined {
    const index = this.#at(this.#scroller.scrollTop);
    const row = this.#rows[index];
    return row && { key: row.key, beyond: this.#scroller.scrollTop - (this.#tops[index] ?? 0) };
  }

  #topOf(key: string): number {
    return this.#tops[Math.max(0, this.#rows.findIndex((row) => row.key === key))] ?? 0;
  }

  /** The row at *pixel* from the top. */
  #at(pixel: number): number {
    let [low, high] = [0, Math.max(0, this.#rows.length - 1)];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#tops[middle] ?? 0) <= pixel) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #draw(): void {
    const { scrollTop, clientHeight } = this.#scroller;
    if (clientHeight === 0) return; // the list is not visible
    const begin = this.#at(scrollTop - MARGIN);
    const end = this.#at(scrollTop + clientHeight + MARGIN);
    const wanted = new Map<string, Drawn>();
    this.#rows.slice(begin, end + 1).forEach((row, offset) => {
      const element = this.#drawn.get(row.key)?.element ?? this.#new(row);
      element.style.top = `${this.#tops[begin + offset] ?? 0}px`;
      element.style.height = `${row.height}px`;
      wanted.set(row.key, { row, element });
    });
    for (const [key, { element }] of this.#drawn) if (!wanted.has(key)) element.remove();
    let before: Element | null = null;
    for (const { element } of wanted.values()) {
      if (element.parentElement !== this.#sizer || element.previousElementSibling !== before) {
        if (before) before.after(element);
        else this.#sizer.prepend(element);
      }
      before = element;
    }
    this.#drawn = wanted;
  }

  #new(row: Row): HTMLElement {
    const element = row.draw();
    this.paint(element, row);
    return element;
  }
}
