// A list of rows to choose from, even if there are very many. It works with the keyboard and with
// screen readers. The kernel is told the key of the chosen row.

import { type Model, tell } from "./connection";
import { type Row, VirtualList } from "./virtual";

const PAGE = 8; // rows that Page Up and Page Down pass
const STEADY = 5; // pixels that the mouse may move during a click

export interface Entry extends Row {
  /** A heading cannot be chosen. */
  isHeading?: boolean;
  /** What happens in place of a choice, as a heading folds its rows. */
  act?: () => void;
}

export class ListBox {
  readonly element: HTMLElement;
  readonly #model: Model;
  readonly #list: VirtualList;
  readonly #id = `toolbench-list-${Math.random()}`; // the module of each kernel of the page has lists
  #keys: string[] = [];
  #acts = new Map<string, () => void>();
  #chosen: string | null = null;
  #active: string | null = null;
  #isPressed = false;

  /** Make *el* a list, called the label of *model*, which is told the chosen key. */
  constructor(model: Model, el: HTMLElement) {
    this.#model = model;
    this.element = el;
    this.element.classList.add("toolbench-items");
    this.element.tabIndex = 0;
    this.element.setAttribute("role", "listbox");
    this.element.setAttribute("aria-label", String(model.get("label")));
    this.#list = new VirtualList(this.element, (element, row) => this.#paint(element, row));
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
    this.element.addEventListener("mousedown", (event) => this.#onPress(event));
    this.element.addEventListener("click", (event) => this.#onClick(event));
  }

  /** Show *entries*, and mark the entry with the key *chosen*. */
  show(entries: Entry[], chosen: string | null): void {
    const isNew = chosen !== this.#chosen;
    this.#keys = entries.filter((entry) => !entry.isHeading).map((entry) => entry.key);
    this.#acts = new Map(entries.flatMap(({ key, act }) => (act ? [[key, act] as const] : [])));
    this.#chosen = chosen;
    if (isNew || !this.#keys.includes(this.#active ?? "")) this.#active = chosen;
    this.element.hidden = this.#keys.length === 0;
    this.#list.show(entries);
    if (isNew && chosen !== null) this.#list.reveal(chosen);
    this.#mark();
  }

  /** Whether a person has scrolled away from the chosen entry. */
  get isLeft(): boolean {
    return this.#keys.includes(this.#chosen ?? "") && !this.#list.isInSight(this.#chosen ?? "");
  }

  /** Scroll until the chosen entry is in sight; if it is not, to the middle of the list. */
  revealChosen(): void {
    if (this.isLeft) this.#list.center(this.#chosen ?? "");
    this.#mark();
  }

  #paint(element: HTMLElement, row: Entry): void {
    if (row.isHeading) {
      element.setAttribute("role", "presentation");
      return;
    }
    const place = this.#keys.indexOf(row.key);
    element.id = `${this.#id}-${place}`;
    element.dataset.key = row.key;
    element.setAttribute("role", "option");
    element.setAttribute("aria-posinset", String(place + 1));
    element.setAttribute("aria-setsize", String(this.#keys.length));
    this.#markOne(element);
  }

  #markOne(option: HTMLElement): void {
    option.setAttribute("aria-selected", String(option.dataset.key === this.#chosen));
    option.classList.toggle("toolbench-active", option.dataset.key === this.#active);
  }

  #mark(): void {
    for (const option of this.element.querySelectorAll<HTMLElement>("[role=option]")) {
      this.#markOne(option);
    }
    const active = this.#active === null ? undefined : this.#list.element(this.#active);
    if (active) this.element.setAttribute("aria-activedescendant", active.id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.#keys.indexOf(this.#active ?? "");
    const last = this.#keys.length - 1;
    const places: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at < 0 ? last : at - 1,
      PageDown: at + PAGE,
      PageUp: at - PAGE,
      Home: 0,
      End: last,
    };
    const place = places[event.key];
    if (place !== undefined) {
      this.#active = this.#keys[Math.min(last, Math.max(0, place))] ?? null;
      if (this.#active !== null) this.#list.reveal(this.#active);
      this.#mark();
    } else if ((event.key === "Enter" || event.key === " ") && at >= 0) {
      this.#choose(this.#active);
    } else {
      return;
    }
    event.preventDefault();
  }

  /**
   * Choose the row at which the button of the mouse goes down, once it is up again in the same place.
   * Between the two the list may change, and then the browser sends no click, or one to another row.
   */
  #onPress(press: MouseEvent): void {
    const key = keyAt(press);
    if (press.button !== 0 || key === null) return;
    this.#isPressed = true;
    const choose = (release: MouseEvent): void => {
      const way = Math.hypot(release.clientX - press.clientX, release.clientY - press.clientY);
      if (way <= STEADY) this.#choose(key);
      setTimeout(() => (this.#isPressed = false)); // after the click, if there is one
    };
    addEventListener("mouseup", choose, { capture: true, once: true });
  }

  /** Choose a row that was clicked without a mouse, as screen readers do. */
  #onClick(click: MouseEvent): void {
    if (!this.#isPressed) this.#choose(keyAt(click));
  }

  #choose(key: string | null): void {
    if (key === null) return;
    const act = this.#acts.get(key);
    if (act) {
      this.#active = key;
      act();
      return;
    }
    this.#chosen = this.#active = key;
    this.#mark();
    tell(this.#model, { picked: key });
  }
}

/** The key of the row in which *event* happened; null outside the rows. */
function keyAt(event: MouseEvent): string | null {
  const target = event.target instanceof Element ? event.target : null;
  return target?.closest<HTMLElement>("[role=option]")?.dataset.key ?? null;
}

/** A part of a row that shows *text*. */
export function part(name: string, text: string): HTMLElement {
  const element = document.createElement("span");
  element.className = name;
  element.textContent = text;
  return element;
}
