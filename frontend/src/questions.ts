// Take the question of a cell away when the cell is over. JupyterLab leaves the field of a question that
// the kernel does not wait for any more on the page. Unless the kernel was interrupted, it also refuses
// to run the next cell ("pending input") until somebody has typed into that field.

import type { Models } from "./clicks";

const PROMPT = ".jp-InputPrompt";
const CELL = ".jp-Cell";
const QUESTION = ".jp-OutputArea-stdin-item";
const RUNS = "[*]";

/** Take the questions of cells that are over away, until *signal*; *models* are those of a kernel. */
export function endQuestions(models: Models | undefined, signal: AbortSignal): void {
  if (signal.aborted) return;
  const observer = new MutationObserver((changes) => {
    const questions = changes.flatMap(questionsOver);
    for (const question of questions) question.style.display = "none";
    if (questions.length > 0 && models?.kernel?.hasPendingInput) models.kernel.hasPendingInput = false;
  });
  observer.observe(document.body, { childList: true, subtree: true });
  signal.addEventListener("abort", () => observer.disconnect());
}

/** The questions in the cell that *change*, of the number beside it, shows to be over. */
function questionsOver({ target }: MutationRecord): HTMLElement[] {
  if (!(target instanceof Element) || !target.matches(PROMPT)) return [];
  if (target.textContent?.startsWith(RUNS)) return [];
  return [...(target.closest(CELL)?.querySelectorAll<HTMLElement>(QUESTION) ?? [])];
}
