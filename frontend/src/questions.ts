// Take the question of a cell away when the cell is over. JupyterLab leaves the field of a question that
// the kernel does not wait for any more on the page. Unless the kernel was interrupted, it also refuses
// to run the next cell ("pending input") until somebody has typed into that field.

import type { KernelConnection, Message } from "./connection";

const PROMPT = ".jp-InputPrompt";
const CELL = ".jp-Cell";
const QUESTION = ".jp-OutputArea-stdin-item";
const RUNS = "[*]";
const RUN_CELL = "execute_request";

/** Take away the questions in the cells that *changes*, of the numbers beside them, show to be over. */
export function hideQuestions(changes: MutationRecord[]): void {
  for (const question of changes.flatMap(questionsOver)) question.style.display = "none";
}

/**
 * Let *kernel* run cells again when the cell that asked is over. The page has other kernels, which may
 * still wait for an answer: so the messages of this one say when its cell is over, and not the page.
 * A cell may have asked before this module was there: then the end of any cell counts.
 */
export function endPendingInput(kernel: KernelConnection, signal: AbortSignal): void {
  let asker: string | undefined; // the id of the message that runs the cell which asked last
  const onAny = (_: unknown, { msg }: { msg: Message }): void => {
    if (msg.header.msg_type === "input_request") asker = msg.parent_header.msg_id;
  };
  const onOutput = (_: unknown, { content, parent_header: cell }: Message): void => {
    if (content.execution_state !== "idle" || cell.msg_type !== RUN_CELL) return;
    if (asker !== undefined && asker !== cell.msg_id) return; // its question came before this end
    asker = undefined;
    if (kernel.hasPendingInput) kernel.hasPendingInput = false;
  };
  kernel.anyMessage?.connect(onAny);
  kernel.iopubMessage?.connect(onOutput);
  signal.addEventListener("abort", () => {
    kernel.anyMessage?.disconnect(onAny);
    kernel.iopubMessage?.disconnect(onOutput);
  });
}

/** The questions in the cell that *change*, of the number beside it, shows to be over. */
function questionsOver({ target }: MutationRecord): HTMLElement[] {
  if (!(target instanceof Element) || !target.matches(PROMPT)) return [];
  if (target.textContent?.startsWith(RUNS)) return [];
  return [...(target.closest(CELL)?.querySelectorAll<HTMLElement>(QUESTION) ?? [])];
}
