// "Copy call": after a click the kernel writes the call into the page, and this copies it. The call stays in
// the kernel's widget, so a page that is loaded again or shows the panel twice gets it without a click.

import { copyText } from "./clipboard";
import { ourTarget } from "./ours";

const CALL = "[data-toolbench-copy]";
const BUTTON = ".toolbench-copy-call";
const ROW = ".toolbench-actions";
const SHOWN_MILLISECONDS = 1500;
const clicked = new WeakSet<Element>(); // the rows whose button waits for the kernel

/** Note the clicks on "Copy call"; before `holdClicks`, which lets no click pass. */
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

/** Copy the calls that a click in this page asked for, once for each click. */
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
