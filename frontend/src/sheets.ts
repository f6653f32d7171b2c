// The style sheet of the package, once in a page. Panels and forms bring only what keeps them readable on a
// page without this module, and the texts of their fields for screen readers there.

import { allIn } from "./ours";

const PLAIN = ":is(style:is([data-toolbench-plain], [data-toolbench-heard]), .toolbench-without)";

/** Add *css* behind all sheets of the page, also those that come later: ipywidgets loads its own with its first widget. */
export function addStyle(css: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

/**
 * Take out of *root* what is for pages without this module. Each new sheet makes the browser compute the
 * style of the whole page anew. The styles of an editor that a user has made stay.
 */
export function dropPlainStyles(root: ParentNode): void {
  for (const plain of allIn<HTMLElement>(root, PLAIN)) plain.remove();
}
