// The filter above a table, in the language of `toolbench/display/filter.py`: words that a row must hold, and
// conditions on columns, such as `error:timeout`, `seconds>0.5`, `error:"no route"`. Write `_` for a space in the name of a column.

import { numberOf } from "./cell_numbers";
import { isMissing, textOfCell, type Cell } from "./cells";

const LANGUAGE = 'words, "a phrase", error, key:text, key=1, key>5';
const TERM = /"([^"]*)"|((?:[^\s"]|"[^"]*")+)/g;
const CONDITION = /^(.+?)(:|!=|>=|<=|=|>|<)(.*)$/s;
const KEY = /^[\p{L}_][\p{L}\p{N}_.-]*$/u; // not "12:30"
const STATE = "state"; // the column of rows that have a state
const FAILED = /^(error|failed)(?![\p{L}\p{N}_])/u;
const STATES: Record<string, RegExp> = { ok: /^(ok|succeeded|passed)(?![\p{L}\p{N}_])/u, error: FAILED, failed: FAILED };

type Test = (row: Cell[], text: () => string) => boolean;

/** A field to type a filter into, and a line that says how many rows are left. */
export class RowFilter {
  readonly element = document.createElement("div");
  readonly #field = document.createElement("input");
  readonly #count = document.createElement("span");

  constructor(columns: string[], changed: () => void) {
    this.element.className = "toolbench-filter";
    this.#field.type = "search";
    this.#field.placeholder = `Filter: ${LANGUAGE}`;
    this.#field.title = `${LANGUAGE}; keys: ${keysOf(columns)}`;
    this.#field.setAttribute("aria-label", "Filter rows");
    this.#field.addEventListener("input", changed);
    this.#count.setAttribute("role", "status");
    this.element.append(this.#field, this.#count);
  }

  get words(): string {
    return this.#field.value.trim();
  }

  set words(words: string) {
    this.#field.value = words;
  }

  /** Say *text* beside the field; *isPart* if it speaks of a part of the rows. */
  say(text: string, isPart: boolean): void {
    this.#count.textContent = text;
    this.#count.classList.toggle("toolbench-of-part", isPart);
  }
}

/** What is wrong with *words*: a key that is none of the *columns*; empty if nothing is. */
export function problemOf(words: string, columns: string[]): string {
  for (const [, phrase, word = ""] of words.matchAll(TERM)) {
    const [, name = "", sign, value = ""] = (phrase === undefined && CONDITION.exec(word)) || [];
    if (!sign || columnsOf(name, columns).length > 0 || !KEY.test(name) || value.startsWith("//")) continue;
    return `No key is called '${name}'. Keys: ${keysOf(columns)}. To find the text itself, put it in quotes: "${word.replaceAll('"', "")}"`;
  }
  return "";
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
  const ofState = columnsOf(STATE, columns).length > 0 && Object.hasOwn(STATES, term.toLowerCase());
  const [, name = "", sign = "", value = ""] = CONDITION.exec(ofState ? `${STATE}=${term}` : term) ?? [];
  const own = sign ? columnsOf(name, columns) : [];
  if (own.length === 0) return holds(term);
  const wanted = value.replaceAll('"', "").toLowerCase();
  const compare = (plain(name) === STATE && ofStates(sign, wanted)) || comparison(sign, wanted);
  const fits = (row: Cell[]) => (column: number): boolean => compare(textOfCell(row[column] ?? "").toLowerCase(), isMissing(row[column]));
  return sign === "!=" ? (row) => own.every(fits(row)) : (row) => own.some(fits(row));
}

/** A state such as "failed" is meant, however the rows call it; undefined if *value* is none. */
function ofStates(sign: string, value: string): ((cell: string) => boolean) | undefined {
  const state = Object.hasOwn(STATES, value) ? STATES[value] : undefined;
  if (!state || ![":", "=", "!="].includes(sign)) return undefined;
  return (cell) => state.test(cell) === (sign !== "!=");
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

function keysOf(columns: string[]): string {
  return columns.filter(Boolean).map(plain).join(", ");
}

/** The *columns* called *name*, by their places: what has two names has two, of which one has to match. */
function columnsOf(name: string, columns: string[]): number[] {
  return columns.flatMap((other, place) => (plain(other) === plain(name) ? [place] : []));
}

function plain(name: string): string {
  return name.trim().toLowerCase().replace(/\s+/g, "_");
}
