// What the page knows of its connection to a kernel.

interface Signal<T> {
  connect(react: (sender: unknown, news: T) => void): unknown;
  disconnect(react: (sender: unknown, news: T) => void): unknown;
}

/** A message of a kernel, as far as it is read here. */
export interface Message {
  header: { msg_type: string };
  parent_header: { msg_id?: string; msg_type?: string };
  content: { execution_state?: string };
}

/** The page's connection to a kernel. */
export interface KernelConnection {
  status?: string;
  connectionStatus?: string;
  isDisposed?: boolean;
  connectionStatusChanged?: Signal<string>;
  anyMessage?: Signal<{ msg: Message }>;
  iopubMessage?: Signal<Message>;
  hasPendingInput?: boolean;
}

/** The widget manager of a kernel: all its models, by id. */
export interface Models {
  _models?: Record<string, Promise<Model>>;
  kernel?: KernelConnection | null;
  get_model?(id: string): Promise<Model>;
}

/** A model of a widget. What has a `_` is not public: without it a click goes as it always did. */
export interface Model {
  model_id?: string;
  widget_manager: { get_model(id: string): Promise<Model> };
  comm_live: boolean;
  views?: Record<string, Promise<View>>;
  get(name: string): unknown;
  send(content: unknown, callbacks: unknown, buffers?: ArrayBuffer[]): void;
  on(event: string, hear: (content: never, buffers?: DataView[]) => void): void;
  off(event: string, hear: (content: never, buffers?: DataView[]) => void): void;
  _pending_msgs?: number;
  _msg_buffer?: unknown;
}

export interface View {
  el: Element;
  model: Model;
  callbacks(): unknown;
  listenTo(model: Model, event: string, react: () => void): void;
}

/** Tell the kernel of *model* something, unless it has gone, which the page says above its views. */
export function tell(model: Model, content: unknown): void {
  if (model.comm_live) model.send(content, {});
}

/** Call *react* at each *event* of *model*, until *signal*. */
export function follow(model: Model, event: string, react: () => void, signal: AbortSignal): void {
  model.on(event, react);
  signal.addEventListener("abort", () => model.off(event, react));
}

/**
 * Call *show* with the models that the trait `pieces` of *model* names, after each of *events* of *model* and each
 * change of a piece, at most once a frame, until *signal*.
 */
export function followPieces(model: Model, events: string, show: (pieces: Model[]) => void, signal: AbortSignal): void {
  let pieces: Model[] = [];
  let [isScheduled, looks] = [false, 0];
  const forget = (): void => pieces.forEach((piece) => piece.off("change", schedule));
  const look = async (): Promise<void> => {
    isScheduled = false;
    if (signal.aborted) return; // its pieces may be closed
    const turn = (looks += 1);
    const ids = model.get("pieces") as string[];
    const found = await Promise.all(ids.map((id) => model.widget_manager.get_model(id.replace("IPY_MODEL_", ""))));
    if (signal.aborted || turn !== looks) return;
    forget();
    pieces = found;
    for (const piece of pieces) piece.on("change", schedule);
    show(pieces);
  };
  const schedule = (): void => {
    if (!isScheduled) requestAnimationFrame(() => void look()); // several pieces may change together
    isScheduled = true;
  };
  schedule();
  follow(model, events, schedule, signal);
  signal.addEventListener("abort", forget);
}

const GONE = ["dead", "terminating", "disconnected"]; // what a kernel that answers nothing more says of itself

export function isAlive({ kernel }: Models): boolean {
  if (kernel === null || kernel?.isDisposed) return false; // it may go without a last status
  return !GONE.includes(kernel?.status ?? "") && !GONE.includes(kernel?.connectionStatus ?? "");
}

/** Whether the kernel has dealt with every message that has reached it. */
export function isIdle({ kernel }: Models): boolean {
  return kernel?.status === "idle" && kernel.connectionStatus === "connected";
}

/** Whether the kernel has not answered the last change of *model* yet. */
export function isWaiting(model: Model): boolean {
  return model.comm_live && ((model._pending_msgs ?? 0) > 0 || Boolean(model._msg_buffer));
}

/** Do not wait for the answer to the last change of *model*: ipywidgets would keep each later change back. */
export function endWaiting(model: Model): void {
  model._pending_msgs = 0;
  model._msg_buffer = null;
}

/** The models of *kernel* that are there now. */
export async function modelsOf(kernel: Models): Promise<Model[]> {
  return ready(Object.values(kernel._models ?? {}));
}

/** The view of *kernel* that *element* is; undefined if it is of another kernel. */
export async function viewAt(element: Element, kernel: Models): Promise<View | undefined> {
  for (const model of await modelsOf(kernel)) {
    const view = (await viewsOf(model)).find((view) => view.el === element);
    if (view) return view;
  }
  return undefined;
}

export async function viewsOf(model: Model): Promise<View[]> {
  const views = Object.values(model.views ?? {});
  return views.length > 0 ? ready(views) : [];
}

/** What is there of *promises* now. */
async function ready<T>(promises: Promise<T>[]): Promise<T[]> {
  const none = Promise.resolve(undefined);
  const values = await Promise.all(promises.map((promise) => Promise.race([promise, none]).catch(() => undefined)));
  return values.filter((value) => value !== undefined) as T[];
}
