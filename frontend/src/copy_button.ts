// The small buttons of results and editors, and the one that copies.

import { copyText } from "./clipboard";

const COPIED_MILLISECONDS = 1500;

/** A button that copies what *read* gives, and a place where it says so. */
export function copyButton(title: string, read: () => string): HTMLElement {
  const said = document.createElement("span");
  said.className = "toolbench-said";
  said.setAttribute("role", "status");
  const copy = button("Copy", `Copy: ${title}`, () => {
    void copyText(read()).then((isCopied) => {
      say(said, isCopied ? "Copied" : "The browser did not let it be copied");
    });
  });
  const box = document.createElement("span");
  box.className = "toolbench-copy";
  box.append(said, copy);
  return box;
}

/** A small button of ours, with *name* as its tooltip. */
export function button(text: string, name: string, act: () => void): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "toolbench-tool";
  made.textContent = text;
  if (name) made.title = name;
  made.addEventListener("click", act);
  return made;
}

/** Show *text* in *place* for a moment. */
export function say(place: HTMLElement, text: string): void {
  place.textContent = text;
  setTimeout(() => {
    if (place.textContent === text) place.textContent = "";
  }, COPIED_MILLISECONDS);
}
