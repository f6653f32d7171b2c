// The first page's live panel: a press of its button opens the notebook in place of the picture and runs it.
"use strict";
const PANEL = ".toolbench-panel";
const PAUSE = 250; // milliseconds between two looks at the notebook

function soon(look) {
  return new Promise((resolve) => {
    const again = () => {
      const found = look();
      if (found) resolve(found);
      else setTimeout(again, PAUSE);
    };
    again();
  });
}

async function start(place) {
  const status = place.querySelector("[role=status]");
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
    place.querySelector("button").addEventListener("click", () => start(place));
  });
});
