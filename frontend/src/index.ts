// What toolbench adds to a page, once for each page, however many notebooks and kernels it shows.

import { connectApps, type Kernel } from "./apps";
import { enhanceCards } from "./card_toolbar";
import { holdClicks } from "./clicks";
import type { Model, Models } from "./connection";
import { enhanceLines } from "./copy_button";
import { describeFields } from "./described";
import { fadeEdges } from "./edges";
import { answerViews } from "./field_views";
import { addTooltips, enhanceButtons, enhanceFields, formsOf } from "./fields";
import { focusLogs, focusRefusals, keepFocus, restoreFocus, showWaiting } from "./focus";
import { nameImages, zoomImages } from "./fullview";
import { joinKernels, NEW_KERNEL } from "./kernel_results";
import { keepKeys } from "./keys";
import { lines } from "./lines";
import { isOurs } from "./ours";
import { sayLostLineEnds } from "./pasted";
import { picker } from "./picker";
import { endPendingInput, hideQuestions } from "./questions";
import { runs } from "./runs";
import { addStyle, dropPlainStyles } from "./sheets";
import { spanTables } from "./span_tables";
import { holdAgreements } from "./still";
import { enhanceTables } from "./table";
import { timeline } from "./timeline";
import { nameUploads } from "./uploads";

const DRAWS = "toolbench-draws"; // beside it, where the page can find the models that it is to draw
const LIVE = "toolbench-live"; // on the root element: style sheets do without what this module does

function start(css: string): void {
  if (document.documentElement.classList.contains(LIVE)) return;
  document.documentElement.classList.add(LIVE);
  addStyle(css);
  keepKeys();
  keepFocus();
  zoomImages();
  sayLostLineEnds();
  watch();
  enhance();
  document.addEventListener(NEW_KERNEL, enhance);
}

function enhance(): void {
  enhanceFields();
  describeFields();
  complete(document);
  focusRefusals();
  showWaiting();
  holdAgreements();
  focusLogs();
}

/** Complete the results and the buttons in *root*. */
function complete(root: ParentNode): void {
  dropPlainStyles(root);
  enhanceButtons(root);
  addTooltips(root);
  nameUploads(root);
  enhanceTables(root);
  fadeEdges(root);
  enhanceCards(root);
  enhanceLines(root);
  nameImages(root);
}

/**
 * Look at each change of our widgets. Results, buttons, and the names and descriptions of fields are
 * completed at once, where they came into the page and still are there. The rest of one frame's changes
 * is dealt with together before the frame is drawn.
 */
function watch(): void {
  let isScheduled = false;
  const act = (): void => {
    isScheduled = false;
    enhance();
  };
  new MutationObserver((changes) => {
    hideQuestions(changes);
    const ours = changes.filter(isOurs);
    ours.forEach(restoreFocus);
    for (const form of formsOf(ours)) {
      enhanceFields(form);
      describeFields(form);
    }
    for (const root of additions(ours)) complete(root);
    if (ours.length > 0 && !isScheduled) {
      isScheduled = true;
      requestAnimationFrame(act);
    }
  }).observe(document.body, { childList: true, subtree: true });
}

/** The elements that *changes* brought into the page, and that are still there. */
function additions(changes: MutationRecord[]): Element[] {
  const nodes = new Set(changes.flatMap((change) => [...change.addedNodes]));
  return [...nodes].filter((node) => node instanceof Element && node.isConnected) as Element[];
}

/** The model of `ModuleWidget`. */
interface ModuleModel extends Kernel {
  widget_manager?: Models;
  set(name: string, value: unknown): void;
  save_changes(): void;
}

interface Initialized {
  model: ModuleModel;
  signal?: AbortSignal;
}

/**
 * Called once for each kernel of the page; *signal* says when its widgets are gone. Nothing here may wait.
 * Returns what draws the views of this kernel, by name.
 */
function initialize({ model, signal = new AbortController().signal }: Initialized): object {
  const models = model.widget_manager;
  if (models?.get_model) document.documentElement.classList.add(DRAWS);
  // By the layout, a plain model of ipywidgets, as for apps
  const layout = model.get("layout") as Model | undefined;
  if (models && layout) joinKernels({ model: layout, models }, signal);
  if (models) answerViews(models, signal);
  document.dispatchEvent(new CustomEvent(NEW_KERNEL));
  start(String(model.get("css") ?? ""));
  holdClicks(models, signal);
  if (models?.kernel && !signal.aborted) endPendingInput(models.kernel, signal);
  if (models?.get_model) { // else an editor would find no text there
    model.set("is_live", true);
    model.save_changes();
  }
  // Last: anywidget swallows what fails here, and tests wait for this one as the sign that all is there
  connectApps(model, signal);
  return { lines, picker, runs, spanTables, timeline };
}

export default { initialize };
