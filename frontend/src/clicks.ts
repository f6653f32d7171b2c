// A click on a button of ours, or Enter in a field of ours, waits here until the kernel has answered
// the last typed keys. ipywidgets sends a field's change only after the kernel has answered the change
// before, but it sends a click at once. So a click would overtake keys: the tool would run with half a
// value. Once nothing is left to send the click goes, marked, so that the kernel need not wait for keys.
// What is read of ipywidgets with `_` is not public: without it the click goes as it always did.

import { endWaiting, isAlive, isWaiting, type Model, type Models, modelsOf, type View, viewAt, viewsOf } from "./connection";
import { COPY_CALL, copyCall } from "./copy_call";
import { say, sayNothing } from "./notices";
import { openedRow, openRow } from "./opened_rows";
import { ourTarget } from "./ours";
import { chooseFile, dropFile, holdFile, sendFile } from "./uploads";

/** An event and the modules of the page that do not know its widget. */
type Passing = Event & { [PASSED_BY]?: object[] };

const BUTTON = ".widget-button";
const UPLOAD = ".widget-upload";
const WIDGET = ".widget-html";
const LINE = ".widget-text";
const OUTERMOST = ".toolbench-box, .tb-form";
const [SHORTEST, LONGEST] = [4, 1000]; // milliseconds between two looks
const LOST = "The connection broke, and the kernel may not have this. Type it again; more than 10 MB is too much.";
const REFUSED = "Nothing was done: the connection broke, and the kernel may not have all that was typed.";
const kernels = new Map<AbortSignal, Models>(); // by what says when they are gone
const me = {}; // this module: each kernel brings its own into the page, and all of them listen to each click
const PASSED_BY = Symbol.for("toolbench-passed-by");
const lost = new Set<Element>(); // the fields whose value the kernel may not have
const queues = new WeakMap<Element, Promise<void>>(); // of each box: its clicks keep their order

/** Hold the clicks on widgets of the kernel behind *models* too, until *signal* ends that. */
export function holdClicks(models: Models | undefined, signal: AbortSignal): void {
  if (!models?._models || signal.aborted) return;
  if (kernels.size === 0) {
    // the window comes before the button, where ipywidgets listens
    addEventListener("click", onClick, { capture: true });
    addEventListener("keypress", onEnter, { capture: true });
    addEventListener("input", onInput, { capture: true });
    addEventListener("dragover", holdFile, { capture: true });
    addEventListener("drop", onDrop, { capture: true });
  }
  kernels.set(signal, models);
  const onStatus = (_: unknown, status: string): void => {
    if (status !== "connected") void loseValues(models);
  };
  models.kernel?.connectionStatusChanged?.connect(onStatus);
  signal.addEventListener("abort", () => {
    models.kernel?.connectionStatusChanged?.disconnect(onStatus);
    kernels.delete(signal);
    if (kernels.size > 0) return;
    removeEventListener("click", onClick, { capture: true });
    removeEventListener("keypress", onEnter, { capture: true });
    removeEventListener("input", onInput, { capture: true });
    removeEventListener("dragover", holdFile, { capture: true });
    removeEventListener("drop", onDrop, { capture: true });
  });
}

/** The connection broke: what was on its way may be lost. Say so at each field of ours, and send its next value. */
async function loseValues(kernel: Models): Promise<void> {
  const models = await modelsOf(kernel);
  for (const model of models.filter(isWaiting)) {
    endWaiting(model);
    for (const { el } of await placesOf(model, models)) {
      if (!el.closest(OUTERMOST)) continue;
      lost.add(el);
      say(el, LOST);
    }
  }
}

/** A person has changed a field: the kernel gets its new value. */
function onInput({ target }: Event): void {
  for (const field of lost) {
    if (!(target instanceof Node && field.contains(target))) continue;
    lost.delete(field);
    sayNothing(field);
  }
}

function onClick(event: MouseEvent): void {
  const target = ourTarget(event);
  const upload = target?.closest(UPLOAD);
  if (upload) {
    void hold(event, () => passTo(upload, chooseFile)); // at once: a browser opens its files only after a click
    return;
  }
  const row = openedRow(target);
  const report = row?.closest(WIDGET);
  if (row && report) {
    void hold(event, () => passTo(report, (view) => openRow(row, view)));
    return;
  }
  const button = target?.closest(BUTTON);
  if (button) inTurn(button, (box, before) => hold(event, () => send("click", button, box), before));
}

/** Each module of the page hears of the file; the one that knows the button sends it. */
function onDrop(event: DragEvent): void {
  const { button, file } = dropFile(event);
  if (button && file) void passTo(button, (view, kernel) => sendFile(file, view, kernel));
}

function onEnter(event: KeyboardEvent): void {
  const line = event.key === "Enter" ? ourTarget(event)?.closest(LINE) : null;
  if (line) inTurn(line, (box, before) => hold(event, () => send("submit", line, box), before));
}

/** Do *act* for the widget at *element* after all that was done before in its box. */
function inTurn(element: Element, act: (box: Element, before: Promise<void>) => Promise<void>): void {
  const box = outermost(element);
  queues.set(box, act(box, queues.get(box) ?? Promise.resolve()).catch(console.error));
}

/**
 * Hold *event*, and do *act* in its place, after *before*. If *act* says that no kernel here knows the
 * widget, the event goes on to the modules of other kernels, and at last to the widget itself.
 */
async function hold(event: Passing, act: () => Promise<boolean>, before = Promise.resolve()): Promise<void> {
  const passedBy = event[PASSED_BY] ?? [];
  if (passedBy.includes(me)) return before;
  event.stopImmediatePropagation();
  const copy: Passing = new (event.constructor as typeof Event)(event.type, event);
  copy[PASSED_BY] = [...passedBy, me];
  const target = event.target;
  await before;
  if (!(await act())) target?.dispatchEvent(copy);
}

/** Do *act* with the widget at *element* and its kernel; return whether it is known, and *act* could do it. */
async function passTo(element: Element, act: (view: View, kernel: Models) => unknown): Promise<boolean> {
  for (const kernel of new Set(kernels.values())) {
    const view = await viewAt(element, kernel);
    if (view) return (await act(view, kernel)) !== false;
  }
  return false;
}

/** Send *message* of the widget at *element* once *box* has sent its changes; return whether it is known. */
async function send(message: string, element: Element, box: Element): Promise<boolean> {
  for (const kernel of new Set(kernels.values())) {
    const view = await viewAt(element, kernel);
    if (!view) continue;
    const models = await modelsOf(kernel);
    const changed = await within(box, models);
    sayNothing(element);
    if (changed.length > 0) await answered(changed, element, kernel);
    if ([...lost].some((field) => box.contains(field))) say(element, REFUSED);
    else if (element.isConnected && !element.matches(":disabled")) {
      const content = { event: message, settled: true };
      if (element.matches(COPY_CALL)) void copyCall(view, kernel, content);
      else view.model.send(content, view.callbacks());
    }
    return true;
  }
  return false;
}

/** Wait until *models* have sent all their changes, and *kernel* has dealt with them, or will not any more. */
async function answered(models: Model[], element: Element, kernel: Models): Promise<void> {
  const begin = performance.now();
  element.setAttribute("aria-busy", "true");
  while (models.some(isWaiting) && element.isConnected && isAlive(kernel)) {
    const pause = (performance.now() - begin) / 10;
    await new Promise((go) => setTimeout(go, Math.min(LONGEST, Math.max(SHORTEST, pause))));
  }
  element.removeAttribute("aria-busy");
}

/** Those of *models* that have something to send and are shown in *box*. */
async function within(box: Element, models: Model[]): Promise<Model[]> {
  const waiting = models.filter(isWaiting);
  const shown = await Promise.all(waiting.map((model) => placesOf(model, models)));
  return waiting.filter((_, index) => shown[index]?.some((view) => box.contains(view.el)));
}

/** The views of *model*, and those of the editors among *models* that edit its text. */
async function placesOf(model: Model, models: Model[]): Promise<View[]> {
  const editors = models.filter((editor) => editor.get("source") === `IPY_MODEL_${model.model_id}`);
  return (await Promise.all([model, ...editors].map(viewsOf))).flat();
}

function outermost(element: Element): Element {
  let box = element;
  for (let outer: Element | null = element; outer; outer = outer.parentElement?.closest(OUTERMOST) ?? null) {
    box = outer;
  }
  return box;
}
