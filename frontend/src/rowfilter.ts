// The filter above a table: words that a row must hold, and conditions on columns, such as
// `error:timeout`, `state=ok`, `seconds>0.5`, `error:"no route"`. Write `_` for a space in the name of a column.

import { numberOf } from "./cell_numbers";
import { isMissing, textOfCell, type Cell } from "./cells";

const TERM = /"([^"]*)"|((?:[^\s"]|"[^"]*")+)/g;
const CONDITION = /^(.+?)(:|!=|>=|<=|=|>|<)(.*)$/s;

type Test = (row: Cell[], text: () => string) => boolean;

/** A field to type a filter into, and a line that says how many rows are left. */
export class RowFilter {
  readonly element = document.createElement("div");
  readonly #field = document.createElement("input");
  readonly #count = document.createElement("span");

  constructor(changed: () => void) {
    this.element.className = "toolbench-filter";
    this.#field.type = "search";
    this.#field.placeholder = "Filter rows: words, column:text, column>5";
    this.#field.setAttribute("aria-label", "Filter rows");
    this.#field.addEventListener("input", changed);
    this.#count.setAttribute("role", "status");
    this.element.append(this.#field, this.#count);
  }

  get words(): string {
    return this.#field.value.trim();
  }

  /** Say *text* beside the field; *isPart* if it speaks of a part of the rows. */
  say(text: string, isPart: boolean): void {
    this.#count.textContent = text;
    this.#count.classList.toggle("toolbench-of-part", isPart);
  }
}

const texts = new WeakMap<Cell[], string>();

/** Those of *rows*, with these *columns*, that match *words*. */
export function matching(rows: Cell[][], words: string, columns: string[]): Cell[][] {
  const tests = [...words.matchAll(TERM)].map(([, phrase, word]) =>
    phrase === undefined ? testOf(word ?? "", columns) : holds(phrase),
  );
  if (tests.length === 0) return rows;
  return rows.filter((row) => tests.every((test) => test(row, () => textOf(row))));
}

function testOf(term: string, columns: string[]): Test {
  const [, name = "", sign = "", value = ""] = CONDITION.exec(term) ?? [];
  const column = sign ? columns.findIndex((other) => plain(other) === plain(name)) : -1;
  if (column < 0) return holds(term);
  const compare = comparison(sign, value.replaceAll('"', "").toLowerCase());
  return (row) => compare(textOfCell(row[column] ?? "").toLowerCase(), isMissing(row[column]));
}

function textOf(row: Cell[]): string {
  let text = texts.get(row);
  if (text === undefined) {
    text = row.map(textOfCell).join("\n").toLowerCase();
    texts.set(row, text);
  }
  return text;
}

function holds(word: string): Test {
  const small = word.toLowerCase();
  return (_, text) => text().includes(small);
}

/** Numbers are compared as numbers; with a *value* that is no number, as a date, texts are compared. */
function comparison(sign: string, value: string): (cell: string, isMissing: boolean) => boolean {
  const limit = value === "" ? NaN : Number(value);
  const compared = (cell: string, isMissing: boolean): number | undefined => {
    const own = cell === "" ? NaN : numberOf(cell);
    if (!Number.isNaN(own) && !Number.isNaN(limit)) return own - limit;
    if (cell === value) return 0;
    return Number.isNaN(limit) && !isMissing ? (cell < value ? -1 : 1) : undefined;
  };
  const by = (test: (difference: number) => boolean) => (cell: string, isMissing: boolean): boolean => {
    const difference = compared(cell, isMissing);
    return difference !== undefined && test(difference);
  };
  switch (sign) {
    case ":":
      return (cell) => cell.includes(value);
    case "=":
      return by((d) => d === 0);
    case "!=":
      return (cell, isMissing) => compared(cell, isMissing) !== 0;
    case ">":
      return by((d) => d > 0);
    case "<":
      return by((d) => d < 0);
    case ">=":
      return by((d) => d >= 0);
    default:
      return by((d) => d <= 0);
  }
}

function plain(name: string): string {
  return name.trim().toLowerCase().replace(/\s+/g, "_");
}
