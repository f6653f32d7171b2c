// A timeline: lanes of spans over an axis of time. The wheel with Ctrl, + and - zoom, a drag moves, Shift and a drag
// choose a time, 0 shows the whole. The arrow keys go from span to span, which a line says in words; Enter or a click
// opens one. The filter has the language of all filters. What the tables below it say is in `span_tables.ts`.

import { followPieces, type Model } from "./connection";
import { part } from "./listbox";
import { matching, RowFilter } from "./rowfilter";
import { SpanCanvas, type View } from "./span_canvas";
import { cellsOf, clock, describe, KEYS, type Lane, lanesOf, type Span, spansOf, titleOf, took } from "./spans";

/** An event of the box around a timeline: what is shown of it has changed. */
export const SHOWN = "toolbench-spans";
/** An event that has the timeline in the same box say what it shows. */
export const ASK = "toolbench-spans-ask";
/** What is around a timeline and its tables. */
export const BOX = ".toolbench-timeline-box";

/** What a timeline shows: the spans that match its filter, between two times. */
export interface Shown {
  spans: Span[];
  begin: number;
  end: number;
}

const SHORTEST = 0.002; // seconds that are shown at least
const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]; // seconds between two ticks
const LONG_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440].map((minutes) => 60 * minutes);
const ROOM = 90; // pixels for a tick
const STEADY = 4; // pixels that the mouse may move during a click
const CALM = 150; // milliseconds without a change before the tables follow
const HELP =
  "Arrow keys: from span to span · Enter: open · + and −: zoom · 0: whole · Ctrl+wheel: zoom · Drag: move · Shift+drag: choose a time";

/** Draw in *el* the spans of *model*, until *signal*. */
export function timeline(model: Model, el: HTMLElement, signal: AbortSignal): void {
  new Timeline(model, el, signal);
}

class Timeline {
  readonly #model: Model;
  readonly #el: HTMLElement;
  readonly #filter: RowFilter;
  readonly #canvas = new SpanCanvas();
  readonly #chart = part("toolbench-span-chart", "");
  readonly #axis = part("toolbench-span-axis", "");
  readonly #ticks = part("toolbench-span-ticks", "");
  readonly #titles = part("toolbench-span-titles", "");
  readonly #stage = part("toolbench-span-stage", "");
  readonly #window = part("toolbench-span-window", ""); // which part of the whole is in sight
  readonly #brush = part("toolbench-span-brush", "");
  readonly #tip = part("toolbench-span-tip", "");
  readonly #said = part("toolbench-span-said", "");
  #spans: Span[] = [];
  #rows: string[][] = []; // for the filter; empty until it is used
  #lanes: Lane[] = [];
  #shown = new Uint8Array();
  #count = 0;
  #whole: [number, number] = [0, 1];
  #isWhole = true; // new spans are in sight too
  #view: View = { begin: 0, end: 1, width: 0 };
  #focused?: Span;
  #opened?: Span;
  #isScheduled = false;
  #calm = 0;
  #pointers = new Map<number, PointerEvent>();
  #pressed?: { x: number; view: View; isBrush: boolean; hasMoved: boolean };

  constructor(model: Model, el: HTMLElement, signal: AbortSignal) {
    this.#model = model;
    this.#el = el;
    this.#filter = new RowFilter(() => this.#pass());
    this.#build();
    this.#listen(signal);
    const take = (pieces: Model[]): void => this.#take(spansOf(pieces, model.get("now") as number));
    followPieces(model, "change:pieces change:now", take, signal);
  }

  // --- its parts ---------------------------------------------------------------------

  #build(): void {
    this.#el.classList.add("toolbench-timeline");
    this.#filter.element.append(this.#buttons());
    this.#stage.tabIndex = 0;
    this.#stage.setAttribute("role", "application");
    this.#stage.setAttribute("aria-roledescription", "timeline");
    this.#brush.hidden = this.#tip.hidden = true;
    this.#said.setAttribute("role", "status");
    this.#titles.setAttribute("aria-hidden", "true"); // each span says its lane
    this.#axis.setAttribute("aria-hidden", "true");
    this.#axis.append(this.#ticks, this.#window);
    this.#stage.append(this.#canvas.element, this.#brush, this.#tip);
    this.#chart.append(part("toolbench-span-corner", ""), this.#axis, this.#titles, this.#stage);
    this.#el.append(this.#filter.element, this.#chart, this.#said, legend());
  }

  #buttons(): HTMLElement {
    const group = part("toolbench-span-buttons", "");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "Zoom");
    const acts: [string, string, () => void][] = [
      ["−", "Zoom out", () => this.#zoom(2)],
      ["+", "Zoom in", () => this.#zoom(0.5)],
      ["Whole", "Show the whole time", () => this.#showWhole()],
    ];
    for (const [text, label, act] of acts) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "toolbench-tool";
      button.textContent = text;
      button.setAttribute("aria-label", label);
      button.title = label;
      button.addEventListener("click", act);
      group.append(button);
    }
    return group;
  }

  #listen(signal: AbortSignal): void {
    const stage = this.#stage;
    stage.addEventListener("keydown", (event) => this.#onKey(event));
    stage.addEventListener("wheel", (event) => this.#onWheel(event), { passive: false });
    stage.addEventListener("pointerdown", (event) => this.#onPress(event));
    stage.addEventListener("pointermove", (event) => this.#onMove(event));
    stage.addEventListener("pointerup", (event) => this.#onRelease(event));
    stage.addEventListener("pointercancel", (event) => this.#letGo(event));
    stage.addEventListener("pointerleave", () => (this.#tip.hidden = true));
    stage.addEventListener("dblclick", (event) => this.#zoomTo(this.#spanAt(event)));
    stage.addEventListener("focus", () => this.#schedule());
    stage.addEventListener("blur", () => this.#schedule());
    // What a span says at length is sent when somebody looks at one
    this.#el.addEventListener("focusin", () => this.#model.send({ texts: true }, {}), { once: true });
    new ResizeObserver(() => this.#resize()).observe(stage);
    const seen = new IntersectionObserver(([entry]) => this.#model.send({ shown: entry?.isIntersecting === true }, {}));
    seen.observe(this.#el);
    const theme = new MutationObserver(() => this.#recolor());
    theme.observe(document.body, { attributeFilter: ["data-jp-theme-name", "data-jp-theme-light", "class", "style"] });
    document.addEventListener(ASK, ({ target }) => {
      if (target instanceof Element && target.contains(this.#el)) this.#tell();
    }, { signal });
    signal.addEventListener("abort", () => {
      seen.disconnect();
      theme.disconnect();
    });
  }

  // --- what it shows -----------------------------------------------------------------

  #take(spans: Span[]): void {
    const { place } = this.#focused ?? {};
    this.#spans = spans;
    this.#rows = [];
    this.#focused = place === undefined ? undefined : spans.find((span) => span === this.#focused) ?? spans[place];
    if (this.#focused && !this.#focused.isOpen) this.#say(this.#focused); // its text may have come
    this.#opened = spans.find((span) => span === this.#opened);
    this.#lanes = lanesOf(this.#model.get("lanes") as string[], spans);
    const first = spans[0]?.start ?? Date.now() / 1000;
    const last = spans.reduce((end, span) => Math.max(end, span.end), first);
    const margin = Math.max(SHORTEST, 0.01 * (last - first));
    this.#whole = [first - margin, last + margin];
    if (this.#isWhole) [this.#view.begin, this.#view.end] = this.#whole;
    const { tops, height } = this.#canvas.arrange(this.#lanes);
    this.#stage.style.height = this.#titles.style.height = `${height}px`;
    this.#titles.replaceChildren(...this.#lanes.map(({ name }, index) => titleAt(name, tops[index] ?? 0)));
    this.#pass();
  }

  /** Show the spans that match the filter. */
  #pass(): void {
    const words = this.#filter.words;
    this.#shown = new Uint8Array(this.#spans.length).fill(words ? 0 : 1);
    if (words) {
      if (this.#rows.length === 0) this.#rows = this.#spans.map(cellsOf);
      const found = new Set(matching(this.#rows, words, KEYS));
      this.#rows.forEach((row, place) => found.has(row) && (this.#shown[place] = 1));
    }
    this.#count = this.#shown.reduce((sum, one) => sum + one, 0);
    const all = this.#spans.length.toLocaleString("en-US");
    this.#filter.say(`${this.#count.toLocaleString("en-US")} of ${all} ${this.#spans.length === 1 ? "span" : "spans"}`, false);
    this.#schedule();
  }

  #resize(): void {
    const width = this.#stage.clientWidth;
    if (width === 0) return;
    if (this.#view.width === 0) this.#canvas.readColors(this.#el);
    this.#view = { ...this.#view, width };
    this.#draw();
  }

  #recolor(): void {
    if (!this.#el.isConnected) return;
    this.#canvas.readColors(this.#el);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => this.#draw());
  }

  #draw(): void {
    this.#isScheduled = false;
    if (this.#view.width === 0) return;
    const [step, ticks] = ticksOf(this.#view);
    const focused = document.activeElement === this.#stage ? this.#focused : undefined;
    this.#canvas.draw(this.#view, ticks, this.#shown, focused, this.#opened);
    this.#drawAxis(step, ticks);
    const { begin, end } = this.#view;
    const time = `${clock(begin, 1)} to ${clock(end, 1)}, ${took(end - begin)}`;
    this.#stage.setAttribute("aria-label", `Timeline, ${this.#count} spans, ${time}. ${HELP}`);
    clearTimeout(this.#calm);
    this.#calm = window.setTimeout(() => this.#tell(), CALM);
  }

  #drawAxis(step: number, ticks: number[]): void {
    const { begin, end, width } = this.#view;
    const decimals = step >= 60 ? -1 : Math.max(0, Math.min(3, Math.ceil(-Math.log10(step) - 1e-9)));
    const [first, last] = this.#whole;
    this.#window.hidden = this.#isWhole;
    this.#window.style.left = `${(100 * (begin - first)) / (last - first)}%`;
    this.#window.style.width = `${(100 * (end - begin)) / (last - first)}%`;
    while (this.#ticks.childElementCount > ticks.length) this.#ticks.lastElementChild?.remove();
    while (this.#ticks.childElementCount < ticks.length) this.#ticks.append(part("toolbench-span-tick", ""));
    ticks.forEach((tick, index) => {
      const element = this.#ticks.children[index] as HTMLElement;
      const x = ((tick - begin) / (end - begin)) * width;
      element.textContent = step >= 86400 ? new Date(1000 * tick).toLocaleDateString() : clock(tick, decimals);
      element.style.transform = `translateX(${x}px)`;
      element.classList.toggle("toolbench-span-cut", x > width - ROOM);
    });
  }

  /** Tell the tables what is shown. */
  #tell(): void {
    const { begin, end } = this.#view;
    const spans = this.#spans.filter((span) => this.#shown[span.place] && span.start <= end && span.end >= begin);
    const detail: Shown = { spans, begin, end };
    this.#el.closest(BOX)?.dispatchEvent(new CustomEvent(SHOWN, { detail }));
  }

  // --- zoom ----------------------------------------------------------------------------

  #showWhole(): void {
    this.#isWhole = true;
    [this.#view.begin, this.#view.end] = this.#whole;
    this.#schedule();
  }

  /** Show the time from *begin* to *end*, as far as there is something. */
  #show(begin: number, end: number): void {
    const [first, last] = this.#whole;
    const length = Math.min(Math.max(end - begin, SHORTEST), last - first);
    const middle = (begin + end) / 2;
    const from = Math.min(Math.max(middle - length / 2, first), last - length);
    this.#isWhole = length >= last - first;
    this.#view = { ...this.#view, begin: from, end: from + length };
    this.#schedule();
  }

  /** Show *factor* of the time that is shown; what is at *anchor* stays where it is. */
  #zoom(factor: number, anchor = this.#anchor): void {
    const { begin, end } = this.#view;
    this.#show(anchor - (anchor - begin) * factor, anchor + (end - anchor) * factor);
  }

  /** The focused span, if it is in sight; else the middle. */
  get #anchor(): number {
    const { begin, end } = this.#view;
    const span = this.#focused;
    if (!span || span.end < begin || span.start > end) return (begin + end) / 2;
    return (Math.max(span.start, begin) + Math.min(span.end, end)) / 2;
  }

  #zoomTo(span?: Span): void {
    if (!span) return;
    const margin = Math.max(SHORTEST, 0.3 * (span.end - span.start));
    this.#show(span.start - margin, span.end + margin);
  }

  #move(pixels: number, from = this.#view): void {
    const shift = (pixels * (from.end - from.begin)) / from.width;
    this.#show(from.begin + shift, from.end + shift);
  }

  #timeAt(x: number): number {
    const { begin, end, width } = this.#view;
    return begin + (x / width) * (end - begin);
  }

  // --- keys ----------------------------------------------------------------------------

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const acts: Record<string, () => void> = {
      ArrowRight: () => this.#step(1),
      ArrowLeft: () => this.#step(-1),
      ArrowDown: () => this.#changeLane(1),
      ArrowUp: () => this.#changeLane(-1),
      Home: () => this.#focus(this.#ofLane[0]),
      End: () => this.#focus(this.#ofLane.at(-1)),
      PageDown: () => this.#move(0.8 * this.#view.width),
      PageUp: () => this.#move(-0.8 * this.#view.width),
      "+": () => this.#zoom(0.5),
      "=": () => this.#zoom(0.5),
      "-": () => this.#zoom(2),
      0: () => this.#showWhole(),
      Enter: () => this.#open(this.#focused),
      " ": () => this.#open(this.#focused),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** The spans that can have the focus in the lane that has it, or in the first. */
  get #ofLane(): Span[] {
    const name = this.#focused?.lane;
    return this.#left(this.#lanes.find((lane) => lane.name === name) ?? this.#lanes[0]);
  }

  #left(lane?: Lane): Span[] {
    return lane?.spans.filter((span) => this.#shown[span.place]) ?? [];
  }

  #step(by: number): void {
    const spans = this.#ofLane;
    const at = spans.findIndex((span) => span === this.#focused);
    if (at >= 0) this.#focus(spans[at + by]);
    else this.#focus(spans.find((span) => span.end >= this.#view.begin) ?? spans[0]);
  }

  /** Focus the span of the next lane that has one, which is the nearest in time. */
  #changeLane(by: number): void {
    const time = this.#anchor;
    let at = this.#lanes.findIndex((lane) => lane.name === this.#focused?.lane);
    if (at < 0 && by < 0) at = this.#lanes.length;
    for (at += by; at >= 0 && at < this.#lanes.length; at += by) {
      const spans = this.#left(this.#lanes[at]);
      const distance = (span: Span): number => Math.max(span.start - time, time - span.end, 0);
      if (spans.length === 0) continue;
      this.#focus(spans.reduce((best, span) => (distance(span) < distance(best) ? span : best)));
      return;
    }
  }

  #focus(span?: Span): void {
    if (!span) return;
    this.#focused = span;
    const { begin, end } = this.#view;
    if (span.end < begin || span.start > end) {
      const half = (end - begin) / 2;
      this.#show(span.start - half, span.start + half);
    }
    this.#chart.scrollTop = this.#canvas.scrolled(span, this.#chart);
    this.#say(span);
    this.#schedule();
  }

  #say(span: Span): void {
    const text = [describe(span), span.text].filter(Boolean).join(" · ");
    if (this.#said.textContent !== text) this.#said.textContent = text; // else it is read again
  }

  #open(span?: Span): void {
    if (!span) return;
    this.#opened = span;
    this.#focus(span);
    openSpan(this.#model, span);
  }

  // --- the mouse and fingers -------------------------------------------------------------

  #onWheel(event: WheelEvent): void {
    const across = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.ctrlKey || event.metaKey) {
      this.#zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.008), this.#timeAt(this.#x(event)));
    } else if (Math.abs(across) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
      this.#move(across);
    } else {
      return; // the page scrolls
    }
    event.preventDefault();
  }

  #x(event: MouseEvent): number {
    return event.clientX - this.#stage.getBoundingClientRect().left;
  }

  #spanAt(event: MouseEvent): Span | undefined {
    const { left, top } = this.#stage.getBoundingClientRect();
    return this.#canvas.at(this.#view, event.clientX - left, event.clientY - top, this.#shown);
  }

  #onPress(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.#stage.focus({ preventScroll: true });
    this.#stage.setPointerCapture(event.pointerId);
    this.#pointers.set(event.pointerId, event);
    this.#pressed = { x: this.#x(event), view: this.#view, isBrush: event.shiftKey, hasMoved: this.#pointers.size > 1 };
    event.preventDefault(); // no text is selected
  }

  #onMove(event: PointerEvent): void {
    const pressed = this.#pressed;
    if (!pressed) {
      this.#showTip(event);
      return;
    }
    const before = this.#pointers.get(event.pointerId);
    const [other] = [...this.#pointers.values()].filter(({ pointerId }) => pointerId !== event.pointerId);
    this.#pointers.set(event.pointerId, event);
    const x = this.#x(event);
    if (other && before) {
      const [was, is] = [before, event].map((one) => Math.max(8, Math.abs(this.#x(one) - this.#x(other))));
      this.#zoom((was ?? 1) / (is ?? 1), this.#timeAt((x + this.#x(other)) / 2));
      return;
    }
    pressed.hasMoved ||= Math.abs(x - pressed.x) > STEADY;
    if (!pressed.hasMoved) return;
    this.#tip.hidden = true;
    if (pressed.isBrush) this.#drawBrush(pressed.x, x);
    else this.#move(pressed.x - x, pressed.view);
    this.#stage.classList.toggle("toolbench-moving", !pressed.isBrush);
  }

  #onRelease(event: PointerEvent): void {
    const pressed = this.#pressed;
    const x = this.#x(event);
    this.#letGo(event);
    if (!pressed) return;
    if (pressed.isBrush && pressed.hasMoved) this.#show(this.#timeAt(Math.min(x, pressed.x)), this.#timeAt(Math.max(x, pressed.x)));
    else if (!pressed.hasMoved) this.#open(this.#spanAt(event));
  }

  #letGo(event: PointerEvent): void {
    this.#pointers.delete(event.pointerId);
    if (this.#pointers.size === 0) this.#pressed = undefined;
    this.#brush.hidden = true;
    this.#stage.classList.remove("toolbench-moving");
  }

  #drawBrush(from: number, to: number): void {
    this.#brush.hidden = false;
    this.#brush.style.left = `${Math.min(from, to)}px`;
    this.#brush.style.width = `${Math.abs(to - from)}px`;
    this.#brush.textContent = took(this.#timeAt(Math.max(from, to)) - this.#timeAt(Math.min(from, to)));
  }

  #showTip(event: PointerEvent): void {
    const span = this.#spanAt(event);
    this.#tip.hidden = !span;
    this.#stage.classList.toggle("toolbench-over", span !== undefined);
    if (!span) return;
    const [name = "", ...rest] = describe(span).split(" · ");
    this.#tip.replaceChildren(part("toolbench-span-name", name), rest.join(" · "));
    const { left, top, width } = this.#stage.getBoundingClientRect();
    const isRight = event.clientX - left > width / 2;
    this.#tip.style.left = isRight ? "auto" : `${event.clientX - left + 12}px`;
    this.#tip.style.right = isRight ? `${width - (event.clientX - left) + 12}px` : "auto";
    this.#tip.style.top = `${event.clientY - top + 14}px`;
  }
}

/** Have the kernel show *span*, which it knows by its place, unless spans came before it meanwhile. */
export function openSpan(model: Model, span: Span): void {
  model.send({ open: span.place, start: span.start, name: span.name }, {});
}

/** The seconds between two ticks of the axis of *view*, and the ticks, at round times of the day. */
function ticksOf({ begin, end, width }: View): [number, number[]] {
  const least = ((end - begin) / width) * ROOM;
  const step = [...STEPS, ...LONG_STEPS].find((one) => one >= least) ?? 86400 * Math.ceil(least / 86400);
  const zone = -60 * new Date(1000 * begin).getTimezoneOffset();
  const ticks: number[] = [];
  for (let number = Math.ceil((begin + zone) / step); number * step - zone <= end; number++) ticks.push(number * step - zone);
  return [step, ticks];
}

function titleAt(lane: string, top: number): HTMLElement {
  const element = part("toolbench-span-title", "");
  const [name, direction] = titleOf(lane);
  element.style.top = `${top}px`;
  element.title = lane;
  element.append(part("toolbench-span-name", name), part("toolbench-span-direction", direction));
  return element;
}

/** What the looks mean, and what the keys and the mouse do. */
function legend(): HTMLElement {
  const element = part("toolbench-span-legend", "");
  const looks: [string, string][] = [
    ["ok", "ok"],
    ["failed", "✕ failed"],
    ["waiting", "waits for you"],
    ["open", "goes on"],
  ];
  for (const [look, text] of looks) {
    const swatch = part("toolbench-span-swatch", "");
    swatch.dataset.look = look;
    element.append(swatch, part("", text));
  }
  element.append(part("toolbench-span-help", HELP));
  return element;
}
