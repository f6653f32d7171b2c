// The second bundle: CodeMirror for JSON and code, which the page gets when a tab with it is first opened.
// It edits the text of a text area, whose model keeps the text.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { Annotation, Compartment, EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { copyButton } from "./copy_button";

/** The model of the text area, as far as it is used here. */
interface Area {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(events: string, react: () => void): void;
  off(events: string, react: () => void): void;
}

const CHANGES = "change:value change:disabled change:_dom_classes";
const OF_TEXT_AREA = ["jupyter-widgets", "widget-inline-hbox", "widget-textarea"]; // ipywidgets' own style of it
const fromKernel = Annotation.define<boolean>();

/** Edit in *element* the text of *area*, until *signal*. */
function edit(area: Area, element: HTMLElement, signal: AbortSignal): void {
  const label = labelOf(area);
  const isCode = classesOf(area).includes("toolbench-code");
  const view = editorOf(area, label);
  label.addEventListener("click", () => view.focus());
  element.replaceChildren(label, view.dom);
  if (isCode) label.after(copyButton(String(area.get("description")), () => textOf(view)));
  let classes: string[] = [];
  const follow = (): void => {
    element.classList.remove(...classes);
    classes = classesOf(area);
    element.classList.add(...classes);
    show(view, area);
  };
  follow();
  area.on(CHANGES, follow);
  signal.addEventListener("abort", () => {
    area.off(CHANGES, follow);
    view.destroy();
  });
}

function editorOf(area: Area, label: HTMLElement): EditorView {
  const language = new Compartment();
  const text = String(area.get("value"));
  const view: EditorView = new EditorView({
    doc: text,
    extensions: [
      LOOKS,
      lineNumbers(),
      history(),
      drawSelection(),
      bracketMatching(),
      keymap.of([...defaultKeymap, ...historyKeymap]),
      placeholder(String(area.get("placeholder") ?? "")),
      language.of(languageOf(text)),
      editable.of(editability(area)),
      EditorView.contentAttributes.of({ "aria-labelledby": label.id }),
      EditorView.updateListener.of((update) => {
        if (!update.docChanged) return;
        view.dispatch({ effects: language.reconfigure(languageOf(textOf(view))) });
        if (update.transactions.some((change) => change.annotation(fromKernel))) return;
        area.set("value", textOf(view));
        area.save_changes();
      }),
    ],
  });
  view.dom.style.minHeight = `${Number(area.get("rows") ?? 2) * 1.4 + 1}em`;
  return view;
}

function labelOf(area: Area): HTMLElement {
  const label = document.createElement("label");
  label.className = "widget-label";
  label.id = `toolbench-editor-${Math.random()}`; // each kernel of the page has editors
  label.textContent = String(area.get("description"));
  return label;
}

function classesOf(area: Area): string[] {
  return [...OF_TEXT_AREA, ...(area.get("_dom_classes") as string[])];
}

function textOf(view: EditorView): string {
  return view.state.doc.toString();
}

/** Show the text of *area*, and let it be edited if *area* can be. */
function show(view: EditorView, area: Area): void {
  const text = String(area.get("value"));
  const isNew = textOf(view) !== text;
  if (!isNew && view.state.readOnly === isDisabled(area)) return;
  view.dispatch({
    changes: isNew ? { from: 0, to: view.state.doc.length, insert: text } : [],
    effects: editable.reconfigure(editability(area)),
    annotations: fromKernel.of(true),
  });
}

const editable = new Compartment();

function editability(area: Area): Extension {
  return [EditorState.readOnly.of(isDisabled(area)), EditorView.lineWrapping];
}

function isDisabled(area: Area): boolean {
  return Boolean(area.get("disabled"));
}

function languageOf(text: string): Extension {
  return /^\s*(?:[[{]|$)/.test(text) ? LANGUAGES.json : LANGUAGES.python;
}

const LANGUAGES = { json: json(), python: python() };

// JupyterLab's colours of code; the fallbacks read on light and on dark pages
const ink = (name: string, color: string): string =>
  `var(--jp-mirror-editor-${name}-color, color-mix(in srgb, ${color} 75%, currentColor))`;
const LOOKS: Extension = [
  EditorView.editorAttributes.of({ class: "toolbench-editor" }),
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: tags.propertyName, color: "var(--jp-content-link-color, inherit)" },
      { tag: tags.string, color: ink("string", "#a31515") },
      { tag: tags.number, color: ink("number", "#088b08") },
      { tag: [tags.bool, tags.null, tags.atom], color: ink("atom", "#6060e6") },
      { tag: tags.keyword, color: ink("keyword", "#088b08"), fontWeight: "bold" },
      { tag: tags.comment, color: ink("comment", "#388238"), fontStyle: "italic" },
    ]),
  ),
  EditorView.theme({
    "&": {
      color: "var(--jp-content-font-color1, inherit)",
      backgroundColor: "var(--jp-cell-editor-background, transparent)",
      fontSize: "var(--jp-code-font-size, 13px)",
    },
    ".cm-scroller": {
      fontFamily: "var(--jp-code-font-family, Menlo, Consolas, monospace)",
      lineHeight: "1.4",
      overflow: "auto",
    },
    ".cm-content": { caretColor: "var(--jp-editor-cursor-color, currentColor)" },
    ".cm-cursor": { borderLeftColor: "var(--jp-editor-cursor-color, currentColor)" },
    ".cm-gutters": {
      backgroundColor: "transparent",
      border: "none",
      color: "color-mix(in srgb, currentColor 72%, transparent)",
    },
    ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground":
      { background: "var(--jp-editor-selected-focused-background, Highlight)" },
    ".cm-placeholder": { color: "color-mix(in srgb, currentColor 72%, transparent)" },
  }),
];

/** What views of editors get of this bundle. */
export default { initialize: () => ({ edit }) };
