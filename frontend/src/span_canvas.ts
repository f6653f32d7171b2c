// How the spans of a timeline are drawn: bars with their names, hatched where somebody waited for a person, marks for
// what has no length. What the filter leaves out stays as a shadow. The colours are those of the style sheet.

import { isPoint, isWaiting, type Lane, type Span } from "./spans";

export interface View {
  begin: number; // seconds since the epoch, at the left edge
  end: number;
  width: number; // pixels
}

const [BAR, GAP, POINT, PADDING] = [16, 2, 12, 5]; // pixels
const AXIS = 23; // pixels above the lanes
const NARROW = 4; // pixels; a bar that is less wide has no corners
const LETTER = 6.2; // pixels of a letter, on average
const COLORS = ["runs", "sent", "received", "questions", "model", "failed", "waiting", "shadow", "line", "ink", "paper", "focus"];
const HATCH = 7; // pixels from a stripe to the next

export class SpanCanvas {
  readonly element = document.createElement("canvas");
  readonly #colors = new Map<string, string>();
  readonly #probe = document.createElement("span");
  #hatch: CanvasPattern | string = "";
  #tops: number[] = [];
  #lanes: Lane[] = [];
  #height = 0;

  constructor() {
    this.#probe.hidden = true;
    this.element.setAttribute("aria-hidden", "true");
  }

  /** Take the colours of the page, which has another theme, into which *place* brings the parts. */
  readColors(place: HTMLElement): void {
    place.append(this.#probe);
    for (const name of COLORS) {
      this.#probe.style.color = `var(--tb-span-${name})`;
      this.#colors.set(name, getComputedStyle(this.#probe).color);
    }
    this.#hatch = this.#newHatch();
  }

  /** Make room for *lanes*; return the top of each, and their height together. */
  arrange(lanes: Lane[]): { tops: number[]; height: number } {
    this.#lanes = lanes;
    this.#tops = [];
    let top = 0;
    for (const lane of lanes) {
      this.#tops.push(top);
      const bars = lane.rows * (BAR + GAP);
      top += Math.max(BAR + GAP, bars + (lane.hasPoints ? POINT : 0)) + 2 * PADDING;
    }
    this.#height = top;
    return { tops: this.#tops, height: top };
  }

  /** Draw what *view* shows of the lanes; those in *shown*, by place, are no shadow. */
  draw(view: View, ticks: number[], shown: Uint8Array, focused?: Span, opened?: Span): void {
    const context = this.#prepared(view.width);
    this.#drawGrid(context, view, ticks);
    const layers: Span[][] = [[], [], [], []]; // the shadow, then what must be seen best last
    for (const { spans } of this.#lanes) {
      for (const span of spans) {
        if (span.start <= view.end && span.end >= view.begin) layers[layerOf(span, shown)]?.push(span);
      }
    }
    layers.forEach((spans) => this.#drawSpans(context, view, spans, shown));
    if (opened) this.#frame(context, view, opened, 1);
    if (focused) this.#frame(context, view, focused, 2);
  }

  /** The span at a place of the canvas: of those in *shown* the nearest within some pixels. */
  at(view: View, x: number, y: number, shown: Uint8Array): Span | undefined {
    const index = this.#tops.filter((top) => top <= y).length - 1;
    let best: Span | undefined;
    let least = 5;
    for (const span of this.#lanes[index]?.spans ?? []) {
      if (!shown[span.place]) continue;
      const box = this.#box(view, span);
      if (y < box.top - 1 || y > box.top + box.height + 1) continue;
      const distance = Math.max(box.left - x, x - box.left - box.width, 0);
      if (distance < least || (distance === 0 && layerOf(span, shown) >= 2)) [best, least] = [span, Math.max(distance, 1e-9)];
    }
    return best;
  }

  /** Where *span* stands, in pixels of the canvas. */
  #box(view: View, span: Span): { left: number; top: number; width: number; height: number } {
    const lane = this.#lanes.findIndex(({ name }) => name === span.lane);
    const scale = view.width / (view.end - view.begin);
    const top = (this.#tops[lane] ?? 0) + PADDING + span.row * (BAR + GAP);
    const left = (span.start - view.begin) * scale;
    if (isPoint(span)) return { left: left - 3, top: top + 1, width: 6, height: POINT - 2 };
    return { left, top, width: Math.max(2, (span.end - span.start) * scale), height: BAR };
  }

  /** How far *scroller* is to be scrolled to have *span* in sight below the axis. */
  scrolled(span: Span, { scrollTop, clientHeight }: HTMLElement): number {
    const { top, height } = this.#box({ begin: 0, end: 1, width: 1 }, span);
    return Math.max(Math.min(scrollTop, top - PADDING), top + height + PADDING + AXIS - clientHeight);
  }

  #color(name: string): string {
    return this.#colors.get(name) ?? "gray";
  }

  #prepared(width: number): CanvasRenderingContext2D {
    const ratio = devicePixelRatio || 1;
    const [across, down] = [Math.round(width * ratio), Math.round(this.#height * ratio)];
    const context = this.element.getContext("2d") as CanvasRenderingContext2D;
    if (this.element.width !== across || this.element.height !== down) {
      [this.element.width, this.element.height] = [across, down];
      this.element.style.height = `${this.#height}px`;
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, this.#height);
    return context;
  }

  #drawGrid(context: CanvasRenderingContext2D, view: View, ticks: number[]): void {
    context.fillStyle = this.#color("line");
    const scale = view.width / (view.end - view.begin);
    for (const tick of ticks) context.fillRect(Math.round((tick - view.begin) * scale), 0, 1, this.#height);
    for (const top of this.#tops.slice(1)) context.fillRect(0, top, view.width, 1);
  }

  /** Draw *spans*, of which one that ends in the pixel of the one before it in its row is not drawn again. */
  #drawSpans(context: CanvasRenderingContext2D, view: View, spans: Span[], shown: Uint8Array): void {
    const scale = view.width / (view.end - view.begin);
    const places = new Map(this.#lanes.map(({ name }, index) => [name, this.#tops[index] ?? 0]));
    const ends = new Map<number, number>(); // by the top of a row
    for (const span of spans) {
      const top = (places.get(span.lane) ?? 0) + PADDING + span.row * (BAR + GAP);
      const left = Math.max(-4, (span.start - view.begin) * scale);
      const right = Math.min(view.width + 4, (span.end - view.begin) * scale);
      if (right <= (ends.get(top) ?? -5)) continue;
      ends.set(top, Math.max(Math.ceil(right), left + 1));
      const isShadow = !shown[span.place];
      context.fillStyle = isShadow ? this.#color("shadow") : this.#fill(span);
      if (isPoint(span)) drawPoint(context, span, left, top + 1);
      else if (right - left < NARROW) context.fillRect(left, top, Math.max(2, right - left), BAR);
      else this.#drawBar(context, span, left, top, right - left, isShadow);
    }
  }

  #fill(span: Span): CanvasPattern | string {
    if (span.state === "failed") return this.#color("failed");
    if (isWaiting(span)) return isPoint(span) ? this.#color("waiting") : this.#hatch;
    return this.#color(COLORS.find((name) => span.lane === name || span.lane.endsWith(` ${name}`)) ?? "runs");
  }

  #drawBar(context: CanvasRenderingContext2D, span: Span, left: number, top: number, width: number, isShadow: boolean): void {
    context.beginPath();
    context.roundRect(left, top, width, BAR, 3);
    if (span.isOpen && !isShadow && !isWaiting(span)) context.globalAlpha = 0.45; // and its end is drawn
    context.fill();
    context.globalAlpha = 1;
    if (isShadow) return;
    if (isWaiting(span) || span.isOpen) this.#drawEdge(context, span, left, top, width);
    const room = Math.floor((width - 10) / LETTER);
    if (room < 4) return;
    const name = span.state === "failed" ? `✕ ${span.name}` : span.name;
    const isPale = isWaiting(span) || span.isOpen;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const text = name.length > room ? `${name.slice(0, room - 1)}…` : name;
    if (isPale) {
      context.lineWidth = 4;
      context.lineJoin = "round";
      context.strokeStyle = this.#color("paper");
      context.strokeText(text, Math.max(left, 0) + 5, top + BAR / 2 + 0.5);
    }
    context.fillStyle = this.#color(isPale ? "ink" : "paper");
    context.fillText(text, Math.max(left, 0) + 5, top + BAR / 2 + 0.5);
  }

  /** The edge of what is hatched or open; an open span has no edge on the right, where it goes on. */
  #drawEdge(context: CanvasRenderingContext2D, span: Span, left: number, top: number, width: number): void {
    context.strokeStyle = this.#color(isWaiting(span) ? "waiting" : "ink");
    context.lineWidth = 1;
    context.setLineDash(span.isOpen ? [3, 2] : []);
    context.beginPath();
    context.roundRect(left + 0.5, top + 0.5, Math.max(1, width - 1), BAR - 1, 3);
    context.stroke();
    context.setLineDash([]);
  }

  #frame(context: CanvasRenderingContext2D, view: View, span: Span, width: number): void {
    const box = this.#box(view, span);
    const left = Math.max(-6, box.left);
    const right = Math.min(view.width + 6, box.left + box.width);
    context.lineWidth = width + 2;
    for (const color of ["paper", "focus"]) {
      context.strokeStyle = this.#color(color);
      context.beginPath();
      context.roundRect(left - 2, box.top - 2, Math.max(4, right - left + 4), box.height + 4, 4);
      context.stroke();
      context.lineWidth = width;
    }
  }

  #newHatch(): CanvasPattern | string {
    const tile = document.createElement("canvas");
    tile.width = tile.height = HATCH;
    const context = tile.getContext("2d") as CanvasRenderingContext2D;
    context.strokeStyle = this.#color("waiting");
    context.lineWidth = 2;
    context.globalAlpha = 0.75;
    for (const offset of [-HATCH, 0, HATCH]) {
      context.beginPath();
      context.moveTo(offset - 1, HATCH + 1);
      context.lineTo(offset + HATCH + 1, -1);
      context.stroke();
    }
    return context.createPattern(tile, "repeat") ?? this.#color("waiting");
  }
}

/** In which layer *span* is drawn: what must not be missed covers the rest. */
function layerOf(span: Span, shown: Uint8Array): number {
  if (!shown[span.place]) return 0;
  if (span.state === "failed") return 3;
  return isWaiting(span) || span.isOpen ? 2 : 1;
}

/** A mark for what has no length: a rhombus for what failed or was asked, a dot for messages, a line for all else. */
function drawPoint(context: CanvasRenderingContext2D, span: Span, x: number, top: number): void {
  const [middle, size] = [top + 5, 5];
  if (span.state === "failed" || span.kind === "question" || span.kind === "connection") {
    context.beginPath();
    context.moveTo(x, middle - size);
    context.lineTo(x + size, middle);
    context.lineTo(x, middle + size);
    context.lineTo(x - size, middle);
    context.fill();
  } else if (span.kind === "progress" || span.kind === "stderr" || span.kind === "log" || span.kind === "noise") {
    context.fillRect(x - 1, top, 2, 10);
  } else {
    context.beginPath();
    context.arc(x, middle, 3.5, 0, 2 * Math.PI);
    context.fill();
  }
}
