// Edit JSON and code in CodeMirror. The text area of ipywidgets stays on the page, hidden, because
// the kernel reads and writes it: typed text goes into it, and text from the kernel is shown.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { Annotation, Compartment, EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { copyButton } from "./card_toolbar";

const AREAS = ".tb-json > textarea, .toolbench-code > textarea";
const VALUE = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value");
const fromKernel = Annotation.define<boolean>();
const known = new WeakSet<Element>();

/** Replace each text area for JSON or code by an editor. */
export function enhanceEditors(): void {
  for (const area of document.querySelectorAll<HTMLTextAreaElement>(AREAS)) {
    if (known.has(area)) continue;
    known.add(area);
    replace(area);
  }
}

function replace(area: HTMLTextAreaElement): void {
  const language = new Compartment();
  const isEditable = new Compartment();
  const label = labelOf(area);
  const view: EditorView = new EditorView({
    doc: area.value,
    extensions: [
      LOOKS,
      lineNumbers(),
      history(),
      drawSelection(),
      bracketMatching(),
      keymap.of([...defaultKeymap, ...historyKeymap]),
      placeholder(area.placeholder),
      language.of(languageOf(area.value)),
      isEditable.of(editable(area)),
      EditorView.contentAttributes.of(label ? { "aria-labelledby": label.id } : {}),
      EditorView.updateListener.of((update) => {
        if (!update.docChanged) return;
        view.dispatch({ effects: language.reconfigure(languageOf(textOf(view))) });
        if (update.transactions.some((change) => change.annotation(fromKernel))) return;
        VALUE?.set?.call(area, textOf(view));
        area.dispatchEvent(new Event("input", { bubbles: true }));
      }),
      EditorView.domEventHandlers({
        blur: () => void area.dispatchEvent(new Event("change", { bubbles: true })),
      }),
    ],
  });
  Object.defineProperty(area, "value", {
    configurable: true,
    get: () => textOf(view),
    set: (text: string) => {
      VALUE?.set?.call(area, text);
      show(view, VALUE?.get?.call(area) as string);
    },
  });
  area.focus = () => view.focus();
  new MutationObserver(() => {
    view.dispatch({ effects: isEditable.reconfigure(editable(area)) });
  }).observe(area, { attributeFilter: ["disabled", "readonly"] });
  view.dom.style.minHeight = `${area.rows * 1.4 + 1}em`;
  const isFocused = area === document.activeElement;
  area.hidden = true;
  area.after(view.dom);
  if (isFocused) view.focus();
  label?.addEventListener("click", () => view.focus());
  if (area.closest(".toolbench-code")) {
    view.dom.before(copyButton(label?.textContent ?? "", () => textOf(view)));
  }
}

/** The label of *area*, with an id; it names the editor from now on. */
function labelOf(area: HTMLTextAreaElement): HTMLElement | null {
  const label = area.parentElement?.querySelector("label") ?? null;
  if (label) {
    label.id ||= `${area.id}-label`;
    label.removeAttribute("for");
  }
  return label;
}

function textOf(view: EditorView): string {
  return view.state.doc.toString();
}

function show(view: EditorView, text: string): void {
  if (textOf(view) === text) return;
  view.dispatch({
    changes: { from: 0, to: view.state.doc.length, insert: text },
    annotations: fromKernel.of(true),
  });
}

function editable(area: HTMLTextAreaElement): Extension {
  return [EditorState.readOnly.of(area.disabled || area.readOnly), EditorView.lineWrapping];
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
