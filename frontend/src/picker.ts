// A list to pick from, drawn by the page. Each item has two lines, a mark for its effect, and an
// icon if its server sent one.
// The kernel sends the texts once, and then the numbers of the items that match the search. The
// plain list of ipywidgets is hidden.

import { type Entry, ListBox, part } from "./listbox";

const PICKER = ".toolbench-picker";
const ITEM = 44; // pixels
const HEADING = 26;

type Item = [key: string, first: string, second: string, mark: string, group: string, icon: number];
/** The items, and the `data:` URLs of their icons; an item without an icon has the number -1. */
type Texts = { items: Item[]; icons: string[] };
type State = [matches: [number, number][], picked: string | null];
/** What the runs of items do, by the keys of the items; an item without a run is not in it. */
type RunStates = Record<string, string>;

const pickers = new WeakMap<Element, Picker>();

export function enhancePickers(): void {
  for (const element of document.querySelectorAll<HTMLElement>(PICKER)) {
    const texts = element.querySelector<HTMLElement>("[data-toolbench-items]");
    const state = element.querySelector<HTMLElement>("[data-toolbench-matches]");
    if (!texts || !state) continue;
    let picker = pickers.get(element);
    if (!picker) {
      picker = new Picker(element, texts.dataset.toolbenchItems ?? "");
      pickers.set(element, picker);
    }
    picker.read(texts, state, element.querySelector<HTMLElement>("[data-toolbench-states]"));
  }
}

class Picker {
  readonly #list: ListBox;
  #all: Texts = { items: [], icons: [] };
  #texts?: Element;
  #state?: Element;
  #runs?: Element | null;

  constructor(owner: HTMLElement, label: string) {
    this.#list = new ListBox(owner, label);
    owner.querySelector(".toolbench-search")?.after(this.#list.element);
  }

  /** Read the texts and the state from the kernel, if they are new. */
  read(texts: Element, state: HTMLElement, runs: HTMLElement | null): void {
    if (texts === this.#texts && state === this.#state && runs === this.#runs) return;
    if (texts !== this.#texts && texts.textContent) this.#all = JSON.parse(texts.textContent) as Texts;
    const [matches, picked] = JSON.parse(state.dataset.toolbenchMatches || "[[],null]") as State;
    const states = JSON.parse(runs?.dataset.toolbenchStates || "{}") as RunStates;
    [this.#texts, this.#state, this.#runs] = [texts, state, runs];
    const { items, icons } = this.#all;
    const { classList } = this.#list.element; // a list without any marks keeps no room for them
    classList.toggle("toolbench-with-marks", items.some((item) => item[3] !== ""));
    classList.toggle("toolbench-with-icons", icons.length > 0);
    const isLeft = this.#list.isLeft; // who has scrolled away from the picked item stays there
    this.#list.show(entriesOf(matches.flatMap(([a, b]) => items.slice(a, b + 1)), icons, states), picked);
    if (!isLeft) this.#list.revealChosen();
  }
}

function entriesOf(items: Item[], icons: string[], states: RunStates): Entry[] {
  const entries: Entry[] = [];
  let group = "";
  items.forEach((item, index) => {
    if (item[4] !== group) {
      group = item[4];
      entries.push(heading(group, index));
    }
    const state = Object.hasOwn(states, item[0]) ? states[item[0]] : undefined;
    const version = state ? `${state}\n${item.join("\n")}` : item;
    entries.push({ key: item[0], version, height: ITEM, draw: () => draw(item, icons[item[5]], state) });
  });
  return entries;
}

function draw([, first, second, mark]: Item, icon?: string, state?: string): HTMLElement {
  const option = document.createElement("div");
  option.className = "toolbench-item";
  option.title = second ? `${first}\n${second}` : first;
  const about = part("toolbench-second", state ?? second);
  if (state) about.classList.add("toolbench-state");
  about.classList.toggle("toolbench-sentence", (state ?? second).includes(" ")); // no name and no address has a space
  option.append(markOf(mark), part("toolbench-first", first), about);
  if (icon?.startsWith("data:image/")) option.append(pictureOf(icon));
  return option;
}

function heading(text: string, index: number): Entry {
  return {
    key: `\n${index}`, // no item has this key
    version: text,
    height: text ? HEADING : 0,
    isHeading: true,
    draw: () => part("toolbench-heading", text),
  };
}

/** The icon at *source*. The name of the item is beside it, so screen readers leave it out. */
function pictureOf(source: string): HTMLElement {
  const picture = document.createElement("img");
  picture.className = "toolbench-icon";
  picture.alt = "";
  picture.src = source;
  return picture;
}

/** A small mark for *word*. Marks differ in form and colour, and screen readers read the word. */
function markOf(word: string): HTMLElement {
  const mark = part("toolbench-mark", "");
  if (!word) return mark;
  mark.dataset.mark = word;
  mark.title = word;
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", word);
  return mark;
}
