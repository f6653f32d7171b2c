// The spans of a timeline, as `toolbench/widgets/timeline.py` sends them: in pieces of columns, in which a string is
// the number of a word. Here they get rows in their lanes, cells for the filter, and words that describe them.

import type { Model } from "./connection";
import { clock, took } from "./wording";

const WORDS = ["lane", "kind", "name", "state", "tool", "server", "method"] as const;
const ROWS = 8; // of a lane: what overlaps more stands in the last one
/** The keys of a filter, as `TIMELINE_KEYS` of `toolbench/display/timeline.py` names them. */
export const KEYS = ["lane", "kind", "name", "time", "ms", "state", "tool", "server", "method", "tokens", "cost"];

export interface Span extends Record<(typeof WORDS)[number], string> {
  place: number; // among all spans of the timeline
  start: number; // seconds since the epoch
  end: number;
  isOpen: boolean; // it has not ended yet, and ends now
  waited: number; // seconds of a run in which the user was waited for
  tokens: number | null;
  cost: number | null;
  text: string; // empty until it was asked for
  row: number; // of its lane
  top: number; // pixels from the top of the first lane
}

type Columns = Record<string, (number | null)[]> & { words: string[] };
const known = new WeakMap<Columns, Span[]>(); // by what a piece sent

/** The spans of *pieces*; those that have not ended go on until *now*. */
export function spansOf(pieces: Model[], now: number): Span[] {
  const spans: Span[] = [];
  for (const piece of pieces) {
    const columns = piece.get("columns") as Columns;
    const own = known.get(columns) ?? read(columns);
    known.set(columns, own);
    const texts = piece.get("texts") as string[];
    own.forEach((span, index) => {
      span.place = spans.length + index;
      span.text = texts[index] ?? "";
      if (span.isOpen) span.end = Math.max(span.start, now);
    });
    spans.push(...own);
  }
  return spans;
}

function read(columns: Columns): Span[] {
  const column = (name: string): (number | null)[] => columns[name] ?? [];
  return column("start").map((start, index) => {
    const span = { place: 0, text: "", row: 0, top: 0, start: start ?? 0, waited: column("waited")[index] ?? 0 } as Span;
    for (const name of WORDS) span[name] = columns.words[column(name)[index] ?? -1] ?? "";
    for (const name of ["tokens", "cost"] as const) span[name] = column(name)[index] ?? null;
    const end = column("end")[index];
    return Object.assign(span, { end: end ?? span.start, isOpen: end === null });
  });
}

/** What the cells of a span are called: a tool has its name and its address. */
export const COLUMNS = [...KEYS, "tool"];

/** What the filter searches of *span*: the values of `COLUMNS`, and the text. */
export function cellsOf(span: Span): string[] {
  const { lane, kind, name, state, tool, server, method, tokens, cost, text } = span;
  const ms = String(Math.round(10_000 * worked(span)) / 10);
  return [lane, kind, name, clock(span.start, 0), ms, state, tool, server, method, String(tokens ?? ""), String(cost ?? ""), addressOf(span), text];
}

/** The seconds of *span* without those in which the user was waited for. */
export function worked(span: Span): number {
  return Math.max(0, span.end - span.start - span.waited);
}

/** The name of the tool of *span*, after that of its server; empty if it has none. */
export function addressOf({ server, tool }: Span): string {
  return server && tool ? `${server}.${tool}` : tool;
}

/** Whether *span* has no length: it is drawn as a mark. */
export function isPoint(span: Span): boolean {
  return span.end <= span.start && !span.isOpen;
}

/** Whether the user was waited for in *span*. */
export function isWaiting(span: Span): boolean {
  return span.state === "waiting" || span.kind === "question";
}

/** A lane: its spans in their order, and how many rows those with a length need; marks stand below these. */
export interface Lane {
  name: string;
  spans: Span[];
  rows: number;
}

/** The lanes called *names*, each with those of *spans* that are in it, in the first row that has room. */
export function lanesOf(names: string[], spans: Span[]): Lane[] {
  return names.map((name) => {
    const lane: Lane = { name, spans: spans.filter((span) => span.lane === name), rows: 0 };
    const ends: number[] = [];
    for (const span of lane.spans) {
      if (isPoint(span)) continue;
      const free = ends.findIndex((end) => end <= span.start);
      span.row = free >= 0 ? free : Math.min(ends.length, ROWS - 1);
      ends[span.row] = Math.max(ends[span.row] ?? 0, span.end);
    }
    lane.rows = ends.length;
    for (const span of lane.spans) if (isPoint(span)) span.row = lane.rows;
    return lane;
  });
}

/** A lane as it is called on the page: a name, and which direction of a server it is. */
export function titleOf(lane: string): [name: string, direction: string] {
  const [, server = "", direction] = /^(.+) (sent|received)$/.exec(lane) ?? [];
  if (direction) return [server, direction === "sent" ? "→ sent" : "← received"];
  return [lane.charAt(0).toUpperCase() + lane.slice(1), ""];
}

/** *span* in a line: what it is, how it went, how long it took and when. */
export function describe(span: Span): string {
  const time = isPoint(span) ? "" : took(span.end - span.start) + (span.isOpen ? " so far" : "");
  const where = titleOf(span.lane).join(" ").trim();
  const parts = [span.name, span.state, time, `at ${clock(span.start, 3)}`, where, span.kind === "run" ? "" : span.kind];
  return parts.filter(Boolean).join(" · ");
}
