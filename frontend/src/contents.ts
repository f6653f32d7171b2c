// The content of a card as text to copy or as a file to save: text unchanged, a table as rows, a JSON
// tree as JSON.

import { cellsOf } from "./table";
import { isTree, treeJson } from "./tree";

export interface Download {
  name: string;
  type: string;
  parts: BlobPart[];
}

type Row = string[];
const PIECES = "pre, table, img, [data-toolbench-json]";

/** The text of *body*, without folded parts unless there is nothing else. */
export function textOf(body: Element): string {
  const pieces = piecesOf(body);
  if (pieces.length === 0) return body.textContent ?? "";
  return pieces.map((piece) => textOfPiece(piece, "\t")).join("\n");
}

export function downloadOf(body: Element): Download {
  const pieces = piecesOf(body);
  const [only] = pieces.length === 1 ? pieces : [];
  if (only instanceof HTMLImageElement) return imageFile(only);
  if (only instanceof HTMLTableElement) {
    return { name: "result.csv", type: "text/csv", parts: [textOfPiece(only, ",")] };
  }
  if (only && isTree(only)) {
    return { name: "result.json", type: "application/json", parts: [treeJson(only)] };
  }
  return { name: "result.txt", type: "text/plain", parts: [textOf(body)] };
}

/** Whether *body* has lines for which wrapping can be turned on or off. */
export function hasLines(body: Element): boolean {
  return piecesOf(body).some((piece) => piece.matches("pre, [data-toolbench-json]"));
}

/** The size of *body*: ` 400 lines`, ` 50 rows`; empty if one number cannot say it. */
export function linesOf(body: Element): string {
  const pieces = piecesOf(body);
  const [only] = pieces;
  if (pieces.length !== 1 || !only) return "";
  if (only instanceof HTMLTableElement) return ` ${number(rowsOf(only).length - 1)} rows`;
  if (only.tagName === "PRE") {
    const lines = (only.textContent ?? "").replace(/\n$/, "").split("\n").length;
    return lines > 1 ? ` ${number(lines)} lines` : "";
  }
  return "";
}

/** The outermost parts of *body* with content, without folded parts unless there is nothing else. */
function piecesOf(body: Element): Element[] {
  const all = [...body.querySelectorAll(PIECES)].filter(
    (piece) => !piece.parentElement?.closest(PIECES),
  );
  const seen = all.filter((piece) => !piece.closest("details:not([data-toolbench-json] *)"));
  return seen.length > 0 ? seen : all;
}

function textOfPiece(piece: Element, separator: string): string {
  if (isTree(piece)) return treeJson(piece);
  if (piece instanceof HTMLTableElement) {
    return rowsOf(piece)
      .map((row) => row.map((cell) => cellText(cell, separator)).join(separator))
      .join("\n");
  }
  if (piece instanceof HTMLImageElement) return `[${piece.alt}]`;
  return piece.textContent ?? "";
}

function rowsOf(table: HTMLTableElement): Row[] {
  const cells = cellsOf(table);
  if (cells) return cells;
  return [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent ?? ""));
}

/** The text of a cell for one line of a file. */
function cellText(text: string, separator: string): string {
  if (separator === "\t") return text.replace(/[\t\n\r]+/g, " ");
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function imageFile(image: HTMLImageElement): Download {
  const [head = "", data = ""] = image.src.split(",", 2);
  const type = /^data:([\w/+.-]+);base64$/.exec(head)?.[1] ?? "application/octet-stream";
  const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
  const ending = type.split("/")[1]?.split("+")[0] ?? "bin";
  return { name: `result.${ending}`, type, parts: [bytes] };
}

function number(count: number): string {
  return count.toLocaleString("en-US");
}
