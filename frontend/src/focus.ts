// Keep the focus where a person works. When a question closes, or a button is disabled while its
// work runs, the browser gives the focus to the page, and the notebook gets the next keys.

import { ourTarget } from "./ours";

const PANEL = ".toolbench-panel";
const QUESTION = ".toolbench-question";
const KEEP = ".toolbench-keep";
const CONVERSATION = ".toolbench-transcript";
const ROWS = ".toolbench-tabs";
const FORM = ".toolbench-request .tb-form"; // of the tool that was chosen
const WAITS = ".toolbench-waiting, .toolbench-request > .toolbench-text:last-child"; // it comes last
const GROWS = 1000; // ms: the rows above have come by then
const asked = new WeakSet<Element>();
const worked = new WeakSet<Element>(); // panels in which something had the focus, also in a question
const shown = new WeakMap<Element, Element>(); // by panel: what was scrolled to last
const lastFocus = new WeakMap<Element, HTMLElement>(); // by panel: its last focus outside questions

export function keepFocus(): void {
  const observer = new MutationObserver((changes) => changes.forEach(standInForDisabled));
  document.addEventListener("focusin", (event) => {
    const target = ourTarget(event);
    const panel = target?.closest(PANEL);
    if (panel) worked.add(panel);
    if (target && panel && panel !== target && !target.closest(QUESTION)) {
      lastFocus.set(panel, target);
      observer.disconnect();
      observer.observe(target, { attributeFilter: ["disabled"] });
    }
  });
}

/** If a question appears where a person works, focus its button that changes nothing. */
export function focusRefusals(): void {
  for (const keep of document.querySelectorAll<HTMLElement>(`${QUESTION} ${KEEP}`)) {
    if (asked.has(keep)) continue;
    asked.add(keep);
    const panel = keep.closest(PANEL);
    if (panel && lastFocus.has(panel) && isWorkedIn(panel)) keep.focus();
  }
}

/**
 * Where a person works in a conversation, scroll to what waits for them, and without that to its end.
 * Each answer makes the panel so much shorter or longer that a small window would show something else.
 */
export function showWaiting(): void {
  for (const panel of document.querySelectorAll(CONVERSATION)) {
    const next = panel.querySelector(FORM) ?? panel.querySelector(WAITS) ?? panel.querySelector(ROWS);
    const last = shown.get(panel);
    if (!next || next === last) continue;
    shown.set(panel, next);
    if (last && isWorkedIn(panel)) follow(next, panel);
  }
}

/** Keep *part* of *panel*, and the end of its question, in sight until the panel has got its size. */
function follow(part: Element, panel: Element): void {
  const box = part.closest(QUESTION) ?? part;
  const observer = new ResizeObserver(() => {
    if (shown.get(panel) !== part || !isWorkedIn(panel)) return;
    box.scrollIntoView({ block: "nearest" });
    if (box !== part) box.lastElementChild?.scrollIntoView({ block: "nearest" });
  });
  observer.observe(panel);
  setTimeout(() => observer.disconnect(), GROWS);
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

/** Focus the panel if *change* disabled the element that had the focus. */
function standInForDisabled(change: MutationRecord): void {
  const element = change.target;
  if (!(element instanceof HTMLElement) || !element.matches(":disabled")) return;
  const panel = element.closest<HTMLElement>(PANEL);
  if (panel && lastFocus.get(panel) === element && isFocusOn(document.body, element)) {
    wait(panel, element);
  }
}

/** Focus *panel* now, and *element* when it is enabled again, if *panel* has the focus then. */
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

/** Whether a person has worked in *panel*, and does not work elsewhere now. */
function isWorkedIn(panel: Element): boolean {
  if (!worked.has(panel)) return false;
  return panel.contains(document.activeElement) || isFocusOn(document.body);
}

function isFocusOn(...elements: Element[]): boolean {
  return elements.some((element) => element === document.activeElement);
}

/** Let the keyboard scroll the logs of servers: ipywidgets ignores `tabbable` of a box. */
export function focusLogs(): void {
  for (const log of document.querySelectorAll<HTMLElement>(".toolbench-feed")) log.tabIndex = 0;
}
