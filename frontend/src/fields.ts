// Fields that ipywidgets makes of more than one element: a switch or tabs of radio buttons are one
// group with a name, in which the arrow keys move; and a field that is to be focused knows where.

import { allIn } from "./ours";

const FORM = ".tb-form";
const FIELD = ".tb-form .tb-field";
const SWITCH = ".tb-switch";
const GROUP = ".widget-radio-box";
const SUBMIT = ".toolbench-submit";
const LAST_DAY = "9999-12-31"; // without it, a calendar takes years of six digits, which Python has not
const known = new WeakSet<Element>();

export function enhanceButtons(root: ParentNode): void {
  for (const button of allIn(root, `${SUBMIT}:not([aria-keyshortcuts])`)) {
    button.setAttribute("aria-keyshortcuts", "Control+Enter");
  }
}

/** The forms that *changes* brought into the page, or in which they happened. */
export function formsOf(changes: MutationRecord[]): Set<Element> {
  const forms = new Set<Element>();
  for (const change of changes) {
    const form = change.target instanceof Element ? change.target.closest(FORM) : null;
    if (form) forms.add(form);
    for (const node of form ? [] : change.addedNodes) {
      if (!(node instanceof Element)) continue;
      if (node.matches(FORM)) forms.add(node);
      node.querySelectorAll(FORM).forEach((inner) => forms.add(inner));
    }
  }
  return forms;
}

export function enhanceFields(page: ParentNode = document): void {
  for (const field of page.querySelectorAll<HTMLElement>(FIELD)) {
    if (known.has(field)) continue;
    known.add(field);
    if (field.matches(SWITCH)) nameGroup(field);
    for (const day of field.querySelectorAll<HTMLInputElement>("input[type=date]")) day.max = LAST_DAY;
    field.focus = () => firstInput(field)?.focus();
  }
}

/** What carries the description of *field*: the group of a switch, else its inputs. */
export function describedParts(field: Element, inputs: string): Element[] {
  return [...field.querySelectorAll(field.matches(SWITCH) ? GROUP : inputs)];
}

function nameGroup(field: HTMLElement): void {
  const label = field.querySelector<HTMLElement>(":scope > label");
  const group = field.querySelector(GROUP);
  if (!label || !group) return;
  label.id ||= `${field.className.match(/tb-[0-9a-f]+-\d+/)?.[0] ?? "tb"}-label`;
  group.setAttribute("role", "radiogroup");
  group.setAttribute("aria-labelledby", label.id);
  for (const radio of group.querySelectorAll("input")) radio.name = label.id;
}

function firstInput(field: HTMLElement): HTMLElement | null {
  const inputs = "input:checked, select, textarea, input:not([type=radio])";
  return field.querySelector<HTMLElement>(inputs) ?? field.querySelector("input");
}
