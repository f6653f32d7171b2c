// A result, or one image of it, in a dialog as large as the window.

import { allIn } from "./ours";

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

/** Let a click or Enter on an image of a result enlarge it; a second click shows its true size. */
export function zoomImages(): void {
  const zoom = (event: Event): void => {
    const image = event.target;
    if (image instanceof HTMLImageElement && image.matches("[data-toolbench-body] img")) {
      event.preventDefault();
      if (image.closest("dialog")) image.classList.toggle("toolbench-actual");
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
  for (const image of allIn<HTMLImageElement>(root, "[data-toolbench-body] img:not([role])")) {
    image.setAttribute("role", "button");
    image.setAttribute("aria-label", `Enlarge ${image.alt}`);
    image.tabIndex = 0;
  }
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
  body.append(large);
  show(image.alt, body, () => undefined);
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
