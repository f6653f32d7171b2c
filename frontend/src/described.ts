// The help and the errors of a field belong to its description, not to its name.
//
// The form writes them below the field, in an element that names the field's CSS class in
// `data-describes`. ipywidgets cannot connect the two for assistive technology; this does.

import { describedParts } from "./fields";

const INPUTS = "input:not(.tb-slider, .tb-native), select, textarea";

/** Connect every note of a form, or of every form of the page, with the inputs it describes. */
export function describeFields(page: Document | Element = document): void {
  for (const input of page.querySelectorAll(`[aria-describedby^="tb-"]`)) {
    if (!document.getElementById(input.getAttribute("aria-describedby") ?? "")) forget(input);
  }
  for (const note of page.querySelectorAll<HTMLElement>("[data-describes]")) {
    const mark = note.dataset.describes ?? "";
    put(note, "id", `${mark}-note`);
    const isWrong = note.querySelector(".tb-error") !== null;
    for (const input of inputsOf(mark, page)) {
      put(input, "aria-describedby", note.id);
      put(input, "aria-invalid", String(isWrong));
    }
  }
  for (const input of inputsOf("tb-required", page)) put(input, "aria-required", "true");
}

function inputsOf(name: string, page: Document | Element): Element[] {
  const fields = [...page.getElementsByClassName(name)];
  return fields.flatMap((field) => describedParts(field, INPUTS));
}

function forget(input: Element): void {
  input.removeAttribute("aria-describedby");
  input.removeAttribute("aria-invalid");
}

function put(input: Element, name: string, value: string): void {
  if (input.getAttribute(name) !== value) input.setAttribute(name, value);
}
