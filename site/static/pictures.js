// A picture of the documents has a light and a dark file: take the one of the theme that was chosen here.
"use strict";
const DARK = "(prefers-color-scheme: dark)";
const MEDIA = { dark: "all", light: "not all" };

function chooseFiles() {
  for (const source of document.querySelectorAll("picture > source[srcset*='-dark.']")) {
    source.media = MEDIA[document.body.dataset.theme] ?? DARK;
  }
}

document.addEventListener("DOMContentLoaded", () => {
  chooseFiles();
  new MutationObserver(chooseFiles).observe(document.body, { attributeFilter: ["data-theme"] });
});
