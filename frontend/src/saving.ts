// "Save" at a result: the page has only what it shows, so the kernel sends the whole result once it is asked
// for, in pieces. Where there is no kernel, a page can save what it shows, and says so.

import { saveFile } from "./clipboard";
import { button, rename } from "./copy_button";
import { ask, newId } from "./exchange";
import { type Kernel, kernelsOfPage } from "./kernel_results";
import { say, sayNothing } from "./notices";

/** The button that saves a card. */
export const SAVE = ".toolbench-save";
/** The cards of a result, of which the kernel has the whole. */
export const RESULT = "[data-toolbench-whole]";

const CARD = "[data-toolbench-card]";
/** The icons of a card; what is said of it stands after them, in the card's bar. */
export const ICONS = "[data-toolbench-bar] > .toolbench-tools";

/** The answer of the kernel to the question for a card: its files, or why there are none. */
interface Files {
  save: string;
  problem?: string;
  files?: { name: string; type: string; size: number }[];
}

/** The answer to the question for a piece, which comes beside it. */
interface Piece {
  save: string;
  file: number;
  begin: number;
}

/** Save the whole of the card of *save*, as the kernel has it; return false if no kernel has it. */
export async function saveWhole(save: HTMLButtonElement): Promise<boolean> {
  const [card, label] = [save.closest(CARD), save.textContent];
  if (!card || save.getAttribute("aria-busy")) return card !== null;
  save.setAttribute("aria-busy", "true");
  rename(save, "Saving…");
  try {
    for (const kernel of kernelsOfPage()) {
      if (await saveFrom(kernel, save, card)) return true;
    }
    return false;
  } finally {
    rename(save, label);
    save.removeAttribute("aria-busy");
  }
}

async function saveFrom({ model, models: kernel }: Kernel, save: HTMLButtonElement, card: Element): Promise<boolean> {
  const icons = card.querySelector(ICONS) ?? save;
  const whole = card.closest<HTMLElement>(RESULT);
  const id = newId();
  const question = {
    save: id,
    result: whole?.dataset.toolbenchWhole ?? "",
    card: [...(whole?.querySelectorAll(CARD) ?? [])].indexOf(card),
    form: save.dataset.form ?? "",
  };
  sayNothing(icons);
  const isFiles = (news: Partial<Files>): boolean => news.save === id && !("file" in news);
  const found = (await ask<Files>(model, kernel, question, isFiles))?.content;
  if (found?.problem) say(icons, found.problem);
  for (const [file, { name, type, size }] of (found?.files ?? []).entries()) {
    const parts: DataView<ArrayBuffer>[] = [];
    for (let begin = 0; begin < size; ) {
      rename(save, `Saving ${Math.floor((100 * begin) / size)}%`);
      const isPiece = (news: Partial<Piece>): boolean =>
        news.save === id && news.file === file && news.begin === begin;
      const [piece] = (await ask<Piece>(model, kernel, { save: id, file, begin }, isPiece))?.buffers ?? [];
      if (!piece?.byteLength) return false;
      parts.push(piece as DataView<ArrayBuffer>);
      begin += piece.byteLength;
    }
    saveFile(name, parts, type);
  }
  if (found?.files) model.send({ save: id }, {}); // it has all
  return Boolean(found?.problem ?? found?.files);
}

/** Buttons that save the table of a result called *title* in several forms, behind one that shows them. */
export function saveForms(title: string, noKernel: () => void): HTMLElement {
  const [menu, head, forms] = [document.createElement("details"), document.createElement("summary"), document.createElement("span")];
  menu.className = "toolbench-forms";
  head.className = "toolbench-tool";
  head.title = `Save as CSV, JSON or Parquet: ${title}`;
  head.setAttribute("aria-label", head.title);
  head.textContent = "▾";
  for (const form of ["CSV", "JSON", "Parquet"]) {
    const save = button(form, `Save as ${form}: ${title}`, () => {
      void saveWhole(save).then((isSaved) => {
        if (menu.contains(document.activeElement)) head.focus();
        menu.open = false;
        if (!isSaved) noKernel();
      });
    });
    save.classList.add(SAVE.slice(1));
    save.dataset.form = form.toLowerCase();
    forms.append(save);
  }
  menu.append(head, forms);
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    head.focus();
    event.stopPropagation();
  });
  menu.addEventListener("focusout", ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && menu.contains(relatedTarget))) menu.open = false;
  });
  return menu;
}
