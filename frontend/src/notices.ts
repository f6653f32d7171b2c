// Sentences that only the page can say, because the kernel does not hear of what happened.

const notices = new WeakMap<Element, HTMLElement>();

/** Say *text* after *element*, in place of what was said there before. */
export function say(element: Element, text: string): void {
  sayNothing(element);
  const notice = document.createElement("p");
  notice.className = "toolbench-notice";
  notice.setAttribute("role", "alert");
  notice.textContent = text;
  notices.set(element, notice);
  element.after(notice);
}

/** Take away what was said after *element*. */
export function sayNothing(element: Element): void {
  notices.get(element)?.remove();
}
