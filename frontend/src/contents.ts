// The content of a card as text to copy or as a file to save: text unchanged, a table as rows, a JSON
// tree as JSON.

import { allCellsOf, cellsOf, partOf, rowsOfTable } from "./table";
import { isTree, treeJson } from "./tree";
import { number } from "./wording";

export interface Download {
  name: string;
  type: string;
  parts: BlobPart[];
}

type Row = string[];
const PIECES = "pre, table, img, [data-toolbench-json]";
const FOLDED = "details:not([data-toolbench-json] *)";
const LONG = 400; // characters of a line, of which the screen makes several
const PART = "[data-toolbench-part]"; // stands where something is left out, or cut

/** The text of *body*, without folded parts unless there is nothing else. */
export function textOf(body: Element): string {
  const pieces = piecesOf(body);
  if (pieces.length === 0) return body.textContent ?? "";
  return pieces.map((piece) => textOfPiece(piece, "\t")).join("\n");
}

/** What the page has of *body*, as files: all its text as one, and each image. */
export function downloadsOf(body: Element): Download[] {
  const pieces = piecesOf(body);
  const images = pieces.filter((piece) => piece instanceof HTMLImageElement);
  const texts = pieces.filter((piece) => !images.includes(piece as HTMLImageElement));
  const files = images.map((image, index) => imageFile(image, images.length > 1 ? `-${index + 1}` : ""));
  if (texts.length > 0 || images.length === 0) files.unshift(textFile(body, texts));
  return files;
}

/** Which part of *body* the page has, as "Save" says it; empty if it has all, and has it exactly. */
export function savedPart(body: Element): string {
  const tables = piecesOf(body).filter((piece) => piece instanceof HTMLTableElement);
  const [only] = tables;
  if (only && piecesOf(body).length === 1) return partOf(only) || "as shown";
  const isPart = [...body.querySelectorAll(PART)].some((place) => !place.closest(FOLDED));
  return tables.length > 0 || isPart ? "what is shown" : "";
}

function textFile(body: Element, pieces: Element[]): Download {
  const [only] = pieces.length === 1 ? pieces : [];
  const name = savedPart(body) ? "result-shown" : "result";
  if (only instanceof HTMLTableElement) {
    const rows = allCellsOf(only) ?? rowsOf(only);
    return { name: `${name}.csv`, type: "text/csv", parts: [linesOfCells(rows, ",")] };
  }
  if (only && isTree(only) && name === "result") {
    return { name: "result.json", type: "application/json", parts: [treeJson(only)] };
  }
  const text = pieces.map((piece) => textOfPiece(piece, "\t")).join("\n");
  return { name: `${name}.txt`, type: "text/plain", parts: [pieces.length ? text : (body.textContent ?? "")] };
}

/** Whether *body* has lines for which wrapping can be turned on or off. */
export function hasLines(body: Element): boolean {
  return piecesOf(body).some((piece) => piece.matches("pre, [data-toolbench-json]"));
}

/** How much there is to show of *body*: `all 400 lines`, `60,035 characters` of more; `all` if one number cannot say it. */
export function extentOf(body: Element): string {
  const pieces = piecesOf(body);
  const [only] = pieces;
  if (pieces.length !== 1 || !only) return "all";
  if (only instanceof HTMLTableElement) {
    return rowsOfTable(only) ?? `all ${number(only.rows.length - 1)} rows`;
  }
  if (only.tagName === "PRE") {
    const text = (only.textContent ?? "").replace(/\n$/, "");
    const lines = text.split("\n").length;
    const all = only.closest(PART) ?? only.querySelector(PART) ? "" : "all "; // a note in it counts what is left out
    if (text.length > LONG * lines) return `${all}${number(text.length)} characters`;
    return lines > 1 ? `${all}${number(lines)} lines` : "all";
  }
  return "all";
}

/** The outermost parts of *body* with content, without folded parts unless there is nothing else. */
function piecesOf(body: Element): Element[] {
  const all = [...body.querySelectorAll(PIECES)].filter(
    (piece) => !piece.parentElement?.closest(PIECES),
  );
  const seen = all.filter((piece) => !piece.closest(FOLDED));
  return seen.length > 0 ? seen : all;
}

function textOfPiece(piece: Element, separator: string): string {
  if (isTree(piece)) return treeJson(piece);
  if (piece instanceof HTMLTableElement) {
    return linesOfCells(rowsOf(piece), separator);
  }
  if (piece instanceof HTMLImageElement) return `[${piece.alt}]`;
  return piece.textContent ?? "";
}

function linesOfCells(rows: Row[], separator: string): string {
  return rows.map((row) => row.map((cell) => cellText(cell, separator)).join(separator)).join("\n");
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

function imageFile(image: HTMLImageElement, number: string): Download {
  const [head = "", data = ""] = image.src.split(",", 2);
  const type = /^data:([\w/+.-]+);base64$/.exec(head)?.[1] ?? "application/octet-stream";
  const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
  const ending = type.split("/")[1]?.split("+")[0] ?? "bin";
  return { name: `result${number}.${ending}`, type, parts: [bytes] };
}
