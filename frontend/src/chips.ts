// A list of several choices as chips: each is pressed and released with a click or the space bar, and the
// arrow keys move between them. What counts is the list of ipywidgets, which a page without this module shows.

import type { View } from "./connection";
import { onSet } from "./field_views";

const LIST = ":scope > select[multiple]";
export const CHIPS = ".tb-chips";
const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Show the choices of *view*, a list of ipywidgets, as chips. */
export function addChips(view: View, label: string): void {
  const list = view.el.querySelector<HTMLSelectElement>(LIST);
  if (!list || view.el.querySelector(CHIPS)) return;
  const box = document.createElement("div");
  box.className = "tb-chips";
  box.setAttribute("role", "listbox");
  box.setAttribute("aria-multiselectable", "true");
  box.setAttribute("aria-orientation", "horizontal");
  box.setAttribute("aria-labelledby", label);
  const chips = [...list.options].map((option) => chipOf(option.text));
  const show = (): void => {
    chips.forEach((chip, place) => chip.setAttribute("aria-selected", String(list.options[place]?.selected)));
  };
  const choose = (place: number): void => {
    const option = list.options[place];
    if (!option) return;
    option.selected = !option.selected;
    show();
    for (const event of ["input", "change"]) list.dispatchEvent(new Event(event, { bubbles: true }));
  };
  /** Tab leads to one chip only. */
  const enter = (place: number): void => {
    chips.forEach((chip, other) => (chip.tabIndex = other === place ? 0 : -1));
  };
  const move = (place: number): void => {
    enter(place);
    chips[place]?.focus();
  };
  box.addEventListener("click", (event) => {
    const place = chips.findIndex((chip) => event.target instanceof Node && chip.contains(event.target));
    if (place < 0) return;
    move(place);
    choose(place);
  });
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = chips.findIndex((chip) => chip.tabIndex === 0);
    const step = STEPS[event.key];
    if (step) move(Math.max(0, Math.min(chips.length - 1, at + step)));
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(chips.length - 1);
    else if (event.key === " " || event.key === "Enter") choose(at);
    else return;
    event.preventDefault();
  });
  enter(0);
  show();
  box.append(...chips);
  list.after(box);
  onSet(view, show);
}

function chipOf(text: string): HTMLElement {
  const chip = document.createElement("span");
  chip.className = "tb-chip";
  chip.setAttribute("role", "option");
  chip.textContent = text.replaceAll("\u00a0", " "); // ipywidgets writes all blanks so, and then no line breaks
  return chip;
}
