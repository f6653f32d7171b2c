// What is wider than the page scrolls; so that the arrow keys can do it, it must be able to have the focus.
// Only what really scrolls gets a stop of the Tab key, and loses it again in a wider window.
"use strict";
const MARK = "data-scrolls";

function mark(element) {
  const wide = element.scrollWidth > element.clientWidth + 1;
  const scrolls = wide && ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
  if (scrolls && !element.hasAttribute("tabindex")) {
    element.tabIndex = 0;
    element.setAttribute(MARK, "");
  } else if (!scrolls && element.hasAttribute(MARK)) {
    element.removeAttribute("tabindex");
    element.removeAttribute(MARK);
  }
}

function markAll() {
  document.querySelectorAll("article pre, article div").forEach(mark);
}

window.addEventListener("load", markAll);
window.addEventListener("resize", markAll);
