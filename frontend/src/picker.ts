// A list to pick from, drawn by the page. Each item has two lines, a mark for its effect, and an
// icon if its server sent one. The kernel says which items match the search.

import { follow, type Model } from "./connection";
import { type Entry, ListBox, part } from "./listbox";

const ITEM = 44; // pixels
const HEADING = 26;

/** An item; one without an icon has the number -1. */
type Item = [key: string, first: string, second: string, mark: string, group: string, icon: number];
/** What a heading that folds its items says of them: a text, and how many items have each mark. */
type Group = [about: string, marks: [mark: string, count: number][]];
/** What the runs of items do, by the keys of the items; an item without a run is not in it. */
type RunStates = Record<string, string>;

/** Draw in *el* what the model of a `Picker` has, until *signal*. */
export function picker(model: Model, el: HTMLElement, signal: AbortSignal): void {
  const list = new ListBox(model, el);
  const { classList } = list.element;
  const turned = new Map<string, boolean>(); // whether a group is folded, if a user or a pick has said so
  let picked: string | null = null;
  const draw = (): void => {
    const items = model.get("items") as Item[];
    const icons = model.get("icons") as string[];
    const groups = model.get("groups") as Record<string, Group>;
    const matches = model.get("matches") as [number, number][];
    classList.toggle("toolbench-with-marks", items.some((item) => item[3] !== "")); // else there is no room for them
    classList.toggle("toolbench-with-icons", icons.length > 0);
    const matching = matches.flatMap(([a, b]) => items.slice(a, b + 1));
    const isSearch = matching.length < items.length;
    const groupOf = (name: string): Fold | undefined => {
      const group = Object.hasOwn(groups, name) ? groups[name] : undefined;
      const isFolded = !isSearch && (turned.get(name) ?? model.get("is_folded") === true); // what is found is in sight
      const turn = (): void => {
        turned.set(name, !isFolded);
        draw();
      };
      return group && { isFolded, head: groupHead(name, group, isFolded, turn) };
    };
    list.show(entriesOf(matching, icons, model.get("states") as RunStates, groupOf), picked);
  };
  const show = (): void => {
    const isLeft = list.isLeft; // who has scrolled away from the picked item stays there
    const before = picked;
    picked = model.get("picked") as string | null;
    const item = (model.get("items") as Item[]).find(([key]) => key === picked);
    if (item && picked !== before) turned.set(item[4], false);
    draw();
    if (!isLeft) list.revealChosen();
  };
  show();
  follow(model, "change", show, signal);
}

/** A group: its heading, and whether its items are out of sight. */
interface Fold {
  head: Entry;
  isFolded: boolean;
}

function entriesOf(
  items: Item[],
  icons: string[],
  states: RunStates,
  groupOf: (name: string) => Fold | undefined,
): Entry[] {
  const entries: Entry[] = [];
  let group = "";
  let fold: Fold | undefined;
  items.forEach((item, index) => {
    if (item[4] !== group) {
      group = item[4];
      fold = groupOf(group);
      entries.push(fold?.head ?? heading(group, index));
    }
    if (fold?.isFolded) return;
    const state = Object.hasOwn(states, item[0]) ? states[item[0]] : undefined;
    const version = state ? `${state}\n${item.join("\n")}` : item;
    entries.push({ key: item[0], version, height: ITEM, draw: () => optionOf(item, icons[item[5]], state) });
  });
  return entries;
}

function optionOf([, first, second, mark]: Item, icon?: string, state?: string): HTMLElement {
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

/** The heading of a group that *turn* folds and unfolds: an option too, so that the keyboard reaches it. */
function groupHead(name: string, [about, marks]: Group, isFolded: boolean, turn: () => void): Entry {
  return {
    key: `\n${name}`,
    version: `${isFolded}\n${about}\n${marks.join()}`,
    height: ITEM,
    act: turn,
    draw: () => {
      const head = part("toolbench-item toolbench-group", "");
      head.title = isFolded ? "Unfold" : "Fold";
      head.classList.toggle("toolbench-folded", isFolded);
      const second = part("toolbench-second toolbench-sentence", about);
      for (const [mark, count] of marks) second.append(markOf(mark), part("toolbench-number", String(count)));
      head.append(part("toolbench-first", name), second);
      return head;
    },
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
