// A result, or one image of it, in a dialog as large as the window.

import { allIn } from "./ours";

const IMAGES = "[data-toolbench-body] img, .toolbench-shown img"; // of a result, and displayed during a run
const FIT = "Fit into the window";
const ACTUAL = "True size (100 %)";

/** Show *body* in a dialog as large as the window; after closing, it is in its old place. */
export function openFully(body: HTMLElement, title: string): void {
  const place = document.createComment("");
  body.replaceWith(place);
  body.classList.add("toolbench-full");
  body.tabIndex = 0; // it scrolls in the dialog
  show(title, body, () => {
    body.classList.remove("toolbench-full");
    body.removeAttribute("tabindex");
    place.replaceWith(body);
  });
}

/** Let a click or Enter on an image enlarge it to the size of the window; there it changes between that and its true size. */
export function zoomImages(): void {
  const zoom = (event: Event): void => {
    const image = event.target;
    if (image instanceof HTMLImageElement && image.matches(IMAGES)) {
      event.preventDefault();
      if (image.closest("dialog")) toggleSize(image);
      else openImage(image);
    }
  };
  document.addEventListener("click", zoom);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") zoom(event);
  });
}

/** Make images in *root* buttons that the keyboard can reach. */
export function nameImages(root: ParentNode): void {
  for (const image of allIn<HTMLImageElement>(root, `:is(${IMAGES}):not([role])`)) {
    image.setAttribute("role", "button");
    image.setAttribute("aria-label", `Enlarge ${image.alt}`.trim());
    image.title = "Enlarge";
    image.tabIndex = 0;
  }
}

/** Show *image*, which is in a dialog, in its true size, or fitted into the dialog again. */
function toggleSize(image: HTMLImageElement): void {
  const isActual = image.classList.toggle("toolbench-actual");
  image.setAttribute("aria-pressed", String(isActual));
  image.title = isActual ? FIT : ACTUAL;
}

function openImage(image: HTMLImageElement): void {
  const body = document.createElement("div");
  body.dataset.toolbenchBody = "";
  body.className = "toolbench-full";
  body.tabIndex = 0;
  body.setAttribute("role", "region");
  body.setAttribute("aria-label", image.alt);
  const large = document.createElement("img");
  large.src = image.src;
  large.alt = image.alt;
  large.tabIndex = 0;
  large.title = ACTUAL;
  large.setAttribute("role", "button");
  large.setAttribute("aria-pressed", "false");
  large.setAttribute("aria-label", `True size: ${image.alt}`);
  body.append(large);
  const size = `${image.naturalWidth} × ${image.naturalHeight}`;
  show(image.alt ? `${image.alt}, ${size}` : size, body, () => undefined);
  large.focus();
}

function show(title: string, body: HTMLElement, whenClosed: () => void): void {
  const dialog = document.createElement("dialog");
  dialog.className = "toolbench-box toolbench-dialog";
  dialog.setAttribute("aria-label", title);
  const bar = document.createElement("div");
  const name = document.createElement("strong");
  const close = document.createElement("button");
  name.textContent = title;
  close.type = "button";
  close.className = "toolbench-tool";
  close.textContent = "Close";
  close.addEventListener("click", () => dialog.close());
  bar.append(name, close);
  dialog.append(bar, body);
  dialog.addEventListener("close", () => {
    whenClosed();
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
}
