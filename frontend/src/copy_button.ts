// The small buttons of results and editors, and the one that copies.

import { copyText } from "./clipboard";
import { type Icon, icon } from "./icons";
import { allIn } from "./ours";

const COPIED_MILLISECONDS = 1500;
const NAME = ".toolbench-name";

/** A button that copies what *read* gives, and a place where it says so. */
export function copyButton(title: string, read: () => string): HTMLElement {
  const said = document.createElement("span");
  said.className = "toolbench-said";
  said.setAttribute("role", "status");
  const copy = iconButton("copy", "Copy", `Copy: ${title}`, () => {
    void copyText(read()).then((isCopied) => {
      say(said, isCopied ? "Copied" : "The browser did not let it be copied");
    });
  });
  const box = document.createElement("span");
  box.className = "toolbench-copy";
  box.append(said, copy);
  return box;
}

/** Add to each line of code in *root* that is there to be copied a button that does it. */
export function enhanceLines(root: ParentNode): void {
  for (const line of allIn(root, "[data-toolbench-line]")) {
    if (line.nextElementSibling) continue; // it has one
    line.after(copyButton(line.previousElementSibling?.textContent ?? "", () => line.textContent ?? ""));
  }
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

/** A small button that shows an icon. Its *text* is read to those who do not see it, and shown with the focus. */
export function iconButton(look: Icon, text: string, name: string, act: () => void): HTMLButtonElement {
  const made = button("", name, act);
  const words = document.createElement("span");
  words.className = NAME.slice(1);
  words.textContent = text;
  made.append(icon(look), words);
  return made;
}

/** Give *made*, of `iconButton`, another text, and another icon if *look* is given. */
export function rename(made: HTMLButtonElement, text: string | null, look?: Icon): void {
  const words = made.querySelector(NAME) ?? made;
  words.textContent = text;
  if (look) made.firstElementChild?.replaceWith(icon(look));
}

/** Show *text* in *place* for a moment. */
export function say(place: HTMLElement, text: string): void {
  place.textContent = text;
  setTimeout(() => {
    if (place.textContent === text) place.textContent = "";
  }, COPIED_MILLISECONDS);
}
