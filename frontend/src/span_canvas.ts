// How the spans of a timeline are drawn: bars with their names, hatched where the user was waited for, and marks
// for what has no length. What the filter leaves out stays as a shadow. The colours are those of the style sheet.

import { isPoint, isWaiting, type Lane, type Span } from "./spans";

/** The times at the edges, in seconds since the epoch, and the pixels between them. */
export type View = Record<"begin" | "end" | "width", number>;
type Box = Record<"left" | "top" | "width" | "height", number>;

const [BAR, GAP, POINT, PADDING, AXIS] = [16, 2, 12, 5, 23]; // pixels: AXIS above the lanes
const NEAR = 5; // pixels from a span within which a click is one on it
const NARROW = 4; // pixels; a bar that is less wide has no corners
const [LETTER, FEW] = [6.2, 4]; // pixels of a letter, on average; letters of a name that say something
const HATCH = 7; // pixels from a stripe to the next
const COLORS = ["runs", "sent", "received", "questions", "model", "failed", "waiting", "shadow", "line", "ink", "paper"];
const LINES = ["progress", "stderr", "log", "noise"]; // kinds of which there are many: their mark is a line

export class SpanCanvas {
  readonly element = document.createElement("canvas");
  readonly #context = this.element.getContext("2d") as CanvasRenderingContext2D;
  readonly #colors = new Map<string, string>();
  #hatch: CanvasPattern | string = "";
  #tops: number[] = [];
  #lanes: Lane[] = [];
  #height = 0;

  /** Take the colours that the style sheet has for *place*. */
  readColors(place: HTMLElement): void {
    const probe = document.createElement("span");
    place.append(probe);
    for (const name of COLORS) {
      probe.style.color = `var(--tb-span-${name})`;
      this.#colors.set(name, getComputedStyle(probe).color);
    }
    probe.remove();
    this.#hatch = this.#newHatch();
  }

  /** Make room for *lanes*; return the top of each, and their height together. */
  arrange(lanes: Lane[]): { tops: number[]; height: number } {
    [this.#lanes, this.#tops, this.#height] = [lanes, [], 0];
    for (const { spans, rows } of lanes) {
      this.#tops.push(this.#height);
      for (const span of spans) span.top = this.#height + PADDING + span.row * (BAR + GAP);
      const points = spans.some(isPoint) ? POINT : 0;
      this.#height += Math.max(BAR + GAP, rows * (BAR + GAP) + points) + 2 * PADDING;
    }
    return { tops: this.#tops, height: this.#height };
  }

  /** Draw what *view* shows of the lanes; those in *shown*, by place, are no shadow. */
  draw(view: View, ticks: number[], shown: Uint8Array, focused?: Span, opened?: Span): void {
    const context = this.#prepared(view.width);
    context.fillStyle = this.#color("line");
    for (const tick of ticks) context.fillRect(Math.round(widthOf(view, tick, tick)[0]), 0, 1, this.#height);
    for (const top of this.#tops.slice(1)) context.fillRect(0, top, view.width, 1);
    const layers: Span[][] = [[], [], [], []]; // the shadow, then what must be seen best last
    for (const { spans } of this.#lanes) {
      for (const span of spans) {
        if (span.start <= view.end && span.end >= view.begin) layers[layerOf(span, shown)]?.push(span);
      }
    }
    for (const spans of layers) this.#drawSpans(view, spans, shown);
    if (opened) this.#frame(view, opened, 1);
    if (focused) this.#frame(view, focused, 2);
  }

  /** The span at a place of the canvas, of those in *shown*: the nearest within some pixels. */
  at(view: View, { x, y }: { x: number; y: number }, shown: Uint8Array): Span | undefined {
    let [best, least]: [Span | undefined, number] = [undefined, NEAR];
    for (const span of this.#lanes[this.#tops.filter((top) => top <= y).length - 1]?.spans ?? []) {
      const { left, top, width, height } = placeOf(view, span);
      if (!shown[span.place] || y < top - 1 || y > top + height + 1) continue;
      const distance = Math.max(left - x, x - left - width, 0) - layerOf(span, shown) / 100; // as they cover each other
      if (distance < least) [best, least] = [span, distance];
    }
    return best;
  }

  /** How far *scroller* is to be scrolled to have *span* in sight below the axis. */
  scrolled({ top }: Span, { scrollTop, clientHeight }: HTMLElement): number {
    return Math.max(Math.min(scrollTop, top - PADDING), top + BAR + PADDING + AXIS - clientHeight);
  }

  #color(name: string): string {
    return this.#colors.get(name) ?? "gray";
  }

  #prepared(width: number): CanvasRenderingContext2D {
    const ratio = devicePixelRatio || 1;
    const [across, down] = [Math.round(width * ratio), Math.round(this.#height * ratio)];
    if (this.element.width !== across || this.element.height !== down) {
      [this.element.width, this.element.height] = [across, down];
      this.element.style.height = `${this.#height}px`;
    }
    this.#context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.#context.clearRect(0, 0, width, this.#height);
    return this.#context;
  }

  /** Draw *spans*; one that ends in the pixel of the one before it in its row is covered by that. */
  #drawSpans(view: View, spans: Span[], shown: Uint8Array): void {
    const ends = new Map<number, number>(); // by the top of a row
    for (const span of spans) {
      const [left, width] = widthOf(view, span.start, span.end);
      if (left + width <= (ends.get(span.top) ?? -NARROW)) continue;
      ends.set(span.top, Math.max(Math.ceil(left + width), left + 1));
      const isShadow = !shown[span.place];
      this.#context.fillStyle = isShadow ? this.#color("shadow") : this.#fill(span);
      if (isPoint(span)) this.#drawPoint(span, left);
      else if (width < NARROW) this.#context.fillRect(left, span.top, Math.max(2, width), BAR);
      else this.#drawBar(span, left, width, isShadow);
    }
  }

  #fill(span: Span): CanvasPattern | string {
    if (span.state === "failed") return this.#color("failed");
    if (isWaiting(span)) return isPoint(span) ? this.#color("waiting") : this.#hatch;
    return this.#color(COLORS.find((name) => span.lane === name || span.lane.endsWith(` ${name}`)) ?? "runs");
  }

  /** A mark for what has no length: a line for what there is much of, a square for what failed, a dot for all else. */
  #drawPoint({ kind, state, top }: Span, x: number): void {
    const [width, height] = LINES.includes(kind) && state !== "failed" ? [2, 10] : [8, 8];
    this.#context.beginPath();
    this.#context.roundRect(x - width / 2, top + (POINT - height) / 2, width, height, state === "failed" ? 1 : width / 2);
    this.#context.fill();
  }

  #drawBar(span: Span, left: number, width: number, isShadow: boolean): void {
    const context = this.#context;
    const isPale = isWaiting(span) || span.isOpen;
    context.beginPath();
    context.roundRect(left, span.top, width, BAR, 3);
    if (span.isOpen && !isShadow && !isWaiting(span)) context.globalAlpha = 0.45;
    context.fill();
    context.globalAlpha = 1;
    if (isShadow) return;
    const edge = { left: left + 0.5, top: span.top + 0.5, width: width - 1, height: BAR - 1 };
    if (isPale) this.#stroke(edge, isWaiting(span) ? "waiting" : "ink", 1, span.isOpen);
    const room = Math.floor((width - 10) / LETTER); // letters
    const name = span.state === "failed" ? `✕ ${span.name}` : span.name;
    const text = name.length > room ? `${name.slice(0, room - 1)}…` : name;
    if (room < FEW) return;
    const [x, y] = [Math.max(left, 0) + 5, span.top + BAR / 2 + 0.5];
    [context.font, context.textBaseline, context.fillStyle] = ["11px system-ui, sans-serif", "middle", this.#color(isPale ? "ink" : "paper")];
    [context.lineWidth, context.lineJoin, context.strokeStyle] = [4, "round", this.#color("paper")];
    if (isWaiting(span)) context.strokeText(text, x, y); // nobody could read it on the hatching
    context.fillText(text, x, y);
  }

  #frame(view: View, span: Span, width: number): void {
    const { left, top, width: across, height } = placeOf(view, span);
    const box = { left: left - 2, top: top - 2, width: across + 4, height: height + 4 };
    this.#stroke(box, "paper", width + 2, false);
    this.#stroke(box, "ink", width, false);
  }

  #stroke({ left, top, width, height }: Box, color: string, line: number, isDashed: boolean): void {
    const context = this.#context;
    [context.strokeStyle, context.lineWidth] = [this.#color(color), line];
    context.setLineDash(isDashed ? [3, 2] : []);
    context.beginPath();
    context.roundRect(left, top, Math.max(1, width), height, 3);
    context.stroke();
  }

  #newHatch(): CanvasPattern | string {
    const tile = document.createElement("canvas");
    tile.width = tile.height = HATCH;
    const context = tile.getContext("2d") as CanvasRenderingContext2D;
    [context.strokeStyle, context.lineWidth, context.globalAlpha] = [this.#color("waiting"), 2, 0.75];
    for (const offset of [-HATCH, 0, HATCH]) {
      context.moveTo(offset - 1, HATCH + 1);
      context.lineTo(offset + HATCH + 1, -1);
    }
    context.stroke();
    return this.#context.createPattern(tile, "repeat") ?? this.#color("waiting");
  }
}

/** Where the time from *start* to *end* begins in *view*, and how wide it is, as far as it is near to what is in sight. */
function widthOf({ begin, end: last, width }: View, start: number, end: number): [left: number, width: number] {
  const scale = width / (last - begin);
  const left = Math.max(-NARROW, (start - begin) * scale);
  return [left, Math.min(width + NARROW, (end - begin) * scale) - left];
}

/** Where *span* is seen in *view*. */
function placeOf(view: View, span: Span): Box {
  const [left, width] = widthOf(view, span.start, span.end);
  if (isPoint(span)) return { left: left - 3, top: span.top + 1, width: 6, height: POINT - 2 };
  return { left, top: span.top, width: Math.max(2, width), height: BAR };
}

/** In which layer *span* is drawn: what must not be missed covers the rest. */
function layerOf(span: Span, shown: Uint8Array): number {
  if (!shown[span.place]) return 0;
  if (span.state === "failed") return 3;
  return isWaiting(span) || span.isOpen ? 2 : 1;
}
