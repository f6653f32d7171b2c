// Keep the keyboard where the person put it: a frame can take the focus by itself, and would then hear
// what is typed elsewhere, a password too. No attribute of a frame forbids that in today's browsers.
// Our host page in the frame says whether the person has just clicked in the app: a browser tells
// it so, and tells it nothing of clicks outside.

export type Click = "now" | "before" | "none";

const MOST: Record<Click, number> = { now: Infinity, before: 10, none: 3 }; // tries, then it is closed
// Milliseconds in which Tab may move the focus into a frame. Long, for a page that is busy: what ends
// the leave is the next thing that the user does, or the field that Tab reached instead.
const TAB = 5000;
// Short turns in which the host page may answer: where the processor is busy, they take longer too.
const TURNS = 5;
const TURN = 50; // milliseconds

/**
 * Give the focus back that a frame takes; *ask* for the person's last click in it, *close* it if it goes on.
 * No answer is like no click.
 */
export function guardFocus(
  isMine: (frame: HTMLIFrameElement) => boolean,
  ask: (frame: HTMLIFrameElement) => Promise<Click>,
  close: (frame: HTMLIFrameElement) => void,
  signal: AbortSignal,
): void {
  let last: Element | null = document.activeElement;
  let tab = -Infinity;
  let moves = 0;
  const tries = new WeakMap<HTMLIFrameElement, Record<Click, number>>();

  addEventListener("focusin", ({ target }) => {
    if (!(target instanceof Element) || target instanceof HTMLIFrameElement) return;
    last = target;
    tab = -Infinity;
  }, { capture: true, signal });
  addEventListener("keydown", ({ key }) => {
    if (key === "Tab" || key === "F6") tab = performance.now();
    else if (key !== "Shift") tab = -Infinity;
  }, { capture: true, signal });
  addEventListener("pointerdown", () => { tab = -Infinity; }, { capture: true, signal });
  addEventListener("blur", () => {
    const isByTab = performance.now() - tab < TAB;
    const move = ++moves;
    // Which element has the focus, a browser says only after the event.
    setTimeout(async () => {
      const frame = document.activeElement;
      if (!(frame instanceof HTMLIFrameElement) || !isMine(frame) || isByTab) return;
      const click = await Promise.race([ask(frame), noAnswer()]);
      if (click === "now") return;
      const count = tries.get(frame) ?? { now: 0, before: 0, none: 0 };
      count[click] += 1;
      tries.set(frame, count);
      if (count[click] >= MOST[click]) close(frame);
      else if (move !== moves) return; // it left the frame meanwhile, and came back in a way judged by itself
      if (document.activeElement !== frame && frame.isConnected) return;
      frame.blur();
      if (last instanceof HTMLElement && last.isConnected) last.focus({ preventScroll: true });
    });
  }, { signal });
}

async function noAnswer(): Promise<Click> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setTimeout(resolve, TURN));
  return "none";
}
