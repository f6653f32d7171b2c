// A field of one line takes no line ends: the browser makes them spaces when a text is pasted or dropped
// into it. A person is told so, until the field is changed again.

import { say, sayNothing } from "./notices";
import { ourTarget } from "./ours";

const WIDGET = ".jupyter-widgets";
const BROUGHT = ["insertFromPaste", "insertFromDrop"];

/** Say at a field of ours that it lost the line ends of a text that came into it. */
export function sayLostLineEnds(): void {
  addEventListener("paste", (event) => onText(event, event.clipboardData), { capture: true });
  addEventListener("drop", (event) => onText(event, event.dataTransfer), { capture: true });
  addEventListener("input", onInput, { capture: true });
}

function onText(event: Event, data: DataTransfer | null): void {
  const field = ourTarget(event);
  if (!(field instanceof HTMLInputElement)) return;
  const lines = (data?.getData("text/plain") ?? "").replace(/[\r\n]+$/, "").split(/\r\n|\r|\n/).length;
  if (lines === 1) return;
  const text = `This field takes one line: the ends of the ${lines} lines became spaces.`;
  say(field.closest(WIDGET) ?? field, text);
}

function onInput(event: Event): void {
  const field = ourTarget(event);
  if (!(field instanceof HTMLInputElement) || !(event instanceof InputEvent)) return;
  if (!BROUGHT.includes(event.inputType)) sayNothing(field.closest(WIDGET) ?? field);
}
