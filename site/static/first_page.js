// The first page's live panel: a press of its button opens the notebook in place of the picture and runs it.
"use strict";
const PANEL = ".toolbench-panel";
const PAUSE = 250; // milliseconds between two looks at the notebook
const LIMIT = 180_000; // milliseconds for Python to start, and for the panel to come

function soon(look) {
  const end = performance.now() + LIMIT;
  return new Promise((resolve, reject) => {
    const again = () => {
      const thing = look();
      if (thing) resolve(thing);
      else if (performance.now() > end) reject(new Error("nothing came in time"));
      else setTimeout(again, PAUSE);
    };
    again();
  });
}

async function begin(place) {
  const status = place.querySelector("[role=status]");
  try {
    await run(place, status);
  } catch (error) {
    status.textContent = `Python did not start in this page (${error.message}). Reload the page to try again, or open the notebooks.`;
  }
}

async function run(place, status) {
  place.querySelector("button").hidden = true;
  status.textContent = "Python is starting in this page …";
  const frame = document.createElement("iframe");
  frame.title = "A notebook with a live panel";
  frame.src = place.dataset.notebook;
  place.querySelector(".try-view").replaceChildren(frame);
  const notebook = () => frame.contentWindow?.jupyterapp?.shell?.currentWidget;
  await soon(() => notebook()?.context?.sessionContext?.session?.kernel);
  const app = frame.contentWindow.jupyterapp;
  await app.commands.execute("notebook:run-all-cells");
  const panel = await soon(() => frame.contentDocument.querySelector(PANEL));
  panel.scrollIntoView({ block: "end" });
  status.textContent = "It runs: fill the form in and press Run. Change the function and run its cell again (Shift+Enter).";
}

window.addEventListener("load", () => {
  document.querySelectorAll(".try").forEach((place) => {
    place.querySelector("button").addEventListener("click", () => begin(place));
  });
});
