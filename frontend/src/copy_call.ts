// "Copy call": after a click the kernel writes the call into the page, and this copies it.

import { copyText } from "./clipboard";

const CALL = "[data-toolbench-copy]";
const SHOWN_MILLISECONDS = 1500;

export function copyCalls(): void {
  for (const place of document.querySelectorAll<HTMLElement>(CALL)) {
    const text = JSON.parse(place.dataset.toolbenchCopy ?? '""') as string;
    place.removeAttribute("data-toolbench-copy"); // once for each click
    void copyText(text).then((isCopied) => {
      place.textContent = isCopied ? "Copied" : "The browser did not let it be copied";
      setTimeout(() => (place.textContent = ""), SHOWN_MILLISECONDS);
    });
  }
}
