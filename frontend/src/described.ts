// The help and the errors of a field belong to its description, not to its name.
//
// The form writes them below the field, in an element that names the field's CSS class in
// `data-describes`. ipywidgets cannot connect the two for assistive technology; this does.

import { describedParts } from "./fields";

const INPUTS = "input, select, textarea, .cm-content";

/** Connect every note of every form with the inputs it describes. */
export function describeFields(): void {
  for (const input of document.querySelectorAll(`[aria-describedby^="tb-"]`)) {
    if (!document.getElementById(input.getAttribute("aria-describedby") ?? "")) forget(input);
  }
  for (const note of document.querySelectorAll<HTMLElement>("[data-describes]")) {
    const mark = note.dataset.describes ?? "";
    note.id = `${mark}-note`;
    const isWrong = note.querySelector(".tb-error") !== null;
    for (const input of inputsOf(mark)) {
      put(input, "aria-describedby", note.id);
      put(input, "aria-invalid", String(isWrong));
    }
  }
  for (const input of inputsOf("tb-required")) put(input, "aria-required", "true");
}

function inputsOf(name: string): Element[] {
  const fields = [...document.getElementsByClassName(name)];
  return fields.flatMap((field) => describedParts(field, INPUTS));
}

function forget(input: Element): void {
  input.removeAttribute("aria-describedby");
  input.removeAttribute("aria-invalid");
}

function put(input: Element, name: string, value: string): void {
  if (input.getAttribute(name) !== value) input.setAttribute(name, value);
}
