// A timeline: lanes of spans over an axis of time. The wheel with Ctrl, as a touchpad pinches, + and - zoom, a drag moves, Shift
// and a drag choose a time, 0 shows the whole. The arrow keys go from span to span, which a line describes; Enter or a
// click opens one. The filter has the language of all filters. The tables below are in `span_tables.ts`.

import { followPieces, type Model, tell } from "./connection";
import { button } from "./copy_button";
import { part } from "./listbox";
import { matching, problemOf, RowFilter } from "./rowfilter";
import { SpanCanvas, type View } from "./span_canvas";
import { cellsOf, COLUMNS, describe, KEYS, type Lane, lanesOf, type Span, spansOf, titleOf } from "./spans";
import { clock, number, took } from "./wording";

/** The box around a timeline and its tables, and its event: what is shown in it has changed. */
export const [BOX, SHOWN] = [".toolbench-timeline-box", "toolbench-spans"];
/** What a timeline shows: the spans that match its filter, between two times. */
export type Shown = { spans: Span[]; begin: number; end: number };
/** What is shown in each box. */
export const shownIn = new WeakMap<Element, Shown>();

const SHORTEST = 0.002; // seconds that are shown at least
const DAY = 86_400; // seconds
const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, DAY];
const ROOM = 90; // pixels from a time of the axis to the next
const STEADY = 4; // pixels that the mouse may move during a click
const CALM = 150; // milliseconds without a change before the tables follow
const THEME = ["data-jp-theme-name", "data-jp-theme-light", "class", "style"];
const HELP = "Arrow keys: from span to span · Enter: open · + and −: zoom · 0: whole · Ctrl+wheel: zoom · Drag: move · Shift+drag: choose a time";
const LOOKS = { ok: "ok", failed: "✕ failed", waiting: "waits for you", open: "running" };

/** Draw in *el* the spans of *model*, until *signal*. */
export function timeline(model: Model, el: HTMLElement, signal: AbortSignal): void {
  new Timeline(model, el, signal);
}

/** Have the kernel show *span*, which it finds by its start and name if others came before it meanwhile. */
export function openSpan(model: Model, span: Span): void {
  tell(model, { open: span.place, start: span.start, name: span.name });
}

class Timeline {
  readonly #filter = new RowFilter(KEYS, () => this.#pass());
  readonly #canvas = new SpanCanvas();
  readonly #chart = part("toolbench-span-chart", "");
  readonly #window = part("toolbench-span-window", ""); // which part of the whole is in sight
  readonly #ticks = part("toolbench-span-ticks", "");
  readonly #titles = part("toolbench-span-titles", "");
  readonly #stage = part("toolbench-span-stage", "");
  readonly #brush = part("toolbench-span-brush", "");
  readonly #tip = part("toolbench-span-tip", "");
  readonly #said = part("toolbench-span-said", "");
  #spans: Span[] = [];
  #rows: string[][] = []; // for the filter; empty until it is used
  #lanes: Lane[] = [];
  #shown = new Uint8Array();
  #count = 0;
  #whole: [begin: number, end: number] = [0, 1];
  #isWhole = true; // new spans are in sight too
  #view: View = { begin: 0, end: 1, width: 0 };
  #focused?: Span;
  #opened?: Span;
  #isScheduled = false;
  #calm = 0;
  #pressed?: { x: number; view: View; isBrush: boolean; hasMoved: boolean };

  constructor(
    private readonly model: Model,
    private readonly el: HTMLElement,
    signal: AbortSignal,
  ) {
    this.#build();
    this.#listen(signal);
    const take = (pieces: Model[]): void => this.#take(spansOf(pieces, Number(model.get("now"))));
    followPieces(model, "change:pieces change:now", take, signal);
  }

  #build(): void {
    this.el.classList.add("toolbench-timeline");
    const axis = part("toolbench-span-axis", "");
    for (const hidden of [axis, this.#titles]) hidden.setAttribute("aria-hidden", "true"); // each span says its time and lane
    this.#stage.tabIndex = 0;
    this.#stage.setAttribute("role", "application");
    this.#stage.setAttribute("aria-roledescription", "timeline");
    this.#brush.hidden = this.#tip.hidden = true;
    this.#said.setAttribute("role", "status");
    axis.append(this.#ticks, this.#window);
    this.#stage.append(this.#canvas.element, this.#brush, this.#tip);
    this.#chart.append(part("toolbench-span-corner", ""), axis, this.#titles, this.#stage);
    const zoom = part("toolbench-span-buttons", "");
    zoom.append(button("−", "Zoom out", () => this.#zoom(2)), button("+", "Zoom in", () => this.#zoom(0.5)));
    for (const sign of zoom.querySelectorAll("button")) sign.setAttribute("aria-label", sign.title);
    zoom.append(button("Whole", "Show the whole time", () => this.#show(...this.#whole)));
    this.#filter.element.append(zoom);
    this.el.append(this.#filter.element, this.#chart, this.#said, legend());
  }

  #listen(signal: AbortSignal): void {
    const stage = this.#stage;
    stage.addEventListener("keydown", (event) => this.#onKey(event));
    stage.addEventListener("wheel", (event) => this.#onWheel(event), { passive: false });
    stage.addEventListener("pointerdown", (event) => this.#onPress(event));
    stage.addEventListener("pointermove", (event) => this.#onMove(event));
    stage.addEventListener("pointerup", (event) => this.#onRelease(event));
    stage.addEventListener("pointercancel", () => this.#letGo());
    stage.addEventListener("pointerleave", () => (this.#tip.hidden = true));
    for (const change of ["focus", "blur"]) stage.addEventListener(change, () => this.#schedule());
    // What a span says at length is sent when somebody looks at one
    this.el.addEventListener("focusin", () => tell(this.model, { texts: true }), { once: true });
    const size = new ResizeObserver(() => this.#fit());
    const sight = new IntersectionObserver((seen) => tell(this.model, { shown: seen.at(-1)?.isIntersecting === true }));
    const theme = new MutationObserver(() => this.#fit());
    size.observe(stage);
    sight.observe(this.el);
    theme.observe(document.body, { attributeFilter: THEME });
    for (const observer of [size, sight, theme]) signal.addEventListener("abort", () => observer.disconnect());
  }

  #take(spans: Span[]): void {
    const same = (old?: Span): Span | undefined => old && spans.find(({ start, name, lane }) => start === old.start && name === old.name && lane === old.lane);
    [this.#spans, this.#rows, this.#focused, this.#opened] = [spans, [], same(this.#focused), same(this.#opened)];
    if (this.#focused && !this.#focused.isOpen) this.#say(this.#focused); // its text may have come
    this.el.classList.toggle("toolbench-span-none", spans.length === 0);
    this.#lanes = lanesOf(this.model.get("lanes") as string[], spans);
    const first = spans[0]?.start ?? Date.now() / 1000;
    const last = spans.reduce((end, span) => Math.max(end, span.end), first);
    const margin = Math.max(SHORTEST, 0.01 * (last - first));
    this.#whole = [first - margin, last + margin];
    if (this.#isWhole) [this.#view.begin, this.#view.end] = this.#whole;
    const { tops, height } = this.#canvas.arrange(this.#lanes);
    this.#stage.style.height = `${height}px`;
    this.#titles.style.width = `${Math.min(24, 4 + Math.max(0, ...this.#lanes.map(({ name }) => name.length)))}ch`;
    this.#titles.replaceChildren(...this.#lanes.map(({ name }, index) => titleAt(name, tops[index] ?? 0)));
    this.#pass();
  }

  /** Show the spans that match the filter. */
  #pass(): void {
    const words = this.#filter.words;
    if (words && this.#rows.length === 0) this.#rows = this.#spans.map(cellsOf);
    const found = new Set(matching(this.#rows, words, COLUMNS));
    this.#shown = Uint8Array.from(this.#spans, (_, place) => Number(!words || found.has(this.#rows[place] as string[])));
    this.#count = this.#shown.reduce((sum, one) => sum + one, 0);
    const problem = problemOf(words, KEYS);
    this.#filter.say(problem || this.#counted, problem !== "");
    this.#schedule();
  }

  /** Take the width and the colours that the page has for it now. */
  #fit(): void {
    if (this.#stage.clientWidth === 0) return; // it is not in sight, or gone, or has no spans
    this.#view = { ...this.#view, width: this.#stage.clientWidth };
    this.#canvas.readColors(this.el);
    this.#draw();
  }

  #schedule(): void {
    if (!this.#isScheduled) requestAnimationFrame(() => this.#draw());
    this.#isScheduled = true;
  }

  #draw(): void {
    this.#isScheduled = false;
    if (this.#view.width === 0) return;
    const [step, ticks] = ticksOf(this.#view);
    const focused = document.activeElement === this.#stage ? this.#focused : undefined;
    this.#canvas.draw(this.#view, ticks, this.#shown, focused, this.#opened);
    this.#drawAxis(step, ticks);
    clearTimeout(this.#calm);
    this.#calm = window.setTimeout(() => this.#tell(), CALM);
  }

  #drawAxis(step: number, ticks: number[]): void {
    const { begin, end, width } = this.#view;
    const [first, last] = this.#whole;
    this.#window.hidden = this.#isWhole;
    this.#window.style.left = `${(100 * (begin - first)) / (last - first)}%`;
    this.#window.style.width = `${(100 * (end - begin)) / (last - first)}%`;
    const decimals = step >= 60 ? -1 : Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
    while (this.#ticks.childElementCount > ticks.length) this.#ticks.lastElementChild?.remove();
    while (this.#ticks.childElementCount < ticks.length) this.#ticks.append(part("toolbench-span-tick", ""));
    ticks.forEach((tick, index) => {
      const element = this.#ticks.children[index] as HTMLElement;
      const x = ((tick - begin) / (end - begin)) * width;
      element.textContent = step >= DAY ? new Date(1000 * tick).toLocaleDateString() : clock(tick, decimals);
      element.style.transform = `translateX(${x}px)`;
      element.classList.toggle("toolbench-span-cut", x > width - ROOM);
    });
  }

  /** How many spans are left of those that there are: of all, or of those that the filter of the cell chose. */
  get #counted(): string {
    const [all, filter] = [this.#spans.length, String(this.model.get("filter"))];
    if (all === 0) return filter ? `Nothing matches ${filter}.` : "Nothing has happened yet.";
    const counted = `${number(this.#count)} of ${number(all)} ${all === 1 ? "span" : "spans"}`;
    return filter ? `${counted} that match ${filter}` : counted;
  }

  /** Tell the tables, and those who do not see it, what is shown. */
  #tell(): void {
    const box = this.el.closest(BOX);
    const { begin, end } = this.#view;
    const time = `${clock(begin, 1)} to ${clock(end, 1)}, ${took(end - begin)}`;
    this.#stage.setAttribute("aria-label", `Timeline, ${number(this.#count)} spans, ${time}. ${HELP}`);
    const spans = this.#spans.filter((span) => this.#shown[span.place] && span.start <= end && span.end >= begin);
    if (box) shownIn.set(box, { spans, begin, end });
    box?.dispatchEvent(new CustomEvent(SHOWN));
  }

  /** Show the time from *begin* to *end*, as far as there is something. */
  #show(begin: number, end: number): void {
    const [first, last] = this.#whole;
    const length = Math.min(Math.max(end - begin, SHORTEST), last - first);
    const from = Math.min(Math.max((begin + end - length) / 2, first), last - length);
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

  #move(pixels: number, from = this.#view): void {
    const shift = (pixels * (from.end - from.begin)) / from.width;
    this.#show(from.begin + shift, from.end + shift);
  }

  #timeAt(x: number): number {
    const { begin, end, width } = this.#view;
    return begin + (x / width) * (end - begin);
  }

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
      0: () => this.#show(...this.#whole),
      Enter: () => this.#open(this.#focused),
      " ": () => this.#open(this.#focused),
    };
    if (!Object.hasOwn(acts, event.key)) return;
    event.preventDefault();
    this.#tip.hidden = true; // what was below the mouse may move away
    acts[event.key]?.();
  }

  /** The spans to go to in the lane of the focused one, or in the first. */
  get #ofLane(): Span[] {
    return this.#left(this.#lanes.find(({ name }) => name === this.#focused?.lane) ?? this.#lanes[0]);
  }

  #left(lane?: Lane): Span[] {
    return lane?.spans.filter((span) => this.#shown[span.place]) ?? [];
  }

  #step(by: number): void {
    const spans = this.#ofLane;
    const at = this.#focused ? spans.indexOf(this.#focused) : -1;
    if (at >= 0) this.#focus(spans[at + by]);
    else this.#focus(spans.find((span) => span.end >= this.#view.begin) ?? spans[0]);
  }

  /** Focus the span of the next lane that has one, which is the nearest in time. */
  #changeLane(by: number): void {
    const time = this.#anchor;
    const distance = (span: Span): number => Math.max(span.start - time, time - span.end, 0);
    const at = this.#lanes.findIndex(({ name }) => name === this.#focused?.lane);
    const lanes = by > 0 ? this.#lanes.slice(at + 1) : this.#lanes.slice(0, Math.max(at, 0)).reverse();
    const spans = lanes.map((lane) => this.#left(lane)).find(({ length }) => length > 0) ?? [];
    this.#focus(spans.sort((one, other) => distance(one) - distance(other))[0]);
  }

  #focus(span?: Span): void {
    if (!span) return;
    this.#focused = span;
    const { begin, end } = this.#view;
    const half = (end - begin) / 2;
    if (span.end < begin || span.start > end) this.#show(span.start - half, span.start + half);
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
    openSpan(this.model, span);
  }

  #onWheel(event: WheelEvent): void {
    const [across, down] = event.shiftKey ? [event.deltaY || event.deltaX, 0] : [event.deltaX, event.deltaY];
    const isZoom = event.ctrlKey || event.metaKey;
    if (!isZoom && Math.abs(across) <= Math.abs(down)) return; // the page scrolls
    event.preventDefault();
    if (isZoom) this.#zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.008), this.#timeAt(this.#at(event).x));
    else this.#move(across);
  }

  #at(event: MouseEvent): { x: number; y: number } {
    const { left, top } = this.#stage.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  }

  #onPress(event: PointerEvent): void {
    if (event.button !== 0) return;
    event.preventDefault(); // no text is selected
    this.#stage.focus({ preventScroll: true });
    this.#stage.setPointerCapture(event.pointerId);
    this.#pressed = { x: this.#at(event).x, view: this.#view, isBrush: event.shiftKey, hasMoved: false };
  }

  #onMove(event: PointerEvent): void {
    const pressed = this.#pressed;
    if (!pressed) return this.#showTip(event);
    const { x } = this.#at(event);
    pressed.hasMoved ||= Math.abs(x - pressed.x) > STEADY;
    if (!pressed.hasMoved) return;
    this.#tip.hidden = true;
    this.#stage.classList.toggle("toolbench-moving", !pressed.isBrush);
    if (pressed.isBrush) this.#drawBrush(pressed.x, x);
    else this.#move(pressed.x - x, pressed.view);
  }

  #onRelease(event: PointerEvent): void {
    const pressed = this.#pressed;
    this.#letGo();
    if (!pressed) return;
    if (!pressed.hasMoved) this.#open(this.#canvas.at(this.#view, this.#at(event), this.#shown));
    else if (pressed.isBrush) this.#show(...this.#between(pressed.x, this.#at(event).x));
  }

  #letGo(): void {
    this.#pressed = undefined;
    this.#brush.hidden = true;
    this.#stage.classList.remove("toolbench-moving");
  }

  #between(one: number, other: number): [number, number] {
    return [this.#timeAt(Math.min(one, other)), this.#timeAt(Math.max(one, other))];
  }

  #drawBrush(from: number, to: number): void {
    const [begin, end] = this.#between(from, to);
    this.#brush.hidden = false;
    this.#brush.style.left = `${Math.min(from, to)}px`;
    this.#brush.style.width = `${Math.abs(to - from)}px`;
    this.#brush.textContent = took(end - begin);
  }

  #showTip(event: PointerEvent): void {
    const place = this.#at(event);
    const span = this.#canvas.at(this.#view, place, this.#shown);
    this.#tip.hidden = !span;
    this.#stage.classList.toggle("toolbench-over", span !== undefined);
    if (!span) return;
    const [name = "", ...rest] = describe(span).split(" · ");
    this.#tip.replaceChildren(part("toolbench-span-name", name), rest.join(" · "));
    const [left, right] = [place.x + 12, this.#view.width - place.x + 12];
    const side = left < right ? { left: `${left}px`, right: "auto" } : { left: "auto", right: `${right}px` };
    Object.assign(this.#tip.style, { top: `${place.y + 14}px`, ...side });
  }
}

/** The seconds between two times of the axis of *view*, and these times: round times of the day. */
function ticksOf({ begin, end, width }: View): [number, number[]] {
  const least = ((end - begin) / width) * ROOM;
  const step = STEPS.find((one) => one >= least) ?? DAY * Math.ceil(least / DAY);
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
  for (const [look, text] of Object.entries(LOOKS)) {
    const swatch = part("toolbench-span-swatch", "");
    swatch.dataset.look = look;
    element.append(swatch, part("", text));
  }
  element.append(part("toolbench-span-help", HELP));
  return element;
}
