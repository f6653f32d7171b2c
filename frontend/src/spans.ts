// The spans of a timeline, as `toolbench/widgets/timeline.py` sends them: in pieces of columns, in which strings are
// numbers of words. Here they become rows for the filter, places in lanes, and what the tables say of them.

import type { Model } from "./connection";

export interface Span {
  place: number; // among all spans of the timeline
  lane: string;
  kind: string;
  name: string;
  state: string;
  tool: string;
  server: string;
  method: string;
  start: number; // seconds since the epoch
  end: number;
  isOpen: boolean; // it has not ended yet, and ends now
  waited: number; // seconds of a run in which a person was waited for
  tokens: number | null;
  cost: number | null;
  text: string; // empty until it was asked for
  row: number; // of its lane
}

interface Columns {
  words: string[];
  start: number[];
  end: (number | null)[];
  waited: number[];
  tokens: (number | null)[];
  cost: (number | null)[];
  [strings: string]: (number | string | null)[];
}

/** The keys of a filter, as `TIMELINE_KEYS` of `toolbench/display/timeline.py` names them, and the text. */
export const KEYS = ["lane", "kind", "name", "time", "ms", "state", "tool", "server", "method", "tokens", "cost", "text"];

const known = new WeakMap<object, Span[]>(); // by the columns of a piece

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
  const word = (name: string, index: number): string => columns.words[Number(columns[name]?.[index])] ?? "";
  return columns.start.map((start, index) => ({
    place: 0,
    lane: word("lane", index),
    kind: word("kind", index),
    name: word("name", index),
    state: word("state", index),
    tool: word("tool", index),
    server: word("server", index),
    method: word("method", index),
    start,
    end: columns.end[index] ?? start,
    isOpen: columns.end[index] === null,
    waited: columns.waited[index] ?? 0,
    tokens: columns.tokens[index] ?? null,
    cost: columns.cost[index] ?? null,
    text: "",
    row: 0,
  }));
}

/** What the filter searches of *span*, in the order of `KEYS`. */
export function cellsOf(span: Span): string[] {
  const { lane, kind, name, state, server, method, tokens, cost, text } = span;
  const ms = String(Math.round(10_000 * worked(span)) / 10);
  const time = clock(span.start, 0);
  return [lane, kind, name, time, ms, state, addressOf(span), server, method, String(tokens ?? ""), String(cost ?? ""), text];
}

/** The seconds of *span* without those in which a person was waited for. */
export function worked(span: Span): number {
  return Math.max(0, span.end - span.start - span.waited);
}

/** The name of the tool of *span*, after that of its server; empty if it has none. */
export function addressOf({ server, tool }: Span): string {
  return server && tool ? `${server}.${tool}` : tool;
}

/** A lane: its spans in their order, the rows in which those with a length stand, and whether others stand below. */
export interface Lane {
  name: string;
  spans: Span[];
  rows: number;
  hasPoints: boolean;
}

const ROWS = 8; // of a lane: what overlaps more stands in the last one

/** The lanes called *names*, with those of *spans* that are theirs, each in the first row that has room. */
export function lanesOf(names: string[], spans: Span[]): Lane[] {
  const lanes = new Map<string, Lane>(names.map((name) => [name, { name, spans: [], rows: 0, hasPoints: false }]));
  const ends = new Map<Lane, number[]>();
  for (const span of spans) {
    const lane = lanes.get(span.lane) ?? { name: span.lane, spans: [], rows: 0, hasPoints: false };
    lanes.set(span.lane, lane);
    lane.spans.push(span);
    if (isPoint(span)) {
      lane.hasPoints = true;
      continue;
    }
    const taken = ends.get(lane) ?? [];
    ends.set(lane, taken);
    const free = taken.findIndex((end) => end <= span.start);
    span.row = free >= 0 ? free : Math.min(taken.length, ROWS - 1);
    taken[span.row] = Math.max(taken[span.row] ?? 0, span.end);
    lane.rows = taken.length;
  }
  for (const lane of lanes.values()) for (const span of lane.spans) if (isPoint(span)) span.row = lane.rows;
  return [...lanes.values()].filter((lane) => lane.spans.length > 0);
}

/** Whether *span* has no length: it is drawn as a mark. */
export function isPoint(span: Span): boolean {
  return span.end <= span.start && !span.isOpen;
}

/** Whether somebody waited for a person in *span*. */
export function isWaiting(span: Span): boolean {
  return span.state === "waiting" || span.kind === "question";
}

/** A lane as it is called on the page: a name, and which direction of a server it is. */
export function titleOf(lane: string): [name: string, direction: string] {
  const [, server = "", direction] = /^(.+) (sent|received)$/.exec(lane) ?? [];
  if (direction) return [server, direction === "sent" ? "→ sent" : "← received"];
  return [lane.charAt(0).toUpperCase() + lane.slice(1), ""];
}

/** *seconds* as `toolbench.wording.duration` writes them. */
export function took(seconds: number): string {
  if (seconds >= 0.00005 && seconds < 0.00995) return `${(1000 * seconds).toFixed(1)} ms`;
  if (seconds < 0.9995) return `${(1000 * seconds).toFixed(0)} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  return `${Math.floor(whole / 60).toLocaleString("en-US")} min ${whole % 60} s`;
}

const CLOCK: Intl.DateTimeFormatOptions = { hourCycle: "h23", hour: "2-digit", minute: "2-digit" };
const SECOND = [0, 1, 2, 3].map((decimals) => (decimals === 0 ? {} : { fractionalSecondDigits: decimals as 1 | 2 | 3 }));
const MINUTES = new Intl.DateTimeFormat([], CLOCK);
const CLOCKS = SECOND.map((part) => new Intl.DateTimeFormat([], { ...CLOCK, second: "2-digit", ...part }));

/** The local time of *seconds*, with so many *decimals* of a second, at most 3; -1: without seconds. */
export function clock(seconds: number, decimals: number): string {
  return (CLOCKS[decimals] ?? MINUTES).format(1000 * seconds + 1e-4); // not 2.9999 for 3
}

/** *span* in a line: what it is, how it went, how long it took and when. */
export function describe(span: Span): string {
  const [lane, direction] = titleOf(span.lane);
  const where = direction ? `${lane} ${direction.slice(2)}` : lane;
  const parts = [span.name, span.isOpen ? `${span.state}, so far` : span.state];
  if (!isPoint(span)) parts.push(took(span.end - span.start));
  return [...parts, `at ${clock(span.start, 3)}`, where, span.kind === "run" ? "" : span.kind].filter(Boolean).join(" · ");
}
