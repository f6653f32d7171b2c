// Keep the keyboard where the person put it: a frame can take the focus by itself, and would then hear
// what is typed elsewhere, a password too. No attribute of a frame forbids that in today's browsers.
// Our host page in the frame says whether the person has just clicked in the app: a browser tells
// it so, and tells it nothing of clicks outside.

export type Click = "now" | "before" | "none";

const MOST: Record<Click, number> = { now: Infinity, before: 10, none: 3 }; // tries, then it is closed
const TAB = 600; // milliseconds in which Tab may move the focus into a frame

/** Give the focus back that a frame takes; *ask* for the person's last click in it, *close* it if it goes on. */
export function guardFocus(
  isMine: (frame: HTMLIFrameElement) => boolean,
  ask: (frame: HTMLIFrameElement) => Promise<Click>,
  close: (frame: HTMLIFrameElement) => void,
  signal: AbortSignal,
): void {
  let last: Element | null = document.activeElement;
  let tab = -TAB;
  const tries = new WeakMap<HTMLIFrameElement, Record<Click, number>>();

  addEventListener("focusin", ({ target }) => {
    if (target instanceof Element && !(target instanceof HTMLIFrameElement)) last = target;
  }, { capture: true, signal });
  addEventListener("keydown", ({ key }) => {
    if (key === "Tab" || key === "F6") tab = performance.now();
  }, { capture: true, signal });
  addEventListener("blur", () => setTimeout(async () => {
    const frame = document.activeElement;
    if (!(frame instanceof HTMLIFrameElement) || !isMine(frame)) return;
    if (performance.now() - tab < TAB) return;
    const click = await ask(frame);
    if (click === "now") return;
    const count = tries.get(frame) ?? { now: 0, before: 0, none: 0 };
    count[click] += 1;
    tries.set(frame, count);
    if (count[click] >= MOST[click]) close(frame);
    if (document.activeElement !== frame && frame.isConnected) return;
    frame.blur();
    if (last instanceof HTMLElement && last.isConnected) last.focus({ preventScroll: true });
  }), { signal });
}
