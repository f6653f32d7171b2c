// The cells of a table, as `toolbench/display/cells.py` writes them: text, a missing value in a list,
// or the JSON of a list or an object, which is a chip that a click unfolds.

export type Cell = string | [missing: string] | { json: string };

const CHIP = "[data-toolbench-chip]";
const MISSING = "data-toolbench-missing";
const LABEL = 40; // characters
const opened = new WeakSet<object>(); // the chips that stay open while rows come and go

/** What stands in *element*, a cell that the kernel wrote as HTML. */
export function readCell(element: Element): Cell {
  const json = element.querySelector(`${CHIP} > pre`)?.textContent;
  if (json) return { json };
  const text = element.textContent ?? "";
  return element.hasAttribute(MISSING) ? [text] : text;
}

export function textOfCell(cell: Cell): string {
  if (typeof cell === "string") return cell;
  return Array.isArray(cell) ? cell[0] : cell.json;
}

export function isMissing(cell: Cell | undefined): boolean {
  return cell === undefined || Array.isArray(cell);
}

/** What the kernel sent as a cell. */
export function cellOf(sent: unknown): Cell {
  if (Array.isArray(sent)) return [String(sent[0])];
  const json = typeof sent === "object" && sent ? (sent as { json?: unknown }).json : undefined;
  return json === undefined ? String(sent) : { json: String(json) };
}

export function drawCell(element: HTMLElement, cell: Cell): void {
  const text = textOfCell(cell);
  if (typeof cell === "object" && !Array.isArray(cell)) {
    element.append(chip(cell));
    return;
  }
  element.textContent = text;
  element.title = text.length > LABEL ? text : "";
  element.toggleAttribute(MISSING, isMissing(cell));
}

function chip(cell: { json: string }): HTMLElement {
  const [fold, label, whole] = [document.createElement("details"), document.createElement("summary"), document.createElement("pre")];
  const line = cell.json.trim().replace(/\s+/g, " ");
  fold.dataset.toolbenchChip = "";
  label.textContent = line.length > LABEL ? `${line.slice(0, LABEL - 1)}…` : line;
  whole.textContent = cell.json;
  fold.append(label, whole);
  fold.open = opened.has(cell);
  fold.addEventListener("toggle", () => (fold.open ? opened.add(cell) : opened.delete(cell)));
  return fold;
}
