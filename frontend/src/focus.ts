// The focus stays where a person works: a question that closes, or a button that is disabled
// while its work goes on, would drop it on the page, where keys are the notebook's.

import { ourTarget } from "./ours";

const PANEL = ".toolbench-panel";
const QUESTION = ".toolbench-question";
const KEEP = ".toolbench-keep";
const asked = new WeakSet<Element>();
const lastFocus = new WeakMap<Element, HTMLElement>(); // of each panel, outside its questions

export function keepFocus(): void {
  document.addEventListener("focusin", (event) => {
    const target = ourTarget(event);
    const panel = target?.closest(PANEL);
    if (target && panel && panel !== target && !target.closest(QUESTION)) {
      lastFocus.set(panel, target);
    }
  });
  new MutationObserver((changes) => changes.forEach(standInForDisabled)).observe(document.body, {
    attributeFilter: ["disabled"],
    subtree: true,
  });
}

/** Have the answer that changes nothing hold the focus, if its question came up where a person works. */
export function focusRefusals(): void {
  for (const keep of document.querySelectorAll<HTMLElement>(`${QUESTION} ${KEEP}`)) {
    if (asked.has(keep)) continue;
    asked.add(keep);
    const panel = keep.closest(PANEL);
    if (!panel || !lastFocus.has(panel)) continue;
    if (panel.contains(document.activeElement) || isFocusOn(document.body)) keep.focus();
  }
}

/** Give the focus back if *change* removed a question that had it. */
export function restoreFocus(change: MutationRecord): void {
  const box = change.target;
  if (!(box instanceof Element) || change.removedNodes.length === 0) return;
  const panel = box.closest<HTMLElement>(QUESTION)?.closest<HTMLElement>(PANEL);
  const before = panel ? lastFocus.get(panel) : undefined;
  if (!panel || !before?.isConnected || !isFocusOn(document.body, panel)) return;
  before.focus();
  if (before.matches(":disabled")) wait(panel, before);
}

/** Have the panel hold the focus of an element that *change* disabled. */
function standInForDisabled(change: MutationRecord): void {
  const element = change.target;
  if (!(element instanceof HTMLElement) || !element.matches(":disabled")) return;
  const panel = element.closest<HTMLElement>(PANEL);
  if (panel && lastFocus.get(panel) === element && isFocusOn(document.body, element)) {
    wait(panel, element);
  }
}

/** Focus *panel*, and *element* as soon as it is enabled again, if the focus is still there. */
function wait(panel: HTMLElement, element: HTMLElement): void {
  panel.tabIndex = -1;
  panel.focus({ preventScroll: true });
  const observer = new MutationObserver(() => {
    if (element.matches(":disabled")) return;
    observer.disconnect();
    if (isFocusOn(document.body, panel)) element.focus({ preventScroll: true });
  });
  observer.observe(element, { attributeFilter: ["disabled"] });
}

function isFocusOn(...elements: Element[]): boolean {
  return elements.some((element) => element === document.activeElement);
}
