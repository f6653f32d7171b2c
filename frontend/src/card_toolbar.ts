// Results are cards of static HTML: a title, and a body that scrolls when it is high. To each card
// this adds what needs a script: copy, save, wrap, a full view, and "Show all" in place of the scroll
// bar. Everything is built of elements and text nodes; no text is ever read as HTML.

import { saveFile } from "./clipboard";
import { downloadsOf, extentOf, hasLines, savedPart, textOf } from "./contents";
import { button, copyButton, iconButton, rename } from "./copy_button";
import { openFully } from "./fullview";
import { say as notify } from "./notices";
import { allIn } from "./ours";
import { ICONS, RESULT, SAVE, saveForms, saveWhole } from "./saving";
import { hasLevels, openLevels } from "./tree";
import { viewSwitch } from "./views";

const BODY = "[data-toolbench-body]";
const BAR = "[data-toolbench-bar]";
const CARD = "[data-toolbench-card]";
const NO_KERNEL = "No kernel gives the whole result here: only what is shown can be saved.";
const known = new WeakSet<Element>();
// By the widget in which each run writes its cards anew, and by their titles
const choices = new WeakMap<Element, Record<string, Choice>>();

/** What a user chose for a card, which holds for the result of the next run too. */
interface Choice {
  view?: string;
  isWhole?: boolean;
}

/** Add to each card in *root* what it does not have yet. */
export function enhanceCards(root: ParentNode): void {
  for (const body of allIn<HTMLElement>(root, BODY)) {
    const bar = body.closest(CARD)?.querySelector(BAR);
    if (!bar || known.has(body)) continue;
    known.add(body);
    let tools = toolbar(body);
    const choice = choiceOf(body);
    const views = viewSwitch(body, choice.view, (view) => {
      choice.view = view;
      const next = toolbar(body); // each view has its own tools
      tools.replaceWith(next);
      tools = next;
    });
    bar.append(...(views ? [views] : []), tools);
    limitHeight(body, choice);
  }
}

function choiceOf(body: HTMLElement): Choice {
  const place = body.closest(".widget-html-content") ?? body;
  const ofPlace = choices.get(place) ?? {};
  choices.set(place, ofPlace);
  return (ofPlace[body.getAttribute("aria-label") ?? ""] ??= {});
}

function toolbar(body: HTMLElement): HTMLElement {
  const box = document.createElement("span");
  box.className = "toolbench-tools";
  const title = body.getAttribute("aria-label") ?? "";
  if (hasLevels(body)) box.append(levelsButton(body));
  if (hasLines(body)) box.append(wrapButton(body));
  const full = iconButton("full", "Full view", `Full view: ${title}`, () => openFully(body, title));
  box.append(copyButton(title, () => textOf(body)), saveButton(body, title));
  if (body.closest(RESULT) && body.querySelector("[data-toolbench-table]")) {
    box.append(saveForms(title, () => sayNoKernel(body)));
  }
  box.append(full);
  return box;
}

function sayNoKernel(body: HTMLElement): void {
  notify(body.closest(CARD)?.querySelector(ICONS) ?? body, NO_KERNEL);
}

/**
 * A button that saves what the page has of *body*, and says which part that is. Where a kernel has the whole
 * result, it saves that.
 */
function saveButton(body: HTMLElement, title: string): HTMLButtonElement {
  const ofPage = (): string => `Save ${savedPart(body)}`.trim();
  const savePage = (): void => downloadsOf(body).forEach((file) => saveFile(file.name, file.parts, file.type));
  let isWhole = body.closest(RESULT) !== null;
  const text = isWhole ? "Save" : ofPage();
  const save = iconButton("save", text, `${text}: ${title}`, () => {
    if (!isWhole) return savePage();
    void saveWhole(save).then((isSaved) => {
      if (isSaved) return;
      isWhole = false;
      if (!savedPart(body)) return savePage();
      rename(save, ofPage());
      save.title = `${ofPage()}: ${title}`;
      sayNoKernel(body);
    });
  });
  save.classList.add(SAVE.slice(1));
  return save;
}

function wrapButton(body: HTMLElement): HTMLButtonElement {
  const wrap = iconButton("wrap", "Wrap", "Wrap long lines", () => {
    const isOn = body.classList.toggle("toolbench-nowrap");
    wrap.setAttribute("aria-pressed", String(!isOn));
    if (isOn) body.tabIndex = 0; // it scrolls sideways
    else body.removeAttribute("tabindex");
  });
  wrap.setAttribute("aria-pressed", "true");
  return wrap;
}

function levelsButton(body: HTMLElement): HTMLButtonElement {
  let isOpen = false;
  const levels = iconButton("open", "Expand", "Open every level of the JSON", () => {
    isOpen = !isOpen;
    openLevels(body, isOpen);
    rename(levels, isOpen ? "Collapse" : "Expand", isOpen ? "shut" : "open");
    levels.title = `${isOpen ? "Close" : "Open"} every level of the JSON`;
  });
  return levels;
}

/** Have *body* end where its limit is, and a button under it show the rest. */
function limitHeight(body: HTMLElement, choice: Choice): void {
  const open = (isOpen: boolean): void => {
    choice.isWhole = isOpen;
    body.classList.toggle("toolbench-whole", isOpen);
    more.setAttribute("aria-expanded", String(isOpen));
    label();
  };
  const more = button("", "", () => open(!body.classList.contains("toolbench-whole")));
  const label = (): void => {
    const isOpen = body.classList.contains("toolbench-whole");
    const text = isOpen ? "Show less" : `Show ${extentOf(body)}`;
    if (more.textContent !== text) more.textContent = text;
  };
  more.className = "toolbench-more";
  more.setAttribute("aria-expanded", "false");
  const look = (): void => {
    if (body.classList.contains("toolbench-full") || body.clientHeight === 0) return;
    const isOpen = body.classList.contains("toolbench-whole");
    const isHigh = isOpen || body.scrollHeight > body.clientHeight + 2;
    if (isHigh && choice.isWhole) open(true);
    label(); // a filter may have changed it
    if (isHigh === more.isConnected) return;
    if (isHigh) body.after(more);
    else more.remove();
  };
  body.classList.add("toolbench-limited");
  body.removeAttribute("tabindex"); // it does not scroll any more
  const observer = new ResizeObserver(look);
  observer.observe(body);
  if (body.firstElementChild) observer.observe(body.firstElementChild);
}
