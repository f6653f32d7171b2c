// Read a JSON tree of <details>, which toolbench writes, as JSON; open or close all its levels.
//
// A row is `<div>key: value</div>`, or `<details>` with the key and the size in its summary and the
// rows of the inner level in a `<div>`. A `<span>` among rows says how many were left out.

import { part } from "./listbox";
import { number } from "./wording";

const TREE = "[data-toolbench-json]";
const MOST = 3000; // values of a tree that is drawn here
const OPEN = 2; // levels that are open at first
const sources = new WeakMap<Element, string>(); // the JSON of trees that are drawn here

/** A part of JSON: a leaf as it is written, so that a number keeps its digits, or a list or an object. */
type Part = string | { isList: boolean; items: [key: string, value: Part][]; isCut: boolean };

export function isTree(element: Element): boolean {
  return element.matches(TREE);
}

/** The JSON that *tree* shows. A string replaces each part that the tree leaves out. */
export function treeJson(tree: Element): string {
  const source = sources.get(tree);
  if (source !== undefined) return source;
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

// --- a tree of JSON text, as `toolbench/display/json_tree.py` writes it -----------------

/** A tree of *text*: JSON, or its beginning, of which the end *isCut*. */
export function drawTree(text: string, isCut: boolean): HTMLElement {
  const tree = document.createElement("div");
  tree.dataset.toolbenchJson = "";
  tree.className = "toolbench-drawn-tree";
  if (isCut) tree.dataset.toolbenchPart = "";
  else sources.set(tree, text);
  const root = parsed(text);
  const room = { left: MOST };
  if (root) tree.append(drawPart(root, undefined, 0, room));
  return tree;
}

/** What *text* writes; what is open at its end is closed, as cut. */
function parsed(text: string): Part | undefined {
  const token = /[[{]|[\]}]|"(?:[^"\\]|\\.)*"|[^\s,:[\]{}"]+/gs;
  const above: Exclude<Part, string>[] = [];
  let [key, root]: [string | undefined, Part | undefined] = [undefined, undefined];
  for (const [word] of text.matchAll(token)) {
    const inner = above.at(-1);
    if (word === "]" || word === "}") {
      const closed = above.pop();
      if (closed) closed.isCut = false;
    } else if (inner && !inner.isList && key === undefined) {
      key = unquoted(word);
    } else {
      const part: Part = "[{".includes(word) ? { isList: word === "[", items: [], isCut: true } : word;
      inner?.items.push([inner.isList ? String(inner.items.length) : (key ?? ""), part]);
      root ??= part;
      key = undefined;
      if (typeof part !== "string") above.push(part);
    }
  }
  return root;
}

function unquoted(word: string): string {
  try {
    return String(JSON.parse(word));
  } catch {
    return word; // with a mark in place of a secret
  }
}

function leafText(part: Part): string {
  if (typeof part !== "string") return part.isList ? "[]" : "{}";
  return part.startsWith('"') ? `"${unquoted(part)}"` : part;
}

function drawPart(value: Part, key: string | undefined, depth: number, room: { left: number }): HTMLElement {
  room.left -= 1;
  const label = key === undefined ? [] : [part("toolbench-key", key), ": "];
  if (typeof value === "string" || value.items.length === 0) {
    const row = document.createElement("div");
    row.append(...label, leafText(value));
    return row;
  }
  const [row, head, children] = [document.createElement("details"), document.createElement("summary"), document.createElement("div")];
  const size = `${number(value.items.length)}${value.isCut ? " …" : ""}`;
  head.append(...label, part("toolbench-size", value.isList ? `[${size}]` : `{${size}}`));
  row.open = depth < OPEN;
  for (const [index, [name, item]] of value.items.entries()) {
    if (room.left <= 0) {
      children.append(part("toolbench-size", `… ${number(value.items.length - index)} values left out …`));
      break;
    }
    children.append(drawPart(item, name, depth + 1, room));
  }
  if (value.isCut && room.left > 0) children.append(part("toolbench-size", "… the rest is left out …"));
  row.append(head, children);
  return row;
}
