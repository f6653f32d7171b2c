// Which part of the page belongs to toolbench.

/** The outermost boxes of panels, explorers and forms, cards and reports, and what is inside them. */
const OURS = ".toolbench-box, .tb-form, [data-toolbench-card], [data-toolbench-report], [data-toolbench-listing]";

/** The element that *event* happened to, if it is inside a widget of ours. */
export function ourTarget(event: Event): HTMLElement | null {
  const target = event.target;
  return target instanceof HTMLElement && target.closest(OURS) ? target : null;
}

/** *root*, if it matches *selector*, and all below it that do. */
export function allIn<E extends Element>(root: ParentNode, selector: string): E[] {
  const below = [...root.querySelectorAll<E>(selector)];
  return root instanceof Element && root.matches(selector) ? [root as E, ...below] : below;
}

/** Whether *change* happened inside a widget of ours, or brought one into the page. */
export function isOurs(change: MutationRecord): boolean {
  const place = change.target;
  if (place instanceof Element && place.closest(OURS)) return true;
  return [...change.addedNodes].some(
    (node) => node instanceof Element && (node.matches(OURS) || node.querySelector(OURS)),
  );
}
