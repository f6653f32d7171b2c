// Keys pressed in a widget of ours stay there, and Ctrl+Enter runs the tool.
//
// JupyterLab and Notebook 7 look for a shortcut whenever a key is pressed, also on a focused
// button or list: `x` cuts the cell. They leave out an element with the attribute below. It stops
// every shortcut, so it is set or removed for each key, just before they look. (The classic
// notebook switches its shortcuts off while the focus is in any widget.)

import { ourTarget } from "./ours";

const NO_SHORTCUTS = "data-lm-suppress-shortcuts";
const OWNERS = ".toolbench-question, .toolbench-panel";
const EDITING = new Set([
  ...["Enter", "Backspace", "Delete", "Home", "End", "PageUp", "PageDown"],
  ...["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"],
]);

const TEXTS = "input, textarea, [contenteditable='true']";
const TEXT_COMMANDS = new Set(["z", "y", "a", "c", "x", "v"]);

export function keepKeys(): void {
  // the window comes before the document, where JupyterLab listens
  window.addEventListener("keydown", onKey, { capture: true });
}

function onKey(event: KeyboardEvent): void {
  const target = ourTarget(event);
  if (!target) return;
  if (isForJupyter(event, target)) {
    target.removeAttribute(NO_SHORTCUTS);
  } else {
    target.setAttribute(NO_SHORTCUTS, "true");
  }
  if (isSubmit(event)) {
    event.preventDefault();
    if (!event.repeat) submit(target);
  }
}

/**
 * Whether the page gets the key, such as Ctrl+S. Keys that edit the focused text stay there: keys
 * that move, delete, undo or copy, and characters typed with AltGr.
 */
function isForJupyter(event: KeyboardEvent, target: HTMLElement): boolean {
  const command = event.ctrlKey || event.metaKey;
  if (!command || event.getModifierState("AltGraph") || EDITING.has(event.key)) return false;
  return !(target.matches(TEXTS) && TEXT_COMMANDS.has(event.key.toLowerCase()));
}

function isSubmit(event: KeyboardEvent): boolean {
  return event.key === "Enter" && (event.ctrlKey || event.metaKey);
}

/**
 * Press the submit button of the form around *target*: the form of a question or of a panel. Some
 * fields, such as one for a password, send their text when a person leaves them: this one sends it now.
 */
function submit(target: HTMLElement): void {
  target.dispatchEvent(new Event("change", { bubbles: true }));
  const owner = target.closest(OWNERS);
  const buttons = owner?.querySelectorAll<HTMLButtonElement>(".toolbench-submit:enabled") ?? [];
  [...buttons].find((button) => button.closest(OWNERS) === owner)?.click();
}
