// The filter above a table: words that a row must hold, and conditions on columns, such as
// `error:timeout`, `state=ok`, `seconds>0.5`, `error:"no route"`. Write `_` for a space in the name of a column.

import { numberOf } from "./cell_numbers";

const TERM = /"([^"]*)"|((?:[^\s"]|"[^"]*")+)/g;
const CONDITION = /^(.+?)(:|!=|>=|<=|=|>|<)(.*)$/s;

type Test = (row: string[], text: () => string) => boolean;

/**
 * A field to type a filter into, and a line that says how many rows are left, of *known*: the rows that
 * the page has, in words.
 */
export class RowFilter {
  readonly element = document.createElement("div");
  readonly #field = document.createElement("input");
  readonly #count = document.createElement("span");
  readonly #texts = new WeakMap<string[], string>();

  constructor(
    private readonly columns: string[],
    private readonly known: string,
    changed: () => void,
  ) {
    this.element.className = "toolbench-filter";
    this.#field.type = "search";
    this.#field.placeholder = "Filter rows: words, column:text, column>5";
    this.#field.setAttribute("aria-label", "Filter rows");
    this.#field.addEventListener("input", changed);
    this.#count.setAttribute("role", "status");
    this.element.append(this.#field, this.#count);
  }

  /** The *rows* that match the filter; *note* says more of them. */
  passed(rows: string[][], note = ""): string[][] {
    const tests = [...this.#field.value.matchAll(TERM)].map(([, phrase, word]) =>
      phrase === undefined ? this.#test(word ?? "") : holds(phrase),
    );
    const left = tests.length
      ? rows.filter((row) => tests.every((test) => test(row, () => this.#textOf(row))))
      : rows;
    this.#count.textContent = `${number(left.length)} of ${this.known}${note}`;
    return left;
  }

  #test(term: string): Test {
    const [, name = "", sign = "", value = ""] = CONDITION.exec(term) ?? [];
    const column = sign ? this.columns.findIndex((other) => plain(other) === plain(name)) : -1;
    if (column < 0) return holds(term);
    const compare = comparison(sign, value.replaceAll('"', "").toLowerCase());
    return (row) => compare((row[column] ?? "").toLowerCase());
  }

  #textOf(row: string[]): string {
    let text = this.#texts.get(row);
    if (text === undefined) {
      text = row.join("\n").toLowerCase();
      this.#texts.set(row, text);
    }
    return text;
  }
}

function holds(word: string): Test {
  const small = word.toLowerCase();
  return (_, text) => text().includes(small);
}

function comparison(sign: string, value: string): (cell: string) => boolean {
  const limit = Number(value);
  const areNumbers = (cell: string): boolean =>
    value !== "" && cell !== "" && !Number.isNaN(limit) && !Number.isNaN(numberOf(cell));
  const isSame = (cell: string): boolean =>
    areNumbers(cell) ? numberOf(cell) === limit : cell === value;
  switch (sign) {
    case ":":
      return (cell) => cell.includes(value);
    case "=":
      return isSame;
    case "!=":
      return (cell) => !isSame(cell);
    case ">":
      return (cell) => areNumbers(cell) && numberOf(cell) > limit;
    case "<":
      return (cell) => areNumbers(cell) && numberOf(cell) < limit;
    case ">=":
      return (cell) => areNumbers(cell) && numberOf(cell) >= limit;
    default:
      return (cell) => areNumbers(cell) && numberOf(cell) <= limit;
  }
}

function plain(name: string): string {
  return name.trim().toLowerCase().replace(/\s+/g, "_");
}

function number(count: number): string {
  return count.toLocaleString("en-US");
}
