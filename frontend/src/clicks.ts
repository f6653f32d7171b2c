// A click on a button of ours, or Enter in a field of ours, waits here until the kernel has answered
// the last typed keys. ipywidgets sends a field's change only after the kernel has answered the change
// before, but it sends a click at once. So a click would overtake keys: the tool would run with half a
// value. Once nothing is left to send the click goes, marked, so that the kernel need not wait for keys.
// What is read of ipywidgets with `_` is not public: without it the click goes as it always did.

import { ourTarget } from "./ours";

interface Model {
  comm_live: boolean;
  views?: Record<string, Promise<View>>;
  send(content: unknown, callbacks: unknown): void;
  _pending_msgs?: number;
  _msg_buffer?: unknown;
}

interface View {
  el: Element;
  model: Model;
  callbacks(): unknown;
}

/** An event and the modules of the page that do not know its widget. */
type Passing = Event & { [PASSED_BY]?: object[] };

/** A message of a kernel, as far as it is read here. */
export interface Message {
  header: { msg_type: string };
  parent_header: { msg_id?: string; msg_type?: string };
  content: { execution_state?: string };
}

interface Signal<T> {
  connect(react: (sender: unknown, news: T) => void): unknown;
  disconnect(react: (sender: unknown, news: T) => void): unknown;
}

/** The page's connection to a kernel. */
export interface KernelConnection {
  status?: string;
  connectionStatus?: string;
  isDisposed?: boolean;
  anyMessage?: Signal<{ msg: Message }>;
  iopubMessage?: Signal<Message>;
  hasPendingInput?: boolean;
}

/** The widget manager of a kernel: all its models, by id. */
export interface Models {
  _models?: Record<string, Promise<Model>>;
  kernel?: KernelConnection | null;
}

const BUTTON = ".widget-button";
const LINE = ".widget-text";
const OUTERMOST = ".toolbench-box, .tb-form";
const [SHORTEST, LONGEST] = [4, 1000]; // milliseconds between two looks
const GONE = ["dead", "terminating", "disconnected"]; // what a kernel that answers nothing more says of itself
const kernels = new Map<AbortSignal, Models>(); // by what says when they are gone
const me = {}; // this module: each kernel brings its own into the page, and all of them listen to each click
const PASSED_BY = Symbol.for("toolbench-passed-by");
const queues = new WeakMap<Element, Promise<void>>(); // of each box: its clicks keep their order

/** Hold the clicks on widgets of the kernel behind *models* too, until *signal* ends that. */
export function holdClicks(models: Models | undefined, signal: AbortSignal): void {
  if (!models?._models || signal.aborted) return;
  if (kernels.size === 0) {
    // the window comes before the button, where ipywidgets listens
    addEventListener("click", onClick, { capture: true });
    addEventListener("keypress", onEnter, { capture: true });
  }
  kernels.set(signal, models);
  signal.addEventListener("abort", () => {
    kernels.delete(signal);
    if (kernels.size > 0) return;
    removeEventListener("click", onClick, { capture: true });
    removeEventListener("keypress", onEnter, { capture: true });
  });
}

function onClick(event: MouseEvent): void {
  const button = ourTarget(event)?.closest(BUTTON);
  if (button) hold(event, button, "click");
}

function onEnter(event: KeyboardEvent): void {
  const line = event.key === "Enter" ? ourTarget(event)?.closest(LINE) : null;
  if (line) hold(event, line, "submit");
}

/**
 * Hold *event* in the widget at *element*, which sends *message* for it. If no kernel here knows the
 * widget, the event goes on to the modules of other kernels, and at last to the widget itself.
 */
function hold(event: Passing, element: Element, message: string): void {
  const passedBy = event[PASSED_BY] ?? [];
  if (passedBy.includes(me)) return;
  event.stopImmediatePropagation();
  const box = outermost(element);
  const copy: Passing = new (event.constructor as typeof Event)(event.type, event);
  copy[PASSED_BY] = [...passedBy, me];
  const target = event.target;
  const go = async (): Promise<void> => {
    if (!(await send(message, element, box))) target?.dispatchEvent(copy);
  };
  queues.set(box, (queues.get(box) ?? Promise.resolve()).then(go).catch(console.error));
}

/** Send *message* of the widget at *element* once *box* has sent its changes; return whether it is known. */
async function send(message: string, element: Element, box: Element): Promise<boolean> {
  for (const kernel of new Set(kernels.values())) {
    const models = await ready(Object.values(kernel._models ?? {}));
    const view = await viewAt(element, models);
    if (!view) continue;
    const changed = await within(box, models.filter(isWaiting));
    if (changed.length > 0) await answered(changed, element, kernel);
    if (element.isConnected && !element.matches(":disabled")) {
      view.model.send({ event: message, settled: true }, view.callbacks());
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

function isAlive({ kernel }: Models): boolean {
  if (kernel === null || kernel?.isDisposed) return false; // it may go without a last status
  return !GONE.includes(kernel?.status ?? "") && !GONE.includes(kernel?.connectionStatus ?? "");
}

function isWaiting(model: Model): boolean {
  return model.comm_live && ((model._pending_msgs ?? 0) > 0 || Boolean(model._msg_buffer));
}

async function viewAt(element: Element, models: Model[]): Promise<View | undefined> {
  for (const model of models) {
    const view = (await viewsOf(model)).find((view) => view.el === element);
    if (view) return view;
  }
  return undefined;
}

/** Those of *models* that are shown in *box*. */
async function within(box: Element, models: Model[]): Promise<Model[]> {
  const shown = await Promise.all(models.map(viewsOf));
  return models.filter((_, index) => shown[index]?.some((view) => box.contains(view.el)));
}

async function viewsOf(model: Model): Promise<View[]> {
  const views = Object.values(model.views ?? {});
  return views.length > 0 ? ready(views) : [];
}

/** What is there of *promises* now. */
async function ready<T>(promises: Promise<T>[]): Promise<T[]> {
  const none = Promise.resolve(undefined);
  const values = await Promise.all(promises.map((promise) => Promise.race([promise, none]).catch(() => undefined)));
  return values.filter((value) => value !== undefined) as T[];
}

function outermost(element: Element): Element {
  let box = element;
  for (let outer: Element | null = element; outer; outer = outer.parentElement?.closest(OUTERMOST) ?? null) {
    box = outer;
  }
  return box;
}
