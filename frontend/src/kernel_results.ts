// The results of which the page has only a part: the kernel that has one filters, sorts and sends its rows.

import { cellOf, type Cell } from "./cells";
import type { Model, Models } from "./connection";
import { ask, newId } from "./exchange";

const KERNELS = "toolbench-kernels"; // an event: each kernel brings its own module, and any of them may draw a result

/** An event: a kernel has come, which may know what no other knows. */
export const NEW_KERNEL = "toolbench-rows-kernel";

/** A kernel of the page, and the model by which it hears of its results. */
export interface Kernel {
  model: Model;
  models: Models;
}

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

/** Be one of the kernels of the page, until *signal*. */
export function joinKernels(kernel: Kernel, signal: AbortSignal): void {
  document.addEventListener(KERNELS, (event) => (event as CustomEvent<Kernel[]>).detail.push(kernel), { signal });
}

export function kernelsOfPage(): Kernel[] {
  const kernels: Kernel[] = [];
  document.dispatchEvent(new CustomEvent(KERNELS, { detail: kernels }));
  return kernels;
}

/** The rows that *question* asks for; undefined if no kernel has this result. */
export async function askRows(question: Question): Promise<Rows | undefined> {
  const known = kernelsOfPage().map(async (kernel) => (await rowsOf(kernel, question)) ?? Promise.reject(new Error("not this kernel")));
  return Promise.any(known).catch(() => undefined);
}

async function rowsOf({ model, models }: Kernel, question: Question): Promise<Rows | undefined> {
  const id = newId();
  const answer = (await ask<Answer>(model, models, { ...question, ask: id }, (news) => news.ask === id))?.content;
  if (answer?.matched === undefined || !answer.rows) return undefined;
  return { matched: answer.matched, rows: answer.rows.map((row) => row.map(cellOf)) };
}
