// Read a JSON tree of <details>, which toolbench writes, as JSON; open or close all its levels.
//
// A row is `<div>key: value</div>`, or `<details>` with the key and the size in its summary and the
// rows of the inner level in a `<div>`. A `<span>` among rows says how many were left out.

const TREE = "[data-toolbench-json]";

export function isTree(element: Element): boolean {
  return element.matches(TREE);
}

/** The JSON that *tree* shows. A string replaces each part that the tree leaves out. */
export function treeJson(tree: Element): string {
  const [root] = tree.children;
  return root ? valueOf(root, "") : "";
}

/** Whether anything in the trees of *body* can be opened. */
export function hasLevels(body: Element): boolean {
  return body.querySelector(`${TREE} details`) !== null;
}

/** Open or close all levels of the trees in *body*. */
export function openLevels(body: Element, isOpen: boolean): void {
  for (const level of body.querySelectorAll<HTMLDetailsElement>(`${TREE} details`)) {
    level.open = isOpen;
  }
}

function valueOf(row: Element, indent: string): string {
  if (!(row instanceof HTMLDetailsElement)) return leafOf(row);
  const isList = row.querySelector("summary > :last-child")?.textContent?.startsWith("[");
  const inner = `${indent}  `;
  const rows = [...(row.lastElementChild?.children ?? [])].map((child) => {
    const value = valueOf(child, inner);
    return isList ? value : `${JSON.stringify(keyOf(child))}: ${value}`;
  });
  const [begin, end] = isList ? ["[", "]"] : ["{", "}"];
  return `${begin}\n${inner}${rows.join(`,\n${inner}`)}\n${indent}${end}`;
}

function keyOf(row: Element): string {
  const head = row instanceof HTMLDetailsElement ? row.querySelector("summary") : row;
  return head?.firstElementChild?.textContent ?? "…";
}

function leafOf(row: Element): string {
  const text = row.textContent ?? "";
  if (row.tagName === "SPAN") return JSON.stringify(text); // the note of how many were left out
  const key = row.firstElementChild?.textContent;
  const value = key === undefined ? text : text.slice(`${key}: `.length);
  if (value.startsWith('"')) return JSON.stringify(value.slice(1, -1)); // shown unescaped
  try {
    JSON.parse(value);
    return value;
  } catch {
    return JSON.stringify(value); // not JSON, because a long value is cut
  }
}
