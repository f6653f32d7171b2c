// The browser's slider, calendar and clock beside a field of text. What counts is the text: they write
// into it as a person does, and show what it says, as far as they can.

import type { View } from "./connection";
import { onSet, withView } from "./field_views";
import { say, sayNothing } from "./notices";

const SLIDERS = "[data-slider]";
const MOMENTS = ".tb-form :is(.tb-format-date, .tb-format-time, .tb-format-date-time)";
const TEXT = ":scope > input";
const KINDS = ["date", "time"];
const MOMENT = "datetime-local";
const ZONE = /(?:[zZ]|[-+]\d\d:?\d\d)$/;
const known = new WeakSet<Element>();

/** Put sliders, and buttons for calendars, beside the fields of *page* that have none yet. */
export function addNativeInputs(page: ParentNode): void {
  for (const note of page.querySelectorAll<HTMLElement>(SLIDERS)) {
    const { describes = "", slider = "" } = note.dataset;
    for (const field of page.querySelectorAll(`.${CSS.escape(describes)}`)) {
      if (!known.has(field)) withView(field, (view) => add(field, (text) => sliderOf(text, view, slider.split(" "))));
    }
  }
  for (const field of page.querySelectorAll(MOMENTS)) add(field, (text) => buttonOf(text, field));
}

function add(field: Element, make: (text: HTMLInputElement) => HTMLElement): void {
  const text = field.querySelector<HTMLInputElement>(TEXT);
  if (known.has(field) || !text) return;
  known.add(field);
  text.after(make(text));
}

function nameOf(field: Element): string {
  return field.querySelector(":scope > label")?.textContent ?? "";
}

/** Write *value* into *text*, as if a person had typed it. */
function type(text: HTMLInputElement, value: string): void {
  text.value = value;
  text.dispatchEvent(new Event("input", { bubbles: true }));
}

/** Its numbers are the least, the most, the step and the default. The text does all that it does, so Tab passes it. */
function sliderOf(text: HTMLInputElement, view: View, [min = "", max = "", step = "", preset]: string[]): HTMLElement {
  const slider = inputOf("range", "tb-slider");
  Object.assign(slider, { min, max, step, tabIndex: -1, ariaLabel: `${nameOf(view.el)}, slider` });
  const show = (): void => {
    const number = text.value.trim() === "" ? NaN : Number(text.value);
    const isThere = number >= Number(min) && number <= Number(max);
    slider.value = Number.isNaN(number) ? preset ?? min : String(number);
    slider.classList.toggle("tb-idle", !isThere);
  };
  slider.addEventListener("input", () => type(text, slider.value));
  text.addEventListener("input", show);
  onSet(view, show);
  show();
  return slider;
}

/** A button that opens the calendar or the clock of the browser. */
function buttonOf(text: HTMLInputElement, field: Element): HTMLElement {
  const hasDay = !field.matches(".tb-format-time");
  const hasTime = !field.matches(".tb-format-date");
  const kind = KINDS.find((name) => field.matches(`.tb-format-${name}`)) ?? MOMENT;
  const button = document.createElement("button");
  const native = inputOf(kind, "tb-native");
  native.tabIndex = -1;
  native.ariaHidden = "true";
  if (hasDay) native.max = hasTime ? "9999-12-31T23:59:59" : "9999-12-31"; // else it takes years of six digits
  if (hasTime) native.step = "1";
  native.addEventListener("input", () => {
    sayNothing(field);
    if (native.value) type(text, textOf(native.value, kind, text.value));
  });
  button.type = "button";
  button.className = hasDay ? "tb-calendar" : "tb-calendar tb-clock";
  button.title = button.ariaLabel = `${hasDay ? "Calendar" : "Clock"} for ${nameOf(field)}`;
  button.addEventListener("click", () => {
    native.value = nativeOf(text.value.trim(), kind);
    try {
      native.showPicker();
    } catch {
      say(field, "This page opens no calendar: type the text."); // as in a frame of another site
    }
  });
  const place = document.createElement("span");
  place.className = "tb-place";
  place.append(button, native);
  return place;
}

/** An input of *kind* whose events ipywidgets does not take for those of its own. */
function inputOf(kind: string, name: string): HTMLInputElement {
  const input = document.createElement("input");
  input.type = kind;
  input.className = name;
  for (const event of ["input", "change"]) input.addEventListener(event, (happened) => happened.stopPropagation());
  return input;
}

/** What stands in the field for *value* of the browser. A time of a day has the page's zone, unless *before* has none. */
function textOf(value: string, kind: string, before: string): string {
  if (kind === "date") return value;
  const whole = /:\d\d:/.test(value) ? value : `${value}:00`;
  if (kind === "time" || (before.trim() && !ZONE.test(before.trim()))) return whole;
  const minutes = -new Date(whole).getTimezoneOffset();
  if (minutes === 0) return `${whole}Z`;
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const two = (number: number): string => String(number).padStart(2, "0");
  return `${whole}${minutes < 0 ? "-" : "+"}${two(hours)}:${two(rest)}`;
}

/** What the browser's input gets for *text*; it shows nothing if that is no value of it. */
function nativeOf(text: string, kind: string): string {
  if (kind !== MOMENT) return text.replace(ZONE, "");
  const moment = new Date(text);
  if (!ZONE.test(text) || Number.isNaN(moment.getTime())) return text.replace(" ", "T");
  const local = new Date(moment.getTime() - 60_000 * moment.getTimezoneOffset());
  return local.toISOString().slice(0, 19);
}
