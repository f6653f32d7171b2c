// Keep the keyboard where the person put it: a frame can take the focus by itself, and would then hear
// what is typed, a password too. No attribute of a frame forbids that in today's browsers.

const MOST = 3; // times an app may try, then it is closed
const TAB = 600; // milliseconds in which Tab may move the focus into a frame

/** Give the focus back that one of the frames of *mine* takes; call *close* if it goes on. */
export function guardFocus(mine: () => HTMLIFrameElement[], close: (frame: HTMLIFrameElement) => void): void {
  let last: Element | null = document.activeElement;
  let tab = -TAB;
  let entered: EventTarget | null = null;
  const thefts = new WeakMap<HTMLIFrameElement, number>();

  addEventListener("focusin", ({ target }) => {
    if (target instanceof Element && !(target instanceof HTMLIFrameElement)) last = target;
  }, true);
  addEventListener("keydown", ({ key }) => {
    if (key === "Tab" || key === "F6") tab = performance.now();
  }, true);
  // If the pointer is where it was, the frame itself has come below it.
  let place = "";
  for (const kind of ["pointermove", "pointerover", "pointerdown"] as const) {
    addEventListener(kind, ({ target, screenX, screenY }) => {
      const now = `${screenX} ${screenY}`;
      if (kind === "pointerover") entered = now === place ? null : target;
      place = now;
    }, true);
  }
  addEventListener("blur", () => setTimeout(() => {
    const frame = document.activeElement;
    if (!(frame instanceof HTMLIFrameElement) || !mine().includes(frame)) return;
    if (frame === entered || performance.now() - tab < TAB) return;
    const count = (thefts.get(frame) ?? 0) + 1;
    thefts.set(frame, count);
    if (count >= MOST) close(frame);
    frame.blur();
    if (last instanceof HTMLElement && last.isConnected) last.focus({ preventScroll: true });
  }));
}
