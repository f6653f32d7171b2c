// What toolbench adds to a page, once for each page, however many notebooks and kernels it shows.

import { connectApps, type Kernel } from "./apps";
import { copyCalls, noteCopyClicks } from "./copy_call";
import { enhanceCards } from "./card_toolbar";
import { holdClicks, type Models } from "./clicks";
import { describeFields } from "./described";
import { fadeEdges } from "./edges";
import { enhanceEditors } from "./editor";
import { enhanceButtons, enhanceFields, formsOf } from "./fields";
import { focusRefusals, keepFocus, restoreFocus } from "./focus";
import { nameImages, zoomImages } from "./fullview";
import { keepKeys } from "./keys";
import { isOurs } from "./ours";
import { enhancePickers } from "./picker";
import { enhanceRuns } from "./runs";
import { addStyle } from "./style";
import { enhanceTables } from "./table";
import { enhanceTraffic } from "./traffic";

const LIVE = "toolbench-live"; // on the root element: style sheets do without what this module does

function start(): void {
  if (document.documentElement.classList.contains(LIVE)) return;
  document.documentElement.classList.add(LIVE);
  addStyle();
  noteCopyClicks();
  keepKeys();
  keepFocus();
  zoomImages();
  watch();
  enhance();
}

function enhance(): void {
  enhanceEditors();
  enhanceButtons();
  enhanceFields();
  describeFields();
  enhanceTables();
  fadeEdges();
  enhanceCards();
  enhanceRuns();
  enhancePickers();
  enhanceTraffic();
  copyCalls();
  nameImages();
  focusRefusals();
}

/**
 * Look at each change of our widgets; all changes of one frame are dealt with together. Fields get
 * their names and descriptions at once: they are then part of the frame that shows the form.
 */
function watch(): void {
  let isScheduled = false;
  const act = (): void => {
    isScheduled = false;
    enhance();
  };
  new MutationObserver((changes) => {
    const ours = changes.filter(isOurs);
    ours.forEach(restoreFocus);
    for (const form of formsOf(ours)) {
      enhanceFields(form);
      describeFields(form);
    }
    if (ours.length > 0 && !isScheduled) {
      isScheduled = true;
      requestAnimationFrame(act);
    }
  }).observe(document.body, { childList: true, subtree: true });
}

interface Initialized {
  model: Kernel & { widget_manager?: Models };
  signal?: AbortSignal;
}

/** Called once for each kernel of the page; *signal* says when its widgets are gone. */
function initialize({ model, signal = new AbortController().signal }: Initialized): void {
  start();
  holdClicks(model.widget_manager, signal);
  connectApps(model, signal);
}

export default { initialize };
