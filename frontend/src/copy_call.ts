// "Copy call": after a click the kernel writes the call into the page, and this module copies it. The
// call stays in the kernel's widget. So a page that is loaded again gets it without a click; such a call
// is not copied.

import { copyText } from "./clipboard";
import { ourTarget } from "./ours";

const CALL = "[data-toolbench-copy]";
const BUTTON = ".toolbench-copy-call";
const ROW = ".toolbench-actions";
const SHOWN_MILLISECONDS = 1500;
const clicked = new WeakSet<Element>(); // the rows whose button waits for the kernel

/** Note the clicks on "Copy call". Call this before `holdClicks`, which stops every click. */
export function noteCopyClicks(): void {
  addEventListener(
    "click",
    (event) => {
      const row = ourTarget(event)?.closest(BUTTON)?.closest(ROW);
      if (row) clicked.add(row);
    },
    { capture: true },
  );
}

/** Copy each call that a click in this page requested, once for each click. */
export function copyCalls(): void {
  for (const place of document.querySelectorAll<HTMLElement>(CALL)) {
    const call = place.dataset.toolbenchCopy ?? '""';
    place.removeAttribute("data-toolbench-copy");
    const row = place.closest(ROW);
    if (!row || !clicked.delete(row)) continue;
    void copyText(JSON.parse(call) as string).then((isCopied) => {
      place.textContent = isCopied ? "Copied" : "The browser did not let it be copied";
      setTimeout(() => (place.textContent = ""), SHOWN_MILLISECONDS);
    });
  }
}
