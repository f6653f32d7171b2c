// The rows of a table of which the page has only the first: the kernel that made it filters, sorts and sends them.

import { cellOf, type Cell } from "./cells";
import type { Model, Models } from "./connection";
import { ask, newId } from "./exchange";

const ASK = "toolbench-rows"; // an event: each kernel brings its own module, and any of them may draw the table

/** An event: a kernel has come, which may know what no other knows. */
export const NEW_KERNEL = "toolbench-rows-kernel";

export interface Question {
  result: string;
  filter: string;
  sort: [column: number, isDescending: boolean] | null;
  begin: number;
  count: number;
}

export interface Rows {
  matched: number;
  rows: Cell[][];
}

interface Answer {
  ask: string;
  matched?: number;
  rows?: unknown[][];
}

type Asked = CustomEvent<{ question: Question; answers: Promise<Rows | undefined>[] }>;

/** Answer the questions for rows of results of the kernel behind *models*, by *model*, until *signal*. */
export function answerRows(model: Model, models: Models, signal: AbortSignal): void {
  const hear = (event: Event): void => {
    const { question, answers } = (event as Asked).detail;
    const id = newId();
    const isAnswer = (news: Partial<Answer>): boolean => news.ask === id;
    answers.push(ask<Answer>(model, models, { ...question, ask: id }, isAnswer).then((answer) => rowsOf(answer?.content)));
  };
  document.addEventListener(ASK, hear, { signal });
}

/** The rows that *question* asks for; undefined if no kernel has this result. */
export async function askRows(question: Question): Promise<Rows | undefined> {
  const answers: Promise<Rows | undefined>[] = [];
  document.dispatchEvent(new CustomEvent(ASK, { detail: { question, answers } }));
  const known = answers.map(async (answer) => (await answer) ?? Promise.reject(new Error("not this kernel")));
  return Promise.any(known).catch(() => undefined);
}

function rowsOf(answer: Answer | undefined): Rows | undefined {
  if (answer?.matched === undefined || !answer.rows) return undefined;
  return { matched: answer.matched, rows: answer.rows.map((row) => row.map(cellOf)) };
}
