// Fields that ipywidgets makes of more than one element: a switch or tabs of radio buttons are one
// group with a name, in which the arrow keys move; several choices are chips; and a field that is to be
// focused knows where.

import { addChips, CHIPS } from "./chips";
import { withView } from "./field_views";
import { addNativeInputs } from "./native";
import { allIn } from "./ours";

const FORM = ".tb-form";
const FIELD = ".tb-form .tb-field";
const SWITCH = ".tb-switch";
const GROUP = ".widget-radio-box";
const MARKS = ".tb-marks";
const PLAIN_MARKS = `.tb-form ${MARKS}:not(:has(${CHIPS}))`;
const SUBMIT = ".toolbench-submit";
const UNTITLED = '.toolbench-filters > .toolbench-field > input:is(:not([title]), [title=""])';
const known = new WeakSet<Element>();

export function enhanceButtons(root: ParentNode): void {
  for (const button of allIn(root, `${SUBMIT}:not([aria-keyshortcuts])`)) {
    button.setAttribute("aria-keyshortcuts", "Control+Enter");
  }
}

/** Give filter fields in *root* their tooltips: ipywidgets shows none for a field that has a label, here a hidden one. */
export function addTooltips(root: ParentNode): void {
  for (const input of allIn<HTMLElement>(root, UNTITLED)) {
    const field = input.parentElement;
    if (field) withView(field, (view) => (input.title = String(view.model.get("tooltip"))));
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
  addNativeInputs(page);
  for (const field of page.querySelectorAll<HTMLElement>(PLAIN_MARKS)) {
    withView(field, (view) => addChips(view, labelOf(field)?.id ?? ""));
  }
  for (const field of page.querySelectorAll<HTMLElement>(FIELD)) {
    if (known.has(field)) continue;
    known.add(field);
    if (field.matches(SWITCH)) nameGroup(field);
    field.focus = () => firstInput(field)?.focus();
  }
}

/** What carries the description of *field*: the group of a switch, the chips, else its inputs of its own. */
export function describedParts(field: Element, inputs: string): Element[] {
  if (field.matches(MARKS)) return [...field.querySelectorAll(CHIPS)];
  return [...field.querySelectorAll(field.matches(SWITCH) ? GROUP : inputs)];
}

/** The label of *field*, with an id. */
function labelOf(field: HTMLElement): HTMLElement | null {
  const label = field.querySelector<HTMLElement>(":scope > label");
  if (label) label.id ||= `${field.className.match(/tb-[0-9a-f]+-\d+/)?.[0] ?? "tb"}-label`;
  return label;
}

function nameGroup(field: HTMLElement): void {
  const label = labelOf(field);
  const group = field.querySelector(GROUP);
  if (!label || !group) return;
  group.setAttribute("role", "radiogroup");
  group.setAttribute("aria-labelledby", label.id);
  for (const radio of group.querySelectorAll("input")) radio.name = label.id;
}

function firstInput(field: HTMLElement): HTMLElement | null {
  const inputs = `${CHIPS} > [tabindex="0"], input:checked, select:not(:has(~ ${CHIPS})), textarea, input:not([type=radio])`;
  return field.querySelector<HTMLElement>(inputs) ?? field.querySelector("input");
}
