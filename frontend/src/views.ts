// The switch Table · Tree · Text of a result that a person and a model read alike. The kernel writes
// one of its views, and the text behind a line to unfold: the others are drawn here, of that text.

import { drawTree, isTree } from "./tree";

const VIEWS = "[data-toolbench-views]";
const PART = "[data-toolbench-part]";

/**
 * The switch for the views of *body*, with the view *chosen* before if there is one of that name; it calls
 * *changed* with the name after each change. Undefined if there is one view.
 */
export function viewSwitch(body: HTMLElement, chosen: string | undefined, changed: (name: string) => void): HTMLElement | undefined {
  const box = body.querySelector<HTMLElement>(VIEWS);
  const text = box?.querySelector<HTMLElement>(":scope > :last-child > details > pre");
  const first = box?.firstElementChild;
  if (!box || !text || !first) return undefined;
  text.closest("details")?.parentElement?.remove();
  const views = new Map<string, Element>([["Text", text]]);
  const main = first.lastElementChild;
  views.set(main && isTree(main) ? "Tree" : "Table", first);
  const group = document.createElement("span");
  group.className = "toolbench-views";
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", "View");
  for (const name of ["Table", "Tree", "Text"]) {
    if (name === "Table" && !views.has(name)) continue;
    const choice = document.createElement("button");
    choice.type = "button";
    choice.className = "toolbench-tool";
    choice.textContent = name;
    choice.setAttribute("aria-pressed", String(views.get(name) === first));
    choice.addEventListener("click", () => {
      const view = views.get(name) ?? treeOf(text);
      views.set(name, view);
      box.replaceChildren(view);
      for (const other of group.children) other.setAttribute("aria-pressed", String(other === choice));
      changed(name);
    });
    group.append(choice);
    if (name === chosen) choice.click();
  }
  return group;
}

/** The tree of *text*, which is the JSON, or its beginning and its end with a note between them. */
function treeOf(text: Element): Element {
  const isCut = text.matches(PART);
  return drawTree((isCut ? text.firstChild?.textContent : text.textContent) ?? "", isCut);
}
