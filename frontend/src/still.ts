// Beside an app, a button that says yes can be pressed once it has stayed in its place for a moment. An
// app can put it under the pointer of a person who clicks in the app: by its height, and by scrolling,
// which moves the notebook too. No attribute of a frame forbids that in today's browsers.

const AGREE = ".toolbench-agree";
const APP = ".toolbench-app iframe";
const CALM = 700; // milliseconds in one place
const NEAR = 10; // pixels that are no move: a part of the button
const LOOK = 100; // milliseconds between two looks
const held = new Set<HTMLButtonElement>();

export function holdAgreements(): void {
  document.querySelectorAll<HTMLButtonElement>(AGREE).forEach(holdUntilStill);
}

/** Disable *button* while it has not stayed in its place for a moment; one with the focus stays as it is. */
export function holdUntilStill(button: HTMLButtonElement): void {
  if (held.has(button)) return;
  held.add(button);
  let [x, y, since] = [Infinity, Infinity, 0];
  const look = (): void => {
    const { left, top } = button.getBoundingClientRect();
    const now = performance.now();
    if (Math.abs(left - x) > NEAR || Math.abs(top - y) > NEAR) [x, y, since] = [left, top, now];
    const isByApp = button !== document.activeElement && document.querySelector(APP) !== null;
    const isHeld = isByApp && now - since < CALM;
    if (button.disabled !== isHeld) button.disabled = isHeld;
  };
  look();
  // It may have moved since the last look
  addEventListener("scroll", look, { capture: true });
  button.addEventListener("pointerdown", look, { capture: true });
  const timer = setInterval(() => {
    if (button.isConnected) {
      look();
      return;
    }
    clearInterval(timer);
    removeEventListener("scroll", look, { capture: true });
    held.delete(button);
  }, LOOK);
}
