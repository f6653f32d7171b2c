// One copy of the style sheet of forms. Each form brings it, and the styles of its fields, for pages
// without this module. Each new sheet makes the browser compute the style of the whole page anew: so a
// sheet that the page has is taken out before it does, and so are our styles of fields, which only do
// what `described.ts` does better. The styles of an editor that a user has made stay.

import { allIn } from "./ours";

const SHEET = "[data-toolbench-sheet]";
const STYLES = `.tb-form style:is(${SHEET}, [data-toolbench-heard])`;
const shared = new Set<string>(); // the texts of the sheets that the page has: one of each version

export function shareSheets(root: ParentNode): void {
  for (const style of allIn<HTMLStyleElement>(root, STYLES)) {
    const text = style.textContent ?? "";
    style.remove();
    if (!style.matches(SHEET) || shared.has(text)) continue;
    shared.add(text);
    document.body.append(style); // behind the sheets of the page and of panels, as in a form
  }
}
